package simd

import "math"

// elemKernels is one level's assembly: each function handles n steps of so
// many elements, n >= 1, and reads and writes nothing beyond them.
type elemKernels struct {
	lanes int // float32 in a vector: the step of most kernels
	block int // the step of the reductions

	add        func(dst, a, b *float32, n int)
	axpy       func(dst, x *float32, s float32, n int)
	scale      func(dst *float32, s float32, n int)
	scaleMul   func(dst, x, w *float32, s float32, n int)
	sumSquares func(x *float32, n int) float32
	max        func(x *float32, n int) float32
	swiGLU     func(dst, gate, up *float32, n int)
	expSum     func(x *float32, top float32, n int) float32
	ropeNeox   func(lo, hi, cos, sin *float32, n int)
	toF16      func(dst *uint16, x *float32, n int)
	fromF16    func(dst *float32, x *uint16, n int)
	fromBF16   func(dst *float32, x *uint16, n int)
	fromQ8_0   func(dst *float32, x *byte, n int) // a step is a Q8_0 block
}

var elemAVX2 = elemOf(AVX2, &elemKernels{
	lanes: 8, block: 32,
	add: addAVX2, axpy: axpyAVX2, scale: scaleAVX2, scaleMul: scaleMulAVX2,
	sumSquares: sumSquaresAVX2, max: maxAVX2, swiGLU: swiGLUAVX2, expSum: expSumAVX2,
	ropeNeox: ropeNeoxAVX2, toF16: toF16AVX2, fromF16: fromF16AVX2, fromBF16: fromBF16AVX2,
	fromQ8_0: fromQ8_0AVX2,
})

var elemAVX512 = elemOf(AVX512, &elemKernels{
	lanes: 16, block: 64,
	add: addAVX512, axpy: axpyAVX512, scale: scaleAVX512, scaleMul: scaleMulAVX512,
	sumSquares: sumSquaresAVX512, max: maxAVX512, swiGLU: swiGLUAVX512, expSum: expSumAVX512,
	ropeNeox: ropeNeoxAVX512, toF16: toF16AVX512, fromF16: fromF16AVX512, fromBF16: fromBF16AVX512,
	fromQ8_0: fromQ8_0AVX512,
})

func elemSIMD(l Level) *Elem {
	switch {
	case l >= AVX512:
		return elemAVX512
	case l == AVX2:
		return elemAVX2
	}
	return nil
}

func elemOf(l Level, k *elemKernels) *Elem {
	return &Elem{
		Level:     l,
		RMSNorm:   k.RMSNorm,
		SwiGLU:    k.SwiGLU,
		Add:       k.Add,
		AXPY:      k.AXPY,
		RopeNeox:  k.RopeNeox,
		RopeNorm:  ropeNormSIMD,
		Softmax:   k.Softmax,
		Max:       k.Max,
		NonFinite: nonFiniteSIMD,
		ToF16:     k.ToF16,
		FromF16:   k.FromF16,
		ToBF16:    toBF16SIMD,
		FromBF16:  k.FromBF16,
		ToQ8_0:    toQ8_0SIMD,
		FromQ8_0:  k.FromQ8_0,
	}
}

// The methods below run the kernel over the whole steps and the portable code
// over the rest.

func (k *elemKernels) RMSNorm(dst, x, w []float32, eps float32) {
	x, w = x[:len(dst)], w[:len(dst)]
	sum, done := float32(0), len(x)/k.block*k.block
	if done > 0 {
		sum = k.sumSquares(&x[0], done/k.block)
	}
	if done < len(x) {
		sum += sumSquares(x[done:])
	}
	scale := rmsScale(sum, len(x), eps)
	done = len(x) / k.lanes * k.lanes
	if done > 0 {
		k.scaleMul(&dst[0], &x[0], &w[0], scale, done/k.lanes)
	}
	for i := done; i < len(x); i++ {
		dst[i] = x[i] * scale * w[i]
	}
}

func (k *elemKernels) SwiGLU(dst, gate, up []float32) {
	gate, up = gate[:len(dst)], up[:len(dst)]
	done := len(dst) / k.lanes * k.lanes
	if done > 0 {
		k.swiGLU(&dst[0], &gate[0], &up[0], done/k.lanes)
	}
	swiGLU(dst[done:], gate[done:], up[done:])
}

func (k *elemKernels) Add(dst, a, b []float32) {
	a, b = a[:len(dst)], b[:len(dst)]
	done := len(dst) / k.lanes * k.lanes
	if done > 0 {
		k.add(&dst[0], &a[0], &b[0], done/k.lanes)
	}
	add(dst[done:], a[done:], b[done:])
}

func (k *elemKernels) AXPY(dst []float32, a float32, x []float32) {
	x = x[:len(dst)]
	done := len(dst) / k.lanes * k.lanes
	if done > 0 {
		k.axpy(&dst[0], &x[0], a, done/k.lanes)
	}
	axpy(dst[done:], a, x[done:])
}

func (k *elemKernels) RopeNeox(x, cos, sin []float32) {
	h := len(cos)
	lo, hi, sin := x[:h], x[h:2*h], sin[:h]
	done := h / k.lanes * k.lanes
	if done > 0 {
		k.ropeNeox(&lo[0], &hi[0], &cos[0], &sin[0], done/k.lanes)
	}
	for i := done; i < h; i++ {
		a, b, c, s := lo[i], hi[i], cos[i], sin[i]
		lo[i], hi[i] = a*c-b*s, a*s+b*c
	}
}

func ropeNormSIMD(x, cos, sin []float32) {
	x, sin = x[:2*len(cos)], sin[:len(cos)]
	done := len(cos) / 8 * 8
	if done > 0 {
		ropeNormAVX2(&x[0], &cos[0], &sin[0], done/8)
	}
	ropeNorm(x[2*done:], cos[done:], sin[done:])
}

func (k *elemKernels) Softmax(x []float32) {
	top := k.Max(x)
	if top < -math.MaxFloat32 {
		allMasked(x)
		return
	}
	sum, done := float32(0), len(x)/k.lanes*k.lanes
	if done > 0 {
		sum = k.expSum(&x[0], top, done/k.lanes)
	}
	for i, v := range x[done:] {
		e := exp32(v - top)
		x[done+i] = e
		sum += e
	}
	k.Scale(x, 1/sum)
}

// Scale: x *= s.
func (k *elemKernels) Scale(x []float32, s float32) {
	done := len(x) / k.lanes * k.lanes
	if done > 0 {
		k.scale(&x[0], s, done/k.lanes)
	}
	for i := done; i < len(x); i++ {
		x[i] *= s
	}
}

func (k *elemKernels) Max(x []float32) float32 {
	done := len(x) / k.block * k.block
	m := maxOf(x[done:])
	if done > 0 {
		m = max(m, k.max(&x[0], done/k.block))
	}
	return m
}

func nonFiniteSIMD(x []float32) int {
	const step = 32
	clean := 0
	if steps := len(x) / step; steps > 0 {
		clean = step * nonFiniteAVX2(&x[0], steps)
	}
	if i := nonFinite(x[clean:]); i >= 0 {
		return clean + i
	}
	return -1
}

func (k *elemKernels) ToF16(dst []uint16, x []float32) {
	dst = dst[:len(x)]
	done := len(x) / k.lanes * k.lanes
	if done > 0 {
		k.toF16(&dst[0], &x[0], done/k.lanes)
	}
	toF16(dst[done:], x[done:])
}

func (k *elemKernels) FromF16(dst []float32, x []uint16) {
	x = x[:len(dst)]
	done := len(x) / k.lanes * k.lanes
	if done > 0 {
		k.fromF16(&dst[0], &x[0], done/k.lanes)
	}
	fromF16(dst[done:], x[done:])
}

func toBF16SIMD(dst []uint16, x []float32) {
	dst = dst[:len(x)]
	done := len(x) / 8 * 8
	if done > 0 {
		toBF16AVX2(&dst[0], &x[0], done/8)
	}
	toBF16(dst[done:], x[done:])
}

func (k *elemKernels) FromBF16(dst []float32, x []uint16) {
	x = x[:len(dst)]
	done := len(x) / k.lanes * k.lanes
	if done > 0 {
		k.fromBF16(&dst[0], &x[0], done/k.lanes)
	}
	fromBF16(dst[done:], x[done:])
}

func toQ8_0SIMD(dst []byte, x []float32) {
	checkBlocks(len(x), len(dst))
	if len(x) > 0 {
		toQ8_0AVX2(&dst[0], &x[0], len(x)/q8_0Elems)
	}
}

func (k *elemKernels) FromQ8_0(dst []float32, x []byte) {
	checkBlocks(len(dst), len(x))
	if len(dst) > 0 {
		k.fromQ8_0(&dst[0], &x[0], len(dst)/q8_0Elems)
	}
}
