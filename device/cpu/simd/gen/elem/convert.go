package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/holdfast-llm/holdfast/device/cpu/simd/gen/vec"
)

// conversions to and from the 16-bit floats, one vector of float32 a step.
func conversions(w vec.Width) {
	b := w.Bytes()
	half := func() reg.VecVirtual { // a register of half the width
		if w == vec.W512 {
			return YMM()
		}
		return XMM()
	}
	stream("fromF16"+w.Suffix(), "func(dst *float32, x *uint16, n int)", []arg{{"dst", b}, {"x", b / 2}}, nil, func(p []Mem) {
		x := w.Reg()
		VCVTPH2PS(p[1], x)
		VMOVUPS(x, p[0])
	})
	vec.Done()
	stream("toF16"+w.Suffix(), "func(dst *uint16, x *float32, n int)", []arg{{"dst", b / 2}, {"x", b}}, nil, func(p []Mem) {
		x, h := w.Reg(), half()
		VMOVUPS(p[1], x)
		VCVTPS2PH(U8(0), x, h)
		VMOVDQU(h, p[0])
	})
	vec.Done()
	stream("fromBF16"+w.Suffix(), "func(dst *float32, x *uint16, n int)", []arg{{"dst", b}, {"x", b / 2}}, nil, func(p []Mem) {
		x := w.Reg()
		VPMOVZXWD(p[1], x)
		VPSLLD(U8(16), x, x)
		VMOVUPS(x, p[0])
	})
	vec.Done()
	if w == vec.W512 {
		return // VPACKUSDW works in 128-bit lanes; AVX2 serves both levels
	}
	stream("toBF16AVX2", "func(dst *uint16, x *float32, n int)", []arg{{"dst", 16}, {"x", 32}}, nil, func(p []Mem) {
		x, odd, nan, quiet := YMM(), YMM(), YMM(), YMM()
		VMOVUPS(p[1], x)
		VCMPPS(U8(3), x, x, nan)
		VPSRLD(U8(16), x, quiet)
		VPAND(table.U32(1), quiet, odd)
		VPOR(table.U32(1<<6), quiet, quiet)
		// To nearest, ties to even: add 0x7fff, and 1 if the result is odd.
		VPADDD(table.U32(1<<15-1), x, x)
		VPADDD(odd, x, x)
		VPSRLD(U8(16), x, x)
		VBLENDVPS(nan, quiet, x, x)
		h := XMM()
		VEXTRACTI128(U8(1), x, h)
		VPACKUSDW(h, x.AsX(), h)
		VMOVDQU(h, p[0])
	})
	vec.Done()
}

// fromQ8 widens one Q8_0 block of 32 a step: a half, then 32 signed bytes.
func fromQ8(w vec.Width) {
	stream("fromQ8_0"+w.Suffix(), "func(dst *float32, x *byte, n int)", []arg{{"dst", 128}, {"x", 34}}, nil, func(p []Mem) {
		d := w.Reg()
		word := GP32()
		MOVWLZX(p[1], word)
		VMOVD(word, d.AsX())
		VCVTPH2PS(d.AsX(), d.AsX())
		VBROADCASTSS(d.AsX(), d)
		for i := range 32 / w.Lanes() {
			x := w.Reg()
			VPMOVSXBD(p[1].Offset(2+i*w.Lanes()), x)
			VCVTDQ2PS(x, x)
			VMULPS(d, x, x)
			VMOVUPS(x, p[0].Offset(i*w.Bytes()))
		}
	})
	vec.Done()
}

// toQ8 quantises one block of 32 a step as quant.Quantize does: d = max|x|/127,
// q = x/d rounded half away from zero.
func toQ8() {
	stream("toQ8_0AVX2", "func(dst *byte, x *float32, n int)", []arg{{"dst", 34}, {"x", 128}}, nil, func(p []Mem) {
		var x [4]reg.VecVirtual
		top := YMM()
		VXORPS(top, top, top)
		for i := range x {
			x[i] = YMM()
			abs := YMM()
			VMOVUPS(p[1].Offset(32*i), x[i])
			VANDPS(table.U32(1<<31-1), x[i], abs)
			VMAXPS(top, abs, top) // a NaN in abs leaves top
		}
		t := vec.W256.Fold(VMAXPS, top)
		d, id, zero := XMM(), XMM(), XMM()
		VDIVSS(table.F32(127), t, d)
		VCVTPS2PH(U8(0), d, t)
		word := GP32()
		VMOVD(t, word)
		MOVW(word.As16(), p[0])
		// 1/d, and 0 for 0.
		VXORPS(zero, zero, zero)
		VBROADCASTSS(table.F32(1), id)
		VDIVSS(d, id, id)
		VCMPSS(U8(4), zero, d, t)
		VANDPS(t, id, id)
		scale := YMM()
		VBROADCASTSS(id, scale)
		for i := range x {
			// Half away from zero: add the float below 0.5 with x's sign, truncate.
			half := YMM()
			VMULPS(scale, x[i], x[i])
			VANDPS(table.U32(1<<31), x[i], half)
			VORPS(table.U32(0x3effffff), half, half)
			VADDPS(half, x[i], x[i])
			VCVTTPS2DQ(x[i], x[i])
			VPAND(table.U32(0xff), x[i], x[i]) // the low byte, as Go's conversion takes
		}
		VPACKUSDW(x[1], x[0], x[0])
		VPACKUSDW(x[3], x[2], x[2])
		VPACKUSWB(x[2], x[0], x[0])
		// The packs worked in 128-bit lanes: put the eight dwords in order.
		order := YMM()
		VMOVDQU(q8Order, order)
		VPERMD(x[0], order, x[0])
		VMOVDQU(x[0], p[0].Offset(2))
	})
	vec.Done()
}
