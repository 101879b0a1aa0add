package quant

// An IQ4_NL block is 32 weights on a grid of 16 uneven steps, closer together
// near zero:
//
//	 0  d   half
//	 2  qs  16 bytes: weight j in the low nibble of byte j, j+16 in the high one
//
//	w = d * stepsIQ4[q]

// stepsIQ4 is the grid of IQ4_NL and IQ4_XS.
var stepsIQ4 = [16]float32{-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113}

func dequantizeIQ4NL(dst []float32, src []byte) {
	for len(dst) >= 32 {
		b, y := (*[18]byte)(src), (*[32]float32)(dst)
		dequantizeIQ4(y, scale(b[:]), (*[16]byte)(b[2:]))
		dst, src = dst[32:], src[18:]
	}
}

// dequantizeIQ4 decodes 32 weights of scale d.
func dequantizeIQ4(y *[32]float32, d float32, qs *[16]byte) {
	for j, q := range qs {
		y[j] = d * stepsIQ4[q&15]
		y[j+16] = d * stepsIQ4[q>>4]
	}
}

func quantizeIQ4NL(dst []byte, src []float32) {
	for len(src) >= 32 {
		b, x := (*[18]byte)(dst), (*[32]float32)(src)
		d := fitIQ4(x)
		putScale(b[:], d)
		quantizeIQ4((*[16]byte)(b[2:]), x, inverse(d))
		dst, src = dst[18:], src[32:]
	}
}

// quantizeIQ4 encodes 32 weights, inv being the inverse of their scale.
func quantizeIQ4(qs *[16]byte, x *[32]float32, inv float32) {
	for j := range qs {
		qs[j] = stepIQ4(inv*x[j]) | stepIQ4(inv*x[j+16])<<4
	}
}

// stepIQ4 is the index of the step nearest to v, the higher one of two.
func stepIQ4(v float32) uint8 {
	if v <= stepsIQ4[0] {
		return 0
	}
	lo, hi := uint8(0), uint8(15)
	if v >= stepsIQ4[hi] {
		return hi
	}
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; v < stepsIQ4[mid&15] {
			hi = mid
		} else {
			lo = mid
		}
	}
	if float32(v)-stepsIQ4[lo&15] < stepsIQ4[hi&15]-float32(v) {
		return lo
	}
	return hi
}

// fitIQ4 returns the scale that fits x best in squared error with weights x². The
// candidates put the element furthest from zero at the lower end of the grid, the
// upper end of its mirror image, or up to seven units from there.
func fitIQ4(x *[32]float32) float32 {
	top := peak(x[:])
	if abs(top) < tiny {
		return 0
	}
	try := func(inv float32) (xq, qq float32) {
		for _, v := range x {
			q, w := stepsIQ4[stepIQ4(inv*v)], v*v
			xq += float32(w * q * v)
			qq += float32(w * q * q)
		}
		return xq, qq
	}
	var s float32
	xq, qq := try(1 / (-top / stepsIQ4[0]))
	if qq > 0 {
		s = xq / qq
	}
	gain := s * xq
	for k := float32(-7); k <= 7; k++ {
		if xq, qq := try((k + stepsIQ4[0]) / top); qq > 0 && xq*xq > gain*qq {
			s = xq / qq
			gain = s * xq
		}
	}
	return s
}
