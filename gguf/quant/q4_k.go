package quant

import "math"

// A Q4_K block is 256 weights in 8 groups of 32, each on 16 even steps from a
// minimum; the groups' scales and minima are six bits:
//
//	 0  d       half
//	 2  dmin    half
//	 4  scales  12 bytes, see scaleMin
//	16  qs      128 bytes: in each quarter of 64 weights, byte l of 32 holds
//	            weight l in its low nibble and l+32 in its high one
//
//	w = d*scale*q - dmin*minimum

// scaleMin unpacks scale and minimum of group g, 0..63 each, from the twelve
// scale bytes of a Q4_K or Q5_K block. Those of groups 0..3 are the low six bits
// of bytes g and g+4. Those of groups 4..7 have their lower nibbles in byte g+4
// (the scale in the low one) and their upper two bits at the top of bytes g-4
// and g.
func scaleMin(g int, scales *[12]byte) (sc, m uint8) {
	if g < 4 {
		return scales[g] & 63, scales[g+4] & 63
	}
	return scales[g+4]&15 | scales[g-4]>>6<<4, scales[g+4]>>4 | scales[g]>>6<<4
}

func dequantizeQ4K(dst []float32, src []byte) {
	for len(dst) >= 256 {
		b, y := (*[144]byte)(src), (*[256]float32)(dst)
		d, dmin := scale(b[0:]), scale(b[2:])
		for g := 0; g < 8; g += 2 {
			sc, m := scaleMin(g, (*[12]byte)(b[4:]))
			d1, m1 := d*float32(sc), float32(dmin*float32(m))
			sc, m = scaleMin(g+1, (*[12]byte)(b[4:]))
			d2, m2 := d*float32(sc), float32(dmin*float32(m))
			qs, out := (*[32]byte)(b[16+16*g:]), (*[64]float32)(y[32*g:])
			for l, q := range qs {
				out[l] = float32(d1*float32(q&15)) - m1
				out[l+32] = float32(d2*float32(q>>4)) - m2
			}
		}
		dst, src = dst[256:], src[144:]
	}
}

func quantizeQ4K(dst []byte, src []float32) {
	for len(src) >= 256 {
		b := (*[144]byte)(dst)
		var q [256]uint8
		fitBlockK((*[16]byte)(b[:]), &q, (*[256]float32)(src), fitParams{15, -1, 20, false})
		packNibbles((*[128]byte)(b[16:]), &q)
		dst, src = dst[144:], src[256:]
	}
}

// packNibbles packs the lower nibble of each q as Q4_K and Q5_K do.
func packNibbles(qs *[128]byte, q *[256]uint8) {
	for j := range qs {
		l := j/32*64 + j%32
		qs[j] = q[l]&15 | q[l+32]<<4
	}
}

// fitBlockK finds the scales and minima of a Q4_K or Q5_K block, writes them to
// its head, and leaves the steps in q.
func fitBlockK(head *[16]byte, q *[256]uint8, x *[256]float32, p fitParams) {
	var scales, minima [8]float32
	for g := range 8 {
		group := x[32*g : 32*g+32]
		w := weightsK(group)
		scales[g], minima[g] = fitMinimum(q[32*g:32*g+32], group, w[:], p)
	}

	mostScale, mostMin := greatest(scales[:]), greatest(minima[:])
	putScale(head[0:], mostScale/63)
	putScale(head[2:], mostMin/63)
	var invScale, invMin float32
	if mostScale > 0 {
		invScale = 63 / mostScale
	}
	if mostMin > 0 {
		invMin = 63 / mostMin
	}
	packed := (*[12]byte)(head[4:])
	for g := range 8 {
		sc := min(63, uint8(nearest(invScale*scales[g])))
		m := min(63, uint8(nearest(invMin*minima[g])))
		putScaleMin(g, packed, sc, m)
	}

	d, dmin := scale(head[0:]), scale(head[2:])
	for g := range 8 {
		sc, m := scaleMin(g, packed)
		refit(q[32*g:32*g+32], x[32*g:32*g+32], d*float32(sc), float32(dmin*float32(m)), p.steps)
	}
}

// putScaleMin is scaleMin's inverse; groups must be put in ascending order.
func putScaleMin(g int, scales *[12]byte, sc, m uint8) {
	if g < 4 {
		scales[g], scales[g+4] = sc, m
		return
	}
	scales[g+4] = sc&15 | m<<4
	scales[g-4] |= sc >> 4 << 6
	scales[g] |= m >> 4 << 6
}

// weightsK are the weights of a group's errors: magnitude plus root mean square.
func weightsK(x []float32) (w [32]float32) {
	var sum float32
	for _, v := range x {
		sum += float32(v * v)
	}
	rms := float32(math.Sqrt(float64(sum / 32)))
	for l, v := range x {
		w[l] = rms + abs(v)
	}
	return w
}
