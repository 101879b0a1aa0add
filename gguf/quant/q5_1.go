package quant

import "encoding/binary"

// A Q5_1 block is 32 weights on 32 even steps from a minimum:
//
//	 0  d   half
//	 2  m   half
//	 4  qh  32 bits: bit 4 of weight j is bit j
//	 8  qs  16 bytes: weight j in the low nibble of byte j, j+16 in the high one
//
//	w = d*q + m

func dequantizeQ5_1(dst []float32, src []byte) {
	for len(dst) >= 32 {
		b, y := (*[24]byte)(src), (*[32]float32)(dst)
		d, m, qh := scale(b[0:]), scale(b[2:]), binary.LittleEndian.Uint32(b[4:])
		for j := range 16 {
			lo := uint32(b[8+j])&15 | qh>>j<<4&16
			hi := uint32(b[8+j])>>4 | qh>>(j+12)&16
			y[j] = float32(float32(int32(lo))*d) + m
			y[j+16] = float32(float32(int32(hi))*d) + m
		}
		dst, src = dst[32:], src[24:]
	}
}

func quantizeQ5_1(dst []byte, src []float32) {
	for len(src) >= 32 {
		b, x := (*[24]byte)(dst), (*[32]float32)(src)
		low, high := bounds(x[:])
		d := (high - low) / 31
		id := inverse(d)
		putScale(b[0:], d)
		putScale(b[2:], low)
		var qh uint32
		for j := range 16 {
			lo := uint8(truncate(float32((x[j]-low)*id) + 0.5))
			hi := uint8(truncate(float32((x[j+16]-low)*id) + 0.5))
			b[8+j] = lo&15 | hi<<4
			qh |= uint32(lo>>4&1)<<j | uint32(hi>>4&1)<<(j+16)
		}
		binary.LittleEndian.PutUint32(b[4:], qh)
		dst, src = dst[24:], src[32:]
	}
}
