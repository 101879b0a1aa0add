package simd

import (
	"encoding/binary"
	"math"

	"github.com/holdfast-llm/holdfast/gguf/quant"
)

// The products of one row in plain Go: for weights in floating point and in
// blocks of 32. Package quant describes the blocks. Integers are multiplied as
// integers; each block's sum is scaled once.

func dotF32(w, act []byte, k int) float32 {
	var s0, s1, s2, s3 float32
	for ; len(w) >= 16; w, act = w[16:], act[16:] {
		w, a := w[:16], act[:16]
		s0 += f32(w[0:]) * f32(a[0:])
		s1 += f32(w[4:]) * f32(a[4:])
		s2 += f32(w[8:]) * f32(a[8:])
		s3 += f32(w[12:]) * f32(a[12:])
	}
	for ; len(w) > 0; w, act = w[4:], act[4:] {
		s0 += f32(w) * f32(act)
	}
	return (s0 + s1) + (s2 + s3)
}

func dotF16(w, act []byte, k int) float32 {
	var s0, s1 float32
	for ; len(w) >= 4; w, act = w[4:], act[8:] {
		w, a := w[:4], act[:8]
		s0 += f16(w[0:]) * f32(a[0:])
		s1 += f16(w[2:]) * f32(a[4:])
	}
	if len(w) > 0 {
		s0 += f16(w) * f32(act)
	}
	return s0 + s1
}

func dotBF16(w, act []byte, k int) float32 {
	var s0, s1 float32
	for ; len(w) >= 4; w, act = w[4:], act[8:] {
		w, a := w[:4], act[:8]
		s0 += bf16(w[0:]) * f32(a[0:])
		s1 += bf16(w[2:]) * f32(a[4:])
	}
	if len(w) > 0 {
		s0 += bf16(w) * f32(act)
	}
	return s0 + s1
}

func dotQ8_0(w, act []byte, k int) float32 {
	var sum float32
	for b := range k / 32 {
		q, a := (*[32]byte)(w[34*b+2:]), (*[32]byte)(act[32*b:])
		var s int32
		for i := range q {
			s += int32(int8(q[i])) * int32(int8(a[i]))
		}
		sum += f16(w[34*b:]) * f32(act[k+4*b:]) * float32(s)
	}
	return sum
}

func dotQ4_0(w, act []byte, k int) float32 {
	var sum float32
	for b := range k / 32 {
		s := nibbles32(w[18*b+2:], act[32*b:])
		d, da, sa := f16(w[18*b:]), f32(act[k+4*b:]), f32(act[k+k/8+4*b:])
		sum += d*da*float32(s) - 8*d*sa
	}
	return sum
}

func dotQ4_1(w, act []byte, k int) float32 {
	var sum float32
	for b := range k / 32 {
		s := nibbles32(w[20*b+4:], act[32*b:])
		d, m, da, sa := f16(w[20*b:]), f16(w[20*b+2:]), f32(act[k+4*b:]), f32(act[k+k/8+4*b:])
		sum += d*da*float32(s) + m*sa
	}
	return sum
}

func dotQ5_0(w, act []byte, k int) float32 {
	var sum float32
	for b := range k / 32 {
		s := nibbles32(w[22*b+6:], act[32*b:]) + 16*bits32(w[22*b+2:], act[32*b:])
		d, da, sa := f16(w[22*b:]), f32(act[k+4*b:]), f32(act[k+k/8+4*b:])
		sum += d*da*float32(s) - 16*d*sa
	}
	return sum
}

func dotQ5_1(w, act []byte, k int) float32 {
	var sum float32
	for b := range k / 32 {
		s := nibbles32(w[24*b+8:], act[32*b:]) + 16*bits32(w[24*b+4:], act[32*b:])
		d, m, da, sa := f16(w[24*b:]), f16(w[24*b+2:]), f32(act[k+4*b:]), f32(act[k+k/8+4*b:])
		sum += d*da*float32(s) + m*sa
	}
	return sum
}

// iq4nlValues are the 16 weights of IQ4_NL and IQ4_XS before scaling.
var iq4nlValues = [16]int8{-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113}

func dotIQ4NL(w, act []byte, k int) float32 {
	var sum float32
	for b := range k / 32 {
		s := lookup32(w[18*b+2:], act[32*b:])
		sum += f16(w[18*b:]) * f32(act[k+4*b:]) * float32(s)
	}
	return sum
}

// nibbles32 is the product of 32 nibbles, element i in the low one of byte i
// and element i+16 in its high one, with 32 int8.
func nibbles32(w, act []byte) int32 {
	q, a, b := (*[16]byte)(w), (*[16]byte)(act), (*[16]byte)(act[16:])
	var s int32
	for i, v := range q {
		s += int32(v&15)*int32(int8(a[i])) + int32(v>>4)*int32(int8(b[i]))
	}
	return s
}

// lookup32 is like nibbles32 with the nibbles standing for iq4nlValues.
func lookup32(w, act []byte) int32 {
	q, a, b := (*[16]byte)(w), (*[16]byte)(act), (*[16]byte)(act[16:])
	var s int32
	for i, v := range q {
		s += int32(iq4nlValues[v&15])*int32(int8(a[i])) + int32(iq4nlValues[v>>4])*int32(int8(b[i]))
	}
	return s
}

// bits32 is the sum of those of 32 int8 whose bit is set.
func bits32(w, act []byte) int32 {
	bits, a := binary.LittleEndian.Uint32(w), (*[32]byte)(act)
	var s int32
	for i := range a {
		s += int32(int8(a[i])) & -int32(bits>>i&1)
	}
	return s
}

func f16(b []byte) float32  { return quant.F16ToF32(binary.LittleEndian.Uint16(b)) }
func bf16(b []byte) float32 { return math.Float32frombits(uint32(binary.LittleEndian.Uint16(b)) << 16) }
func f32(b []byte) float32  { return math.Float32frombits(binary.LittleEndian.Uint32(b)) }
