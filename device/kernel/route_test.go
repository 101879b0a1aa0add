package kernel

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// routed is what moe_route makes of rows of logits.
type routed struct {
	chosen  []int32
	weights []float32
	faults  []Fault
}

func (r *rig) route(t testing.TB, logits []float32, experts, used int, renorm bool, scale float32) routed {
	t.Helper()
	rows := len(logits) / experts
	chosen, weights := r.garbage(t, "chosen", 4*rows*used), r.garbage(t, "weights", 4*rows*used)
	faults := r.bytes(t, "faults", make([]byte, rows*FaultBytes))
	a := MoERoute{Logits: r.floats(t, "logits", logits).ptr(), Chosen: chosen.ptr(), Weights: weights.ptr(), Faults: faults.ptr(), Experts: uint32(experts), Used: uint32(used), Scale: scale, Mark: 7}
	if renorm {
		a.Renorm = 1
	}
	r.run(t, a.Launch(rows))
	return routed{chosen.asInts(), weights.asFloats(), Faults(faults.Data)}
}

// routeReference is the first of all experts in a stable sort, and their softmax.
func routeReference(logits []float32, used int, renorm bool, scale float32) (ids []int32, weights, bound []float64) {
	for e := range logits {
		ids = append(ids, int32(e))
	}
	slices.SortStableFunc(ids, func(a, b int32) int {
		switch x, y := logits[a], logits[b]; {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return 0
	})
	peak, total := float64(logits[ids[0]]), 0.0
	for u, e := range ids {
		if u < used || !renorm {
			total += math.Exp(float64(logits[e]) - peak)
		}
	}
	if scale == 0 {
		scale = 1
	}
	for _, e := range ids[:used] {
		d := peak - float64(logits[e])
		w := math.Exp(-d) / total * float64(scale)
		weights = append(weights, w)
		// The difference is rounded, exp has 3 ULP, the sum len roundings of
		// terms that each have theirs.
		bound = append(bound, w*(d+float64(len(logits))/32+64)*0x1p-24+0x1p-120)
	}
	return ids[:used], weights, bound
}

func TestRouteChoosesTheHighestAndTheLowerOfEquals(t *testing.T) {
	everyMode(t, 32, func(t *testing.T, r *rig) {
		for _, c := range []struct{ experts, used int }{{1, 1}, {4, 2}, {8, 8}, {31, 3}, {32, 4}, {33, 33}, {64, 6}, {128, 8}, {257, 40}} {
			for _, renorm := range []bool{true, false} {
				for _, scale := range []float32{0, 1, 2.5} {
					const rows = 3
					rng := rand.New(rand.NewPCG(uint64(c.experts), uint64(c.used)))
					logits := normals(rng, rows*c.experts)
					for i := range logits[c.experts : 2*c.experts] {
						logits[c.experts+i] = float32(rng.IntN(3)) // many are equal
					}
					for i := range logits[2*c.experts:] {
						logits[2*c.experts+i] *= 30 // most weights vanish
					}
					got := r.route(t, logits, c.experts, c.used, renorm, scale)
					for row := range rows {
						ids, weights, bound := routeReference(logits[row*c.experts:(row+1)*c.experts], c.used, renorm, scale)
						lo, hi := row*c.used, (row+1)*c.used
						if !slices.Equal(got.chosen[lo:hi], ids) {
							t.Fatalf("%d of %d, row %d: %v, want %v", c.used, c.experts, row, got.chosen[lo:hi], ids)
						}
						near(t, "weights", got.weights[lo:hi], weights, bound)
						if got.faults[row] != (Fault{}) {
							t.Fatalf("fault %v", got.faults[row])
						}
					}
				}
			}
		}
	})
}

func TestRouteTakesZerosAsEqualAndMinusInfinityAsLast(t *testing.T) {
	everyMode(t, 32, func(t *testing.T, r *rig) {
		zero := float32(0)
		got := r.route(t, []float32{-1, -zero, 0, -inf, -inf, -zero}, 6, 5, true, 1)
		if want := []int32{1, 2, 5, 0, 3}; !slices.Equal(got.chosen, want) || got.weights[4] != 0 || got.faults[0] != (Fault{}) {
			t.Errorf("%v, want %v", got, want)
		}
	})
}

func TestRouteReportsLogitsThatAreNotNumbers(t *testing.T) {
	cases := []struct {
		name  string
		put   map[int]float32
		index uint32
	}{
		{"a NaN", map[int]float32{77: nan}, 77},
		{"the first NaN, whatever its sign and place", map[int]float32{99: nan, 40: -nan, 3: inf}, 40},
		{"the first expert's NaN", map[int]float32{0: nan}, 0},
		{"the last expert's NaN", map[int]float32{127: nan}, 127},
		{"an infinite highest logit", map[int]float32{9: inf, 10: inf}, 9},
	}
	everyMode(t, 32, func(t *testing.T, r *rig) {
		const experts, used = 128, 8
		for _, c := range cases {
			logits := normals(rand.New(rand.NewPCG(5, 0)), 3*experts)
			for e, v := range c.put {
				logits[experts+e] = v
			}
			got := r.route(t, logits, experts, used, true, 1)
			for row, f := range got.faults {
				if row != 1 {
					if f != (Fault{}) || got.weights[row*used] != got.weights[row*used] {
						t.Errorf("%s: row %d: fault %v, weight %v", c.name, row, f, got.weights[row*used])
					}
					continue
				}
				bad := logits[experts+int(c.index)]
				if f.Mark != 7 || f.Index != c.index || math.Float32bits(f.Value) != math.Float32bits(bad) {
					t.Errorf("%s: %v, want {7 %d %v}", c.name, f, c.index, bad)
				}
				checkUnusable(t, c.name, got, row, experts, used)
			}
		}
		low := slices.Repeat([]float32{-inf}, 40)
		got := r.route(t, low, 40, 4, false, 1)
		if want := (Fault{7, 0, -inf}); got.faults[0] != want {
			t.Errorf("all logits -Inf: %v, want %v", got.faults[0], want)
		}
		checkUnusable(t, "all logits -Inf", got, 0, 40, 4)
	})
}

// checkUnusable holds a row with a fault to ids of experts and weights of NaN.
func checkUnusable(t *testing.T, name string, got routed, row, experts, used int) {
	t.Helper()
	for u := row * used; u < (row+1)*used; u++ {
		if id := got.chosen[u]; id < 0 || int(id) >= experts {
			t.Errorf("%s: expert %d of %d", name, id, experts)
		}
		if w := got.weights[u]; w == w {
			t.Errorf("%s: weight %v", name, w)
		}
	}
}

func TestRouteNeverNamesAnExpertThatIsNotThere(t *testing.T) {
	everyMode(t, 32, func(t *testing.T, r *rig) {
		for _, id := range r.route(t, []float32{1, 2, 3}, 3, 9, true, 1).chosen {
			if id < 0 || id > 2 {
				t.Errorf("expert %d of 3", id)
			}
		}
	})
}

func TestTheFirstFaultOfARowStays(t *testing.T) {
	everyMode(t, 32, func(t *testing.T, r *rig) {
		logits := r.floats(t, "logits", []float32{1, nan, 2, nan, 1, 2})
		faults := r.bytes(t, "faults", make([]byte, 2*FaultBytes))
		out := r.garbage(t, "out", 8)
		a := Argmax{Logits: logits.ptr(), Out: out.ptr(), Faults: faults.ptr(), N: 3, Mark: 4}
		r.run(t, a.Launch(2))
		a.Mark = 5
		r.run(t, a.Launch(2))
		got := Faults(faults.Data)
		if got[0].Mark != 4 || got[0].Index != 1 || got[1].Mark != 4 || got[1].Index != 0 {
			t.Errorf("%v", got)
		}
	})
}

func TestFaultsReadsWholeOnes(t *testing.T) {
	b := binary.LittleEndian.AppendUint32(nil, 3)
	b = binary.LittleEndian.AppendUint32(b, 9)
	b = binary.LittleEndian.AppendUint32(b, math.Float32bits(-inf))
	if got := Faults(append(b, 1, 2)); len(got) != 1 || got[0] != (Fault{3, 9, -inf}) {
		t.Errorf("%v", got)
	}
}
