package quant

import "math"

// The rounding that ggml's bytes depend on, spelled out where C leaves a
// conversion undefined: what x86 does then, on every architecture. Arguments may
// be products, hence float32(f) before a sum (see the package comment).

// nearest rounds to the nearest integer, ties to even, for |f| < 2^22. Beyond,
// the result is a meaningless number from -2^22 to 2^22-1.
func nearest(f float32) int32 {
	const shift = 3 << 22 // at this magnitude a float32 counts in ones
	return int32(math.Float32bits(float32(f)+shift)&(1<<23-1)) - 1<<22
}

// truncate rounds towards zero; what an int32 cannot hold becomes MinInt32.
func truncate(f float32) int32 {
	if f >= math.MinInt32 && f < 1<<31 {
		return int32(f)
	}
	return math.MinInt32
}

// round rounds to the nearest integer, ties away from zero, with truncate's
// range.
func round(f float32) int32 {
	n := truncate(f)
	if n == math.MinInt32 {
		return n
	}
	switch rest := float32(f) - float32(n); {
	case rest >= 0.5:
		n++
	case rest <= -0.5:
		n--
	}
	return n
}

// inverse is 1/d, and 0 for 0.
func inverse(d float32) float32 {
	if d == 0 {
		return 0
	}
	return 1 / d
}

func abs(f float32) float32 { return math.Float32frombits(math.Float32bits(f) &^ (1 << 31)) }

// peak is the first element furthest from zero, with its sign; 0 if there is none.
func peak(x []float32) float32 {
	var top, most float32
	for _, v := range x {
		if a := abs(v); a > most {
			top, most = v, a
		}
	}
	return top
}

// bounds are the least and the greatest element.
func bounds(x []float32) (low, high float32) {
	low, high = math.MaxFloat32, -math.MaxFloat32
	for _, v := range x {
		if v < low {
			low = v
		}
		if v > high {
			high = v
		}
	}
	return low, high
}
