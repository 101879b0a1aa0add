package quant

import "encoding/binary"

// A Q5_0 block is 32 weights on an even grid of 32 steps around zero:
//
//	 0  d   half
//	 2  qh  32 bits: bit 4 of weight j is bit j
//	 6  qs  16 bytes: weight j in the low nibble of byte j, j+16 in the high one
//
//	w = d * (q - 16)

func dequantizeQ5_0(dst []float32, src []byte) {
	for len(dst) >= 32 {
		b, y := (*[22]byte)(src), (*[32]float32)(dst)
		d, qh := scale(b[:]), binary.LittleEndian.Uint32(b[2:])
		for j := range 16 {
			lo := uint32(b[6+j])&15 | qh>>j<<4&16
			hi := uint32(b[6+j])>>4 | qh>>(j+12)&16
			y[j] = float32(int32(lo)-16) * d
			y[j+16] = float32(int32(hi)-16) * d
		}
		dst, src = dst[32:], src[22:]
	}
}

func quantizeQ5_0(dst []byte, src []float32) {
	for len(src) >= 32 {
		b, x := (*[22]byte)(dst), (*[32]float32)(src)
		d := peak(x[:]) / -16 // the element furthest from zero lies on step 0
		id := inverse(d)
		putScale(b[:], d)
		var qh uint32
		for j := range 16 {
			lo := min(31, uint8(truncate(float32(x[j]*id)+16.5)))
			hi := min(31, uint8(truncate(float32(x[j+16]*id)+16.5)))
			b[6+j] = lo&15 | hi<<4
			qh |= uint32(lo>>4)<<j | uint32(hi>>4)<<(j+16)
		}
		binary.LittleEndian.PutUint32(b[2:], qh)
		dst, src = dst[22:], src[32:]
	}
}
