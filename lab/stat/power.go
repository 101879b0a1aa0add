package stat

import (
	"fmt"
	"math"
	"slices"
)

// MaxTrials bounds the searches for a number of trials.
const MaxTrials = 1_000_000

// The search for two rates sums over all pairs of likely counts at every step. It
// is bounded in trials, and in the variance of a count, which says how many counts
// are likely: together some ten seconds.
const (
	maxBetween  = 50_000
	maxVariance = 2000
)

// TrialsToExclude is the least number of trials that excludes a rate at the
// confidence, one-sided, if no more than faults of them are faults: with them
// the chance of so few at that rate is at most 1-conf. It is also how many trials
// show more than faults faults at that rate with the chance conf. The error says
// that it is more than MaxTrials.
func TrialsToExclude(rate, conf float64, faults int) (int, error) {
	mustProbability("rate", rate)
	mustProbability("confidence", conf)
	// The exact boundary, 0.5^1 against 1-0.5, must not be lost to rounding.
	enough := func(n int) bool { return binomialCDF(faults, n, rate) <= (1-conf)*(1+1e-12) }
	if !enough(MaxTrials) {
		return 0, fmt.Errorf("stat: more than %d trials are needed to exclude a rate of %v at confidence %v", MaxTrials, rate, conf)
	}
	lo, hi := faults, MaxTrials // not enough, enough
	for hi-lo > 1 {
		if mid := lo + (hi-lo)/2; enough(mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi, nil
}

// FisherPower is the chance that Fisher's exact test, two-sided, of n1 trials at
// rate p1 against n2 at p2 gives a p of alpha or less. It is summed over all
// pairs of counts, but for those that are less likely than 1e-18.
func FisherPower(p1, p2 float64, n1, n2 int, alpha float64) float64 {
	mustProbability("alpha", alpha)
	if !(p1 >= 0 && p1 <= 1 && p2 >= 0 && p2 <= 1) {
		panic(fmt.Sprintf("stat: rates %v and %v are not from 0 to 1", p1, p2))
	}
	Rate{0, n1}.must()
	Rate{0, n2}.must()
	from1, f1 := likely(n1, p1)
	from2, f2 := likely(n2, p2)
	var power float64
	for m := from1 + from2; m < from1+len(f1)+from2+len(f2)-1; m++ {
		h := newHypergeometric(n1, n2, m)
		lo, hi := h.rejected(alpha)
		for k := max(from1, m-from2-len(f2)+1); k <= min(from1+len(f1)-1, m-from2); k++ {
			if k <= lo || k >= hi {
				power += f1[k-from1] * f2[m-k-from2]
			}
		}
	}
	return math.Min(1, power)
}

// likely are the counts, from the first on, that have a chance worth summing.
func likely(n int, p float64) (from int, chances []float64) {
	const least = 1e-18
	mode := min(int(float64(n+1)*p), n)
	from = mode
	for from > 0 && binomialPMF(from-1, n, p) > least {
		from--
	}
	for k := from; k <= n; k++ {
		c := binomialPMF(k, n, p)
		if k > mode && c <= least {
			break
		}
		chances = append(chances, c)
	}
	return from, chances
}

// TrialsBetween is the least number of trials for each of two arms with which
// Fisher's exact test tells the rates p1 and p2 apart at level alpha, two-sided,
// with at least the given power. As counts are whole numbers, a few more trials
// may have a little less power again. The error says that the rates are the same,
// or so close that the exact sum would take too long, with an approximate number.
func TrialsBetween(p1, p2, alpha, power float64) (int, error) {
	mustProbability("alpha", alpha)
	mustProbability("power", power)
	if p1 == p2 {
		return 0, fmt.Errorf("stat: the rates are both %v: nothing to tell apart", p1)
	}
	guess := normalTrials(p1, p2, alpha, power)
	mean := (p1 + p2) / 2
	if guess > maxBetween || guess*mean*(1-mean) > maxVariance {
		return 0, fmt.Errorf("stat: to tell %v from %v takes about %.0f trials in each arm by the normal approximation: too many to sum exactly", p1, p2, guess)
	}
	at := func(n int) float64 { return FisherPower(p1, p2, n, n, alpha) }
	lo, hi := 0, 1+int(guess)
	for at(hi) < power {
		lo, hi = hi, 2*hi
	}
	for hi-lo > 1 {
		if mid := lo + (hi-lo)/2; at(mid) < power {
			lo = mid
		} else {
			hi = mid
		}
	}
	// The power rises with n in a saw's teeth: it falls where the test's bound
	// moves by a count, by no more than the chance of a count. So the search goes
	// on down while a tooth could reach.
	for n := lo; n > 0; n-- {
		pn := at(n)
		if pn >= power {
			hi = n
		}
		_, f1 := likely(n, p1)
		_, f2 := likely(n, p2)
		if pn+math.Min(slices.Max(f1), slices.Max(f2)) < power {
			break
		}
	}
	return hi, nil
}

// normalTrials is the textbook number of trials for each arm by the normal
// approximation, without correction for continuity.
func normalTrials(p1, p2, alpha, power float64) float64 {
	mean, d := (p1+p2)/2, p1-p2
	za, zb := Z(1-alpha), math.Sqrt2*math.Erfinv(2*power-1)
	s := za*math.Sqrt(2*mean*(1-mean)) + zb*math.Sqrt(p1*(1-p1)+p2*(1-p2))
	return s * s / (d * d)
}
