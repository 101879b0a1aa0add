package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// packRow packs one row of activations into its place in a tile: per group of
// 32, the scale is the largest magnitude over 127 and the quants are the
// nearest integers plus 128.
func packRow() {
	name := "gemmPackRow" + suffix()
	TEXT(name, NOSPLIT, "func(dst, floats *byte, x *float32, groups int)")
	Doc(name + " packs groups of 32 elements of a row. dst and floats point at the row's first quants and at its first scale.")
	dst := Load(Param("dst"), GP64())
	floats := Load(Param("floats"), GP64())
	x := Load(Param("x"), GP64())
	groups := Load(Param("groups"), GP64())
	magnitude := constant(0x7fffffff)
	scalar := func(v uint32) reg.VecVirtual {
		s := XMM()
		r := GP32()
		MOVL(U32(v), r)
		VMOVD(r, s)
		return s
	}
	limit := scalar(0x3c010204)    // float32(1)/127
	steps := scalar(0x42fe0000)    // 127
	smallest := scalar(0x0554ad2e) // 1e-35

	n := group / lanes() // vectors of a group
	Label("group")
	v := vecs(n)
	top := vec()
	for i := range v {
		VMOVUPS(at(x, i*vecBytes()), v[i])
	}
	// Magnitudes compare like integers, and NaN above all.
	and(magnitude, v[0], top)
	for _, u := range v[1:] {
		t := vec()
		and(magnitude, u, t)
		VPMAXUD(t, top, top)
	}
	if wide {
		y := YMM()
		VEXTRACTI64X4(U8(1), top, y)
		VPMAXUD(y, top.AsY(), top.AsY())
	}
	peak, t := XMM(), XMM()
	VEXTRACTI128(U8(1), top.AsY(), peak)
	VPMAXUD(top.AsX(), peak, peak)
	VPSHUFD(U8(0x4e), peak, t)
	VPMAXUD(t, peak, peak)
	VPSHUFD(U8(0xb1), peak, t)
	VPMAXUD(t, peak, peak)

	// scale = peak/127, inverse = 127/peak; both 0 below the smallest peak.
	scale, inverse, keep := XMM(), XMM(), XMM()
	VMULSS(limit, peak, scale)
	VDIVSS(peak, steps, inverse)
	VCMPSS(U8(5), smallest, peak, keep) // not less
	VANDPS(keep, scale, scale)
	VANDPS(keep, inverse, inverse)
	VMOVSS(scale, at(floats, 0))
	factor := vec()
	VBROADCASTSS(inverse, factor)
	for _, u := range v {
		VMULPS(factor, u, u)
		VCVTPS2DQ(u, u)
	}
	q := YMM()
	if wide {
		hi := XMM()
		VPMOVDB(v[0], q.AsX())
		VPMOVDB(v[1], hi)
		VINSERTI128(U8(1), hi, q, q)
	} else {
		VPACKSSDW(v[1], v[0], v[0])
		VPACKSSDW(v[3], v[2], v[2])
		VPACKSSWB(v[2], v[0], q)
		o := YMM()
		VMOVDQU(table("order", 0, 4, 1, 5, 2, 6, 3, 7), o)
		VPERMD(q, o, q)
	}
	// Sums of four, then of sixteen.
	sums := YMM()
	one := YMM()
	VMOVDQU(inMemory(0x01010101), one)
	VPMADDUBSW(q, one, sums)
	VPMADDWD(inMemory(0x00010001), sums, sums)
	VPHADDD(sums, sums, sums)
	VPHADDD(sums, sums, sums)
	lo, hi := sums.AsX(), XMM()
	VEXTRACTI128(U8(1), sums, hi)
	total := XMM()
	VPADDD(lo, hi, total)
	for i, s := range []reg.Register{total, lo, hi} {
		VCVTDQ2PS(s, s)
		VMULSS(scale, s, s)
		VMOVSS(s, at(floats, 4*(actSum+i)*rowTile()))
	}
	VPXOR(inMemory(0x80808080), q, q)
	for i := range 8 {
		if i == 4 {
			VEXTRACTI128(U8(1), q, q.AsX())
		}
		VPEXTRD(U8(i%4), q.AsX(), at(dst, 4*i*rowTile()))
	}
	ADDQ(U32(4*group), x)
	ADDQ(U32(actBytes()), dst)
	ADDQ(U32(actBytes()), floats)
	DECQ(groups)
	JNZ(LabelRef("group"))
	VZEROUPPER()
	RET()
}
