package quant

// A Q8_0 block is 32 weights, or activations, as signed bytes:
//
//	 0  d   half
//	 2  qs  32 signed bytes
//
//	w = d * q

func dequantizeQ8_0(dst []float32, src []byte) {
	for len(dst) >= 32 {
		b, y := (*[34]byte)(src), (*[32]float32)(dst)
		d := scale(b[:])
		for j := range y {
			y[j] = float32(int8(b[2+j])) * d
		}
		dst, src = dst[32:], src[34:]
	}
}

func quantizeQ8_0(dst []byte, src []float32) {
	for len(src) >= 32 {
		b, x := (*[34]byte)(dst), (*[32]float32)(src)
		d := abs(peak(x[:])) / 127
		id := inverse(d)
		putScale(b[:], d)
		for j, v := range x {
			b[2+j] = byte(round(v * id))
		}
		dst, src = dst[34:], src[32:]
	}
}
