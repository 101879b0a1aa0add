package quant

// A Q8_1 block is 32 activations as signed bytes, with their sum for products
// with weights that have a minimum:
//
//	 0  d   half
//	 2  s   half: d * (sum of qs)
//	 4  qs  32 signed bytes
//
//	x = d * q

func dequantizeQ8_1(dst []float32, src []byte) {
	for len(dst) >= 32 {
		b, y := (*[36]byte)(src), (*[32]float32)(dst)
		d := scale(b[:])
		for j := range y {
			y[j] = float32(int8(b[4+j])) * d
		}
		dst, src = dst[32:], src[36:]
	}
}

func quantizeQ8_1(dst []byte, src []float32) {
	for len(src) >= 32 {
		b, x := (*[36]byte)(dst), (*[32]float32)(src)
		d := abs(peak(x[:])) / 127
		id := inverse(d)
		var sum int32
		for j, v := range x {
			q := int8(round(v * id))
			b[4+j] = byte(q)
			sum += int32(q)
		}
		putScale(b[0:], d)
		putScale(b[2:], float32(sum)*d)
		dst, src = dst[36:], src[32:]
	}
}
