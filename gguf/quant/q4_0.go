package quant

// A Q4_0 block is 32 weights on an even grid of 16 steps around zero:
//
//	 0  d   half
//	 2  qs  16 bytes: weight j in the low nibble of byte j, j+16 in the high one
//
//	w = d * (q - 8)

func dequantizeQ4_0(dst []float32, src []byte) {
	for len(dst) >= 32 {
		b, y := (*[18]byte)(src), (*[32]float32)(dst)
		d := scale(b[:])
		for j := range 16 {
			q := b[2+j]
			y[j] = float32(int32(q&15)-8) * d
			y[j+16] = float32(int32(q>>4)-8) * d
		}
		dst, src = dst[32:], src[18:]
	}
}

func quantizeQ4_0(dst []byte, src []float32) {
	for len(src) >= 32 {
		b, x := (*[18]byte)(dst), (*[32]float32)(src)
		d := peak(x[:]) / -8 // the element furthest from zero lies on step 0
		id := inverse(d)
		putScale(b[:], d)
		for j := range 16 {
			lo := min(15, uint8(truncate(float32(x[j]*id)+8.5)))
			hi := min(15, uint8(truncate(float32(x[j+16]*id)+8.5)))
			b[2+j] = lo | hi<<4
		}
		dst, src = dst[18:], src[32:]
	}
}
