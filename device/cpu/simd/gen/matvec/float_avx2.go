package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func floatAVX2() {
	matvec("f32AVX2x", 4, plain(floatRow2(4, func(w Mem, v reg.VecVirtual) { VMOVUPS(w, v) },
		func(w Mem, v reg.VecVirtual) { VMOVSS(w, v) })))
	matvec("f16AVX2x", 2, plain(floatRow2(2, func(w Mem, v reg.VecVirtual) { VCVTPH2PS(w, v) },
		func(w Mem, v reg.VecVirtual) { VPBROADCASTW(w, v); VCVTPH2PS(v, v) })))
	matvec("bf16AVX2x", 2, plain(floatRow2(2, func(w Mem, v reg.VecVirtual) { VPMOVZXWD(w, v); VPSLLD(U8(16), v, v) },
		func(w Mem, v reg.VecVirtual) { VPBROADCASTW(w, v); VPSLLD(U8(16), v, v) })))
}

// floatRow2 is the row of weights that load turns into 8 floats and load1 into
// one, in the low element of a register of four.
func floatRow2(size int, load, load1 func(w Mem, v reg.VecVirtual)) rowFunc {
	return func(f *frame) {
		const parts = 2 // sums a stream, 8 elements each
		acc := make([][parts]reg.VecVirtual, f.n)
		for s := range acc {
			for p := range parts {
				acc[s][p] = YMM()
				VPXOR(acc[s][p], acc[s][p], acc[s][p])
			}
		}
		y, n, tail := GP64(), GP64(), GP64()
		MOVQ(f.act, y)
		MOVQ(f.blocks, n)
		MOVQ(n, tail)
		ANDQ(U8(8*parts-1), tail)
		SHRQ(U8(4), n)
		JZ(LabelRef("short"))
		f.loop(n, func() {
			var a [parts]reg.VecVirtual
			for p := range a {
				a[p] = YMM()
				VMOVUPS(Mem{Base: y, Disp: 32 * p}, a[p])
			}
			for s, w := range f.w {
				for p := range a {
					v := YMM()
					load(Mem{Base: w, Disp: 8 * size * p}, v)
					VFMADD231PS(a[p], v, acc[s][p])
				}
				prefetch(w, 8*size*parts)
				ADDQ(U8(uint8(8*size*parts)), w)
			}
			ADDQ(U8(32*parts), y)
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
				// The other elements of a are zero, but those of v need not be
				// finite, so one element is multiplied and the rest are added.
				v := XMM()
				load1(Mem{Base: w}, v)
				VMULSS(a, v, v)
				VPSLLDQ(U8(12), v, v)
				VADDPS(f.acc[s], v.AsY(), f.acc[s])
				ADDQ(U8(uint8(size)), w)
			}
			ADDQ(U8(4), y)
		})
		Label("done")
	}
}
