package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// kquantAVX512 writes the kernels that are worth 64 weights at a time. They go
// the way of their AVX2 forms (see there about saturation), with VPDPWSSD to
// add the scaled pairs up.
func kquantAVX512() {
	words := func(w ...uint32) []uint32 { return w }
	half := func(lo, hi uint32) []uint32 { // of 64-bit words: lo in four, hi in four
		return words(lo, 0, lo, 0, lo, 0, lo, 0, hi, 0, hi, 0, hi, 0, hi, 0)
	}
	t := &kquant5Tables{
		nibble: bytesTable("kq5Nibble", 64, func(int) byte { return 0x0f }),
		two:    bytesTable("kq5Two", 64, func(int) byte { return 0x30 }),
		bit:    bytesTable("kq5Bit", 64, func(int) byte { return 0x10 }),
		// Word shuffles: words 8+g*2 and 8+g*2+1 to 16 each, and g*4 up to g*4+3 to 8 each.
		spread32: bytesTable("kq5Spread32", 4*64, func(i int) byte { return byte(8+i/64*2+i%64/32) * byte(1-i%2) }),
		spread16: bytesTable("kq5Spread16", 4*64, func(i int) byte { return byte(i/64*4+i%64/16) * byte(1-i%2) }),
		nibbles:  table("kq5Nibbles", half(0, 4)),
		low:      table("kq5Low", half(4, 2)),
		high:     table("kq5High", half(0, 2)),
		shift:    table("kq5ScaleShift", words(0, 2, 0, 2, 0, 4, 0, 0)),
		mask:     table("kq5ScaleMask", words(0x3f3f3f3f, 0x30303030, 0x3f3f3f3f, 0x30303030, 0, 0x0f0f0f0f, 0, 0x0f0f0f0f)),
	}
	for g := range 4 { // left rotations that take bits 2g and 2g+1 of a byte to bit 4
		name := []string{"kq5Rotate0", "kq5Rotate1", "kq5Rotate2", "kq5Rotate3"}[g]
		t.rotate[g] = table(name, half(uint32(64+4-2*g)%64, uint32(64+3-2*g)%64))
	}
	c := &kquant5{t: t}
	matvec("q4kAVX512x", 144, c.q45kConsts(false), c.q45k(false))
	matvec("q5kAVX512x", 176, c.q45kConsts(true), c.q45k(true))
	matvec("q6kAVX512x", 210, c.q6kConsts, c.q6k)
}

// kquant5Tables are the tables in memory.
type kquant5Tables struct {
	nibble, two, bit   Mem
	spread32, spread16 Mem
	nibbles, low, high Mem
	shift, mask        Mem
	rotate             [4]Mem
}

// kquant5 holds the registers that keep a function's tables.
type kquant5 struct {
	t                  *kquant5Tables
	nibble, two, bit   reg.VecVirtual
	spread             [4]reg.VecVirtual
	rotate             [4]reg.VecVirtual
	nibbles, low, high reg.VecVirtual
	loShift, hiShift   reg.VecVirtual
	loMask, hiMask     reg.VecVirtual
}

func loadZ(m Mem) reg.VecVirtual {
	v := ZMM()
	VMOVDQU64(m, v)
	return v
}

func loadX(m Mem) reg.VecVirtual {
	v := XMM()
	VMOVDQU32(m, v)
	return v
}

// q8kRow5 is q8kRow with sums of 16 elements; perBlock writes what a block of
// activations needs once for all streams.
func q8kRow5(f *frame, blockBytes int, perBlock func(y reg.GPVirtual), body func(s int, w, y reg.GPVirtual, yd reg.VecVirtual)) {
	for s := range f.acc {
		f.acc[s] = ZMM()
		VPXORD(f.acc[s], f.acc[s], f.acc[s])
	}
	y := GP64()
	MOVQ(f.act, y)
	f.eachBlock(func() {
		yd := ZMM()
		VBROADCASTSS(Mem{Base: y, Disp: q8kD}, yd)
		if perBlock != nil {
			perBlock(y)
		}
		for s, w := range f.w {
			body(s, w, y, yd)
			prefetch(w, blockBytes)
			ADDQ(U32(uint32(blockBytes)), w)
		}
		ADDQ(U32(q8kBytes), y)
	})
}

func (c *kquant5) q45kConsts(q5 bool) func() {
	return func() {
		c.nibble, c.nibbles = loadZ(c.t.nibble), loadZ(c.t.nibbles)
		for g := range c.spread {
			c.spread[g] = loadZ(c.t.spread32.Offset(64 * g))
		}
		c.loShift, c.hiShift = loadX(c.t.shift), loadX(c.t.shift.Offset(16))
		c.loMask, c.hiMask = loadX(c.t.mask), loadX(c.t.mask.Offset(16))
		if q5 {
			c.bit = loadZ(c.t.bit)
			for g := range c.rotate {
				c.rotate[g] = loadZ(c.t.rotate[g])
			}
		}
	}
}

// q45k is the row of Q4_K, or of Q5_K with its 32 bytes of fifth bits.
func (c *kquant5) q45k(q5 bool) func(f *frame) {
	blockBytes, qs := 144, 16
	if q5 {
		blockBytes, qs = 176, 48
	}
	return func(f *frame) {
		q8kRow5(f, blockBytes, nil, func(s int, w, y reg.GPVirtual, yd reg.VecVirtual) {
			// 8 minima and 8 scales as words: see kquant2.q4kScales.
			sm, hi, mins := ZMM(), XMM(), XMM()
			VPSHUFD(U8(0x5a), Mem{Base: w}, sm.AsX())
			VPSHUFD(U8(0xff), Mem{Base: w}, hi)
			VPSRLVD(c.loShift, sm.AsX(), sm.AsX())
			VPSRLVD(c.hiShift, hi, hi)
			VPANDD(c.loMask, sm.AsX(), sm.AsX())
			VPTERNLOGD(U8(0xf8), c.hiMask, hi, sm.AsX()) // |= hi & mask
			VPMOVZXBW(sm.AsX(), sm.AsY())
			VPMADDWD(Mem{Base: y, Disp: q8kS32}, sm.AsX(), mins)

			var high reg.VecVirtual
			if q5 {
				high = ZMM()
				VBROADCASTI64X4(Mem{Base: w, Disp: 16}, high)
			}
			var sum [2]reg.VecVirtual
			for g := range 4 { // 64 elements
				q, sc := ZMM(), ZMM()
				VBROADCASTI64X4(Mem{Base: w, Disp: qs + 32*g}, q)
				VPSRLVQ(c.nibbles, q, q)
				VPANDD(c.nibble, q, q)
				if q5 {
					h := ZMM()
					VPROLVQ(c.rotate[g], high, h)
					VPTERNLOGD(U8(0xf8), c.bit, h, q) // |= h & bit
				}
				VPMADDUBSW(Mem{Base: y, Disp: 64 * g}, q, q)
				VPERMW(sm, c.spread[g], sc)
				addPairs(&sum[g%2], q, sc)
			}
			VPADDD(sum[1], sum[0], sum[0])

			dm, d := XMM(), ZMM()
			VPBROADCASTD(Mem{Base: w}, dm)
			VCVTPH2PS(dm, dm)
			VMULPS(yd.AsX(), dm, dm)
			VBROADCASTSS(dm, d)
			VCVTDQ2PS(sum[0], sum[0])
			VFMADD231PS(d, sum[0], f.acc[s])
			VPSHUFD(U8(0x55), dm, dm)
			VCVTDQ2PS(mins, mins)
			VFNMADD231PS(dm.AsZ(), mins.AsZ(), f.acc[s]) // four minima, the rest is zero
		})
	}
}

// addPairs adds the products of the words of q and sc to sum.
func addPairs(sum *reg.VecVirtual, q, sc reg.VecVirtual) {
	if *sum == nil {
		VPMADDWD(sc, q, q)
		*sum = q
		return
	}
	VPDPWSSD(sc, q, *sum)
}

func (c *kquant5) q6kConsts() {
	c.nibble, c.two = loadZ(c.t.nibble), loadZ(c.t.two)
	c.low, c.high = loadZ(c.t.low), loadZ(c.t.high)
	for g := range c.spread {
		c.spread[g] = loadZ(c.t.spread16.Offset(64 * g))
	}
}

func (c *kquant5) q6k(f *frame) {
	var sums reg.VecVirtual
	q8kRow5(f, 210, func(y reg.GPVirtual) {
		sums = YMM()
		VMOVDQU32(Mem{Base: y, Disp: q8kS16}, sums)
	}, func(s int, w, y reg.GPVirtual, yd reg.VecVirtual) {
		scales, off := ZMM(), ZMM()
		VPMOVSXBW(Mem{Base: w, Disp: 192}, scales.AsY())
		VPMADDWD(sums, scales.AsY(), off.AsY())
		VPSLLD(U8(5), off.AsY(), off.AsY())
		var sum [2]reg.VecVirtual
		for h := range 2 { // 128 elements
			q0, q1, qh, u := ZMM(), ZMM(), ZMM(), ZMM()
			VMOVDQU64(Mem{Base: w, Disp: 64 * h}, q0)
			VBROADCASTI64X4(Mem{Base: w, Disp: 128 + 32*h}, qh)
			VPSRLW(U8(4), q0, q1)
			VPANDD(c.nibble, q0, q0)
			VPANDD(c.nibble, q1, q1)
			VPSLLVQ(c.low, qh, u)
			VPSRLVQ(c.high, qh, qh)
			VPTERNLOGD(U8(0xf8), c.two, u, q0)
			VPTERNLOGD(U8(0xf8), c.two, qh, q1)
			for i, q := range []reg.VecVirtual{q0, q1} {
				sc := ZMM()
				VPMADDUBSW(Mem{Base: y, Disp: 128*h + 64*i}, q, q)
				VPERMW(scales, c.spread[2*h+i], sc)
				addPairs(&sum[i], q, sc)
			}
		}
		VPADDD(sum[1], sum[0], sum[0])
		VPSUBD(off, sum[0], sum[0]) // the weights are 32 less
		d := ZMM()
		VPBROADCASTW(Mem{Base: w, Disp: 208}, d.AsY())
		VCVTPH2PS(d.AsY(), d)
		VMULPS(yd, d, d)
		VCVTDQ2PS(sum[0], sum[0])
		VFMADD231PS(d, sum[0], f.acc[s])
	})
}
