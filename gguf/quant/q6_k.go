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
		// Groups 0, 2, 4, 6 of each half of 128 share the high bits' bytes, as do
		// 1, 3, 5, 7: four weights at a time.
		for pair := range 4 {
			half, part := pair/2, pair%2*16
			sc := (*[7]byte)(b[192+8*half+pair%2:])
			d0, d1 := d*float32(int8(sc[0])), d*float32(int8(sc[2]))
			d2, d3 := d*float32(int8(sc[4])), d*float32(int8(sc[6]))
			low, high := (*[48]byte)(b[64*half+part:]), (*[16]byte)(b[128+32*half+part:])
			out := (*[112]float32)(y[128*half+part:])
			for l, h := range high {
				lo, hi := low[l], low[l+32]
				out[l] = d0 * float32(int32(lo&15|h<<4&48)-32)
				out[l+32] = d1 * float32(int32(hi&15|h<<2&48)-32)
				out[l+64] = d2 * float32(int32(lo>>4|h&48)-32)
				out[l+96] = d3 * float32(int32(hi>>4|h>>2&48)-32)
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
