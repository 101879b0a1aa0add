package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Floating-point weights are widened to float32 and multiplied with the
// activations as they are. Every stream has two vectors of sums.

func floatAVX2()   { float("AVX2x", YMM) }
func floatAVX512() { float("AVX512x", ZMM) }

func float(suffix string, vec func() reg.VecVirtual) {
	for _, t := range []floatType{
		{"f32", 4, func(w Mem, v reg.VecVirtual) { VMOVUPS(w, v) }, func(w Mem, v reg.VecVirtual) { VMOVSS(w, v) }},
		{"f16", 2, func(w Mem, v reg.VecVirtual) { VCVTPH2PS(w, v) }, func(w Mem, v reg.VecVirtual) {
			VPBROADCASTW(w, v)
			VCVTPH2PS(v, v)
		}},
		{"bf16", 2, func(w Mem, v reg.VecVirtual) {
			VPMOVZXWD(w, v)
			VPSLLD(U8(16), v, v)
		}, func(w Mem, v reg.VecVirtual) {
			VPBROADCASTW(w, v)
			VPSLLD(U8(16), v, v)
		}},
	} {
		matvec(t.name+suffix, t.size, plain(func(f *frame) { floatRow(f, t, vec) }))
	}
}

// floatType is a floating-point type of weights.
type floatType struct {
	name  string
	size  int                             // bytes
	load  func(w Mem, v reg.VecVirtual)   // a vector of float32 from weights at w
	load1 func(w Mem, xmm reg.VecVirtual) // one, in the low element
}

func floatRow(f *frame, t floatType, vec func() reg.VecVirtual) {
	const parts = 2 // vectors of sums
	acc := make([][parts]reg.VecVirtual, f.n)
	for s := range acc {
		for p := range parts {
			acc[s][p] = vec()
			zero(acc[s][p])
		}
	}
	bytes := int(acc[0][0].Size()) // of a vector
	step := parts * bytes / 4      // elements
	y, n, tail := GP64(), GP64(), GP64()
	MOVQ(f.act, y)
	MOVQ(f.blocks, n)
	MOVQ(n, tail)
	ANDQ(U8(uint8(step-1)), tail)
	SHRQ(U8(map[int]uint8{16: 4, 32: 5}[step]), n)
	JZ(LabelRef("short"))
	f.loop(n, func() {
		var a [parts]reg.VecVirtual
		for p := range a {
			a[p] = vec()
			VMOVUPS(Mem{Base: y, Disp: bytes * p}, a[p])
		}
		for s, w := range f.w {
			for p := range a {
				v := vec()
				t.load(Mem{Base: w, Disp: step / parts * t.size * p}, v)
				VFMADD231PS(a[p], v, acc[s][p])
			}
			f.prefetch(w, step*t.size)
			ADDQ(U32(uint32(step*t.size)), w)
		}
		ADDQ(U32(uint32(4*step)), y)
	})
	Label("short")
	for s := range acc {
		VADDPS(acc[s][1], acc[s][0], acc[s][0])
		f.acc[s] = acc[s][0]
	}
	TESTQ(tail, tail)
	JZ(LabelRef("done"))
	f.loop(tail, func() {
		a := XMM()
		VMOVSS(Mem{Base: y}, a)
		for s, w := range f.w {
			// Only the low element of v is to be multiplied: the others need not
			// be finite. It is added alone, as the last of four.
			v := vec()
			t.load1(Mem{Base: w}, v.AsX().(reg.VecVirtual))
			VMULSS(a, v.AsX(), v.AsX())
			VPSLLDQ(U8(12), v.AsX(), v.AsX())
			VADDPS(f.acc[s], v, f.acc[s])
			ADDQ(U8(uint8(t.size)), w)
		}
		ADDQ(U8(4), y)
	})
	Label("done")
}

// zero clears v.
func zero(v reg.VecVirtual) {
	if v.Size() == 64 {
		VPXORD(v, v, v)
	} else {
		VPXOR(v, v, v)
	}
}
