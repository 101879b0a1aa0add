package simd

import (
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/holdfast-llm/holdfast/gguf/quant"
)

// fencedFloats is a copy of x between two pages that must not be touched.
func fencedFloats(t *testing.T, x []float32, atEnd bool) []float32 {
	if len(x) == 0 {
		return nil
	}
	b := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), 4*len(x))
	return floats(fenced(t, b, atEnd))
}

// A load or store outside the operands kills the test with SIGSEGV.
func TestAttentionTouchesOnlyItsOperands(t *testing.T) {
	for _, size := range [][2]int{{64, 64}, {96, 32}, {16, 16}} {
		headDim, vDim := size[0], size[1]
		forAttention(t, headDim, vDim, func(t *testing.T, a *Attention, typ quant.Type) {
			r := rand.New(rand.NewPCG(20, 1))
			for _, n := range []int{1, 3, 4, 37, 66} {
				k, v := newCache(t, r, typ, n, headDim, 1), newCache(t, r, typ, n, vDim, 1)
				for _, g := range []int{1, 7} {
					for _, atEnd := range []bool{false, true} {
						f := func(n int) []float32 { return fencedFloats(t, make([]float32, n), atEnd) }
						kb, vb := fenced(t, k.bytes, atEnd), fenced(t, v.bytes, atEnd)
						q := fencedFloats(t, normal(r, n*g*headDim, 1), atEnd)
						a.Accumulate(f(g*vDim), f(g), f(g), q[len(q)-g*headDim:], g, kb, vb, n, nil, f(a.ScratchFloats(g)))
						a.Prefill(f(n*g*vDim), g*vDim, q, g*headDim, n, g, kb, vb, 0, f(a.PrefillScratchFloats(n, g)))
					}
				}
			}
		})
	}
}

func TestElemTouchesOnlyItsOperands(t *testing.T) {
	forLevels(t, func(t *testing.T, l Level) {
		e := ElemFor(l)
		for n := 1; n <= 70; n++ {
			for _, atEnd := range []bool{false, true} {
				f := func(n int) []float32 { return fencedFloats(t, make([]float32, n), atEnd) }
				x, y, z := f(n), f(n), f(n)
				half := fenced(t, make([]byte, 2*n), atEnd)
				h := unsafe.Slice((*uint16)(unsafe.Pointer(unsafe.SliceData(half))), n)
				e.RMSNorm(x, y, z, 1e-5)
				e.SwiGLU(x, y, z)
				e.Add(x, y, z)
				e.AXPY(x, 2, y)
				e.RopeNeox(f(2*n), y, z)
				e.RopeNorm(f(2*n), y, z)
				e.Softmax(x)
				e.Max(x)
				e.NonFinite(x)
				e.ToF16(h, x)
				e.FromF16(x, h)
				e.ToBF16(h, x)
				e.FromBF16(x, h)
				if n <= 5 {
					x, b := f(32*n), fenced(t, make([]byte, 34*n), atEnd)
					e.ToQ8_0(b, x)
					e.FromQ8_0(x, b)
				}
			}
		}
	})
}
