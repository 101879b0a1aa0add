package quant

import (
	"encoding/binary"
	"math"
)

// F16ToF32 widens an IEEE 754 half, exactly. A NaN comes out quiet with its
// sign and payload.
func F16ToF32(h uint16) float32 {
	sign, magnitude := uint32(h&0x8000)<<16, uint32(h&0x7fff)<<13
	if magnitude < 0x7c00<<13 {
		// The exponent is 112 too small; a product corrects subnormals as well.
		f := math.Float32frombits(magnitude) * (1 << 112)
		return math.Float32frombits(math.Float32bits(f) | sign)
	}
	if magnitude > 0x7c00<<13 {
		magnitude |= 1 << 22
	}
	return math.Float32frombits(sign | magnitude | 0xff<<23)
}

// F32ToF16 rounds to an IEEE 754 half, to nearest, ties to even; magnitudes of
// 65520 and more become infinite. Every NaN becomes 0x7e00 with its sign.
func F32ToF16(f float32) uint16 {
	bits := math.Float32bits(f)
	sign := uint16(bits >> 16 & 0x8000)
	bits &= 1<<31 - 1
	switch {
	case bits > 0xff<<23:
		return sign | 0x7e00
	case bits >= 0x477ff000: // 65520, halfway from the largest half to 2^16
		return sign | 0x7c00
	case bits < 0x38800000: // 2^-14, the smallest normal half
		// Between 0.5 and 1 a float32 counts in units of 2^-24, as subnormal
		// halfs do: the addition does the rounding.
		const half = 0.5
		return sign | uint16(math.Float32bits(math.Float32frombits(bits)+half)-math.Float32bits(half))
	}
	bits += 1<<12 - 1 + bits>>13&1 // to nearest even; a carry moves into the exponent
	return sign | uint16(bits>>13-(127-15)<<10)
}

// BF16ToF32 widens a bfloat16, exactly.
func BF16ToF32(h uint16) float32 { return math.Float32frombits(uint32(h) << 16) }

// F32ToBF16 rounds to a bfloat16, to nearest, ties to even. A NaN comes out
// quiet with its sign and the upper part of its payload.
func F32ToBF16(f float32) uint16 {
	bits := math.Float32bits(f)
	if bits&(1<<31-1) > 0xff<<23 {
		return uint16(bits>>16) | 1<<6
	}
	return uint16((bits + 1<<15 - 1 + bits>>16&1) >> 16)
}

// scale reads the half at the start of b, and putScale writes one.
func scale(b []byte) float32       { return F16ToF32(binary.LittleEndian.Uint16(b)) }
func putScale(b []byte, f float32) { binary.LittleEndian.PutUint16(b, F32ToF16(f)) }

func dequantizeF32(dst []float32, src []byte) {
	src = src[:4*len(dst)]
	for i := range dst {
		dst[i] = math.Float32frombits(binary.LittleEndian.Uint32(src[4*i : 4*i+4 : 4*i+4]))
	}
}

func quantizeF32(dst []byte, src []float32) {
	for i, v := range src {
		binary.LittleEndian.PutUint32(dst[4*i:], math.Float32bits(v))
	}
}

func dequantizeF16(dst []float32, src []byte) {
	src = src[:2*len(dst)]
	for i := range dst {
		dst[i] = scale(src[2*i : 2*i+2 : 2*i+2])
	}
}

func quantizeF16(dst []byte, src []float32) {
	for i, v := range src {
		putScale(dst[2*i:], v)
	}
}

func dequantizeBF16(dst []float32, src []byte) {
	src = src[:2*len(dst)]
	for i := range dst {
		dst[i] = BF16ToF32(binary.LittleEndian.Uint16(src[2*i : 2*i+2 : 2*i+2]))
	}
}

func quantizeBF16(dst []byte, src []float32) {
	for i, v := range src {
		binary.LittleEndian.PutUint16(dst[2*i:], F32ToBF16(v))
	}
}
