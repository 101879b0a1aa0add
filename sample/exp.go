package sample

import "math"

// exp returns e^x for x <= 0, within 1 ulp, and 0 below -708.
//
// It stands in for math.Exp, which has assembly on some platforms and may be
// compiled to fused instructions on others, so that its last bit is not the
// same everywhere; a draw at the edge between two tokens would not be either.
// The conversions around products forbid fusing.
func exp(x float64) float64 {
	const (
		log2e = 1.44269504088896338700e+00
		ln2Hi = 6.93147180369123816490e-01 // 33 bits: k*ln2Hi is exact
		ln2Lo = 1.90821492927058770002e-10
		shift = 0x1.8p52 // adding it rounds to an integer, in the low bits
	)
	if !(x >= -708) {
		return 0
	}
	// e^x = 2^k e^r with |r| <= ln(2)/2.
	k := float64(x*log2e) + shift - shift
	r := x - float64(k*ln2Hi) - float64(k*ln2Lo)
	// Taylor's series to r^13/13!: the rest is below 5e-18. Written out, as a loop
	// over the coefficients takes three times as long.
	p := float64(r*(1.0/6227020800)) + 1.0/479001600
	p = float64(p*r) + 1.0/39916800
	p = float64(p*r) + 1.0/3628800
	p = float64(p*r) + 1.0/362880
	p = float64(p*r) + 1.0/40320
	p = float64(p*r) + 1.0/5040
	p = float64(p*r) + 1.0/720
	p = float64(p*r) + 1.0/120
	p = float64(p*r) + 1.0/24
	p = float64(p*r) + 1.0/6
	p = float64(p*r) + 1.0/2
	p = float64(p*r) + 1
	p = float64(p*r) + 1
	// p is in [0.7, 1.5) and k in [-1021, 0]: the sum is a normal number.
	return math.Float64frombits(math.Float64bits(p) + uint64(int64(k))<<52)
}

// mass returns the sum of e^(x - maxLogit) over logits, in their order.
// Converting a block before summing it takes half the time of doing both at
// once: the conversion merges into a register that the exponential before it
// wrote, which chains the two.
func mass(logits []float32, maxLogit float32) float64 {
	var block [256]float64
	sum := 0.0
	for len(logits) > 0 {
		n := min(len(logits), len(block))
		for i, x := range logits[:n] {
			block[i] = float64(x) - float64(maxLogit)
		}
		for _, x := range block[:n] {
			sum += exp(x)
		}
		logits = logits[n:]
	}
	return sum
}
