package attn

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

var negInf = float32(math.Inf(-1))

// stateOf is the state after the given scores and values, by definition.
func stateOf(scores []float32, values [][]float32, vDim int) State {
	s := NewState(vDim)
	for _, x := range scores {
		s.M = max(s.M, x)
	}
	if s.Empty() {
		return s
	}
	for j, x := range scores {
		p := float32(math.Exp(float64(x - s.M)))
		s.L += p
		for i, v := range values[j] {
			s.O[i] += p * v
		}
	}
	return s
}

// random makes n scores of the given spread, some of them masked, and values.
func random(r *rand.Rand, n, vDim int, spread float32) ([]float32, [][]float32) {
	scores, values := make([]float32, n), make([][]float32, n)
	for j := range scores {
		scores[j] = spread * float32(r.NormFloat64())
		if r.IntN(5) == 0 {
			scores[j] = negInf
		}
		values[j] = make([]float32, vDim)
		for i := range values[j] {
			values[j][i] = float32(r.NormFloat64())
		}
	}
	return scores, values
}

func finish(s State) []float32 {
	dst := make([]float32, len(s.O))
	s.Finish(dst)
	return dst
}

func merged(states ...State) State {
	s := NewState(len(states[0].O))
	for _, t := range states {
		s.Merge(t)
	}
	return s
}

func maxDiff(a, b []float32) float64 {
	d := 0.0
	for i := range a {
		d = math.Max(d, math.Abs(float64(a[i])-float64(b[i])))
	}
	return d
}

func TestMergeOfPartsIsTheWhole(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const vDim = 8
	for _, spread := range []float32{0, 1, 30, 1e4} {
		for n := 1; n < 40; n++ {
			scores, values := random(r, n, vDim, spread)
			whole := finish(stateOf(scores, values, vDim))
			a, b := r.IntN(n+1), r.IntN(n+1)
			a, b = min(a, b), max(a, b)
			part := func(i, j int) State { return stateOf(scores[i:j], values[i:j], vDim) }
			x, y, z := part(0, a), part(a, b), part(b, n)

			left := merged(merged(x, y), z)
			right := merged(x, merged(y, z))
			swapped := merged(z, y, x)
			// Values are of size 1 and weights sum to 1: a few roundings of n terms.
			tol := float64(n+8) * 4 * 0x1p-24
			for name, got := range map[string][]float32{
				"(x y) z": finish(left), "x (y z)": finish(right), "z y x": finish(swapped),
			} {
				if d := maxDiff(got, whole); d > tol {
					t.Errorf("spread %g, n %d, parts at %d and %d, %s: off by %g, want <= %g", spread, n, a, b, name, d, tol)
				}
			}
		}
	}
}

func TestMergeIsCommutativeToTheBit(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		s1, v1 := random(r, 1+r.IntN(9), 5, 10)
		s2, v2 := random(r, 1+r.IntN(9), 5, 10)
		x, y := stateOf(s1, v1, 5), stateOf(s2, v2, 5)
		a, b := merged(x, y), merged(y, x)
		if a.M != b.M || a.L != b.L || !slices.Equal(a.O, b.O) {
			t.Fatalf("x y = %v, y x = %v", a, b)
		}
	}
}

func TestEmptyStateIsTheIdentity(t *testing.T) {
	full := State{M: 3, L: 1.5, O: []float32{1, -2}}
	nan := float32(math.NaN())
	stale := State{M: negInf, L: nan, O: []float32{nan, nan}} // never written

	for name, empty := range map[string]State{"fresh": NewState(2), "stale": stale} {
		got := State{M: full.M, L: full.L, O: slices.Clone(full.O)}
		got.Merge(empty)
		if got.M != full.M || got.L != full.L || !slices.Equal(got.O, full.O) {
			t.Errorf("%s on the right: got %v", name, got)
		}
		got = State{M: empty.M, L: empty.L, O: slices.Clone(empty.O)}
		got.Merge(full)
		if got.M != full.M || got.L != full.L || !slices.Equal(got.O, full.O) {
			t.Errorf("%s on the left: got %v", name, got)
		}
	}

	none := merged(NewState(2), NewState(2))
	if got := finish(none); !none.Empty() || !slices.Equal(got, []float32{0, 0}) {
		t.Errorf("two empties: %v finishes as %v, want zeros", none, got)
	}
	if got := finish(stale); !slices.Equal(got, []float32{0, 0}) {
		t.Errorf("stale empty finishes as %v, want zeros", got)
	}
	full.Reset()
	if !full.Empty() || full.L != 0 || !slices.Equal(full.O, []float32{0, 0}) {
		t.Errorf("Reset left %v", full)
	}
}

func TestMergeKeepsNaNVisible(t *testing.T) {
	nan := float32(math.NaN())
	for name, bad := range map[string]State{
		"M": {M: nan, L: 1, O: []float32{1}},
		"L": {M: 1, L: nan, O: []float32{1}},
		"O": {M: 1, L: 1, O: []float32{nan}},
	} {
		ok := State{M: 2, L: 1, O: []float32{1}}
		ok.Merge(bad)
		if got := finish(ok); got[0] == got[0] {
			t.Errorf("NaN in %s was lost: %v", name, got)
		}
	}
}

func TestMergeAcrossHugeMaxima(t *testing.T) {
	x := State{M: 3e38, L: 1, O: []float32{5}}
	y := State{M: -3e38, L: 1, O: []float32{7}}
	if got := finish(merged(y, x)); got[0] != 5 {
		t.Errorf("got %v, want 5: the far smaller state has no weight", got)
	}
}

// problem is small and filled with distinct numbers.
func problem(rows, keys, heads, kvHeads, headDim, vDim int) Problem {
	r := rand.New(rand.NewPCG(5, 6))
	fill := func(n int) []float32 {
		x := make([]float32, n)
		for i := range x {
			x[i] = float32(r.NormFloat64())
		}
		return x
	}
	return Problem{
		Rows: rows, Keys: keys, Heads: heads, KVHeads: kvHeads, HeadDim: headDim, VDim: vDim,
		Scale: 1 / math.Sqrt(float64(headDim)),
		Q:     fill(rows * heads * headDim), K: fill(keys * kvHeads * headDim), V: fill(keys * kvHeads * vDim),
	}
}

func TestReferenceByHand(t *testing.T) {
	// One head, two keys whose scores differ by ln 3: weights 1/4 and 3/4.
	p := Problem{
		Rows: 1, Keys: 2, Heads: 1, KVHeads: 1, HeadDim: 1, VDim: 2, Scale: math.Log(3),
		Q: []float32{1}, K: []float32{0, 1}, V: []float32{4, 0, 0, 8},
	}
	got := Reference(p)
	if math.Abs(got[0]-1) > 1e-12 || math.Abs(got[1]-6) > 1e-12 {
		t.Errorf("got %v, want [1 6]", got)
	}
}

func TestReferenceMasks(t *testing.T) {
	base := problem(3, 5, 4, 2, 6, 3)
	nan := float32(math.NaN())
	inf := float32(math.Inf(-1))

	// additive is the same restriction written as a mask.
	additive := func(see func(row, key int) bool) []float32 {
		m := make([]float32, base.Rows*base.Keys)
		for row := range base.Rows {
			for key := range base.Keys {
				if !see(row, key) {
					m[row*base.Keys+key] = inf
				}
			}
		}
		return m
	}
	for _, c := range []struct {
		name   string
		change func(*Problem)
		see    func(row, key int) bool
	}{
		{"causal from position 1", func(p *Problem) { p.Causal, p.Pos = true, 1 }, func(r, k int) bool { return k <= 1+r }},
		{"window of 2 at the end", func(p *Problem) { p.Window = 2 }, func(_, k int) bool { return k >= 3 }},
		{"causal window of 2", func(p *Problem) { p.Causal, p.Pos, p.Window = true, 2, 2 }, func(r, k int) bool { return k <= 2+r && k > r }},
	} {
		p, m := base, base
		c.change(&p)
		m.Mask = additive(c.see)
		if a, b := Reference(p), Reference(m); !slices.Equal(a, b) {
			t.Errorf("%s: %v, as a mask %v", c.name, a, b)
		}
	}

	p := base
	p.Causal, p.Pos = true, -2 // row 0 sees keys up to -2, row 1 up to -1: nothing
	out := Reference(p)
	for i, o := range out[:2*p.Heads*p.VDim] {
		if o != 0 {
			t.Fatalf("rows 0 and 1 attend nothing but out[%d] = %g", i, o)
		}
	}

	p = base
	p.Causal, p.Pos = true, 0
	want := Reference(p)
	p.K, p.V = slices.Clone(p.K), slices.Clone(p.V)
	for i := 3 * p.KVHeads * p.HeadDim; i < len(p.K); i++ {
		p.K[i] = nan
	}
	for i := 3 * p.KVHeads * p.VDim; i < len(p.V); i++ {
		p.V[i] = nan
	}
	if got := Reference(p); !slices.Equal(got, want) {
		t.Errorf("keys that no row attends changed the result")
	}
}

func TestReferenceGroupsHeads(t *testing.T) {
	p := problem(2, 4, 6, 2, 4, 4)
	got := Reference(p)
	for head := range p.Heads {
		one := Problem{Rows: p.Rows, Keys: p.Keys, Heads: 1, KVHeads: 1, HeadDim: p.HeadDim, VDim: p.VDim, Scale: p.Scale}
		for row := range p.Rows {
			one.Q = append(one.Q, p.Q[(row*p.Heads+head)*p.HeadDim:][:p.HeadDim]...)
		}
		for key := range p.Keys {
			one.K = append(one.K, p.K[(key*p.KVHeads+head/3)*p.HeadDim:][:p.HeadDim]...)
			one.V = append(one.V, p.V[(key*p.KVHeads+head/3)*p.VDim:][:p.VDim]...)
		}
		want := Reference(one)
		for row := range p.Rows {
			if g, w := got[(row*p.Heads+head)*p.VDim:][:p.VDim], want[row*p.VDim:][:p.VDim]; !slices.Equal(g, w) {
				t.Errorf("head %d, row %d: %v, alone %v", head, row, g, w)
			}
		}
	}
}
