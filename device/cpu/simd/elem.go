package simd

import (
	"encoding/binary"
	"math"

	"github.com/holdfast-llm/holdfast/gguf/quant"
)

//go:generate go run -C gen ./elem -out ../elem_amd64.s -stubs ../elem_amd64_stubs.go -pkg simd

// Elem is the element-wise operations of one level. Lengths are taken from
// the first argument; the others must be at least as long. Any length is
// allowed, and dst may be the same slice as an input unless said otherwise.
// Results differ between levels by rounding only.
type Elem struct {
	Level Level

	// RMSNorm: dst = x / sqrt(mean(x²)+eps) * w. The squares are summed in
	// float32, in 8 partial sums at least; with n elements the scale is
	// within (n/16 + 8) 2^-24 of exact, relatively.
	RMSNorm func(dst, x, w []float32, eps float32)
	// SwiGLU: dst = gate / (1+exp(-gate)) * up, within 4 ULP, or below 2^-120
	// times the factors.
	SwiGLU func(dst, gate, up []float32)
	// Add: dst = a + b.
	Add func(dst, a, b []float32)
	// AXPY: dst += a*x.
	AXPY func(dst []float32, a float32, x []float32)

	// RopeNeox rotates the pairs (x[i], x[i+h]) by the angles whose cosines
	// and sines are given, h = len(cos) of them. Elements from 2h on stay.
	RopeNeox func(x, cos, sin []float32)
	// RopeNorm rotates the pairs (x[2i], x[2i+1]) likewise.
	RopeNorm func(x, cos, sin []float32)

	// Softmax turns logits into probabilities, in place. Each is within
	// (4 + d + len(x)/8) 2^-23 of exact, relatively, where d is its logit's
	// distance from the greatest, or below 2^-120. All logits -Inf: zeros.
	// A NaN or +Inf makes every element NaN.
	Softmax func(x []float32)
	// Max is the greatest element; -Inf if x is empty. NaNs are passed over.
	Max func(x []float32) float32
	// NonFinite is the index of the first NaN or infinity, or -1.
	NonFinite func(x []float32) int

	// Conversions to and from the cache types, elements of little-endian
	// bytes as ggml stores them; len(x) (dst) elements. They do what
	// quant.Quantize and quant.Dequantize do, to the bit but for the
	// payload of a NaN; Q8_0 takes whole blocks of 32, and rounds half away
	// from zero. A NaN has no Q8_0: it becomes 0.
	ToF16    func(dst []uint16, x []float32)
	FromF16  func(dst []float32, x []uint16)
	ToBF16   func(dst []uint16, x []float32)
	FromBF16 func(dst []float32, x []uint16)
	ToQ8_0   func(dst []byte, x []float32)
	FromQ8_0 func(dst []float32, x []byte)
}

// ElemFor is the element-wise operations for a level: that level's own, or
// the next lower one's where it has none. The caller must be able to run l.
func ElemFor(l Level) *Elem {
	if e := elemSIMD(l); e != nil {
		return e
	}
	return &elemPortable
}

var elemPortable = Elem{
	Level:     Portable,
	RMSNorm:   rmsNorm,
	SwiGLU:    swiGLU,
	Add:       add,
	AXPY:      axpy,
	RopeNeox:  ropeNeox,
	RopeNorm:  ropeNorm,
	Softmax:   softmax,
	Max:       maxOf,
	NonFinite: nonFinite,
	ToF16:     toF16,
	FromF16:   fromF16,
	ToBF16:    toBF16,
	FromBF16:  fromBF16,
	ToQ8_0:    toQ8_0,
	FromQ8_0:  fromQ8_0,
}

func rmsNorm(dst, x, w []float32, eps float32) {
	x, w = x[:len(dst)], w[:len(dst)]
	scale := rmsScale(sumSquares(x), len(x), eps)
	for i, v := range x {
		dst[i] = v * scale * w[i]
	}
}

// sumSquares keeps sixteen sums as the vector kernels do: the error of a sum
// grows with its length.
func sumSquares(x []float32) float32 {
	var s [16]float32
	for ; len(x) >= 16; x = x[16:] {
		for i, v := range x[:16] {
			s[i] += v * v
		}
	}
	for i, v := range x {
		s[i] += v * v
	}
	for h := 8; h > 0; h /= 2 {
		for i := range h {
			s[i] += s[i+h]
		}
	}
	return s[0]
}

func rmsScale(sum float32, n int, eps float32) float32 {
	return float32(1 / math.Sqrt(float64(sum)/float64(n)+float64(eps)))
}

func swiGLU(dst, gate, up []float32) {
	gate, up = gate[:len(dst)], up[:len(dst)]
	for i, g := range gate {
		dst[i] = float32(float64(g)/(1+math.Exp(-float64(g)))) * up[i]
	}
}

func add(dst, a, b []float32) {
	a, b = a[:len(dst)], b[:len(dst)]
	for i := range dst {
		dst[i] = a[i] + b[i]
	}
}

func axpy(dst []float32, a float32, x []float32) {
	x = x[:len(dst)]
	for i := range dst {
		dst[i] += a * x[i]
	}
}

func ropeNeox(x, cos, sin []float32) {
	h := len(cos)
	lo, hi, sin := x[:h], x[h:2*h], sin[:h]
	for i, c := range cos {
		a, b, s := lo[i], hi[i], sin[i]
		lo[i], hi[i] = a*c-b*s, a*s+b*c
	}
}

func ropeNorm(x, cos, sin []float32) {
	x, sin = x[:2*len(cos)], sin[:len(cos)]
	for i, c := range cos {
		a, b, s := x[2*i], x[2*i+1], sin[i]
		x[2*i], x[2*i+1] = a*c-b*s, a*s+b*c
	}
}

func softmax(x []float32) {
	top := maxOf(x)
	if top < -math.MaxFloat32 {
		allMasked(x)
		return
	}
	sum := 0.0
	for i, v := range x {
		x[i] = exp32(v - top)
		sum += float64(x[i])
	}
	scale := float32(1 / sum)
	for i := range x {
		x[i] *= scale
	}
}

func exp32(x float32) float32 { return float32(math.Exp(float64(x))) }

// allMasked is softmax where no element is above -Inf: zeros, or all NaN if
// there is one.
func allMasked(x []float32) {
	fill := float32(0)
	for _, v := range x {
		if v != v {
			fill = v
		}
	}
	for i := range x {
		x[i] = fill
	}
}

func maxOf(x []float32) float32 {
	m := float32(math.Inf(-1))
	for _, v := range x {
		if v > m {
			m = v
		}
	}
	return m
}

func nonFinite(x []float32) int {
	for i, v := range x {
		if v-v != 0 {
			return i
		}
	}
	return -1
}

func toF16(dst []uint16, x []float32) {
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] = quant.F32ToF16(v)
	}
}

func fromF16(dst []float32, x []uint16) {
	x = x[:len(dst)]
	for i, v := range x {
		dst[i] = quant.F16ToF32(v)
	}
}

func toBF16(dst []uint16, x []float32) {
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] = quant.F32ToBF16(v)
	}
}

func fromBF16(dst []float32, x []uint16) {
	x = x[:len(dst)]
	for i, v := range x {
		dst[i] = quant.BF16ToF32(v)
	}
}

// q8_0Elems and q8_0Bytes are the size of a Q8_0 block.
const (
	q8_0Elems = 32
	q8_0Bytes = 34
)

func toQ8_0(dst []byte, x []float32) {
	checkBlocks(len(x), len(dst))
	if err := quant.Quantize(quant.Q8_0, dst[:len(x)/q8_0Elems*q8_0Bytes], x); err != nil {
		panic(err)
	}
}

func fromQ8_0(dst []float32, x []byte) {
	checkBlocks(len(dst), len(x))
	for ; len(dst) > 0; dst, x = dst[q8_0Elems:], x[q8_0Bytes:] {
		d := quant.F16ToF32(binary.LittleEndian.Uint16(x))
		for i, q := range x[2:q8_0Bytes] {
			dst[i] = float32(int8(q)) * d
		}
	}
}

// checkBlocks panics unless elems are whole Q8_0 blocks that fit in bytes.
func checkBlocks(elems, bytes int) {
	if elems%q8_0Elems != 0 || bytes < elems/q8_0Elems*q8_0Bytes {
		panic("simd: Q8_0 of a broken block")
	}
}
