package stat

import (
	"math"
	"math/rand/v2"
)

// Permuted is the result of a permutation test.
type Permuted struct {
	Diff  float64 // mean of a minus mean of b
	P     float64 // two-sided
	Exact bool    // every relabelling was counted
	Draws int     // relabellings counted, with the one seen if not Exact
}

// Permutation tests whether the means of a and b differ, by exchanging labels:
// p is the share of relabellings whose means are at least as far apart. All of
// them are counted if they are no more than draws; otherwise draws random ones
// from the seed, and the one seen, so p is never 0. With a or b empty p is 1.
func Permutation(a, b []float64, draws int, seed uint64) Permuted {
	if len(a) == 0 || len(b) == 0 {
		return Permuted{P: 1, Exact: true, Draws: 1}
	}
	all := append(append([]float64(nil), a...), b...)
	var total, sum float64
	for i, x := range all {
		total += x
		if i < len(a) {
			sum += x
		}
	}
	na, nb := float64(len(a)), float64(len(b))
	diff := func(s float64) float64 { return s/na - (total-s)/nb }
	r := Permuted{Diff: diff(sum)}
	// Sums in another order round differently; what is within the rounding is
	// as far apart.
	var scale float64
	for _, x := range all {
		scale = math.Max(scale, math.Abs(x))
	}
	bar := math.Abs(r.Diff) - 1e-12*scale
	far := 0
	if count := choose(len(all), len(a), draws); count <= draws {
		subsetSums(all, len(a), func(s float64) {
			if math.Abs(diff(s)) >= bar {
				far++
			}
		})
		r.P, r.Exact, r.Draws = float64(far)/float64(count), true, count
		return r
	}
	rng := rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15))
	for range draws {
		// The first len(a) places of a shuffle are all that is needed.
		var s float64
		for i := range len(a) {
			j := i + rng.IntN(len(all)-i)
			all[i], all[j] = all[j], all[i]
			s += all[i]
		}
		if math.Abs(diff(s)) >= bar {
			far++
		}
	}
	r.P, r.Draws = float64(far+1)/float64(draws+1), draws+1
	return r
}

// choose is n over k, or some number above limit if it is that.
func choose(n, k, limit int) int {
	k = min(k, n-k)
	c := 1.0
	for i := range k {
		if c = c * float64(n-i) / float64(i+1); c > float64(limit) {
			return limit + 1
		}
	}
	return int(math.Round(c))
}

// subsetSums calls f with the sum of each choice of k of xs.
func subsetSums(xs []float64, k int, f func(float64)) {
	if k == 0 {
		f(0)
		return
	}
	for i := 0; i+k <= len(xs); i++ {
		subsetSums(xs[i+1:], k-1, func(s float64) { f(s + xs[i]) })
	}
}
