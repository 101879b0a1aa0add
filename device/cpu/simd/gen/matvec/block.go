package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Weights in blocks of 32 lie in one 32-byte register and are multiplied with
// the activations' int8 in one of two ways, neither of which saturates:
//
// Unsigned ones, up to 31, as they are; their offset or minimum times the
// scaled sum of the activations is added apart.
//
// Signed ones, -128 to 127, by magnitude, their signs given to the activations:
// pairs add up to at most 2*128*127 = 32,512.

func blockAVX2() {
	t := newTables("bl2")
	c := newBlock32(t, false)
	minus8, minus16 := t.words("Minus8", 0xc1000000), t.words("Minus16", 0xc1800000)
	matvec("q8_0AVX2x", 34, keeping(c.q8_0, &c.ones))
	matvec("iq4nlAVX2x", 18, keeping(c.iq4nl, &c.ones, &c.nibble, &c.nibbles, &c.values))
	matvec("q4_0AVX2x", 18, keeping(c.unsigned(unsignedBlock{bytes: 18, offset: &minus8, qs: 2}), &c.ones, &c.nibble, &c.nibbles))
	matvec("q4_1AVX2x", 20, keeping(c.unsigned(unsignedBlock{bytes: 20, min: 2, qs: 4}), &c.ones, &c.nibble, &c.nibbles))
	matvec("q5_0AVX2x", 22, keeping(c.unsigned(unsignedBlock{bytes: 22, offset: &minus16, high: 2, qs: 6}), &c.ones, &c.nibble, &c.nibbles, &c.bits, &c.fifth))
	matvec("q5_1AVX2x", 24, keeping(c.unsigned(unsignedBlock{bytes: 24, min: 2, high: 4, qs: 8}), &c.ones, &c.nibble, &c.nibbles, &c.bits, &c.fifth))
}

// iq4nlValues are the weights that the nibbles of IQ4_NL and IQ4_XS stand for.
var iq4nlValues = [16]int8{-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113}

// block32 holds the tables. With VNNI, products are summed by VPDPBUSD.
type block32 struct {
	vnni    bool
	ones    constant // 16 words of 1
	nibble  constant // 32 bytes 0x0f
	nibbles constant // shifts of 64-bit words: none in the low lane, 4 in the high
	spread  Mem      // byte shuffle: byte i/8
	bits    constant // bit i%8 in byte i
	fifth   constant // 32 bytes 0x10
	values  constant // iq4nlValues in both lanes
}

func newBlock32(t *tables, vnni bool) *block32 {
	c := &block32{vnni: vnni}
	if vnni {
		return c // only q8_0, which needs no tables then
	}
	c.ones = constant{mem: t.bytes("Ones", 32, func(i int) byte { return byte(1 - i%2) })}
	c.nibble = constant{mem: t.repeat("Nibble", 32, 0x0f)}
	c.nibbles = constant{mem: t.words("Nibbles", 0, 0, 0, 0, 4, 0, 4, 0)}
	c.spread = t.bytes("Spread", 32, func(i int) byte { return byte(i / 8) })
	c.bits = constant{mem: t.bytes("Bits", 32, func(i int) byte { return 1 << (i % 8) })}
	c.fifth = constant{mem: t.repeat("Fifth", 32, 0x10)}
	c.values = constant{mem: t.bytes("Values", 32, func(i int) byte { return byte(iq4nlValues[i%16]) })}
	return c
}

// q8bBlock is where a block of activations lies, and what of it is loaded.
type q8bBlock struct {
	q      reg.VecVirtual // its int8
	scale  reg.VecVirtual // its scale in every element
	scaled Mem            // the scaled sum of its int8
}

// q8bRow runs body for the blocks of a row of q8b activations; perBlock writes
// what is needed once for all streams.
func q8bRow(f *frame, blockBytes int, perBlock func(a q8bBlock), body func(s int, w reg.GPVirtual, a q8bBlock)) {
	for s := range f.acc {
		f.acc[s] = YMM()
		VPXOR(f.acc[s], f.acc[s], f.acc[s])
	}
	y, d := GP64(), GP64()
	MOVQ(f.act, y)
	MOVQ(f.blocks, d)
	SHLQ(U8(5), d)
	ADDQ(y, d)
	step := GP64() // from a block's scale to its scaled sum
	MOVQ(f.blocks, step)
	SHLQ(U8(2), step)
	f.eachBlock(func() {
		a := q8bBlock{q: YMM(), scale: YMM(), scaled: Mem{Base: d, Index: step, Scale: 1}}
		VMOVDQU(Mem{Base: y}, a.q)
		VBROADCASTSS(Mem{Base: d}, a.scale)
		if perBlock != nil {
			perBlock(a)
		}
		for s, w := range f.w {
			body(s, w, a)
			f.prefetch(w, blockBytes)
			ADDQ(U8(uint8(blockBytes)), w)
		}
		ADDQ(U8(32), y)
		ADDQ(U8(4), d)
	})
}

// dot is the sums of four of the 32 products of the unsigned q and the signed
// a, as floats, in a new register.
func (c *block32) dot(q, a reg.VecVirtual) reg.VecVirtual {
	sum := YMM()
	if c.vnni {
		VPXOR(sum, sum, sum)
		VPDPBUSD(a, q, sum)
	} else {
		VPMADDUBSW(a, q, sum)
		VPMADDWD(c.ones.y, sum, sum)
	}
	VCVTDQ2PS(sum, sum)
	return sum
}

// half is the half at m, as a float in every element.
func half(m Mem) reg.VecVirtual {
	d := YMM()
	VPBROADCASTW(m, d.AsX())
	VCVTPH2PS(d.AsX(), d)
	return d
}

func (c *block32) q8_0(f *frame) {
	q8bRow(f, 34, nil, func(s int, w reg.GPVirtual, a q8bBlock) {
		q, t := YMM(), YMM()
		VPABSB(Mem{Base: w, Disp: 2}, q)
		VPSIGNB(Mem{Base: w, Disp: 2}, a.q, t)
		sum, d := c.dot(q, t), half(Mem{Base: w})
		VMULPS(a.scale, d, d)
		VFMADD231PS(d, sum, f.acc[s])
	})
}

// q4 is the 32 nibbles of the 16 bytes at m: low ones, then high ones.
func (c *block32) q4(m Mem) reg.VecVirtual {
	q := YMM()
	VBROADCASTI128(m, q)
	VPSRLVQ(c.nibbles.y, q, q)
	VPAND(c.nibble.y, q, q)
	return q
}

func (c *block32) iq4nl(f *frame) {
	q8bRow(f, 18, nil, func(s int, w reg.GPVirtual, a q8bBlock) {
		q, t := c.q4(Mem{Base: w, Disp: 2}), YMM()
		VPSHUFB(q, c.values.y, q)
		VPSIGNB(q, a.q, t)
		VPABSB(q, q)
		sum, d := c.dot(q, t), half(Mem{Base: w})
		VMULPS(a.scale, d, d)
		VFMADD231PS(d, sum, f.acc[s])
	})
}

// unsignedBlock describes a block whose weights are d*q + m, q unsigned and m a
// half of the block's or a multiple of d, by the offsets of its parts.
type unsignedBlock struct {
	bytes  int
	offset *Mem // m/d, or nil
	min    int  // of m, if offset is nil
	high   int  // of the fifth bits, or 0
	lookup bool // the nibbles stand for iq4nlValues plus 128 (AVX-512 only)
	qs     int  // of the nibbles
}

func (c *block32) unsigned(b unsignedBlock) rowFunc {
	return func(f *frame) {
		var scaled reg.VecVirtual // the scaled sum, times the offset if there is one
		perBlock := func(a q8bBlock) {
			scaled = YMM()
			VMOVSS(a.scaled, scaled.AsX())
			if b.offset != nil {
				VMULSS(*b.offset, scaled.AsX(), scaled.AsX())
			}
		}
		q8bRow(f, b.bytes, perBlock, func(s int, w reg.GPVirtual, a q8bBlock) {
			q := c.q4(Mem{Base: w, Disp: b.qs})
			if b.high != 0 {
				h := YMM()
				VPBROADCASTD(Mem{Base: w, Disp: b.high}, h)
				VPSHUFB(c.spread, h, h)
				VPAND(c.bits.y, h, h)
				VPCMPEQB(c.bits.y, h, h)
				VPAND(c.fifth.y, h, h)
				VPOR(h, q, q)
			}
			sum, d := c.dot(q, a.q), half(Mem{Base: w})
			m := d
			if b.offset == nil {
				m = half(Mem{Base: w, Disp: b.min})
			}
			VFMADD231PS(m, scaled, f.acc[s]) // in element 0
			dd := YMM()
			VMULPS(a.scale, d, dd)
			VFMADD231PS(dd, sum, f.acc[s])
		})
	}
}
