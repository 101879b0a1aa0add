package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// packAVX2 writes the packing of activations to q8k and q8b: byte for byte
// what package simd's plain Go does.
func packAVX2() {
	t := newTables("pack")
	p := &pack2{
		abs:   t.words("Abs", 0x7fffffff),
		limit: t.words("Limit", 0x42fe0000), // 127
		tiny:  t.words("Tiny", 0x0554ad2e),  // 1e-35
		order: t.words("Order", 0, 4, 1, 5, 2, 6, 3, 7),
		bias:  t.words("Bias", 0x80808080),
		extra: t.words("Extra", 16*128),
		nan:   t.words("NaN", 0x7fc00000),
	}
	p.q8k()
	p.q8b()
}

// pack2 holds the tables.
type pack2 struct {
	abs, limit, tiny Mem // floats
	order            Mem // of doublewords, after packing twice
	bias             Mem // bytes
	extra            Mem // what the bias adds to a sum of 16
	nan              Mem

	zeros, absolute, ordered, biases, surplus reg.VecVirtual // the tables, loaded
}

func (p *pack2) load() {
	p.zeros, p.absolute, p.ordered, p.biases, p.surplus = YMM(), YMM(), YMM(), YMM(), YMM()
	VPXOR(p.zeros, p.zeros, p.zeros)
	VBROADCASTSS(p.abs, p.absolute)
	VMOVDQU(p.order, p.ordered)
	VPBROADCASTD(p.bias, p.biases)
	VPBROADCASTD(p.extra, p.surplus)
}

func (p *pack2) q8k() {
	TEXT("packQ8KAVX2", attr.NOSPLIT, "func(act *byte, x *float32, blocks int)")
	act := Load(Param("act"), GP64()).(reg.GPVirtual)
	x := Load(Param("x"), GP64()).(reg.GPVirtual)
	blocks := Load(Param("blocks"), GP64()).(reg.GPVirtual)
	p.load()
	Label("block")
	d, inv, keep := p.scale(x, 32)
	VBROADCASTSS(inv, inv.AsY())
	VBROADCASTSS(keep, keep.AsY())
	for o := 0; o < 256; o += 32 {
		q := p.quantize(Mem{Base: x, Disp: 4 * o}, inv.AsY(), keep.AsY())
		VMOVDQU(q, Mem{Base: act, Disp: o})
		lo, hi := p.sums16(q)
		VPEXTRW(U8(0), lo, Mem{Base: act, Disp: q8kS16 + o/8})
		VPEXTRW(U8(0), hi, Mem{Base: act, Disp: q8kS16 + o/8 + 2})
		VPADDD(hi, lo, lo)
		VPEXTRW(U8(0), lo, Mem{Base: act, Disp: q8kS32 + o/16})
	}
	VMOVDQU(p.zeros.AsX(), Mem{Base: act, Disp: q8kD}) // and the padding
	VMOVSS(d, Mem{Base: act, Disp: q8kD})
	ADDQ(U32(1024), x)
	ADDQ(U32(q8kBytes), act)
	DECQ(blocks)
	JNZ(LabelRef("block"))
	VZEROUPPER()
	RET()
}

func (p *pack2) q8b() {
	TEXT("packQ8BAVX2", attr.NOSPLIT, "func(act *byte, x *float32, blocks int)")
	act := Load(Param("act"), GP64()).(reg.GPVirtual)
	x := Load(Param("x"), GP64()).(reg.GPVirtual)
	blocks := Load(Param("blocks"), GP64()).(reg.GPVirtual)
	d, s := GP64(), GP64() // where scales and scaled sums go
	MOVQ(blocks, d)
	SHLQ(U8(5), d)
	ADDQ(act, d)
	LEAQ(Mem{Base: d, Index: blocks, Scale: 4}, s)
	p.load()
	Label("block")
	scale, inv, keep := p.scale(x, 4)
	VMOVSS(scale, Mem{Base: d})
	VBROADCASTSS(inv, inv.AsY())
	VBROADCASTSS(keep, keep.AsY())
	q := p.quantize(Mem{Base: x}, inv.AsY(), keep.AsY())
	VMOVDQU(q, Mem{Base: act})
	lo, hi := p.sums16(q)
	VPADDD(hi, lo, lo)
	VCVTDQ2PS(lo, lo)
	VMULSS(lo, scale, lo)
	VMOVSS(lo, Mem{Base: s})
	ADDQ(U32(128), x)
	ADDQ(U8(32), act)
	ADDQ(U8(4), d)
	ADDQ(U8(4), s)
	DECQ(blocks)
	JNZ(LabelRef("block"))
	VZEROUPPER()
	RET()
}

// scale is, in the low elements, the scale and the factor of n vectors of 8
// floats at x, as blockScale in act.go, and a mask that is zero if every
// integer is to be.
func (p *pack2) scale(x reg.GPVirtual, n int) (d, inv, keep reg.VecVirtual) {
	largest, poison := YMM(), YMM()
	VMOVAPS(p.zeros, largest)
	VMOVAPS(p.zeros, poison)
	for i := range n {
		v := YMM()
		VMOVUPS(Mem{Base: x, Disp: 32 * i}, v)
		VFMADD231PS(p.zeros, v, poison) // NaN if v is NaN or infinite
		VANDPS(p.absolute, v, v)
		VMAXPS(largest, v, largest)
	}
	for _, step := range []func(v, t reg.VecVirtual){
		func(v, t reg.VecVirtual) { VEXTRACTF128(U8(1), v, t.AsX()) },
		func(v, t reg.VecVirtual) { VPSHUFD(U8(0x4e), v.AsX(), t.AsX()) },
		func(v, t reg.VecVirtual) { VPSHUFD(U8(0xb1), v.AsX(), t.AsX()) },
	} {
		t := YMM()
		step(largest, t)
		VMAXPS(t.AsX(), largest.AsX(), largest.AsX())
		step(poison, t)
		VADDPS(t.AsX(), poison.AsX(), poison.AsX())
	}
	d, inv, keep = XMM(), XMM(), XMM()
	limit, t := XMM(), XMM()
	VMOVSS(p.limit, limit)
	VDIVSS(limit, largest.AsX(), d)
	VDIVSS(largest.AsX(), limit, inv)
	VMOVSS(p.tiny, keep)
	VCMPSS(U8(2), largest.AsX(), keep, keep) // tiny <= largest
	VANDPS(keep, d, d)
	VCMPSS(U8(7), poison.AsX(), poison.AsX(), t) // ordered
	VANDPS(t, keep, keep)
	VMOVSS(p.nan, limit)
	VBLENDVPS(t, d, limit, d)
	return d, inv, keep
}

// quantize is the 32 int8 of 32 floats at x.
func (p *pack2) quantize(x Mem, inv, keep reg.Register) reg.VecVirtual {
	var v [4]reg.VecVirtual
	for i := range v {
		v[i] = YMM()
		VMULPS(x.Offset(32*i), inv, v[i])
		VCVTPS2DQ(v[i], v[i])
	}
	VPACKSSDW(v[1], v[0], v[0])
	VPACKSSDW(v[3], v[2], v[2])
	VPACKSSWB(v[2], v[0], v[0])
	VPERMD(v[0], p.ordered, v[0])
	VPAND(keep, v[0], v[0])
	return v[0]
}

// sums16 are the sums of the lower and the upper 16 int8 of q, in the low
// doublewords.
func (p *pack2) sums16(q reg.VecVirtual) (lo, hi reg.Register) {
	sum, t := YMM(), YMM()
	VPXOR(p.biases, q, sum) // 128 more, unsigned
	VPSADBW(p.zeros, sum, sum)
	VPSHUFD(U8(0x4e), sum, t)
	VPADDD(t, sum, sum)
	VPSUBD(p.surplus, sum, sum)
	hi = XMM()
	VEXTRACTI128(U8(1), sum, hi)
	return sum.AsX(), hi
}
