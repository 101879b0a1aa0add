package stat

import (
	"math"
	"sort"
)

// Holm are the p-values adjusted for being many (Holm 1979): an adjusted value
// of alpha or less keeps the chance of any false claim at alpha. The order is
// that of ps, which is not changed. A NaN, of a test that was not made, stays
// and is not counted.
func Holm(ps []float64) []float64 {
	var order []int
	adjusted := make([]float64, len(ps))
	for i, p := range ps {
		if adjusted[i] = p; !math.IsNaN(p) {
			order = append(order, i)
		}
	}
	sort.SliceStable(order, func(i, j int) bool { return ps[order[i]] < ps[order[j]] })
	var least float64
	for i, at := range order {
		least = math.Max(least, math.Min(1, float64(len(order)-i)*ps[at]))
		adjusted[at] = least
	}
	return adjusted
}
