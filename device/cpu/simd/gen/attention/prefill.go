package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/holdfast-llm/holdfast/device/cpu/simd/gen/vec"
)

// products emits the register-blocked matrix products: six rows of c, as many
// columns as the name says, k >= 1 terms. Strides are in bytes.
//
//	mulSet:  c = a b           mulAdd:  c = c * f[row] + a b
func products(w vec.Width) {
	if w == vec.W512 {
		product(w, 64, false)
		product(w, 64, true)
	}
	product(w, 16, false)
	product(w, 16, true)
}

func product(w vec.Width, cols int, accumulate bool) {
	const rows = 6
	name, sig := "mulSet", "func(c *float32, ldc int, a *float32, lda int, b *float32, ldb, k int)"
	if accumulate {
		name, sig = "mulAdd", "func(c *float32, ldc int, a *float32, lda int, b *float32, ldb, k int, f *float32)"
	}
	vec.Func(fmt.Sprintf("%s%s_%d", name, w.Suffix(), cols), sig)
	c := Load(Param("c"), GP64())
	ldc := Load(Param("ldc"), GP64())
	a := Load(Param("a"), GP64())
	lda := Load(Param("lda"), GP64())
	b := Load(Param("b"), GP64())
	ldb := Load(Param("ldb"), GP64())
	k := Load(Param("k"), GP64())

	// six are the rows of a matrix, from two pointers.
	six := func(p, ld reg.Register) []Mem {
		p3 := GP64()
		LEAQ(Mem{Base: p, Index: ld, Scale: 2}, p3)
		ADDQ(ld, p3)
		return []Mem{
			{Base: p},
			{Base: p, Index: ld, Scale: 1},
			{Base: p, Index: ld, Scale: 2},
			{Base: p3},
			{Base: p3, Index: ld, Scale: 1},
			{Base: p3, Index: ld, Scale: 2},
		}
	}
	cm, am := six(c, ldc), six(a, lda)
	vecs := cols / w.Lanes()
	acc := make([][]reg.VecVirtual, rows)
	var f reg.Register
	if accumulate {
		f = Load(Param("f"), GP64())
	}
	for r := range acc {
		acc[r] = w.Regs(vecs)
		if !accumulate {
			for _, x := range acc[r] {
				w.Zero(x)
			}
			continue
		}
		scale := w.Reg()
		VBROADCASTSS(Mem{Base: f, Disp: 4 * r}, scale)
		for i, x := range acc[r] {
			VMULPS(cm[r].Offset(i*w.Bytes()), scale, x)
		}
	}
	Label("terms")
	bv := w.Regs(vecs)
	for i, x := range bv {
		VMOVUPS(Mem{Base: b, Disp: i * w.Bytes()}, x)
	}
	for r := range acc {
		y := w.Reg()
		VBROADCASTSS(am[r], y)
		for i, x := range acc[r] {
			VFMADD231PS(bv[i], y, x)
		}
	}
	ADDQ(U8(4), a)
	ADDQ(U8(4), am[3].Base)
	ADDQ(ldb, b)
	DECQ(k)
	JNZ(LabelRef("terms"))
	for r := range acc {
		for i, x := range acc[r] {
			VMOVUPS(x, cm[r].Offset(i*w.Bytes()))
		}
	}
	vec.Done()
}

// transpose emits dst[j*ldd+i] = src[i*lds+j] for 8 rows i and n columns j, a
// multiple of 8. Strides are in bytes.
func transpose() {
	vec.Func("transposeAVX2", "func(dst *float32, ldd int, src *float32, lds, n int)")
	dst := Load(Param("dst"), GP64())
	ldd := Load(Param("ldd"), GP64())
	src := Load(Param("src"), GP64())
	lds := Load(Param("lds"), GP64())
	n := Load(Param("n"), GP64())
	eight := func(p, ld, ld3 reg.Register) []Mem {
		p4 := GP64()
		LEAQ(Mem{Base: p, Index: ld, Scale: 4}, p4)
		var m []Mem
		for _, base := range []reg.Register{p, p4} {
			m = append(m, Mem{Base: base}, Mem{Base: base, Index: ld, Scale: 1}, Mem{Base: base, Index: ld, Scale: 2}, Mem{Base: base, Index: ld3, Scale: 1})
		}
		return m
	}
	ldd3, lds3 := GP64(), GP64()
	LEAQ(Mem{Base: ldd, Index: ldd, Scale: 2}, ldd3)
	LEAQ(Mem{Base: lds, Index: lds, Scale: 2}, lds3)
	from := eight(src, lds, lds3)
	Label("columns")
	to := eight(dst, ldd, ldd3)
	// x[i] holds columns 0-3 of rows i and i+4, y[i] columns 4-7.
	var x, y [4]reg.VecVirtual
	for i := range x {
		x[i], y[i] = YMM(), YMM()
		VMOVUPS(from[i], x[i].AsX())
		VINSERTF128(U8(1), from[i+4], x[i], x[i])
		VMOVUPS(from[i].Offset(16), y[i].AsX())
		VINSERTF128(U8(1), from[i+4].Offset(16), y[i], y[i])
	}
	for q, v := range [][4]reg.VecVirtual{x, y} {
		// Four by four within each 128-bit half.
		a, b, c, d := YMM(), YMM(), YMM(), YMM()
		VUNPCKLPS(v[1], v[0], a)
		VUNPCKHPS(v[1], v[0], b)
		VUNPCKLPS(v[3], v[2], c)
		VUNPCKHPS(v[3], v[2], d)
		for i, lohi := range [][2]reg.VecVirtual{{a, c}, {b, d}} {
			r, s := YMM(), YMM()
			VUNPCKLPD(lohi[1], lohi[0], r)
			VUNPCKHPD(lohi[1], lohi[0], s)
			VMOVUPS(r, to[4*q+2*i])
			VMOVUPS(s, to[4*q+2*i+1])
		}
	}
	LEAQ(Mem{Base: dst, Index: ldd, Scale: 8}, dst)
	for _, p := range []reg.Register{src, from[4].Base} {
		ADDQ(U8(32), p)
	}
	SUBQ(U8(8), n)
	JG(LabelRef("columns"))
	vec.Done()
}
