package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Offsets in a q8k block: see act.go.
const (
	q8kBytes = 320
	q8kS16   = 256
	q8kS32   = 288
	q8kD     = 304
)

// Every product of an unsigned weight and an int8 goes through VPMADDUBSW,
// which adds two products in an int16 and saturates: with weights up to 63 and
// activations up to 127 a pair is at most 16,002, so nothing is lost. A pair's
// sum times its scale goes to int32 by VPMADDWD.

func kquantAVX2() {
	c := &kquant2{
		nibble: bytesTable("kq2Nibble", 32, func(int) byte { return 0x0f }),
		word:   bytesTable("kq2Word", 8*32, func(i int) byte { return byte(i/32*2 + i%2) }),
		shift:  table("kq2ScaleShift", []uint32{0, 2, 0, 2, 0, 0, 0, 4}),
		mask:   table("kq2ScaleMask", []uint32{0x3f3f3f3f, 0x30303030, 0x3f3f3f3f, 0x30303030, 0, 0x0f0f0f0f, 0, 0x0f0f0f0f}),
		pairs:  bytesTable("kq2Pairs", 16, func(i int) byte { return byte(i%8*2 + i/8) }),
		two:    bytesTable("kq2Two", 32, func(int) byte { return 0x30 }),
	}
	matvec("q4kAVX2x", 144, nil, c.q4k)
	matvec("q6kAVX2x", 210, nil, c.q6k)
}

// kquant2 holds the tables.
type kquant2 struct {
	nibble Mem // 32 bytes 0x0f
	word   Mem // 8 byte shuffles: word i of a lane to all of the lane
	shift  Mem // unpacking of Q4_K's scales
	mask   Mem
	pairs  Mem // byte shuffle: even ones, then odd ones
	two    Mem // 32 bytes 0x30
}

// q8kRow runs body for the blocks of a row of q8k activations; y points to the
// activations.
func q8kRow(f *frame, blockBytes int, body func(s int, w, y reg.GPVirtual, yd reg.VecVirtual)) {
	for s := range f.acc {
		f.acc[s] = YMM()
		VPXOR(f.acc[s], f.acc[s], f.acc[s])
	}
	y := GP64()
	MOVQ(f.act, y)
	f.eachBlock(func() {
		yd := XMM()
		VBROADCASTSS(Mem{Base: y, Disp: q8kD}, yd)
		for s, w := range f.w {
			body(s, w, y, yd)
			prefetch(w, blockBytes)
			ADDQ(U32(uint32(blockBytes)), w)
		}
		ADDQ(U32(q8kBytes), y)
	})
}

// q4kScales unpacks 8 scales and 8 minima at w: as words, the scales in both
// lanes of one register, the minima in another.
func (c *kquant2) q4kScales(w reg.GPVirtual) (scales, mins reg.VecVirtual) {
	lo, hi := XMM(), XMM()
	VPSHUFD(U8(0xa5), Mem{Base: w}, lo) // words 1 1 2 2: scales, scales, minima, minima
	VPSHUFD(U8(0xff), Mem{Base: w}, hi) // word 3: their other nibbles
	VPSRLVD(c.shift, lo, lo)
	VPSRLVD(c.shift.Offset(16), hi, hi)
	VPAND(c.mask, lo, lo)
	VPAND(c.mask.Offset(16), hi, hi)
	VPOR(hi, lo, lo)
	scales, mins = YMM(), XMM()
	VPMOVZXBW(lo, scales)
	VEXTRACTI128(U8(1), scales, mins)
	VPERMQ(U8(0x44), scales, scales)
	return scales, mins
}

// scaleAndMin adds (d*sum - dmin*mins) to acc: the halves d and dmin lie at w,
// sum has 8 and mins has 4 integers.
func scaleAndMin(acc reg.VecVirtual, w Mem, yd, sum, mins reg.VecVirtual) {
	dm, d := XMM(), YMM()
	VPBROADCASTD(w, dm)
	VCVTPH2PS(dm, dm)
	VMULPS(yd, dm, dm)
	VBROADCASTSS(dm, d)
	VCVTDQ2PS(sum, sum)
	VFMADD231PS(d, sum, acc)
	VPSHUFD(U8(0x55), dm, dm)
	VCVTDQ2PS(mins, mins)
	VFNMADD231PS(dm.AsY(), mins.AsY(), acc) // the upper lanes are zero
}

func (c *kquant2) q4k(f *frame) {
	q8kRow(f, 144, func(s int, w, y reg.GPVirtual, yd reg.VecVirtual) {
		scales, mins := c.q4kScales(w)
		VPMADDWD(Mem{Base: y, Disp: q8kS32}, mins, mins)
		var sum reg.VecVirtual
		for g := range 4 { // 64 elements
			lo, hi := YMM(), YMM()
			VMOVDQU(Mem{Base: w, Disp: 16 + 32*g}, lo)
			VPSRLW(U8(4), lo, hi)
			VPAND(c.nibble, lo, lo)
			VPAND(c.nibble, hi, hi)
			c.add(&sum, lo, Mem{Base: y, Disp: 64 * g}, scales, 2*g)
			c.add(&sum, hi, Mem{Base: y, Disp: 64*g + 32}, scales, 2*g+1)
		}
		scaleAndMin(f.acc[s], Mem{Base: w}, yd, sum, mins)
	})
}

// add multiplies 32 weights q with the activations at y and word i of each lane
// of scales, and adds them to sum.
func (c *kquant2) add(sum *reg.VecVirtual, q reg.VecVirtual, y Mem, scales reg.VecVirtual, i int) {
	sc := YMM()
	VPMADDUBSW(y, q, q)
	VPSHUFB(c.word.Offset(32*i), scales, sc)
	VPMADDWD(sc, q, q)
	if *sum == nil {
		*sum = q
		return
	}
	VPADDD(q, *sum, *sum)
}

func (c *kquant2) q6k(f *frame) {
	q8kRow(f, 210, func(s int, w, y reg.GPVirtual, yd reg.VecVirtual) {
		// Scales of even groups of 16 in the low lane, of odd ones in the high.
		scales := YMM()
		VMOVDQU(Mem{Base: w, Disp: 192}, scales.AsX())
		VPSHUFB(c.pairs, scales.AsX(), scales.AsX())
		VPMOVSXBW(scales.AsX(), scales)
		var sum reg.VecVirtual
		for h := range 2 { // 128 elements
			ql0, ql1, qh := YMM(), YMM(), YMM()
			VMOVDQU(Mem{Base: w, Disp: 64 * h}, ql0)
			VMOVDQU(Mem{Base: w, Disp: 64*h + 32}, ql1)
			VMOVDQU(Mem{Base: w, Disp: 128 + 32*h}, qh)
			for i := range 4 { // 32 elements
				q, u := YMM(), YMM()
				switch i {
				case 0:
					VPSLLW(U8(4), qh, u)
				case 1:
					VPSLLW(U8(2), qh, u)
				case 2:
					u = qh
				case 3:
					VPSRLW(U8(2), qh, u)
				}
				ql := []reg.VecVirtual{ql0, ql1}[i%2]
				if i < 2 {
					VPAND(c.nibble, ql, q)
				} else {
					VPSRLW(U8(4), ql, q)
					VPAND(c.nibble, q, q)
				}
				v := YMM()
				VPAND(c.two, u, v)
				VPOR(v, q, q)
				c.add(&sum, q, Mem{Base: y, Disp: 128*h + 32*i}, scales, 4*h+i)
			}
		}
		// The weights are 32 less than what was multiplied.
		off := YMM()
		VPMOVSXBW(Mem{Base: w, Disp: 192}, off)
		VPMADDWD(Mem{Base: y, Disp: q8kS16}, off, off)
		VPSLLD(U8(5), off, off)
		VPSUBD(off, sum, sum)
		scaleBy(f.acc[s], Mem{Base: w, Disp: 208}, yd, sum)
	})
}

// scaleBy adds d*sum to acc; the half d lies at w.
func scaleBy(acc reg.VecVirtual, w Mem, yd, sum reg.VecVirtual) {
	d := YMM()
	VPBROADCASTW(w, d.AsX())
	VCVTPH2PS(d.AsX(), d) // exact for subnormals too
	yds := YMM()
	VBROADCASTSS(yd, yds)
	VMULPS(yds, d, d)
	VCVTDQ2PS(sum, sum)
	VFMADD231PS(d, sum, acc)
}
