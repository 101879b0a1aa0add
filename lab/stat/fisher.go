package stat

import (
	"math"
	"slices"
)

// sameWeight is by how much two tables' chances may differ and count as equally
// likely, as R's fisher.test has it.
const sameWeight = 1 + 1e-7

// FisherExact is the two-sided p of Fisher's exact test that a and b are of one
// rate: the chance, given how many there were in all, of a split that is no more
// likely than the one seen. It is 1 if either has no trials.
func FisherExact(a, b Rate) float64 {
	a.must()
	b.must()
	h := newHypergeometric(a.N, b.N, a.K+b.K)
	seen := h.weight(a.K)
	var as, all float64
	h.each(0, func(_ int, w float64) {
		all += w
		if w <= seen*sameWeight {
			as += w
		}
	})
	return math.Min(1, as/all)
}

// hypergeometric is how many of m hits fall on the first group, of n1 and n2
// trials. Its weights are the chances over the largest of them, so no factorial
// is taken; beyond some 38 standard deviations they are 0.
type hypergeometric struct {
	n1, n2, m    int
	lo, hi, mode int
}

func newHypergeometric(n1, n2, m int) hypergeometric {
	h := hypergeometric{n1: n1, n2: n2, m: m, lo: max(0, m-n2), hi: min(m, n1)}
	mode := int(float64(m+1) * float64(n1+1) / float64(n1+n2+2))
	h.mode = min(max(mode, h.lo), h.hi)
	return h
}

// up is the chance of k+1 over the chance of k.
func (h hypergeometric) up(k int) float64 {
	return float64(h.n1-k) / float64(k+1) * float64(h.m-k) / float64(h.n2-h.m+k+1)
}

func (h hypergeometric) weight(at int) float64 {
	w := 1.0
	for k := h.mode; k < at && w > 0; k++ {
		w *= h.up(k)
	}
	for k := h.mode; k > at && w > 0; k-- {
		w /= h.up(k - 1)
	}
	return w
}

// each calls f for every count whose weight is above least: from the mode up,
// then below the mode down.
func (h hypergeometric) each(least float64, f func(k int, w float64)) {
	w := 1.0
	for k := h.mode; k <= h.hi && w > least; k++ {
		f(k, w)
		w *= h.up(k)
	}
	w = 1.0
	for k := h.mode - 1; k >= h.lo; k-- {
		if w /= h.up(k); w <= least {
			break
		}
		f(k, w)
	}
}

// rejected is where Fisher's test of m hits in all gives a p of alpha or less:
// counts of the first group up to and with lo, and from hi on. As the weights fall
// on both sides of the mode, the counts are taken from the two ends inwards, least
// likely first and equals together, while they are within alpha.
func (h hypergeometric) rejected(alpha float64) (lo, hi int) {
	const least = 1e-20 // less likely counts are beyond any alpha of use
	var weights, below []float64
	var all float64
	h.each(least, func(k int, w float64) {
		if all += w; k < h.mode {
			below = append(below, w)
		} else {
			weights = append(weights, w)
		}
	})
	first := h.mode - len(below)
	slices.Reverse(below)
	weights = append(below, weights...)

	lo, hi = -1, len(weights)
	var sum float64
	for lo+1 < hi {
		bar := math.Min(weights[lo+1], weights[hi-1]) * sameWeight
		l, r := lo, hi
		for l+1 < r && weights[l+1] <= bar {
			l++
			sum += weights[l]
		}
		for r-1 > l && weights[r-1] <= bar {
			r--
			sum += weights[r]
		}
		if sum > alpha*all {
			break
		}
		lo, hi = l, r
	}
	return first + lo, first + hi
}
