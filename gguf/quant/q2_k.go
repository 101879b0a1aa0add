package quant

// A Q2_K block is 256 weights in 16 groups of 16, each on four even steps from
// a minimum; the groups' scales and minima are nibbles:
//
//	 0  scales  16 bytes: scale in the low nibble, minimum in the high one
//	16  qs      64 bytes: in each half of 128 weights, byte l of 32 holds the
//	            weights l, l+32, l+64, l+96, lowest bits first
//	80  d       half
//	82  dmin    half
//
//	w = d*scale*q - dmin*minimum

func dequantizeQ2K(dst []float32, src []byte) {
	for len(dst) >= 256 {
		b, y := (*[84]byte)(src), (*[256]float32)(dst)
		d, dmin := scale(b[80:]), scale(b[82:])
		for g := range 16 {
			s := b[g]
			dl, ml := d*float32(s&15), float32(dmin*float32(s>>4))
			q, shift := (*[16]byte)(b[16+g/8*32+g%2*16:]), uint(g/2%4*2)
			out := (*[16]float32)(y[16*g:])
			for l := range out {
				out[l] = float32(dl*float32(q[l]>>(shift&7)&3)) - ml
			}
		}
		dst, src = dst[256:], src[84:]
	}
}

func quantizeQ2K(dst []byte, src []float32) {
	for len(src) >= 256 {
		quantizeBlockQ2K((*[84]byte)(dst), (*[256]float32)(src))
		dst, src = dst[84:], src[256:]
	}
}

func quantizeBlockQ2K(b *[84]byte, x *[256]float32) {
	var q [256]uint8
	var scales, minima [16]float32
	for g := range 16 {
		group := x[16*g : 16*g+16]
		var w [16]float32
		for l, v := range group {
			w[l] = abs(v)
		}
		scales[g], minima[g] = fitMinimum(q[16*g:16*g+16], group, w[:], fitParams{3, -0.5, 15, true})
	}

	clear(b[:16])
	pack := func(d []byte, values *[16]float32, shift int) {
		most := greatest(values[:])
		if most > 0 {
			inv := 15 / most
			for g, v := range values {
				b[g] |= byte(nearest(inv*v) << shift)
			}
		}
		putScale(d, most/15)
	}
	pack(b[80:], &scales, 0)
	pack(b[82:], &minima, 4)

	d, dmin := scale(b[80:]), scale(b[82:])
	for g := range 16 {
		refit(q[16*g:16*g+16], x[16*g:16*g+16], d*float32(b[g]&15), float32(dmin*float32(b[g]>>4)), 3)
	}
	packTwoBits((*[64]byte)(b[16:]), &q)
}

// greatest is the greatest element, or 0 if none is above it.
func greatest(x []float32) (most float32) {
	for _, v := range x {
		if v > most {
			most = v
		}
	}
	return most
}

// refit chooses the steps again, 0..steps, now that the group's scale and
// minimum are known as stored. Where the scale became zero they stay.
func refit(q []uint8, x []float32, d, m float32, steps int32) {
	if d == 0 {
		return
	}
	for l, v := range x {
		q[l] = uint8(max(0, min(steps, nearest((v+m)/d))))
	}
}

// packTwoBits packs the lowest two bits of each q as Q2_K and Q3_K do.
func packTwoBits(qs *[64]byte, q *[256]uint8) {
	for half := range 2 {
		in, out := q[128*half:128*half+128], qs[32*half:32*half+32]
		for l := range out {
			out[l] = in[l]&3 | in[l+32]&3<<2 | in[l+64]&3<<4 | in[l+96]<<6
		}
	}
}
