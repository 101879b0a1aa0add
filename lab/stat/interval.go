package stat

import "math"

// Z is the two-sided quantile of the normal distribution: the share conf of it
// lies between -Z and Z.
func Z(conf float64) float64 {
	mustProbability("confidence", conf)
	return math.Sqrt2 * math.Erfinv(conf)
}

// Wilson is the score interval of a rate (Wilson 1927), without correction for
// continuity. Over all true rates its coverage is near conf on average, and may
// be a few points under it at single ones.
func (r Rate) Wilson(conf float64) Interval {
	r.must()
	z := Z(conf)
	if r.N == 0 {
		return Interval{0, 1}
	}
	n, p := float64(r.N), r.Value()
	mid := p + z*z/(2*n)
	half := z * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	w := Interval{(mid - half) / (1 + z*z/n), (mid + half) / (1 + z*z/n)}
	// At the ends the formula gives 0 and 1 but for rounding.
	if r.K == 0 {
		w.Lo = 0
	}
	if r.K == r.N {
		w.Hi = 1
	}
	return w
}

// ClopperPearson is the exact interval of a rate (Clopper and Pearson 1934): each
// side leaves at most (1-conf)/2. Its coverage is never under conf.
func (r Rate) ClopperPearson(conf float64) Interval {
	mustProbability("confidence", conf)
	return Interval{r.lowest((1 - conf) / 2), r.highest((1 - conf) / 2)}
}

// Upper is the largest rate that the counts do not exclude at the confidence,
// one-sided: a larger one would give K or fewer with a chance below 1-conf. With
// no fault in 14 trials it is 0.193 at 0.95.
func (r Rate) Upper(conf float64) float64 {
	mustProbability("confidence", conf)
	return r.highest(1 - conf)
}

// Lower is the smallest rate that the counts do not exclude at the confidence,
// one-sided.
func (r Rate) Lower(conf float64) float64 {
	mustProbability("confidence", conf)
	return r.lowest(1 - conf)
}

// highest is the rate at which K or fewer have the chance tail.
func (r Rate) highest(tail float64) float64 {
	r.must()
	switch r.K {
	case r.N: // and of no trials
		return 1
	case 0:
		return -math.Expm1(math.Log(tail) / float64(r.N))
	}
	return root(r.Value(), 1, func(p float64) float64 { return binomialCDF(r.K, r.N, p) - tail })
}

// lowest is the rate at which K or more have the chance tail.
func (r Rate) lowest(tail float64) float64 {
	r.must()
	switch r.K {
	case 0:
		return 0
	case r.N:
		return math.Exp(math.Log(tail) / float64(r.N))
	}
	// The misses are N-K or fewer, so it is the highest rate of misses.
	return root(0, r.Value(), func(p float64) float64 { return tail - atLeast(r.K, r.N, p) })
}

// atLeast is the chance of k or more in n trials of probability p.
func atLeast(k, n int, p float64) float64 { return binomialCDF(n-k, n, 1-p) }

// RuleOfThree is 3/n, the customary bound at 95 % for a rate that showed nothing
// in n trials, at most 1. It lies above the exact bound, Upper, from n = 1 on.
func RuleOfThree(n int) float64 {
	Rate{0, n}.must()
	return math.Min(1, 3/float64(n))
}

// RiskDifference is a's rate minus b's, with Newcombe's interval from the two
// Wilson intervals (Newcombe 1998, method 10), an approximation that stays
// within [-1, 1] and has a width at 0 of n.
func RiskDifference(a, b Rate, conf float64) (diff float64, within Interval) {
	wa, wb := a.Wilson(conf), b.Wilson(conf)
	if a.N == 0 || b.N == 0 {
		return a.Value() - b.Value(), Interval{-1, 1}
	}
	pa, pb := a.Value(), b.Value()
	return pa - pb, Interval{
		Lo: pa - pb - math.Hypot(pa-wa.Lo, wb.Hi-pb),
		Hi: pa - pb + math.Hypot(wa.Hi-pa, pb-wb.Lo),
	}
}
