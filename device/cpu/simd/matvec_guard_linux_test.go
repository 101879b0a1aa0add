package simd

import (
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"

	"github.com/holdfast-llm/holdfast/gguf/quant"
)

// fenced is a copy of b whose bytes lie between two pages that must not be
// touched: right before the second, or right after the first.
func fenced(t *testing.T, b []byte, atEnd bool) []byte {
	t.Helper()
	page := syscall.Getpagesize()
	body := (len(b) + page - 1) / page * page
	m, err := syscall.Mmap(-1, 0, body+2*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Munmap(m); err != nil {
			t.Error(err)
		}
	})
	for _, fence := range [][]byte{m[:page], m[page+body:]} {
		if err := syscall.Mprotect(fence, syscall.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	at := page
	if atEnd {
		at = page + body - len(b)
	}
	copy(m[at:], b)
	return m[at:][:len(b):len(b)]
}

// A load or store outside the operands kills the test with SIGSEGV.
func TestMatVecTouchesOnlyItsOperands(t *testing.T) {
	eachMatVec(t, func(t *testing.T, typ quant.Type, mv MatVec) {
		rng := rand.New(rand.NewPCG(7, uint64(typ)))
		block := typ.BlockElems()
		for _, k := range []int{block, 3 * block, 16 * block, 37 * block} {
			for _, rows := range []int{1, 4} { // each kernel last, at the end
				for _, atEnd := range []bool{false, true} {
					x := fenced(t, make([]byte, 4*k), atEnd)
					for i := range floats(x) {
						floats(x)[i] = float32(rng.NormFloat64())
					}
					w := fenced(t, randomWeights(rng, typ, rows, k, weightFills[0].f), atEnd)
					act := fenced(t, make([]byte, mv.ActBytes(k)), atEnd)
					out := fenced(t, make([]byte, 4*rows), atEnd)
					mv.Pack(act, floats(x))
					mv.Dot(floats(out), w, act, k)
					checkRows(t, fmt.Sprintf("k=%d rows=%d at end: %t", k, rows, atEnd), typ, mv, floats(out), w, act, k)
				}
			}
		}
	})
}
