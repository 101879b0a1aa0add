package quant

// A Q3_K block is 256 weights in 16 groups of 16, each on an even grid of eight
// steps around zero; the groups' scales are six bits around 32:
//
//	  0  hmask   32 bytes: bit k of byte l is bit 2 of weight 32k+l
//	 32  qs      64 bytes: in each half of 128 weights, byte l of 32 holds the
//	             lower bits of weights l, l+32, l+64, l+96, lowest bits first
//	 96  scales  12 bytes: the lower nibble of scale g in the low nibbles of
//	             bytes 0..7, then the high ones; its upper two bits at bit
//	             2*(g/4) of byte 8 + g%4
//	108  d       half
//
//	w = d * (scale - 32) * (q - 4)

// scaleQ3K is the scale of group g, -32..31, from a block's twelve scale bytes.
func scaleQ3K(g int, scales *[12]byte) int32 {
	return int32(scales[g%8]>>(g/8*4)&15|scales[8+g%4]>>(g/4*2)&3<<4) - 32
}

func dequantizeQ3K(dst []float32, src []byte) {
	for len(dst) >= 256 {
		b, y := (*[110]byte)(src), (*[256]float32)(dst)
		d := scale(b[108:])
		for g := range 16 {
			dl := d * float32(scaleQ3K(g, (*[12]byte)(b[96:])))
			high, bit := (*[16]byte)(b[g%2*16:]), uint(g/2)
			low, shift := (*[16]byte)(b[32+g/8*32+g%2*16:]), uint(g/2%4*2)
			out := (*[16]float32)(y[16*g:])
			for l := range out {
				q := low[l]>>(shift&7)&3 | high[l]>>(bit&7)&1<<2
				out[l] = dl * float32(int32(q)-4)
			}
		}
		dst, src = dst[256:], src[110:]
	}
}

func quantizeQ3K(dst []byte, src []float32) {
	for len(src) >= 256 {
		quantizeBlockQ3K((*[110]byte)(dst), (*[256]float32)(src))
		dst, src = dst[110:], src[256:]
	}
}

func quantizeBlockQ3K(b *[110]byte, x *[256]float32) {
	var q [256]uint8
	var scales [16]float32
	for g := range scales {
		scales[g] = fitEvenByDescent(q[16*g:16*g+16], x[16*g:16*g+16], 4)
	}

	clear(b[:])
	packed := (*[12]byte)(b[96:])
	if top := peak(scales[:]); top != 0 {
		inv := -32 / top // the scale furthest from zero becomes -32
		for g, v := range scales {
			s := byte(max(-32, min(31, int8(nearest(inv*v)))) + 32)
			packed[g%8] |= s & 15 << (g / 8 * 4)
			packed[8+g%4] |= s >> 4 << (g / 4 * 2)
		}
		putScale(b[108:], 1/inv)
	}

	d := scale(b[108:])
	for g := range scales {
		dl := d * float32(scaleQ3K(g, packed))
		if dl == 0 {
			continue
		}
		for l := 16 * g; l < 16*g+16; l++ {
			q[l] = uint8(max(-4, min(3, nearest(x[l]/dl))) + 4)
		}
	}
	for j, v := range q {
		b[j%32] |= v >> 2 << (j / 32)
	}
	packTwoBits((*[64]byte)(b[32:]), &q)
}
