package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// crumbs5 is elements 64*g to 64*g+63 of 256 that lie in 64 bytes at w, two
// bits each: as in Q2_K and Q3_K.
func crumbs5(w reg.GPVirtual, disp, g int, shift [2]reg.VecVirtual, two reg.VecVirtual) reg.VecVirtual {
	q := ZMM()
	VBROADCASTI64X4(Mem{Base: w, Disp: disp + g/2*32}, q)
	VPSRLVQ(shift[g%2], q, q)
	VPANDD(two, q, q)
	return q
}

func crumbShifts(t *tables) [2]reg.VecVirtual {
	return [2]reg.VecVirtual{loadZ(t.quads("Crumbs0", 0, 2)), loadZ(t.quads("Crumbs1", 4, 6))}
}

func q2k5(t *tables) rowFunc {
	nibble, two := loadX(t.repeat("Nibble", 64, 0x0f)), loadZ(t.repeat("Two", 64, 0x03))
	shift, spread := crumbShifts(t), spread16(t)
	return func(f *frame) {
		q8kRow5(f, 84, true, func(s int, w reg.GPVirtual, a act5) {
			scales, mins := ZMM(), YMM()
			VMOVDQU32(Mem{Base: w}, scales.AsX())
			VPSRLW(U8(4), scales.AsX(), mins.AsX())
			VPANDD(nibble, scales.AsX(), scales.AsX())
			VPANDD(nibble, mins.AsX(), mins.AsX())
			VPMOVZXBW(scales.AsX(), scales.AsY())
			VPMOVZXBW(mins.AsX(), mins)
			VPMADDWD(a.sums, mins, mins)
			var p products
			for g := range 4 {
				p.add(crumbs5(w, 16, g, shift, two), a.q(64*g), scales, spread[g])
			}
			scaleAndMin5(f.acc[s], Mem{Base: w, Disp: 80}, a, p.total(), mins, 8)
		})
	}
}

func q3k5(t *tables) rowFunc {
	nibble, two := loadX(t.repeat("Nibble", 64, 0x0f)), loadZ(t.repeat("Two", 64, 0x03))
	less32, bit := loadX(t.repeat("Less32", 16, 32)), loadZ(t.repeat("Bit2", 64, 0x04))
	loShift, hiShift := loadX(t.words("Q3LoShift", 0, 0, 4, 4)), loadX(t.words("Q3HiShift", 0, 2, 4, 6))
	shift, spread := crumbShifts(t), spread16(t)
	var rotate [4]reg.VecVirtual // take bits 2g and 2g+1 of a byte to bit 2
	for g := range rotate {
		rotate[g] = loadZ(t.quads("Q3Rotate"+string(rune('0'+g)), uint32(66-2*g)%64, uint32(65-2*g)%64))
	}
	return func(f *frame) {
		q8kRow5(f, 110, true, func(s int, w reg.GPVirtual, a act5) {
			// See kquant2.q3k about the scales.
			scales, off, high := ZMM(), ZMM(), XMM()
			VPSHUFD(U8(0x99), Mem{Base: w, Disp: 92}, scales.AsX())
			VPSHUFD(U8(0xff), Mem{Base: w, Disp: 92}, high)
			VPSRLVD(loShift, scales.AsX(), scales.AsX())
			VPSRLVD(hiShift, high, high)
			VPANDD(nibble, scales.AsX(), scales.AsX())
			VPANDD(two.AsX(), high, high)
			VPSLLW(U8(4), high, high)
			VPORD(high, scales.AsX(), scales.AsX())
			VPSUBB(less32, scales.AsX(), scales.AsX())
			VPMOVSXBW(scales.AsX(), scales.AsY())
			VPMADDWD(a.sums, scales.AsY(), off.AsY())
			VPSLLD(U8(2), off.AsY(), off.AsY()) // the weights are 4 less
			hmask := ZMM()
			VBROADCASTI64X4(Mem{Base: w}, hmask)
			var p products
			for g := range 4 {
				q, h := crumbs5(w, 32, g, shift, two), ZMM()
				VPROLVQ(rotate[g], hmask, h)
				VPTERNLOGD(andOr, bit, h, q)
				p.add(q, a.q(64*g), scales, spread[g])
			}
			sum := p.total()
			VPSUBD(off, sum, sum)
			scaleBy5(f.acc[s], Mem{Base: w, Disp: 108}, a, sum)
		})
	}
}

func iq4xs5(t *tables) rowFunc {
	nibble := loadZ(t.repeat("Nibble", 64, 0x0f))
	nibbles := loadZ(t.words("Nibbles4", 0, 0, 0, 0, 4, 0, 4, 0, 0, 0, 0, 0, 4, 0, 4, 0))
	values := loadZ(t.bytes("Values", 64, func(i int) byte { return byte(iq4nlValues[i%16]) }))
	top2 := loadX(t.bytes("Top2", 16, func(i int) byte { return byte(uint16(1) << (14 - i/2*2) >> (i % 2 * 8)) }))
	high2, less32 := loadX(t.words("High2", 0x00300030, 0x00300030, 0x00300030, 0x00300030)), loadX(t.words("Less32Words", 0x00200020, 0x00200020, 0x00200020, 0x00200020))
	zero := ZMM()
	VPXORD(zero, zero, zero)
	spread := spread32(t, "Spread32", 0)
	return func(f *frame) {
		q8kRow5(f, 136, false, func(s int, w reg.GPVirtual, a act5) {
			// See kquant2.iq4xs about the scales.
			scales, t := ZMM(), XMM()
			low := scales.AsX()
			VPBROADCASTD(Mem{Base: w, Disp: 4}, low)
			VPMOVZXBW(low, low)
			VPSLLW(U8(4), low, t)
			VPORD(t, low, low)
			VPANDD(nibble.AsX(), low, low)
			VPMOVZXBW(low, low)
			VPBROADCASTW(Mem{Base: w, Disp: 2}, t)
			VPMULLW(top2, t, t)
			VPSRLW(U8(10), t, t)
			VPTERNLOGD(andOr, high2, t, low)
			VPSUBW(less32, low, low)
			var p products
			for g := range 4 { // 64 elements in 32 bytes, of which each 16 fill two lanes
				q, y, negative := ZMM(), ZMM(), K()
				VBROADCASTI64X4(Mem{Base: w, Disp: 8 + 32*g}, q)
				VSHUFI64X2(U8(0x50), q, q, q)
				VPSRLVQ(nibbles, q, q)
				VPANDD(nibble, q, q)
				VPSHUFB(q, values, q)
				VPMOVB2M(q, negative)
				VPABSB(q, q)
				VMOVDQU64(a.q(64*g), y)
				VPSUBB(y, zero, negative, y)
				p.add(q, y, scales, spread[g])
			}
			scaleBy5(f.acc[s], Mem{Base: w}, a, p.total())
		})
	}
}
