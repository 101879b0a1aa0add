package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func blockAVX2() {
	c := &block2{ones: bytesTable("bl2Ones", 32, func(i int) byte { return byte(1 - i%2) })}
	matvec("q8_0AVX2x", 34, nil, c.q8_0)
}

// block2 holds the tables.
type block2 struct {
	ones Mem // 16 words of 1
}

// q8bRow runs body for the blocks of a row of q8b activations: a has the
// block's int8, da its scale in every element.
func q8bRow(f *frame, blockBytes int, body func(s int, w reg.GPVirtual, a, da reg.VecVirtual)) {
	for s := range f.acc {
		f.acc[s] = YMM()
		VPXOR(f.acc[s], f.acc[s], f.acc[s])
	}
	y, d := GP64(), GP64()
	MOVQ(f.act, y)
	MOVQ(f.blocks, d)
	SHLQ(U8(5), d)
	ADDQ(y, d)
	f.eachBlock(func() {
		a, da := YMM(), YMM()
		VMOVDQU(Mem{Base: y}, a)
		VBROADCASTSS(Mem{Base: d}, da)
		for s, w := range f.w {
			body(s, w, a, da)
			prefetch(w, blockBytes)
			ADDQ(U8(uint8(blockBytes)), w)
		}
		ADDQ(U8(32), y)
		ADDQ(U8(4), d)
	})
}

func (c *block2) q8_0(f *frame) {
	q8bRow(f, 34, func(s int, w reg.GPVirtual, a, da reg.VecVirtual) {
		q, t := YMM(), YMM()
		VPABSB(Mem{Base: w, Disp: 2}, q)
		VPSIGNB(Mem{Base: w, Disp: 2}, a, t)
		VPMADDUBSW(t, q, q) // at most 2*128*127, below 2^15
		VPMADDWD(c.ones, q, q)
		VCVTDQ2PS(q, q)
		d := YMM()
		VPBROADCASTW(Mem{Base: w}, d.AsX())
		VCVTPH2PS(d.AsX(), d)
		VMULPS(da, d, d)
		VFMADD231PS(d, q, f.acc[s])
	})
}
