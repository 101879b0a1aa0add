package simd

import (
	"math/rand/v2"
	"testing"

	"github.com/holdfast-llm/holdfast/gguf/quant"
)

// A load or store outside the operands kills the test with SIGSEGV.
func TestGemmTouchesOnlyItsOperands(t *testing.T) {
	eachGemm(t, func(t *testing.T, typ quant.Type, l Level, g Gemm) {
		rng := rand.New(rand.NewPCG(7, uint64(typ)))
		for _, k := range gemmDepths(typ)[:2] {
			for _, s := range []struct{ rows, n int }{{1, 1}, {16, 3}, {17, 6}, {31, 7}, {32, 13}, {70, 5}} {
				for _, atEnd := range []bool{false, true} {
					buf := func(n int) []byte { return fenced(t, make([]byte, n), atEnd) }
					w := fenced(t, randomWeights(rng, typ, s.rows, k, weightFills[0].f), atEnd)
					x, out := buf(4*k*s.n), buf(4*s.rows*s.n)
					act, scratch := buf(g.ActBytes(k, s.n)), buf(g.Scratch(k))
					g.PackRows(act, floats(x), k, k, s.n, 0, s.n)
					g.Run(floats(out), s.rows, w, k, s.rows, act, s.n, scratch)
				}
			}
		}
	})
}
