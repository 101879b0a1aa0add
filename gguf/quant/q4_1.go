package quant

// A Q4_1 block is 32 weights on 16 even steps from a minimum:
//
//	 0  d   half
//	 2  m   half
//	 4  qs  16 bytes: weight j in the low nibble of byte j, j+16 in the high one
//
//	w = d*q + m

func dequantizeQ4_1(dst []float32, src []byte) {
	for len(dst) >= 32 {
		b, y := (*[20]byte)(src), (*[32]float32)(dst)
		d, m := scale(b[0:]), scale(b[2:])
		for j := range 16 {
			q := b[4+j]
			y[j] = float32(float32(q&15)*d) + m
			y[j+16] = float32(float32(q>>4)*d) + m
		}
		dst, src = dst[32:], src[20:]
	}
}

func quantizeQ4_1(dst []byte, src []float32) {
	for len(src) >= 32 {
		b, x := (*[20]byte)(dst), (*[32]float32)(src)
		low, high := bounds(x[:])
		d := (high - low) / 15
		id := inverse(d)
		putScale(b[0:], d)
		putScale(b[2:], low)
		for j := range 16 {
			lo := min(15, uint8(truncate(float32((x[j]-low)*id)+0.5)))
			hi := min(15, uint8(truncate(float32((x[j+16]-low)*id)+0.5)))
			b[4+j] = lo | hi<<4
		}
		dst, src = dst[20:], src[32:]
	}
}
