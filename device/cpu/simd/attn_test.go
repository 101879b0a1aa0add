package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/holdfast-llm/holdfast/attn"
	"github.com/holdfast-llm/holdfast/gguf/quant"
)

var attnTypes = []quant.Type{quant.F16, quant.F32, quant.BF16, quant.Q8_0}

// cache is rows of one type, and what they hold.
type cache struct {
	bytes []byte
	vals  []float32
}

func newCache(t *testing.T, r *rand.Rand, typ quant.Type, rows, dim int, spread float64) cache {
	t.Helper()
	c := cache{bytes: make([]byte, rows*typ.RowBytes(dim)), vals: make([]float32, rows*dim)}
	if err := quant.Quantize(typ, c.bytes, normal(r, rows*dim, spread)); err != nil {
		t.Fatal(err)
	}
	if err := quant.Dequantize(typ, c.vals, c.bytes); err != nil {
		t.Fatal(err)
	}
	return c
}

// stale appends rows of 0xff bytes, which are NaN in every cache type but
// Q8_0, where the scale is.
func (c cache) stale(bytes int) []byte {
	return append(slices.Clone(c.bytes), slices.Repeat([]byte{0xff}, bytes)...)
}

// attnTolerance bounds the error of one head's outputs relative to the
// weighted mean of |v|, by first-order analysis with u = 2^-24:
//   - a score, a sum of headDim products in 4 or more lanes, is off by at most
//     (headDim/4+5) u sum|q k|; the maximum over the keys is E. A weight is off
//     by a factor exp(E), the sum of weights too: 2 E.
//   - the rounding of s-M, at distance d, changes a weight by d u; in the mean
//     that is at most ln n. The exponential adds 4 u; so does each rescale,
//     one a block.
//   - the sums over n keys add n u each at the worst.
func attnTolerance(p *attn.Problem, row, head int) float64 {
	const u = 0x1p-24
	q := p.Q[(row*p.Heads+head)*p.HeadDim:][:p.HeadDim]
	most := 0.0
	for j := range p.Keys {
		sum := 0.0
		for i, k := range p.K[j*p.HeadDim:][:p.HeadDim] {
			sum += math.Abs(float64(q[i]) * float64(k))
		}
		most = math.Max(most, sum)
	}
	n := float64(p.Keys)
	e := (float64(p.HeadDim)/4 + 5) * u * most
	return math.Expm1(2*e) + (2*math.Log(n)+8+8*math.Ceil(n/BlockKeys)+2*n)*u
}

// wantAttention compares outputs [rows][heads][vDim] with the reference.
func wantAttention(t *testing.T, what string, got []float32, p *attn.Problem) {
	t.Helper()
	want := attn.Reference(*p)
	abs := *p
	abs.V = make([]float32, len(p.V))
	for i, v := range p.V {
		abs.V[i] = float32(math.Abs(float64(v)))
	}
	scale := attn.Reference(abs)
	for row := range p.Rows {
		for h := range p.Heads {
			tol := attnTolerance(p, row, h)
			for c := range p.VDim {
				i := (row*p.Heads+h)*p.VDim + c
				if d := math.Abs(float64(got[i]) - want[i]); !(d <= tol*scale[i]+1e-30) {
					t.Fatalf("%s: row %d, head %d, column %d: %g, want %g, off by %.3g, allowed %.3g", what, row, h, c, got[i], want[i], d, tol*scale[i])
				}
			}
		}
	}
}

// partials are the states of g heads.
type partials struct{ acc, m, l []float32 }

func newPartials(g, vDim int) partials {
	return partials{make([]float32, g*vDim), slices.Repeat([]float32{float32(math.Inf(-1))}, g), make([]float32, g)}
}

func (p partials) head(h, vDim int) attn.State {
	return attn.State{M: p.m[h], L: p.l[h], O: slices.Clone(p.acc[h*vDim : (h+1)*vDim])}
}

func (p partials) finish(vDim int) []float32 {
	out := make([]float32, len(p.acc))
	for h := range p.m {
		s := p.head(h, vDim)
		s.Finish(out[h*vDim:])
	}
	return out
}

// dirty is scratch that holds NaN everywhere.
func dirty(n int) []float32 { return slices.Repeat([]float32{float32(math.NaN())}, n) }

func accumulate(a *Attention, p partials, q []float32, g int, k, v []byte, n int) {
	a.Accumulate(p.acc, p.m, p.l, q, g, k, v, n, nil, dirty(a.ScratchFloats(g)))
}

func forAttention(t *testing.T, headDim, vDim int, f func(t *testing.T, a *Attention, typ quant.Type)) {
	for _, l := range Levels() {
		for _, typ := range attnTypes {
			a, ok := AttentionFor(l, typ, typ, headDim, vDim)
			if !ok {
				if headDim%typ.BlockElems() == 0 && vDim%typ.BlockElems() == 0 {
					t.Errorf("no attention for %v, %v, heads of %d and %d", l, typ, headDim, vDim)
				}
				continue
			}
			t.Run(fmt.Sprintf("%v_%v_%dx%d", l, typ, headDim, vDim), func(t *testing.T) { f(t, &a, typ) })
		}
	}
}

var headSizes = [][2]int{{16, 16}, {64, 64}, {80, 80}, {128, 128}, {256, 256}, {192, 128}, {64, 112}, {20, 5}}

func TestAttentionMatchesTheReference(t *testing.T) {
	for _, size := range headSizes {
		headDim, vDim := size[0], size[1]
		forAttention(t, headDim, vDim, func(t *testing.T, a *Attention, typ quant.Type) {
			r := rand.New(rand.NewPCG(10, uint64(headDim)))
			for _, n := range []int{1, 3, 31, 32, 33, 63, 64, 65, 257, 1000} {
				k, v := newCache(t, r, typ, n, headDim, 1), newCache(t, r, typ, n, vDim, 1)
				kb, vb := k.stale(3*typ.RowBytes(headDim)), v.stale(3*typ.RowBytes(vDim))
				for _, g := range []int{1, 2, 3, 4, 5, 7, 8, 16} {
					if n > 33 && g%5 != 3 || n > 300 && g != 3 {
						continue // the reference is slow
					}
					q := normal(r, g*headDim, 2/math.Sqrt(float64(headDim)))
					p := newPartials(g, vDim)
					accumulate(a, p, q, g, kb, vb, n)
					wantAttention(t, fmt.Sprintf("%d keys, %d heads", n, g), p.finish(vDim), &attn.Problem{
						Rows: 1, Keys: n, Heads: g, KVHeads: 1, HeadDim: headDim, VDim: vDim, Scale: 1, Q: q, K: k.vals, V: v.vals,
					})
				}
			}
		})
	}
}

func TestAttentionOfHugeScoresStaysFinite(t *testing.T) {
	const n, g, dim = 100, 3, 64
	forAttention(t, dim, dim, func(t *testing.T, a *Attention, typ quant.Type) {
		r := rand.New(rand.NewPCG(11, 1))
		for _, spread := range []float64{30, 1e4, 1e30} {
			k, v := newCache(t, r, typ, n, dim, 1), newCache(t, r, typ, n, dim, 1)
			q := normal(r, g*dim, spread/8)
			p := newPartials(g, dim)
			accumulate(a, p, q, g, k.bytes, v.bytes, n)
			out := p.finish(dim)
			if i := nonFinite(out); i >= 0 {
				t.Fatalf("scores of %g: out[%d] = %g", spread, i, out[i])
			}
			if spread > 1e20 {
				continue // the tolerance covers anything
			}
			wantAttention(t, fmt.Sprintf("scores of %g", spread), out, &attn.Problem{
				Rows: 1, Keys: n, Heads: g, KVHeads: 1, HeadDim: dim, VDim: dim, Scale: 1, Q: q, K: k.vals, V: v.vals,
			})
		}
	})
}

func TestAttentionInPieces(t *testing.T) {
	const n, g, headDim, vDim = 200, 5, 64, 96
	forAttention(t, headDim, vDim, func(t *testing.T, a *Attention, typ quant.Type) {
		r := rand.New(rand.NewPCG(12, 1))
		k, v := newCache(t, r, typ, n, headDim, 1), newCache(t, r, typ, n, vDim, 1)
		q := normal(r, g*headDim, 0.3)
		problem := &attn.Problem{Rows: 1, Keys: n, Heads: g, KVHeads: 1, HeadDim: headDim, VDim: vDim, Scale: 1, Q: q, K: k.vals, V: v.vals}
		kb, vb := typ.RowBytes(headDim), typ.RowBytes(vDim)
		whole := newPartials(g, vDim)
		accumulate(a, whole, q, g, k.bytes, v.bytes, n)

		for _, cuts := range [][]int{{0, 200}, {0, 32, 200}, {0, 64, 96, 192, 200}, {0, 0, 1, 50, 51, 130, 200, 200}} {
			p := newPartials(g, vDim)       // one state carried along
			merged := make([]attn.State, g) // a state a piece, merged
			for h := range merged {
				merged[h] = attn.NewState(vDim)
			}
			onBlocks := true
			for i, from := range cuts[:len(cuts)-1] {
				to := cuts[i+1]
				onBlocks = onBlocks && from%BlockKeys == 0
				accumulate(a, p, q, g, k.bytes[from*kb:], v.bytes[from*vb:], to-from)
				piece := newPartials(g, vDim)
				accumulate(a, piece, q, g, k.bytes[from*kb:], v.bytes[from*vb:], to-from)
				for h := range merged {
					merged[h].Merge(piece.head(h, vDim))
				}
			}
			if onBlocks && !(slices.Equal(p.acc, whole.acc) && slices.Equal(p.m, whole.m) && slices.Equal(p.l, whole.l)) {
				t.Errorf("cut at %v: not the bits of one call", cuts)
			}
			wantAttention(t, fmt.Sprintf("carried over %v", cuts), p.finish(vDim), problem)
			out := make([]float32, g*vDim)
			for h := range merged {
				merged[h].Finish(out[h*vDim:])
			}
			wantAttention(t, fmt.Sprintf("merged from %v", cuts), out, problem)
		}
	})
}

func TestAttentionHeadIsAloneInItsGroup(t *testing.T) {
	const n, dim = 77, 64
	forAttention(t, dim, dim, func(t *testing.T, a *Attention, typ quant.Type) {
		r := rand.New(rand.NewPCG(13, 1))
		k, v := newCache(t, r, typ, n, dim, 1), newCache(t, r, typ, n, dim, 1)
		q := normal(r, 16*dim, 0.3)
		alone := newPartials(16, dim)
		for h := range 16 {
			accumulate(a, partials{alone.acc[h*dim:], alone.m[h:], alone.l[h:]}, q[h*dim:], 1, k.bytes, v.bytes, n)
		}
		for g := 1; g <= 16; g++ {
			p := newPartials(g, dim)
			accumulate(a, p, q, g, k.bytes, v.bytes, n)
			if !slices.Equal(p.acc, alone.acc[:g*dim]) || !slices.Equal(p.l, alone.l[:g]) {
				t.Errorf("group of %d: not the bits of its heads alone", g)
			}
		}
	})
}

func TestAttentionShowsNaN(t *testing.T) {
	const n, g, dim = 70, 3, 64
	forAttention(t, dim, dim, func(t *testing.T, a *Attention, typ quant.Type) {
		r := rand.New(rand.NewPCG(14, 1))
		row := typ.RowBytes(dim)
		for _, bad := range []int{0, 31, 32, 69} {
			for _, inKey := range []bool{true, false} {
				k, v := newCache(t, r, typ, n, dim, 1), newCache(t, r, typ, n, dim, 1)
				c := v
				if inKey {
					c = k
				}
				copy(c.bytes[bad*row:(bad+1)*row], slices.Repeat([]byte{0xff}, row))
				p := newPartials(g, dim)
				accumulate(a, p, normal(r, g*dim, 0.3), g, k.bytes, v.bytes, n)
				for i, o := range p.finish(dim) {
					if o == o {
						t.Fatalf("NaN in row %d (key: %t): out[%d] = %g, want NaN", bad, inKey, i, o)
					}
				}
			}
		}
	})
}

func TestPrefillMatchesTheReference(t *testing.T) {
	for _, size := range headSizes {
		headDim, vDim := size[0], size[1]
		forAttention(t, headDim, vDim, func(t *testing.T, a *Attention, typ quant.Type) {
			r := rand.New(rand.NewPCG(15, uint64(headDim)))
			for _, c := range []struct{ rows, g, n0 int }{
				{1, 1, 0}, {2, 1, 0}, {7, 3, 0}, {33, 2, 31}, {3, 8, 64}, {70, 1, 60}, {5, 7, 1}, {13, 16, 2},
			} {
				n := c.n0 + c.rows
				k, v := newCache(t, r, typ, n, headDim, 1), newCache(t, r, typ, n, vDim, 1)
				q := normal(r, c.rows*c.g*headDim, 2/math.Sqrt(float64(headDim)))
				out := make([]float32, c.rows*c.g*vDim)
				a.Prefill(out, c.g*vDim, q, c.g*headDim, c.rows, c.g, k.stale(typ.RowBytes(headDim)), v.stale(typ.RowBytes(vDim)), c.n0, dirty(a.PrefillScratchFloats(c.rows, c.g)))
				wantAttention(t, fmt.Sprintf("%+v", c), out, &attn.Problem{
					Rows: c.rows, Keys: n, Heads: c.g, KVHeads: 1, HeadDim: headDim, VDim: vDim, Scale: 1,
					Causal: true, Pos: c.n0, Q: q, K: k.vals, V: v.vals,
				})
			}
		})
	}
}

// A row's bits do not depend on how rows are shared out among calls, on the
// strides, or on the number of heads.
func TestPrefillRowsAreAloneInTheirTile(t *testing.T) {
	const rows, n0, g, headDim, vDim = 150, 40, 3, 64, 80
	forAttention(t, headDim, vDim, func(t *testing.T, a *Attention, typ quant.Type) {
		r := rand.New(rand.NewPCG(16, 1))
		k, v := newCache(t, r, typ, n0+rows, headDim, 1), newCache(t, r, typ, n0+rows, vDim, 1)
		q := normal(r, rows*g*headDim, 0.3)
		run := func(g, head int, cuts ...int) []float32 {
			const ldo = 3*vDim + 5
			out := make([]float32, rows*ldo)
			for i, from := range cuts[:len(cuts)-1] {
				to := cuts[i+1]
				a.Prefill(out[from*ldo+head*vDim:], ldo, q[from*3*headDim+head*headDim:], 3*headDim, to-from, g, k.bytes, v.bytes, n0+from, dirty(a.PrefillScratchFloats(to-from, g)))
			}
			for row := range rows {
				for _, x := range out[row*ldo+3*vDim:][:5] {
					if x != 0 {
						t.Fatal("wrote between rows")
					}
				}
			}
			return out
		}
		whole := run(g, 0, 0, rows)
		for _, cuts := range [][]int{{0, 1, rows}, {0, 64, 128, rows}, {0, 7, 50, 51, 149, rows}} {
			if !slices.Equal(run(g, 0, cuts...), whole) {
				t.Errorf("rows cut at %v: not the bits of one call", cuts)
			}
		}
		heads := make([]float32, len(whole))
		for h := range g {
			for i, x := range run(1, h, 0, rows) {
				heads[i] += x
			}
		}
		if !slices.Equal(heads, whole) {
			t.Errorf("head by head: not the bits of one call")
		}
	})
}

func TestAttentionAllocatesNothing(t *testing.T) {
	const g, dim = 3, 64
	forAttention(t, dim, dim, func(t *testing.T, a *Attention, typ quant.Type) {
		k := make([]byte, 100*typ.RowBytes(dim))
		q, out, p := make([]float32, 2*g*dim), make([]float32, 2*g*dim), newPartials(g, dim)
		scratch := make([]float32, max(a.ScratchFloats(g), a.PrefillScratchFloats(2, g)))
		if n := testing.AllocsPerRun(5, func() {
			a.Accumulate(p.acc, p.m, p.l, q, g, k, k, 100, nil, scratch)
			a.Prefill(out, g*dim, q, g*dim, 2, g, k, k, 98, scratch)
		}); n != 0 {
			t.Errorf("%v allocations", n)
		}
	})
}

func TestAttentionForDeclines(t *testing.T) {
	for _, c := range []struct {
		name          string
		t             quant.Type
		headDim, vDim int
	}{
		{"a weight type", quant.Q4_K, 256, 256},
		{"heads that end within a block", quant.Q8_0, 80, 64},
		{"values that end within a block", quant.Q8_0, 64, 80},
		{"no head size", quant.F16, 0, 64},
		{"negative head size", quant.F16, -64, 64},
	} {
		for _, l := range Levels() {
			if a, ok := AttentionFor(l, c.t, c.t, c.headDim, c.vDim); ok {
				t.Errorf("%s at %v: got %s", c.name, l, a.Name)
			}
		}
	}
}
