// Package stat is the statistics of fault rates: intervals for a rate, tests of
// two rates, and the number of trials that a claim takes. Everything is computed
// from the binomial and hypergeometric distributions themselves; the score
// intervals, which are approximations by construction, say so.
//
// A count of nothing is an answer too: with no trials every rate is possible, so
// the intervals are [0, 1] and the tests return 1.
//
// Counts that cannot be (K below 0 or above N) and confidences outside of (0, 1)
// are mistakes of the calling program, and panic.
package stat

import "fmt"

// Rate is an outcome counted K times in N trials.
type Rate struct{ K, N int }

// String is "K/N".
func (r Rate) String() string { return fmt.Sprintf("%d/%d", r.K, r.N) }

// Value is K/N, or 0 with no trials.
func (r Rate) Value() float64 {
	r.must()
	if r.N == 0 {
		return 0
	}
	return float64(r.K) / float64(r.N)
}

func (r Rate) must() {
	if r.K < 0 || r.N < r.K {
		panic(fmt.Sprintf("stat: %d of %d is not a rate", r.K, r.N))
	}
}

// Interval is the closed range of the values that the data do not exclude.
type Interval struct{ Lo, Hi float64 }

// Contains reports whether x is within the interval.
func (i Interval) Contains(x float64) bool { return i.Lo <= x && x <= i.Hi }

func mustProbability(what string, x float64) {
	if !(x > 0 && x < 1) {
		panic(fmt.Sprintf("stat: %s %v is not between 0 and 1", what, x))
	}
}
