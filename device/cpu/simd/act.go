package simd

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Matrix-vector kernels read the vector in one of three packed formats, the
// same at every level. Integers and floats are little-endian.
//
// q8k, for weights in blocks of 256 (the K-quants and IQ4_XS): 320 bytes a
// block, so that a row on a 64-byte boundary keeps every block on one.
//
//	  0  q    256 int8, round to nearest even of x / d
//	256  s16  16 int16, sums of 16 q
//	288  s32  8 int16, sums of 32 q
//	304  d    float32, largest |x| of the block / 127
//	308  -    zero
//
// q8b, for weights in blocks of 32: n = k/32 blocks, a row by parts.
//
//	      0  q  k int8, as above in blocks of 32
//	      k  d  n float32
//	k + 4*n  s  n float32, d * sum of the block's q
//
// f32, for floating-point weights: k float32.
//
// A block with an element that is NaN or infinite gets d = NaN, so that it
// shows in the product; one whose largest |x| is below tiny is packed as zeros.
const (
	actQ8K = "q8k"
	actQ8B = "q8b"
	actF32 = "f32"

	q8kBytes = 320 // bytes of a q8k block
	q8kS16   = 256 // offsets in a q8k block
	q8kS32   = 288
	q8kD     = 304

	tiny = 1e-35 // 127/tiny is still finite
)

// actFormat is a packed form of the activations.
type actFormat struct {
	id    string
	block int // k is a multiple
	bytes func(k int) int
	pack  func(act []byte, x []float32) // portable; len(x) is a multiple of block, len(act) enough
}

var (
	formatQ8K = actFormat{actQ8K, 256, func(k int) int { return k / 256 * q8kBytes }, packQ8K}
	formatQ8B = actFormat{actQ8B, 32, func(k int) int { return k + k/32*8 }, packQ8B}
	formatF32 = actFormat{actF32, 1, func(k int) int { return 4 * k }, packF32}
)

// check panics unless k elements fit the format and act holds them.
func (f *actFormat) check(act []byte, k int) {
	if k%f.block != 0 {
		panic(fmt.Sprintf("simd: pack %s: %d elements are not whole blocks of %d", f.id, k, f.block))
	}
	if want := f.bytes(k); len(act) < want {
		panic(fmt.Sprintf("simd: pack %s: %d bytes for %d elements, want %d", f.id, len(act), k, want))
	}
}

func packQ8K(act []byte, x []float32) {
	for ; len(x) >= 256; x, act = x[256:], act[q8kBytes:] {
		a := act[:q8kBytes]
		clear(a[q8kD:])
		d, inv := blockScale(x[:256])
		binary.LittleEndian.PutUint32(a[q8kD:], math.Float32bits(d))
		for g := range 16 {
			s := quantize16(a[16*g:], x[16*g:], inv)
			binary.LittleEndian.PutUint16(a[q8kS16+2*g:], uint16(s))
		}
		for g := range 8 {
			s := binary.LittleEndian.Uint16(a[q8kS16+4*g:]) + binary.LittleEndian.Uint16(a[q8kS16+4*g+2:])
			binary.LittleEndian.PutUint16(a[q8kS32+2*g:], s)
		}
	}
}

func packQ8B(act []byte, x []float32) {
	k, n := len(x), len(x)/32
	for b := range n {
		d, inv := blockScale(x[32*b:][:32])
		s := quantize16(act[32*b:], x[32*b:], inv) + quantize16(act[32*b+16:], x[32*b+16:], inv)
		binary.LittleEndian.PutUint32(act[k+4*b:], math.Float32bits(d))
		binary.LittleEndian.PutUint32(act[k+4*n+4*b:], math.Float32bits(d*float32(s)))
	}
}

func packF32(act []byte, x []float32) {
	for i, v := range x {
		binary.LittleEndian.PutUint32(act[4*i:], math.Float32bits(v))
	}
}

// blockScale is a block's scale and the factor that takes an element to its
// integer; the factor is 0 where every integer is to be 0.
func blockScale(x []float32) (d, inv float32) {
	var amax, poison float32
	for _, v := range x {
		amax = max(amax, float32(math.Abs(float64(v))))
		poison += v * 0 // NaN if v is NaN or infinite
	}
	if poison != poison {
		return math.Float32frombits(0x7fc00000), 0 // of all NaNs the same on every machine
	}
	if amax < tiny {
		return 0, 0
	}
	return amax / 127, 127 / amax
}

// quantize16 writes round(x*inv) for 16 elements and returns their sum.
func quantize16(q []byte, x []float32, inv float32) int32 {
	q, x = q[:16], x[:16]
	if inv == 0 {
		clear(q)
		return 0
	}
	var sum int32
	for i, v := range x {
		// Adding 1.5 * 2^23 leaves the nearest integer, ties to even, in the
		// low bits. The conversions keep the compiler from fusing the two.
		f := float32(float32(v*inv) + 3<<22)
		n := int32(math.Float32bits(f)&(1<<23-1)) - 1<<22
		q[i] = byte(n)
		sum += n
	}
	return sum
}
