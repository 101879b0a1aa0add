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
	t := newTables("kq2")
	c := &kquant2{
		nibble:  constant{mem: t.repeat("Nibble", 32, 0x0f)},
		word:    t.bytes("Word", 8*32, func(i int) byte { return byte(i/32*2 + i%2) }),
		shift:   t.words("ScaleShift", 0, 2, 0, 2, 0, 4, 0, 0),
		mask:    t.words("ScaleMask", 0x3f3f3f3f, 0x30303030, 0x3f3f3f3f, 0x30303030, 0, 0x0f0f0f0f, 0, 0x0f0f0f0f),
		pairs:   t.bytes("Pairs", 16, func(i int) byte { return byte(i%8*2 + i/8) }),
		bit2:    constant{mem: t.repeat("Bit2", 32, 0x04)},
		bit4:    constant{mem: t.repeat("Bit4", 32, 0x10)},
		two:     constant{mem: t.repeat("Two", 32, 0x03)},
		two4:    constant{mem: t.repeat("Two4", 32, 0x30)},
		shift3:  t.words("Q3Shift", 0, 0, 4, 4, 0, 2, 4, 6),
		less32:  t.repeat("Less32", 16, 32),
		nibbles: constant{mem: t.words("Nibbles", 0, 0, 0, 0, 4, 0, 4, 0)},
		values:  constant{mem: t.bytes("Values", 32, func(i int) byte { return byte(iq4nlValues[i%16]) })},
		top2:    t.bytes("Top2", 16, func(i int) byte { return byte(uint16(1) << (14 - i/2*2) >> (i % 2 * 8)) }),
		words:   t.words("Words", 0x00300030, 0x00300030, 0x00300030, 0x00300030, 0x00200020, 0x00200020, 0x00200020, 0x00200020),
	}
	matvec("q2kAVX2x", 84, keeping(c.q2k, &c.nibble, &c.two))
	matvec("q3kAVX2x", 110, keeping(c.q3k, &c.nibble, &c.two, &c.bit2))
	matvec("q4kAVX2x", 144, keeping(c.q45k(false), &c.nibble))
	matvec("q5kAVX2x", 176, keeping(c.q45k(true), &c.nibble, &c.bit4))
	matvec("q6kAVX2x", 210, keeping(c.q6k, &c.nibble, &c.two4))
	matvec("iq4xsAVX2x", 136, keeping(c.iq4xs, &c.nibble, &c.nibbles, &c.values))
}

// kquant2 holds the tables.
type kquant2 struct {
	nibble  constant // 32 bytes 0x0f
	word    Mem      // 8 byte shuffles: word i of a lane to all of the lane
	shift   Mem      // unpacking of Q4_K's scales
	mask    Mem
	pairs   Mem      // byte shuffle: even ones, then odd ones
	bit2    constant // 32 bytes 0x04
	bit4    constant // 32 bytes 0x10
	two     constant // 32 bytes 0x03
	two4    constant // 32 bytes 0x30
	shift3  Mem      // unpacking of Q3_K's scales
	less32  Mem      // 16 bytes 32
	nibbles constant // shifts of 64-bit words: none in the low lane, 4 in the high
	values  constant // iq4nlValues in both lanes
	top2    Mem      // factors that take bits 2i and 2i+1 of word i to its top
	words   Mem      // 8 words 0x30, 8 words 32
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
			f.prefetch(w, blockBytes)
			ADDQ(U32(uint32(blockBytes)), w)
		}
		ADDQ(U32(q8kBytes), y)
	})
}

// q4kScales unpacks the 8 scales and 8 minima of the block at w to words: the
// scales in both lanes of one register, the minima in another.
func (c *kquant2) q4kScales(w reg.GPVirtual) (scales, mins reg.VecVirtual) {
	lo, hi := XMM(), XMM()
	VPSHUFD(U8(0x5a), Mem{Base: w}, lo) // doublewords 2 2 1 1: minima, minima, scales, scales
	VPSHUFD(U8(0xff), Mem{Base: w}, hi) // doubleword 3: their other nibbles
	VPSRLVD(c.shift, lo, lo)
	VPSRLVD(c.shift.Offset(16), hi, hi)
	VPAND(c.mask, lo, lo)
	VPAND(c.mask.Offset(16), hi, hi)
	VPOR(hi, lo, lo)
	mins, scales = YMM(), YMM()
	VPMOVZXBW(lo, mins)
	VPERMQ(U8(0xee), mins, scales)
	return scales, mins
}

// scaleAndMin adds (d*sum - dmin*mins) to acc: the halves d and dmin lie at w,
// sum has 8 integers and mins has 8 or 4, the rest being zero.
func scaleAndMin(acc reg.VecVirtual, w Mem, yd, sum reg.VecVirtual, mins reg.VecVirtual, n int) {
	dm, d := XMM(), YMM()
	VPBROADCASTD(w, dm)
	VCVTPH2PS(dm, dm)
	VMULPS(yd, dm, dm)
	VBROADCASTSS(dm, d)
	VCVTDQ2PS(sum, sum)
	VFMADD231PS(d, sum, acc)
	VPSHUFD(U8(0x55), dm, dm)
	if n == 8 {
		VBROADCASTSS(dm, dm.AsY())
		VCVTDQ2PS(mins, mins)
	} else {
		VCVTDQ2PS(mins.AsX(), mins.AsX())
	}
	VFNMADD231PS(dm.AsY(), mins, acc)
}

// q45k is the row of Q4_K, or of Q5_K with its 32 bytes of fifth bits.
func (c *kquant2) q45k(q5 bool) rowFunc {
	blockBytes, qs := 144, 16
	if q5 {
		blockBytes, qs = 176, 48
	}
	return func(f *frame) {
		q8kRow(f, blockBytes, func(s int, w, y reg.GPVirtual, yd reg.VecVirtual) {
			scales, mins := c.q4kScales(w)
			VPMADDWD(Mem{Base: y, Disp: q8kS32}, mins.AsX(), mins.AsX())
			var sum, high reg.VecVirtual
			if q5 {
				high = YMM()
				VMOVDQU(Mem{Base: w, Disp: 16}, high)
			}
			for g := range 4 { // 64 elements
				lo, hi := YMM(), YMM()
				VMOVDQU(Mem{Base: w, Disp: qs + 32*g}, lo)
				VPSRLW(U8(4), lo, hi)
				VPAND(c.nibble.y, lo, lo)
				VPAND(c.nibble.y, hi, hi)
				if q5 {
					orBits(lo, high, 4-2*g, c.bit4)
					orBits(hi, high, 3-2*g, c.bit4)
				}
				c.add(&sum, lo, Mem{Base: y, Disp: 64 * g}, scales, 2*g)
				c.add(&sum, hi, Mem{Base: y, Disp: 64*g + 32}, scales, 2*g+1)
			}
			scaleAndMin(f.acc[s], Mem{Base: w}, yd, sum, mins, 4)
		})
	}
}

// shifted is v with its words shifted left by n, or right if n is negative.
func shifted(v reg.VecVirtual, n int) reg.VecVirtual {
	t := YMM()
	switch {
	case n > 0:
		VPSLLW(U8(uint8(n)), v, t)
	case n < 0:
		VPSRLW(U8(uint8(-n)), v, t)
	default:
		return v
	}
	return t
}

// orBits sets those bits of q that mask and v, shifted left by n, have.
func orBits(q, v reg.VecVirtual, n int, mask constant) {
	t := YMM()
	VPAND(mask.y, shifted(v, n), t)
	VPOR(t, q, q)
}

// add multiplies 32 weights q with the activations y and word i of each lane
// of scales, and adds them to sum.
func (c *kquant2) add(sum *reg.VecVirtual, q reg.VecVirtual, y Op, scales reg.VecVirtual, i int) {
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
		bytes := XMM()
		VMOVDQU(Mem{Base: w, Disp: 192}, bytes)
		scales, off := c.scales16(bytes, y)
		var sum reg.VecVirtual
		for h := range 2 { // 128 elements
			qh := YMM()
			VMOVDQU(Mem{Base: w, Disp: 128 + 32*h}, qh)
			for i := range 2 {
				lo, hi := YMM(), YMM()
				VMOVDQU(Mem{Base: w, Disp: 64*h + 32*i}, lo)
				VPSRLW(U8(4), lo, hi)
				VPAND(c.nibble.y, lo, lo)
				VPAND(c.nibble.y, hi, hi)
				orBits(lo, qh, 4-2*i, c.two4)
				orBits(hi, qh, -2*i, c.two4)
				c.add(&sum, lo, Mem{Base: y, Disp: 128*h + 32*i}, scales, 4*h+i)
				c.add(&sum, hi, Mem{Base: y, Disp: 128*h + 64 + 32*i}, scales, 4*h+2+i)
			}
		}
		VPSLLD(U8(5), off, off) // the weights are 32 less
		VPSUBD(off, sum, sum)
		scaleBy(f.acc[s], Mem{Base: w, Disp: 208}, yd, sum)
	})
}

// scales16 turns 16 signed scales of 16 elements each into words: those of even
// groups in the low lane, those of odd ones in the high. sums are the products
// of scales with the sums of the activations.
func (c *kquant2) scales16(bytes reg.VecVirtual, y reg.GPVirtual) (scales, sums reg.VecVirtual) {
	scales, sums = YMM(), YMM()
	VPMOVSXBW(bytes, sums)
	VPMADDWD(Mem{Base: y, Disp: q8kS16}, sums, sums)
	VPSHUFB(c.pairs, bytes, bytes)
	VPMOVSXBW(bytes, scales)
	return scales, sums
}

func (c *kquant2) q2k(f *frame) {
	q8kRow(f, 84, func(s int, w, y reg.GPVirtual, yd reg.VecVirtual) {
		bytes, mins := XMM(), YMM()
		VMOVDQU(Mem{Base: w}, bytes)
		VPSRLW(U8(4), bytes, mins.AsX())
		VPAND(c.nibble.y.AsX(), bytes, bytes)
		VPAND(c.nibble.y.AsX(), mins.AsX(), mins.AsX())
		VPMOVZXBW(mins.AsX(), mins)
		VPMADDWD(Mem{Base: y, Disp: q8kS16}, mins, mins)
		scales := YMM()
		VPSHUFB(c.pairs, bytes, bytes)
		VPMOVZXBW(bytes, scales)
		var sum reg.VecVirtual
		for h := range 2 { // 128 elements
			qs := YMM()
			VMOVDQU(Mem{Base: w, Disp: 16 + 32*h}, qs)
			for i := range 4 {
				q := YMM()
				VPAND(c.two.y, shifted(qs, -2*i), q)
				c.add(&sum, q, Mem{Base: y, Disp: 128*h + 32*i}, scales, 4*h+i)
			}
		}
		scaleAndMin(f.acc[s], Mem{Base: w, Disp: 80}, yd, sum, mins, 8)
	})
}

func (c *kquant2) q3k(f *frame) {
	q8kRow(f, 110, func(s int, w, y reg.GPVirtual, yd reg.VecVirtual) {
		// The 12 bytes of scales are the last three doublewords at 92: two of
		// nibbles, low and high, and one of upper bits in pairs.
		bytes, high := XMM(), XMM()
		VPSHUFD(U8(0x99), Mem{Base: w, Disp: 92}, bytes)
		VPSHUFD(U8(0xff), Mem{Base: w, Disp: 92}, high)
		VPSRLVD(c.shift3, bytes, bytes)
		VPSRLVD(c.shift3.Offset(16), high, high)
		VPAND(c.nibble.y.AsX(), bytes, bytes)
		VPAND(c.two.y.AsX(), high, high)
		VPSLLW(U8(4), high, high)
		VPOR(high, bytes, bytes)
		VPSUBB(c.less32, bytes, bytes)
		scales, off := c.scales16(bytes, y)
		hmask := YMM()
		VMOVDQU(Mem{Base: w}, hmask)
		var sum reg.VecVirtual
		for h := range 2 { // 128 elements
			qs := YMM()
			VMOVDQU(Mem{Base: w, Disp: 32 + 32*h}, qs)
			for i := range 4 {
				q := YMM()
				VPAND(c.two.y, shifted(qs, -2*i), q)
				orBits(q, hmask, 2-4*h-i, c.bit2)
				c.add(&sum, q, Mem{Base: y, Disp: 128*h + 32*i}, scales, 4*h+i)
			}
		}
		VPSLLD(U8(2), off, off) // the weights are 4 less
		VPSUBD(off, sum, sum)
		scaleBy(f.acc[s], Mem{Base: w, Disp: 108}, yd, sum)
	})
}

// Signed weights are multiplied by magnitude, their signs given to the
// activations: see block.go.
func (c *kquant2) iq4xs(f *frame) {
	q8kRow(f, 136, func(s int, w, y reg.GPVirtual, yd reg.VecVirtual) {
		// 8 scales as words: nibbles at 4, upper two bits at 2.
		low, high, scales := XMM(), XMM(), YMM()
		VPBROADCASTD(Mem{Base: w, Disp: 4}, low)
		VPMOVZXBW(low, low)
		VPSLLW(U8(4), low, high)
		VPOR(high, low, low)
		VPAND(c.nibble.y.AsX(), low, low)
		VPMOVZXBW(low, low)
		VPBROADCASTW(Mem{Base: w, Disp: 2}, high)
		VPMULLW(c.top2, high, high)
		VPSRLW(U8(10), high, high)
		VPAND(c.words, high, high)
		VPOR(high, low, low)
		VPSUBW(c.words.Offset(16), low, low)
		VINSERTI128(U8(1), low, low.AsY(), scales)
		var sum reg.VecVirtual
		for g := range 8 { // 32 elements
			q, t := YMM(), YMM()
			VBROADCASTI128(Mem{Base: w, Disp: 8 + 16*g}, q)
			VPSRLVQ(c.nibbles.y, q, q)
			VPAND(c.nibble.y, q, q)
			VPSHUFB(q, c.values.y, q)
			VMOVDQU(Mem{Base: y, Disp: 32 * g}, t)
			VPSIGNB(q, t, t)
			VPABSB(q, q)
			c.add(&sum, q, t, scales, g)
		}
		scaleBy(f.acc[s], Mem{Base: w}, yd, sum)
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
