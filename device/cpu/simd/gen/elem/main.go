// Command elem generates the element-wise kernels. A kernel handles whole
// steps of one or a few vectors, n of them (at least one); the Go side does
// the remainder.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/holdfast-llm/holdfast/device/cpu/simd/gen/vec"
)

var (
	table   *vec.Table
	q8Order Mem // dword order after packing 4x8 dwords to bytes
)

func main() {
	ConstraintExpr("amd64")
	table = vec.NewTable("elemConst")
	q8Order = table.Lanes([16]uint32{0, 4, 1, 5, 2, 6, 3, 7})
	for _, w := range []vec.Width{vec.W256, vec.W512} {
		arithmetic(w)
		reductions(w)
		exponentials(w)
		ropeNeox(w)
		conversions(w)
		fromQ8(w)
	}
	// These gain nothing from wider vectors.
	ropeNorm()
	nonFinite()
	toQ8()
	Generate()
}

// stream emits a kernel that walks pointers in steps. args are pointer
// parameters with the bytes each advances a step.
type arg struct {
	name string
	step int
}

func stream(name, signature string, args []arg, setup func(), body func(p []Mem)) {
	vec.Func(name, signature)
	regs := make([]reg.Register, len(args))
	mems := make([]Mem, len(args))
	for i, a := range args {
		regs[i] = Load(Param(a.name), GP64())
		mems[i] = Mem{Base: regs[i]}
	}
	n := Load(Param("n"), GP64())
	if setup != nil {
		setup()
	}
	Label("loop")
	body(mems)
	for i, a := range args {
		ADDQ(I32(a.step), regs[i])
	}
	DECQ(n)
	JNZ(LabelRef("loop"))
}

// arithmetic: sums and products, one vector a step.
func arithmetic(w vec.Width) {
	b := w.Bytes()
	stream("add"+w.Suffix(), "func(dst, a, b *float32, n int)", []arg{{"dst", b}, {"a", b}, {"b", b}}, nil, func(p []Mem) {
		x := w.Reg()
		VMOVUPS(p[1], x)
		VADDPS(p[2], x, x)
		VMOVUPS(x, p[0])
	})
	vec.Done()

	var s reg.VecVirtual
	broadcast := func() {
		s = w.Reg()
		vec.BroadcastParam("s", s)
	}
	stream("axpy"+w.Suffix(), "func(dst, x *float32, s float32, n int)", []arg{{"dst", b}, {"x", b}}, broadcast, func(p []Mem) {
		x := w.Reg()
		VMOVUPS(p[0], x)
		VFMADD231PS(p[1], s, x)
		VMOVUPS(x, p[0])
	})
	vec.Done()
	stream("scale"+w.Suffix(), "func(dst *float32, s float32, n int)", []arg{{"dst", b}}, broadcast, func(p []Mem) {
		x := w.Reg()
		VMULPS(p[0], s, x)
		VMOVUPS(x, p[0])
	})
	vec.Done()
	stream("scaleMul"+w.Suffix(), "func(dst, x, w *float32, s float32, n int)", []arg{{"dst", b}, {"x", b}, {"w", b}}, broadcast, func(p []Mem) {
		x := w.Reg()
		VMULPS(p[1], s, x)
		VMULPS(p[2], x, x)
		VMOVUPS(x, p[0])
	})
	vec.Done()
}

// reductions: four vectors a step, folded at the end.
func reductions(w vec.Width) {
	b := w.Bytes()
	var acc []reg.VecVirtual
	fold := func(op func(...Op)) {
		op(acc[1], acc[0], acc[0])
		op(acc[3], acc[2], acc[2])
		op(acc[2], acc[0], acc[0])
		vec.ReturnF32(w.Fold(op, acc[0]))
		vec.Done()
	}
	stream("sumSquares"+w.Suffix(), "func(x *float32, n int) float32", []arg{{"x", 4 * b}}, func() {
		acc = w.Regs(4)
		for _, a := range acc {
			w.Zero(a)
		}
	}, func(p []Mem) {
		for i, a := range acc {
			x := w.Reg()
			VMOVUPS(p[0].Offset(i*b), x)
			VFMADD231PS(x, x, a)
		}
	})
	fold(VADDPS)

	stream("max"+w.Suffix(), "func(x *float32, n int) float32", []arg{{"x", 4 * b}}, func() {
		acc = w.Regs(4)
		for _, a := range acc {
			VBROADCASTSS(table.U32(0xff800000), a)
		}
	}, func(p []Mem) {
		for i, a := range acc {
			x := w.Reg()
			VMOVUPS(p[0].Offset(i*b), x)
			VMAXPS(a, x, a) // a NaN in x leaves a
		}
	})
	fold(VMAXPS)
}

// exponentials: one vector a step.
func exponentials(w vec.Width) {
	b := w.Bytes()
	var exp *vec.Exp
	stream("swiGLU"+w.Suffix(), "func(dst, gate, up *float32, n int)", []arg{{"dst", b}, {"gate", b}, {"up", b}}, func() { exp = w.NewExp(table) }, func(p []Mem) {
		g, x := w.Reg(), w.Reg()
		w.Zero(x)
		VMOVUPS(p[1], g)
		VSUBPS(g, x, x)
		exp.Apply(x)
		VADDPS(table.F32(1), x, x)
		VDIVPS(x, g, g)
		VMULPS(p[2], g, g)
		VMOVUPS(g, p[0])
	})
	vec.Done()

	var top, sum reg.VecVirtual
	stream("expSum"+w.Suffix(), "func(x *float32, top float32, n int) float32", []arg{{"x", b}}, func() {
		exp = w.NewExpNegative(table)
		top, sum = w.Reg(), w.Reg()
		vec.BroadcastParam("top", top)
		w.Zero(sum)
	}, func(p []Mem) {
		x := w.Reg()
		VMOVUPS(p[0], x)
		VSUBPS(top, x, x)
		exp.Apply(x)
		VADDPS(x, sum, sum)
		VMOVUPS(x, p[0])
	})
	vec.ReturnF32(w.Fold(VADDPS, sum))
	vec.Done()
}

// ropeNeox rotates one vector of pairs a step: lo and hi are the halves.
func ropeNeox(w vec.Width) {
	b := w.Bytes()
	stream("ropeNeox"+w.Suffix(), "func(lo, hi, cos, sin *float32, n int)", []arg{{"lo", b}, {"hi", b}, {"cos", b}, {"sin", b}}, nil, func(p []Mem) {
		lo, hi, s, x, y := w.Reg(), w.Reg(), w.Reg(), w.Reg(), w.Reg()
		VMOVUPS(p[0], lo)
		VMOVUPS(p[1], hi)
		VMOVUPS(p[3], s)
		VMULPS(s, hi, x)
		VMULPS(s, lo, y)
		VMOVUPS(p[2], s)
		VFMSUB231PS(s, lo, x)
		VFMADD231PS(s, hi, y)
		VMOVUPS(x, p[0])
		VMOVUPS(y, p[1])
	})
	vec.Done()
}

// ropeNorm rotates eight adjacent pairs a step.
func ropeNorm() {
	stream("ropeNormAVX2", "func(x, cos, sin *float32, n int)", []arg{{"x", 64}, {"cos", 32}, {"sin", 32}}, nil, func(p []Mem) {
		for i := range 2 {
			c, s, x, y := YMM(), YMM(), YMM(), YMM()
			// Each of four angles twice.
			VPMOVZXDQ(p[1].Offset(16*i), c)
			VMOVSLDUP(c, c)
			VPMOVZXDQ(p[2].Offset(16*i), s)
			VMOVSLDUP(s, s)
			VMOVUPS(p[0].Offset(32*i), x)
			VPERMILPS(U8(0xb1), x, y)
			VMULPS(s, y, y)
			VFMADDSUB213PS(y, c, x) // even lanes c*x - y, odd lanes c*x + y
			VMOVUPS(x, p[0].Offset(32*i))
		}
	})
	vec.Done()
}

// nonFinite returns the number of leading steps of 32 floats with no NaN or
// infinity.
func nonFinite() {
	vec.Func("nonFiniteAVX2", "func(x *float32, n int) int")
	x := Load(Param("x"), GP64())
	n := Load(Param("n"), GP64())
	i, zero := GP64(), YMM()
	XORQ(i, i)
	VXORPS(zero, zero, zero)
	Label("loop")
	var bad []reg.VecVirtual
	for j := range 4 {
		v := YMM()
		VMULPS(Mem{Base: x, Disp: 32 * j}, zero, v) // 0, or NaN
		VCMPPS(U8(3), v, v, v)                      // all ones if NaN
		bad = append(bad, v)
	}
	VORPS(bad[0], bad[1], bad[0])
	VORPS(bad[2], bad[3], bad[2])
	VORPS(bad[0], bad[2], bad[0])
	VPTEST(bad[0], bad[0])
	JNZ(LabelRef("done"))
	ADDQ(U8(128), x)
	INCQ(i)
	CMPQ(i, n)
	JL(LabelRef("loop"))
	Label("done")
	Store(i, ReturnIndex(0))
	vec.Done()
}
