package quant

// A Q5_K block is 256 weights in 8 groups of 32, each on 32 even steps from a
// minimum; the groups' scales and minima are six bits:
//
//	 0  d       half
//	 2  dmin    half
//	 4  scales  12 bytes, see scaleMin
//	16  qh      32 bytes: bit g of byte l is bit 4 of weight 32g+l
//	48  qs      128 bytes: in each quarter of 64 weights, byte l of 32 holds
//	            weight l in its low nibble and l+32 in its high one
//
//	w = d*scale*q - dmin*minimum

func dequantizeQ5K(dst []float32, src []byte) {
	for len(dst) >= 256 {
		b, y := (*[176]byte)(src), (*[256]float32)(dst)
		d, dmin := scale(b[0:]), scale(b[2:])
		qh := (*[32]byte)(b[16:])
		for g := 0; g < 8; g += 2 {
			sc, m := scaleMin(g, (*[12]byte)(b[4:]))
			d1, m1 := d*float32(sc), float32(dmin*float32(m))
			sc, m = scaleMin(g+1, (*[12]byte)(b[4:]))
			d2, m2 := d*float32(sc), float32(dmin*float32(m))
			qs, out := (*[32]byte)(b[48+16*g:]), (*[64]float32)(y[32*g:])
			for l, q := range qs {
				h := qh[l] >> (uint(g) & 7)
				out[l] = float32(d1*float32(q&15|h<<4&16)) - m1
				out[l+32] = float32(d2*float32(q>>4|h<<3&16)) - m2
			}
		}
		dst, src = dst[256:], src[176:]
	}
}

func quantizeQ5K(dst []byte, src []float32) {
	for len(src) >= 256 {
		b := (*[176]byte)(dst)
		var q [256]uint8
		fitBlockK((*[16]byte)(b[:]), &q, (*[256]float32)(src), fitParams{31, -0.5, 15, false})
		clear(b[16:48])
		for j, v := range q {
			b[16+j%32] |= v >> 4 << (j / 32)
		}
		packNibbles((*[128]byte)(b[48:]), &q)
		dst, src = dst[176:], src[256:]
	}
}
