package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The AVX-512 forms take 64 weights at a time and else go the way of the AVX2
// forms (see there about saturation), with VPDPWSSD to add scaled pairs up.

func kquantAVX512() {
	t := newTables("kq5")
	matvec("q2kAVX512x", 84, func() rowFunc { return q2k5(t) })
	matvec("q3kAVX512x", 110, func() rowFunc { return q3k5(t) })
	matvec("q4kAVX512x", 144, func() rowFunc { return q45k5(t, 144, 16) })
	matvec("q5kAVX512x", 176, func() rowFunc { return q45k5(t, 176, 48) })
	matvec("q6kAVX512x", 210, func() rowFunc { return q6k5(t) })
	matvec("iq4xsAVX512x", 136, func() rowFunc { return iq4xs5(t) })
}

// andOr is the VPTERNLOGD that sets those bits of its last operand that the two
// others have in common.
const andOr = U8(0xf8)

// act5 is a block of activations.
type act5 struct {
	y     reg.GPVirtual
	scale reg.VecVirtual // in every element
	sums  reg.VecVirtual // sums of 16, as words in 32 bytes
}

func (a act5) q(i int) Mem { return Mem{Base: a.y, Disp: i} }

// q8kRow5 runs body for the blocks of a row of q8k activations.
func q8kRow5(f *frame, blockBytes int, sums bool, body func(s int, w reg.GPVirtual, a act5)) {
	for s := range f.acc {
		f.acc[s] = ZMM()
		VPXORD(f.acc[s], f.acc[s], f.acc[s])
	}
	y := GP64()
	MOVQ(f.act, y)
	f.eachBlock(func() {
		a := act5{y: y, scale: ZMM()}
		VBROADCASTSS(Mem{Base: y, Disp: q8kD}, a.scale)
		if sums {
			a.sums = YMM()
			VMOVDQU32(Mem{Base: y, Disp: q8kS16}, a.sums)
		}
		for s, w := range f.w {
			body(s, w, a)
			f.prefetch(w, blockBytes)
			ADDQ(U32(uint32(blockBytes)), w)
		}
		ADDQ(U32(q8kBytes), y)
	})
}

// products collects the sums of a block in two registers, for the latency.
type products struct {
	sum [2]reg.VecVirtual
	n   int
}

// add adds the products of 64 unsigned weights q and their activations, times
// the words of scales that spread picks.
func (p *products) add(q reg.VecVirtual, y Op, scales, spread reg.VecVirtual) {
	sc := ZMM()
	VPMADDUBSW(y, q, q)
	VPERMW(scales, spread, sc)
	if sum := p.sum[p.n%2]; sum == nil {
		VPMADDWD(sc, q, q)
		p.sum[p.n%2] = q
	} else {
		VPDPWSSD(sc, q, sum)
	}
	p.n++
}

// total is all sums, in one register.
func (p *products) total() reg.VecVirtual {
	VPADDD(p.sum[1], p.sum[0], p.sum[0])
	return p.sum[0]
}

// scaleAndMin5 adds d*sum - dmin*mins to acc: the halves d and dmin lie at w,
// sum has 16 integers, mins has 8 or 4, the rest being zero.
func scaleAndMin5(acc reg.VecVirtual, w Mem, a act5, sum, mins reg.VecVirtual, n int) {
	dm, d := XMM(), ZMM()
	VPBROADCASTD(w, dm)
	VCVTPH2PS(dm, dm)
	VMULPS(a.scale.AsX(), dm, dm)
	VBROADCASTSS(dm, d)
	VCVTDQ2PS(sum, sum)
	VFMADD231PS(d, sum, acc)
	VPSHUFD(U8(0x55), dm, dm)
	if n == 8 {
		VBROADCASTSS(dm, dm.AsY())
		VCVTDQ2PS(mins.AsY(), mins.AsY())
	} else {
		VCVTDQ2PS(mins.AsX(), mins.AsX())
	}
	VFNMADD231PS(dm.AsZ(), mins.AsZ(), acc)
}

// scaleBy5 adds d*sum to acc; the half d lies at w.
func scaleBy5(acc reg.VecVirtual, w Mem, a act5, sum reg.VecVirtual) {
	d := ZMM()
	VPBROADCASTW(w, d.AsY())
	VCVTPH2PS(d.AsY(), d) // exact for subnormals too
	VMULPS(a.scale, d, d)
	VCVTDQ2PS(sum, sum)
	VFMADD231PS(d, sum, acc)
}

// spread32 and spread16 are shuffles of words for the four groups of 64
// elements of a block: from word first on, one for each 32 or 16 elements.
func spread32(t *tables, name string, first int) (v [4]reg.VecVirtual) {
	m := t.bytes(name, 4*64, func(i int) byte { return byte(first+i/64*2+i%64/32) * byte(1-i%2) })
	for g := range v {
		v[g] = loadZ(m.Offset(64 * g))
	}
	return v
}

func spread16(t *tables) (v [4]reg.VecVirtual) {
	m := t.bytes("Spread16", 4*64, func(i int) byte { return byte(i/64*4+i%64/16) * byte(1-i%2) })
	for g := range v {
		v[g] = loadZ(m.Offset(64 * g))
	}
	return v
}

// q45k5 is Q4_K or, in blocks of 176 bytes, Q5_K; qs is where its nibbles are.
func q45k5(t *tables, blockBytes, qs int) rowFunc {
	q5 := blockBytes == 176
	nibble, nibbles := loadZ(t.repeat("Nibble", 64, 0x0f)), loadZ(t.quads("Nibbles", 0, 4))
	spread := spread32(t, "Spread32Upper", 8)
	loShift, hiShift := loadX(t.words("ScaleLoShift", 0, 2, 0, 2)), loadX(t.words("ScaleHiShift", 0, 4, 0, 0))
	loMask := loadX(t.words("ScaleLoMask", 0x3f3f3f3f, 0x30303030, 0x3f3f3f3f, 0x30303030))
	hiMask := loadX(t.words("ScaleHiMask", 0, 0x0f0f0f0f, 0, 0x0f0f0f0f))
	var bit reg.VecVirtual
	var rotate [4]reg.VecVirtual // take bits 2g and 2g+1 of a byte to bit 4
	if q5 {
		bit = loadZ(t.repeat("Bit", 64, 0x10))
		for g := range rotate {
			rotate[g] = loadZ(t.quads("Q5Rotate"+string(rune('0'+g)), uint32(68-2*g)%64, uint32(67-2*g)%64))
		}
	}
	return func(f *frame) {
		q8kRow5(f, blockBytes, false, func(s int, w reg.GPVirtual, a act5) {
			// 8 minima and 8 scales as words: see kquant2.q4kScales.
			sm, hi, mins := ZMM(), XMM(), XMM()
			VPSHUFD(U8(0x5a), Mem{Base: w}, sm.AsX())
			VPSHUFD(U8(0xff), Mem{Base: w}, hi)
			VPSRLVD(loShift, sm.AsX(), sm.AsX())
			VPSRLVD(hiShift, hi, hi)
			VPANDD(loMask, sm.AsX(), sm.AsX())
			VPTERNLOGD(andOr, hiMask, hi, sm.AsX())
			VPMOVZXBW(sm.AsX(), sm.AsY())
			VPMADDWD(a.q(q8kS32), sm.AsX(), mins)

			var high reg.VecVirtual
			if q5 {
				high = ZMM()
				VBROADCASTI64X4(Mem{Base: w, Disp: 16}, high)
			}
			var p products
			for g := range 4 { // 64 elements
				q := ZMM()
				VBROADCASTI64X4(Mem{Base: w, Disp: qs + 32*g}, q)
				VPSRLVQ(nibbles, q, q)
				VPANDD(nibble, q, q)
				if q5 {
					h := ZMM()
					VPROLVQ(rotate[g], high, h)
					VPTERNLOGD(andOr, bit, h, q)
				}
				p.add(q, a.q(64*g), sm, spread[g])
			}
			scaleAndMin5(f.acc[s], Mem{Base: w}, a, p.total(), mins, 4)
		})
	}
}

func q6k5(t *tables) rowFunc {
	nibble, two := loadZ(t.repeat("Nibble", 64, 0x0f)), loadZ(t.repeat("Two4", 64, 0x30))
	low, high := loadZ(t.quads("Q6Low", 4, 2)), loadZ(t.quads("Q6High", 0, 2))
	spread := spread16(t)
	return func(f *frame) {
		q8kRow5(f, 210, true, func(s int, w reg.GPVirtual, a act5) {
			scales, off := ZMM(), ZMM()
			VPMOVSXBW(Mem{Base: w, Disp: 192}, scales.AsY())
			VPMADDWD(a.sums, scales.AsY(), off.AsY())
			VPSLLD(U8(5), off.AsY(), off.AsY()) // the weights are 32 less
			var p products
			for h := range 2 { // 128 elements
				q0, q1, qh, u := ZMM(), ZMM(), ZMM(), ZMM()
				VMOVDQU64(Mem{Base: w, Disp: 64 * h}, q0)
				VBROADCASTI64X4(Mem{Base: w, Disp: 128 + 32*h}, qh)
				VPSRLW(U8(4), q0, q1)
				VPANDD(nibble, q0, q0)
				VPANDD(nibble, q1, q1)
				VPSLLVQ(low, qh, u)
				VPSRLVQ(high, qh, qh)
				VPTERNLOGD(andOr, two, u, q0)
				VPTERNLOGD(andOr, two, qh, q1)
				p.add(q0, a.q(128*h), scales, spread[2*h])
				p.add(q1, a.q(128*h+64), scales, spread[2*h+1])
			}
			sum := p.total()
			VPSUBD(off, sum, sum)
			scaleBy5(f.acc[s], Mem{Base: w, Disp: 208}, a, sum)
		})
	}
}
