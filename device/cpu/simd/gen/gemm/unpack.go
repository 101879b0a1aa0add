package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The blocks are described in package quant, one file per type. Here lane i
// of a vector holds a doubleword of row i, so that what a scalar decoder does
// to four bytes is done to as many rows as there are lanes.

const (
	byte01 = 0x01010101
	byte03 = 0x03030303
	byte04 = 0x04040404
	byte08 = 0x08080808
	byte0f = 0x0f0f0f0f
	byte10 = 0x10101010
	byte20 = 0x20202020
	byte30 = 0x30303030
	byte3f = 0x3f3f3f3f
)

var floatBytes = map[string]int{"F32": 4, "F16": 2, "BF16": 2}

var (
	sym32 = kind{name: "Sym32", parts: 1}
	off32 = kind{name: "Off32", parts: 1, offsets: true}
	sym16 = kind{name: "Sym16", parts: 2}
	off16 = kind{name: "Off16", parts: 2, offsets: true}
)

var unpackers = []unpacker{
	{"F32", kind{}, 16, 0, nil, unpackF32},
	{"F16", kind{}, 16, 0, nil, unpackF16},
	{"BF16", kind{}, 16, 0, masksOf(0xffff0000), unpackBF16},
	{"Q4_0", sym32, 18, 1, masksOf(byte0f, byte08), unpackQ4_0},
	{"Q4_1", off32, 20, 1, masksOf(byte0f), unpackQ4_1},
	{"Q5_0", sym32, 22, 1, masksOf(byte0f, 15, 0x02040810, byte10), unpackQ5_0},
	{"Q5_1", off32, 24, 1, masksOf(byte0f, 15, 0x02040810, byte10), unpackQ5_1},
	{"Q8_0", sym32, 34, 1, nil, unpackQ8_0},
	{"IQ4_NL", sym32, 18, 1, gridIQ4, unpackIQ4NL},
	{"Q2_K", off16, 84, 8, masksOf(byte03, 15), unpackQ2K},
	{"Q3_K", sym16, 110, 8, masksOf(byte03, byte01, byte04, byte0f), unpackQ3K},
	{"Q4_K", off32, 144, 8, masksOf(byte0f, byte3f, byte30), unpackQ4K},
	{"Q5_K", off32, 176, 8, masksOf(byte0f, byte3f, byte30, byte01), unpackQ5K},
	{"Q6_K", sym16, 210, 8, masksOf(byte0f, byte30, byte20), unpackQ6K},
	{"IQ4_XS", sym32, 136, 8, gridIQ4, unpackIQ4XS},
}

// masksOf returns a function that makes constants of the values.
func masksOf(values ...uint32) func() []Op {
	return func() []Op {
		var ops []Op
		for _, v := range values {
			ops = append(ops, constant(v))
		}
		return ops
	}
}

// gridIQ4 makes the nibble mask and the grid of the IQ4 types.
func gridIQ4() []Op {
	// -127 -104 -83 -65, -49 -35 -22 -10, 1 13 25 38, 53 69 89 113
	m := table("iq4_grid", 0xbfad9881, 0xf6eaddcf, 0x26190d01, 0x71594535)
	grid := vec()
	if wide {
		VBROADCASTI32X4(m, grid)
	} else {
		VBROADCASTI128(m, grid)
	}
	return []Op{constant(byte0f), grid}
}

func unpackF32(b *block) {
	for j, v := range b.quad(0) {
		store(v, at(b.dst, 4*panelRows()*j))
	}
}

func unpackF16(b *block) {
	for j, v := range b.quad(0) {
		f := vec()
		lowHalves(v, f)
		store(f, at(b.dst, 4*panelRows()*2*j))
		highHalves(v, f)
		store(f, at(b.dst, 4*panelRows()*(2*j+1)))
	}
}

func unpackBF16(b *block) {
	high := b.consts[0]
	for j, v := range b.quad(0) {
		f := vec()
		VPSLLD(U8(16), v, f)
		store(f, at(b.dst, 4*panelRows()*2*j))
		and(high, v, v)
		store(v, at(b.dst, 4*panelRows()*(2*j+1)))
	}
}

// nibbles splits the bytes of v, which it destroys, into low and high nibbles.
func nibbles(v reg.VecVirtual, mask Op) (lo, hi reg.VecVirtual) {
	lo, hi = vec(), v
	and(mask, v, lo)
	VPSRLD(U8(4), v, hi)
	and(mask, hi, hi)
	return lo, hi
}

func unpackQ4_0(b *block) {
	b.halfScale(0)
	for s, v := range b.quad(2) {
		lo, hi := nibbles(v, b.consts[0])
		VPSUBB(b.consts[1], lo, lo)
		VPSUBB(b.consts[1], hi, hi)
		b.put(0, s, lo)
		b.put(0, s+4, hi)
	}
}

func unpackQ4_1(b *block) {
	b.halfScaleOffset(b.quad(0)[0])
	for s, v := range b.quad(4) {
		lo, hi := nibbles(v, b.consts[0])
		b.put(0, s, lo)
		b.put(0, s+4, hi)
	}
}

// halfScale writes the scale of a block of one group from its half float.
func (b *block) halfScale(off int) {
	d := vec()
	lowHalves(b.quad(off)[0], d)
	b.putScale(0, 0, d)
}

// halfScaleOffset writes scale and offset from the halves of v, which it destroys.
func (b *block) halfScaleOffset(v reg.VecVirtual) {
	d := vec()
	lowHalves(v, d)
	b.putScale(0, 0, d)
	highHalves(v, d)
	b.putOffset(0, 0, d)
}

func unpackQ5_0(b *block) {
	head := b.quad(0)
	d, bits := vec(), vec()
	lowHalves(head[0], d)
	b.putScale(0, 0, d)
	VPSRLD(U8(16), head[0], bits)
	VPSLLD(U8(16), head[1], d)
	or(d, bits, bits)
	b.fifthBits(6, bits, true)
}

func unpackQ5_1(b *block) {
	head := b.quad(0)
	b.halfScaleOffset(head[0])
	b.fifthBits(8, head[1], false)
}

// fifthBits writes a group whose nibbles start at off and whose fifth bits are
// those of the doublewords in bits.
func (b *block) fifthBits(off int, bits reg.VecVirtual, center bool) {
	four, spread, mask := b.consts[1], b.consts[2], b.consts[3]
	for j, v := range b.quad(off) {
		lo, hi := nibbles(v, b.consts[0])
		for _, part := range []struct {
			step int
			q    reg.VecVirtual
		}{{j, lo}, {j + 4, hi}} {
			t := vec()
			VPSRLD(U8(4*part.step), bits, t)
			and(four, t, t)
			VPMULLD(spread, t, t) // bit i to bit 4 of byte i
			and(mask, t, t)
			or(t, part.q, part.q)
			if center {
				VPSUBB(mask, part.q, part.q) // 16
			}
			b.put(0, part.step, part.q)
		}
	}
}

func unpackQ8_0(b *block) {
	b.halfScale(0)
	for half := range 2 {
		for s, v := range b.quad(2 + 16*half) {
			b.put(0, 4*half+s, v)
		}
	}
}

func unpackIQ4NL(b *block) {
	b.halfScale(0)
	b.lookUp(0, 2)
}

// lookUp writes group g, whose nibbles start at off.
func (b *block) lookUp(g, off int) {
	for s, v := range b.quad(off) {
		lo, hi := nibbles(v, b.consts[0])
		VPSHUFB(lo, b.consts[1], lo)
		VPSHUFB(hi, b.consts[1], hi)
		b.put(g, s, lo)
		b.put(g, s+4, hi)
	}
}

// signedField is the float of bits at..at+width of v, two's complement.
func signedField(v reg.VecVirtual, at, width int) reg.VecVirtual {
	f := vec()
	VPSLLD(U8(32-at-width), v, f)
	VPSRAD(U8(32-width), f, f)
	VCVTDQ2PS(f, f)
	return f
}

// field is the float of bits at..at+width of v.
func field(v reg.VecVirtual, at, width int) reg.VecVirtual {
	f := vec()
	VPSLLD(U8(32-at-width), v, f)
	VPSRLD(U8(32-width), f, f)
	VCVTDQ2PS(f, f)
	return f
}

func unpackIQ4XS(b *block) {
	head := b.quad(0)
	d := vec()
	lowHalves(head[0], d)
	center := vec()
	load32(center, 32)
	for g := range 8 {
		s, high := vec(), vec()
		VPSLLD(U8(28-4*g), head[1], s) // the nibble at the top
		VPSRLD(U8(28), s, s)
		VPSRLD(U8(16+2*g), head[0], high)
		VPSLLD(U8(30), high, high)
		VPSRLD(U8(26), high, high)
		or(high, s, s)
		VPSUBD(center, s, s)
		VCVTDQ2PS(s, s)
		VMULPS(d, s, s)
		b.putScale(g, 0, s)
	}
	for g := range 8 {
		b.lookUp(g, 8+16*g)
	}
}

// load32 sets every lane of v.
func load32(v reg.VecVirtual, value uint32) {
	if wide {
		VPBROADCASTD(inMemory(value), v)
	} else {
		VMOVDQU(inMemory(value), v)
	}
}

// scalesMins writes scales and offsets of a Q4_K or Q5_K block.
func (b *block) scalesMins() {
	head := b.quad(0)
	low6, high2, low4 := b.consts[1], b.consts[2], b.consts[0]
	d, dmin := vec(), vec()
	lowHalves(head[0], d)
	highHalves(head[0], dmin)
	zeros := vec()
	zero(zeros)
	VSUBPS(dmin, zeros, dmin)
	for half := range 2 {
		sc, m := vec(), vec()
		if half == 0 {
			and(low6, head[1], sc)
			and(low6, head[2], m)
		} else {
			VPSRLD(U8(2), head[1], head[1])
			VPSRLD(U8(2), head[2], head[2])
			and(high2, head[1], head[1])
			and(high2, head[2], head[2])
			and(low4, head[3], sc)
			VPSRLD(U8(4), head[3], m)
			and(low4, m, m)
			or(head[1], sc, sc)
			or(head[2], m, m)
		}
		for i := range 4 {
			f := field(sc, 8*i, 8)
			VMULPS(d, f, f)
			b.putScale(4*half+i, 0, f)
			f = field(m, 8*i, 8)
			VMULPS(dmin, f, f)
			b.putOffset(4*half+i, 0, f)
		}
	}
}

func unpackQ4K(b *block) {
	b.scalesMins()
	for g := 0; g < 8; g += 2 {
		for half := range 2 {
			for s, v := range b.quad(16 + 16*g + 16*half) {
				lo, hi := nibbles(v, b.consts[0])
				b.put(g, 4*half+s, lo)
				b.put(g+1, 4*half+s, hi)
			}
		}
	}
}

func unpackQ5K(b *block) {
	b.scalesMins()
	for half := range 2 {
		high := b.quad(16 + 16*half)
		for g := 0; g < 8; g += 2 {
			for s, v := range b.quad(48 + 16*g + 16*half) {
				lo, hi := nibbles(v, b.consts[0])
				for i, q := range []reg.VecVirtual{lo, hi} {
					t := vec()
					VPSRLD(U8(g+i), high[s], t)
					and(b.consts[3], t, t)
					VPSLLD(U8(4), t, t)
					or(t, q, q)
					b.put(g+i, 4*half+s, q)
				}
			}
		}
	}
}

func unpackQ6K(b *block) {
	low4, high2, center := b.consts[0], b.consts[1], b.consts[2]
	d := vec()
	highHalves(b.quad(194)[3], d)
	for j, v := range b.quad(192) {
		for i := range 4 { // scale 4j+i is that of 16 elements
			f := signedField(v, 8*i, 8)
			VMULPS(d, f, f)
			b.putScale(2*j+i/2, i%2, f)
		}
	}
	for h := range 2 { // 128 elements
		for part := range 2 { // 16 of every 32
			high := b.quad(128 + 32*h + 16*part)
			for pair := range 2 { // 32 elements and those 64 further on
				for s, v := range b.quad(64*h + 32*pair + 16*part) {
					lo, hi := nibbles(v, low4)
					for i, q := range []reg.VecVirtual{lo, hi} {
						t := vec()
						shift := 4 - 2*pair - 4*i // of the two bits to bits 4 and 5
						switch {
						case shift > 0:
							VPSLLD(U8(shift), high[s], t)
							and(high2, t, t)
						case shift < 0:
							VPSRLD(U8(-shift), high[s], t)
							and(high2, t, t)
						default:
							and(high2, high[s], t)
						}
						or(t, q, q)
						VPSUBB(center, q, q)
						b.put(4*h+pair+2*i, 4*part+s, q)
					}
				}
			}
		}
	}
}

func unpackQ3K(b *block) {
	low2, one, center, low4 := b.consts[0], b.consts[1], b.consts[2], b.consts[3]
	d, bias := vec(), vec()
	highHalves(b.quad(94)[3], d)
	load32(bias, 32)
	tail := b.quad(92) // doublewords 1..3 are the scale bytes
	for j := range 4 { // scales 4j..4j+3
		low, high := vec(), vec()
		if j < 2 {
			and(low4, tail[1+j], low)
		} else {
			VPSRLD(U8(4), tail[1+j-2], low)
			and(low4, low, low)
		}
		if j == 0 {
			and(low2, tail[3], high)
		} else {
			VPSRLD(U8(2*j), tail[3], high)
			and(low2, high, high)
		}
		VPSLLD(U8(4), high, high)
		or(high, low, low)
		for i := range 4 {
			f := vec()
			VPSLLD(U8(24-8*i), low, f)
			VPSRLD(U8(24), f, f)
			VPSUBD(bias, f, f)
			VCVTDQ2PS(f, f)
			VMULPS(d, f, f)
			b.putScale(2*j+i/2, i%2, f)
		}
	}
	for part := range 2 {
		high := b.quad(16 * part)
		for h := range 2 {
			for s, v := range b.quad(32 + 32*h + 16*part) {
				for j := range 4 {
					g := 4*h + j
					q, t := vec(), vec()
					VPSRLD(U8(2*j), v, q)
					and(low2, q, q)
					VPSRLD(U8(g), high[s], t)
					and(one, t, t)
					VPSLLD(U8(2), t, t)
					or(t, q, q)
					VPSUBB(center, q, q)
					b.put(g, 4*part+s, q)
				}
			}
		}
	}
}

func unpackQ2K(b *block) {
	low2 := b.consts[0]
	d, dmin, zeros := vec(), vec(), vec()
	tail := b.quad(68)[3]
	lowHalves(tail, d)
	highHalves(tail, dmin)
	zero(zeros)
	VSUBPS(dmin, zeros, dmin)
	for j, v := range b.quad(0) {
		for i := range 4 {
			f := field(v, 8*i, 4)
			VMULPS(d, f, f)
			b.putScale(2*j+i/2, i%2, f)
			f = field(v, 8*i+4, 4)
			VMULPS(dmin, f, f)
			b.putOffset(2*j+i/2, i%2, f)
		}
	}
	for part := range 2 {
		for h := range 2 {
			for s, v := range b.quad(16 + 32*h + 16*part) {
				for j := range 4 {
					q := vec()
					VPSRLD(U8(2*j), v, q)
					and(low2, q, q)
					b.put(4*h+j, 4*part+s, q)
				}
			}
		}
	}
}
