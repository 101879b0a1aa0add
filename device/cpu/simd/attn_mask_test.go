package simd

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/holdfast-llm/holdfast/attn"
	"github.com/holdfast-llm/holdfast/gguf/quant"
)

// A key and a value that a row does not see change none of its bits, be they
// NaN or infinite.
func TestPrefillRowsDoNotTouchWhatTheyDoNotSee(t *testing.T) {
	const rows, n0, g, headDim, vDim = 70, 50, 3, 64, 80
	forAttention(t, headDim, vDim, func(t *testing.T, a *Attention, typ quant.Type) {
		r := rand.New(rand.NewPCG(17, 1))
		k, v := newCache(t, r, typ, n0+rows, headDim, 1), newCache(t, r, typ, n0+rows, vDim, 1)
		q := normal(r, rows*g*headDim, 0.3)
		run := func(k, v []byte) []float32 {
			out := make([]float32, rows*g*vDim)
			a.Prefill(out, g*vDim, q, g*headDim, rows, g, k, v, n0, dirty(a.PrefillScratchFloats(rows, g)))
			return out
		}
		want := run(k.bytes, v.bytes)
		for _, bad := range []int{1, 13, 14, 69} { // the first row that sees what is no number
			kb, vb := slices.Clone(k.bytes), slices.Clone(v.bytes)
			for _, c := range []struct {
				b []byte
				n int
			}{{kb, typ.RowBytes(headDim)}, {vb, typ.RowBytes(vDim)}} {
				copy(c.b[(n0+bad)*c.n:], slices.Repeat([]byte{0xff}, c.n))
			}
			got := run(kb, vb)
			if i := firstDifference(got[:bad*g*vDim], want[:bad*g*vDim]); i >= 0 {
				t.Errorf("row %d is not a number: row %d changed from %g to %g", bad, i/(g*vDim), want[i], got[i])
			}
			if x := got[bad*g*vDim]; x == x {
				t.Errorf("row %d is not a number, but its result is %g", bad, x)
			}
		}
	})
}

// firstDifference is the first index at which the bits differ, or -1.
func firstDifference(a, b []float32) int {
	for i, x := range a {
		if math.Float32bits(x) != math.Float32bits(b[i]) {
			return i
		}
	}
	return -1
}

func TestBiasIsAddedToTheScores(t *testing.T) {
	for _, size := range [][2]int{{64, 64}, {20, 5}} {
		headDim, vDim := size[0], size[1]
		forAttention(t, headDim, vDim, func(t *testing.T, a *Attention, typ quant.Type) {
			r := rand.New(rand.NewPCG(18, 1))
			for _, n := range []int{1, 31, 32, 33, 100} {
				const g = 3
				k, v := newCache(t, r, typ, n, headDim, 1), newCache(t, r, typ, n, vDim, 1)
				q, bias := normal(r, g*headDim, 0.3), normal(r, n, 2)
				p := newPartials(g, vDim)
				a.Accumulate(p.acc, p.m, p.l, q, g, k.bytes, v.bytes, n, bias, dirty(a.ScratchFloats(g)))
				wantAttention(t, "bias", p.finish(vDim), &attn.Problem{
					Rows: 1, Keys: n, Heads: g, KVHeads: 1, HeadDim: headDim, VDim: vDim, Scale: 1,
					Q: q, K: k.vals, V: v.vals, Mask: bias,
				})
			}
		})
	}
}
