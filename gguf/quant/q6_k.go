package quant

// A Q6_K block is 256 weights in 16 groups of 16, each on an even grid of 64
// steps around zero; the groups' scales are signed bytes:
//
//	  0  ql      128 bytes: in each half of 128 weights, byte l of 64 holds the
//	             lower nibble of weight l in its low one and of l+64 in its high one
//	128  qh      64 bytes: in each half of 128 weights, byte l of 32 holds the
//	             upper bits of weights l, l+32, l+64, l+96, lowest bits first
//	192  scales  16 signed bytes
//	208  d       half
//
//	w = d * scale * (q - 32)

func dequantizeQ6K(dst []float32, src []byte) {
	for len(dst) >= 256 {
		b, y := (*[210]byte)(src), (*[256]float32)(dst)
		d := scale(b[208:])
		for g := range 16 {
			dl := d * float32(int8(b[192+g]))
			// Within a half of 128: which 32 of its weights, and which 16 of those.
			half, quarter, part := g/8, g/2%4, g%2*16
			low, lowShift := (*[16]byte)(b[64*half+quarter%2*32+part:]), quarter/2*4
			high, highShift := (*[16]byte)(b[128+32*half+part:]), quarter*2
			out := (*[16]float32)(y[16*g:])
			for l := range out {
				q := low[l]>>lowShift&15 | high[l]>>highShift&3<<4
				out[l] = dl * float32(int32(q)-32)
			}
		}
		dst, src = dst[256:], src[210:]
	}
}

func quantizeQ6K(dst []byte, src []float32) {
	for len(src) >= 256 {
		quantizeBlockQ6K((*[210]byte)(dst), (*[256]float32)(src))
		dst, src = dst[210:], src[256:]
	}
}

func quantizeBlockQ6K(b *[210]byte, x *[256]float32) {
	var q [256]uint8
	var scales [16]float32
	for g := range scales {
		scales[g] = fitEven(q[16*g:16*g+16], x[16*g:16*g+16], 32)
	}

	clear(b[:])
	top := peak(scales[:])
	if abs(top) < tiny {
		return
	}
	inv := -128 / top // the scale furthest from zero becomes -128
	putScale(b[208:], 1/inv)
	d := scale(b[208:])
	for g, v := range scales {
		s := int8(min(127, nearest(inv*v)))
		b[192+g] = byte(s)
		dl := d * float32(s)
		if dl == 0 {
			continue
		}
		for l := 16 * g; l < 16*g+16; l++ {
			q[l] = uint8(max(-32, min(31, nearest(x[l]/dl))) + 32)
		}
	}
	for j, v := range q {
		half, quarter, l := j/128, j/32%4, j%32
		b[64*half+quarter%2*32+l] |= v & 15 << (quarter / 2 * 4)
		b[128+32*half+l] |= v >> 4 << (quarter * 2)
	}
}
