package quant

import "encoding/binary"

// An IQ4_XS block is 256 weights in 8 groups of 32 on IQ4_NL's grid; the groups'
// scales are six bits around 32:
//
//	 0  d         half
//	 2  scales_h  16 bits: the upper two bits of scale g at bit 2g
//	 4  scales_l  4 bytes: the lower nibble of scale g in byte g/2, low one first
//	 8  qs        128 bytes: 16 for each group, packed as in IQ4_NL
//
//	w = d * (scale - 32) * stepsIQ4[q]

func dequantizeIQ4XS(dst []float32, src []byte) {
	for len(dst) >= 256 {
		b, y := (*[136]byte)(src), (*[256]float32)(dst)
		d, high := scale(b[:]), binary.LittleEndian.Uint16(b[2:])
		for g := range 8 {
			s := int32(b[4+g/2]>>(g%2*4)&15) | int32(high>>(2*g)&3)<<4
			dequantizeIQ4((*[32]float32)(y[32*g:]), d*float32(s-32), (*[16]byte)(b[8+16*g:]))
		}
		dst, src = dst[256:], src[136:]
	}
}

func quantizeIQ4XS(dst []byte, src []float32) {
	for len(src) >= 256 {
		quantizeBlockIQ4XS((*[136]byte)(dst), (*[256]float32)(src))
		dst, src = dst[136:], src[256:]
	}
}

func quantizeBlockIQ4XS(b *[136]byte, x *[256]float32) {
	var scales [8]float32
	for g := range scales {
		scales[g] = fitIQ4((*[32]float32)(x[32*g:]))
	}

	clear(b[:8])
	d := -peak(scales[:]) / 32 // the scale furthest from zero becomes -32
	putScale(b[:], d)
	inv := inverse(d)
	var high uint16
	for g, v := range scales {
		s := max(-32, min(31, nearest(inv*v)))
		b[4+g/2] |= byte((s + 32) & 15 << (g % 2 * 4))
		high |= uint16((s + 32) >> 4 << (2 * g))
		quantizeIQ4((*[16]byte)(b[8+16*g:]), (*[32]float32)(x[32*g:]), inverse(d*float32(s)))
	}
	binary.LittleEndian.PutUint16(b[2:], high)
}
