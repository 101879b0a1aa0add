package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// With AVX-512 two blocks of 32 weights share a register, and VPDPBUSD sums
// without saturating, so that IQ4_NL's weights, with 128 added, are unsigned
// ones as well. The second block of the last pair may be missing: everything
// that is read of it is read under a mask.

func blockAVX512() {
	t := newTables("bl5")
	c := newBlock32(t, true)
	matvec("q8_0AVX512x", 34, plain(c.q8_0))
	minus := func(name string, bits uint32) *Mem { m := t.words(name, bits); return &m }
	pairs := func(b unsignedBlock) func() rowFunc { return func() rowFunc { return pairs5(t, b) } }
	matvec("q4_0AVX512x", 18, pairs(unsignedBlock{bytes: 18, offset: minus("Minus8", 0xc1000000), qs: 2}))
	matvec("q4_1AVX512x", 20, pairs(unsignedBlock{bytes: 20, min: 2, qs: 4}))
	matvec("q5_0AVX512x", 22, pairs(unsignedBlock{bytes: 22, offset: minus("Minus16", 0xc1800000), high: 2, qs: 6}))
	matvec("q5_1AVX512x", 24, pairs(unsignedBlock{bytes: 24, min: 2, high: 4, qs: 8}))
	matvec("iq4nlAVX512x", 18, pairs(unsignedBlock{bytes: 18, offset: minus("Minus128", 0xc3000000), lookup: true, qs: 2}))
}

// pairMasks say which parts of a pair's registers its second block has.
type pairMasks struct {
	quads  reg.OpmaskVirtual // the upper four of 8 64-bit words
	words  reg.OpmaskVirtual // the upper 8 of 16 words or doublewords
	middle reg.OpmaskVirtual // element 8 of 16
	all    reg.OpmaskVirtual // 8 64-bit words, of the first block too
}

func (m *pairMasks) set(whole bool) {
	v := GP32()
	for _, k := range []struct {
		k           reg.OpmaskVirtual
		whole, half uint32
	}{{m.quads, 0xf0, 0}, {m.words, 0xff00, 0}, {m.middle, 0x0100, 0}, {m.all, 0xff, 0x0f}} {
		if whole {
			MOVL(U32(k.whole), v)
		} else {
			MOVL(U32(k.half), v)
		}
		KMOVW(v, k.k)
	}
}

// pairs5 is the row of blocks as b describes them.
func pairs5(t *tables, b unsignedBlock) rowFunc {
	nibble := loadZ(t.repeat("Nibble64", 64, 0x0f))
	nibbles := loadZ(t.words("Nibbles64", 0, 0, 0, 0, 4, 0, 4, 0, 0, 0, 0, 0, 4, 0, 4, 0))
	var spread, bits, sixteen, values, offset reg.VecVirtual
	if b.high != 0 {
		spread = loadZ(t.bytes("Spread64", 64, func(i int) byte { return byte(i % 32 / 8) }))
		bits = loadZ(t.bytes("Bits64", 64, func(i int) byte { return 1 << (i % 8) }))
		sixteen = loadZ(t.repeat("Sixteen", 64, 16))
	}
	if b.lookup {
		values = loadZ(t.bytes("Values128", 64, func(i int) byte { return byte(int(iq4nlValues[i%16]) + 128) }))
	}
	if b.offset != nil {
		offset = ZMM()
		VBROADCASTSS(*b.offset, offset)
	}
	m := &pairMasks{K(), K(), K(), K()}
	return func(f *frame) {
		for s := range f.acc {
			f.acc[s] = ZMM()
			VPXORD(f.acc[s], f.acc[s], f.acc[s])
		}
		y, d, s, left, step := GP64(), GP64(), GP64(), GP64(), GP64()
		MOVQ(f.act, y)
		MOVQ(f.blocks, left)
		MOVQ(left, d)
		SHLQ(U8(5), d)
		ADDQ(y, d)
		LEAQ(Mem{Base: d, Index: left, Scale: 4}, s)
		MOVQ(U32(uint32(2*b.bytes)), step)
		m.set(true)
		Label("pair")
		CMPQ(left, U8(1))
		JNE(LabelRef("whole"))
		MOVQ(U32(uint32(b.bytes)), step)
		m.set(false)
		Label("whole")
		a, scale, scaled := ZMM(), ZMM(), ZMM()
		VMOVDQU64_Z(Mem{Base: y}, m.all, a)
		VBROADCASTSS(Mem{Base: d}, scale)
		VBROADCASTSS(Mem{Base: d, Disp: 4}, m.words, scale)
		VMOVSS(Mem{Base: s}, scaled.AsX())
		VBROADCASTSS(Mem{Base: s, Disp: 4}, m.middle, scaled)
		if offset != nil {
			VMULPS(offset, scaled, scaled)
		}
		for i, w := range f.w {
			q, sum := ZMM(), ZMM()
			VBROADCASTI64X2(Mem{Base: w, Disp: b.qs}, q)
			VBROADCASTI64X2(Mem{Base: w, Disp: b.bytes + b.qs}, m.quads, q)
			VPSRLVQ(nibbles, q, q)
			VPANDD(nibble, q, q)
			if b.high != 0 {
				h, k := ZMM(), K()
				VPBROADCASTD(Mem{Base: w, Disp: b.high}, h)
				VPBROADCASTD(Mem{Base: w, Disp: b.bytes + b.high}, m.words, h)
				VPSHUFB(spread, h, h)
				VPTESTMB(bits, h, k)
				VPADDB(sixteen, q, k, q)
			}
			if b.lookup {
				VPSHUFB(q, values, q)
			}
			VPXORD(sum, sum, sum)
			VPDPBUSD(a, q, sum)
			VCVTDQ2PS(sum, sum)
			half := m.halves(w, 0, b.bytes)
			min := half
			if offset == nil {
				min = m.halves(w, b.min, b.bytes)
			}
			VFMADD231PS(min, scaled, f.acc[i]) // in elements 0 and 8
			dd := ZMM()
			VMULPS(scale, half, dd)
			VFMADD231PS(dd, sum, f.acc[i])
			f.prefetch(w, 2*b.bytes)
			ADDQ(step, w)
		}
		ADDQ(U8(64), y)
		ADDQ(U8(8), d)
		ADDQ(U8(8), s)
		SUBQ(U8(2), left)
		JG(LabelRef("pair"))
	}
}

// halves is the half at w+disp as 8 floats, and that of the next block as 8.
func (m *pairMasks) halves(w reg.GPVirtual, disp, blockBytes int) reg.VecVirtual {
	d := ZMM()
	VPBROADCASTW(Mem{Base: w, Disp: disp}, d.AsY())
	VPBROADCASTW(Mem{Base: w, Disp: blockBytes + disp}, m.words, d.AsY())
	VCVTPH2PS(d.AsY(), d)
	return d
}
