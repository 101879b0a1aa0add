package cpu

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"testing"
)

func TestRoute(t *testing.T) {
	inf := float32(math.Inf(1))
	nan := float32(math.NaN())
	for _, c := range []struct {
		name   string
		logits []float32
		used   int
		want   []int32
		err    string
	}{
		{name: "the highest come first", logits: []float32{1, 3, 2, 0}, used: 2, want: []int32{1, 2}},
		{name: "ties go to the lower id", logits: []float32{5, 7, 7, 5, 7}, used: 4, want: []int32{1, 2, 4, 0}},
		{name: "all equal", logits: make([]float32, 6), used: 3, want: []int32{0, 1, 2}},
		{name: "all experts used", logits: []float32{-1, -3, -2}, used: 3, want: []int32{0, 2, 1}},
		{name: "minus infinity is never chosen before a number", logits: []float32{-inf, 4, -inf, -9}, used: 2, want: []int32{1, 3}},
		{name: "huge logits do not overflow", logits: []float32{3e38, -3e38, 2e38}, used: 1, want: []int32{0}},
		{name: "NaN is an error that names the expert", logits: []float32{1, 2, nan, 4}, used: 2, err: "expert 2 is NaN"},
		{name: "infinity is an error", logits: []float32{1, inf}, used: 1, err: "+Inf"},
		{name: "nothing but minus infinity is an error", logits: []float32{-inf, -inf}, used: 1, err: "-Inf"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ids, weights := make([]int32, c.used), make([]float32, c.used)
			for i := range ids {
				ids[i] = -1
			}
			err := route(ids, weights, c.logits, true, 0)
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Fatalf("error %v, want one with %q", err, c.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(ids, c.want) {
				t.Errorf("experts %v, want %v", ids, c.want)
			}
			sum := 0.0
			for _, w := range weights {
				sum += float64(w)
			}
			if math.Abs(sum-1) > 1e-6 {
				t.Errorf("renormalised weights sum to %v", sum)
			}
		})
	}
}

// TestRouteIsASort compares with a stable sort by descending logit, for
// logits with many ties.
func TestRouteIsASort(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		n := 1 + r.IntN(40)
		used := 1 + r.IntN(n)
		logits := make([]float32, n)
		order := make([]int32, n)
		for i := range logits {
			logits[i] = float32(r.IntN(7) - 3)
			order[i] = int32(i)
		}
		sort.SliceStable(order, func(a, b int) bool { return logits[order[a]] > logits[order[b]] })
		ids, weights := make([]int32, used), make([]float32, used)
		if err := route(ids, weights, logits, false, 1); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(ids, order[:used]) {
			t.Fatalf("logits %v: experts %v, want %v", logits, ids, order[:used])
		}
		sum := 0.0
		for _, v := range logits {
			sum += math.Exp(float64(v))
		}
		for u, e := range ids {
			if want := math.Exp(float64(logits[e])) / sum; math.Abs(float64(weights[u])-want) > 1e-6 {
				t.Fatalf("weight of expert %d is %v, want %v", e, weights[u], want)
			}
		}
	}
}

func TestGroupsListPairsByExpert(t *testing.T) {
	ids := []int32{2, 0, 2, 1, 0, 2}
	g := groupsIn(make([]byte, 4*(4+1+len(ids))), 4)
	g.fill(ids, 4)
	if want := []int32{0, 2, 3, 6, 6}; !slices.Equal(g.start, want) {
		t.Errorf("starts %v, want %v", g.start, want)
	}
	if want := []int32{1, 4, 3, 0, 2, 5}; !slices.Equal(g.order, want) {
		t.Errorf("order %v, want %v", g.order, want)
	}
}
