package stat

import "math"

// logFactorialError is ln n! minus Stirling's n ln n - n + ln(2 pi n)/2: what
// the formula leaves out. From 16 on, four terms of its series are exact to the
// last bits of a float64; n > 0.
func logFactorialError(n float64) float64 {
	if n < 16 {
		lg, _ := math.Lgamma(n + 1)
		return lg - (n*math.Log(n) - n + 0.5*math.Log(2*math.Pi*n))
	}
	s := n * n
	return (1./12 - (1./360-(1./1260-1./(1680*s))/s)/s) / n
}

// deviance is x ln(x/m) + m - x for x and m above 0. Near x = m the three terms
// cancel, so there it is summed as a series in (x-m)/(x+m).
func deviance(x, m float64) float64 {
	if math.Abs(x-m) > 0.1*(x+m) {
		return x*math.Log(x/m) + m - x
	}
	// With v = (x-m)/(x+m), ln(x/m) is 2(v + v^3/3 + v^5/5 + ...), and
	// x*2v - (x-m) is (x-m)*v.
	v := (x - m) / (x + m)
	sum, term := (x-m)*v, 2*x*v
	for i := 3.; ; i += 2 {
		term *= v * v
		next := sum + term/i
		if next == sum {
			return sum
		}
		sum = next
	}
}

// binomialPMF is the chance of exactly k in n trials of probability p. It is
// written with the deviances of k and n-k rather than with factorials, which
// would lose a digit for each digit of n.
func binomialPMF(k, n int, p float64) float64 {
	switch {
	case k < 0 || k > n:
		return 0
	case p <= 0:
		return indicator(k == 0)
	case p >= 1:
		return indicator(k == n)
	case k == 0:
		return math.Exp(float64(n) * math.Log1p(-p))
	case k == n:
		return math.Exp(float64(n) * math.Log(p))
	}
	x, m, y := float64(k), float64(n), float64(n-k)
	l := logFactorialError(m) - logFactorialError(x) - logFactorialError(y) - deviance(x, m*p) - deviance(y, m*(1-p))
	return math.Exp(l) * math.Sqrt(m/(2*math.Pi*x*y))
}

func indicator(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// binomialCDF is the chance of k or fewer in n trials of probability p.
func binomialCDF(k, n int, p float64) float64 {
	switch {
	case k < 0:
		return 0
	case k >= n:
		return 1
	case p <= 0:
		return 1
	case p >= 1:
		return 0
	case float64(k) < float64(n)*p:
		return lowerTail(k, n, p)
	}
	// The upper tail is the lower one with hits and misses exchanged.
	return 1 - lowerTail(n-k-1, n, 1-p)
}

// lowerTail sums the chances of k, k-1, ... until they no longer matter; k is
// not above the mode, so they fall all the way.
func lowerTail(k, n int, p float64) float64 {
	term := binomialPMF(k, n, p)
	sum := term
	odds := (1 - p) / p
	for i := k; i > 0; i-- {
		term *= float64(i) / float64(n-i+1) * odds
		if term < sum*1e-17 {
			break
		}
		sum += term
	}
	return math.Min(sum, 1)
}

// root is where f, which does not rise from lo to hi, passes from above 0 to not
// above 0. It halves until neighbouring float64s are left.
func root(lo, hi float64, f func(float64) float64) float64 {
	for {
		mid := lo + (hi-lo)/2
		if mid <= lo || mid >= hi {
			return mid
		}
		if f(mid) > 0 {
			lo = mid
		} else {
			hi = mid
		}
	}
}
