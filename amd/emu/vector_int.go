package emu

import (
	"math/bits"

	"github.com/holdfast-llm/holdfast/amd/isa"
)

// Integer arithmetic of 32 bits. With clamp the result saturates.

var integerOperations = map[string]operation{
	"v_add_nc_u32":     {run: addU32, saturate: int2(func(a, b uint32) uint32 { return satU32(uint64(a) + uint64(b)) })},
	"v_sub_nc_u32":     {run: subU32, saturate: int2(subSatU32)},
	"v_subrev_nc_u32":  {run: subrevU32, saturate: int2(func(a, b uint32) uint32 { return subSatU32(b, a) })},
	"v_add_nc_i32":     {run: addU32, saturate: int2(func(a, b uint32) uint32 { return satI32(s64(a) + s64(b)) })},
	"v_sub_nc_i32":     {run: subU32, saturate: int2(func(a, b uint32) uint32 { return satI32(s64(a) - s64(b)) })},
	"v_add3_u32":       {run: add3U32},
	"v_mul_lo_u32":     {run: mulLoU32},
	"v_mul_hi_u32":     {run: mulHiU32},
	"v_mul_hi_i32":     {run: mulHiI32},
	"v_mul_u32_u24":    {run: mulU24, saturate: int2(func(a, b uint32) uint32 { return satU32(u24(a) * u24(b)) })},
	"v_mul_hi_u32_u24": {run: int2(func(a, b uint32) uint32 { return uint32(u24(a) * u24(b) >> 32) })},
	"v_mul_i32_i24":    {run: int2(func(a, b uint32) uint32 { return uint32(i24(a) * i24(b)) }), saturate: int2(func(a, b uint32) uint32 { return satI32(i24(a) * i24(b)) })},
	"v_mul_hi_i32_i24": {run: int2(func(a, b uint32) uint32 { return uint32(i24(a) * i24(b) >> 32) })},
	"v_mad_u32_u24":    {run: madU24, saturate: int3(func(a, b, c uint32) uint32 { return satU32(u24(a)*u24(b) + uint64(c)) })},
	"v_mad_i32_i24": {
		run:      int3(func(a, b, c uint32) uint32 { return uint32(i24(a)*i24(b)) + c }),
		saturate: int3(func(a, b, c uint32) uint32 { return satI32(i24(a)*i24(b) + s64(c)) }),
	},
	"v_mad_u32_u16": {
		run:      int3(func(a, b, c uint32) uint32 { return a&0xffff*(b&0xffff) + c }),
		saturate: int3(func(a, b, c uint32) uint32 { return satU32(uint64(a&0xffff*(b&0xffff)) + uint64(c)) }),
	},
	"v_mad_i32_i16": {
		run:      int3(func(a, b, c uint32) uint32 { return uint32(i16(a)*i16(b)) + c }),
		saturate: int3(func(a, b, c uint32) uint32 { return satI32(int64(i16(a)*i16(b)) + s64(c)) }),
	},
	"v_min_i32":    {run: minI32},
	"v_max_i32":    {run: maxI32},
	"v_min_u32":    {run: minU32},
	"v_max_u32":    {run: maxU32},
	"v_min3_i32":   {run: int3(func(a, b, c uint32) uint32 { return uint32(min(int32(a), int32(b), int32(c))) })},
	"v_max3_i32":   {run: int3(func(a, b, c uint32) uint32 { return uint32(max(int32(a), int32(b), int32(c))) })},
	"v_med3_i32":   {run: int3(func(a, b, c uint32) uint32 { return uint32(median(int32(a), int32(b), int32(c))) })},
	"v_min3_u32":   {run: int3(func(a, b, c uint32) uint32 { return min(a, b, c) })},
	"v_max3_u32":   {run: int3(func(a, b, c uint32) uint32 { return max(a, b, c) })},
	"v_med3_u32":   {run: int3(median[uint32])},
	"v_maxmin_i32": {run: int3(func(a, b, c uint32) uint32 { return uint32(min(max(int32(a), int32(b)), int32(c))) })},
	"v_minmax_i32": {run: int3(func(a, b, c uint32) uint32 { return uint32(max(min(int32(a), int32(b)), int32(c))) })},
	"v_maxmin_u32": {run: int3(func(a, b, c uint32) uint32 { return min(max(a, b), c) })},
	"v_minmax_u32": {run: int3(func(a, b, c uint32) uint32 { return max(min(a, b), c) })},
	"v_sad_u8":     {run: int3(sadU8), saturate: int3(func(a, b, c uint32) uint32 { return satU32(uint64(sadU8(a, b, 0)) + uint64(c)) })},
	"v_sad_hi_u8": {
		run:      int3(func(a, b, c uint32) uint32 { return sadU8(a, b, 0)<<16 + c }),
		saturate: int3(func(a, b, c uint32) uint32 { return satU32(uint64(sadU8(a, b, 0))<<16 + uint64(c)) }),
	},
	"v_sad_u16": {
		run:      int3(func(a, b, c uint32) uint32 { return sadU16(a, b) + c }),
		saturate: int3(func(a, b, c uint32) uint32 { return satU32(uint64(sadU16(a, b)) + uint64(c)) }),
	},
	"v_sad_u32": {
		run:      int3(func(a, b, c uint32) uint32 { return distance(a, b) + c }),
		saturate: int3(func(a, b, c uint32) uint32 { return satU32(uint64(distance(a, b)) + uint64(c)) }),
	},
	"v_msad_u8": {run: int3(msadU8), saturate: int3(func(a, b, c uint32) uint32 { return satU32(uint64(msadU8(a, b, 0)) + uint64(c)) })},
	"v_lerp_u8": {run: int3(lerpU8)},

	"v_mqsad_u32_u8": {custom: prepareMaskedSad},

	"v_mad_u64_u32": {custom: madWide(false)},
	"v_mad_i64_i32": {custom: madWide(true)},
	"v_qsad_pk_u16_u8": {
		wide:         wide3(func(_ *wave, a, b, c uint64) uint64 { return quadSad(a, uint32(b), c, sadU8, false) }),
		saturateWide: wide3(func(_ *wave, a, b, c uint64) uint64 { return quadSad(a, uint32(b), c, sadU8, true) }),
	},
	"v_mqsad_pk_u16_u8": {
		wide:         wide3(func(_ *wave, a, b, c uint64) uint64 { return quadSad(a, uint32(b), c, msadU8, false) }),
		saturateWide: wide3(func(_ *wave, a, b, c uint64) uint64 { return quadSad(a, uint32(b), c, msadU8, true) }),
	},
}

// Parts of a word as integers.

func s64(a uint32) int64  { return int64(int32(a)) }
func u24(a uint32) uint64 { return uint64(a & 0xffffff) }
func i24(a uint32) int64  { return int64(int32(a<<8) >> 8) }
func i16(a uint32) int32  { return int32(int16(a)) }

func satU32(v uint64) uint32 { return uint32(min(v, 0xffffffff)) }

func satI32(v int64) uint32 { return uint32(int32(max(-1<<31, min(v, 1<<31-1)))) }

func subSatU32(a, b uint32) uint32 {
	if a < b {
		return 0
	}
	return a - b
}

func median[T int32 | uint32](a, b, c T) T { return max(min(a, b), min(max(a, b), c)) }

func distance(a, b uint32) uint32 { return max(a, b) - min(a, b) }

// sadU8 adds the absolute differences of four bytes to c.
func sadU8(a, b, c uint32) uint32 {
	for i := 0; i < 32; i += 8 {
		c += distance(a>>i&0xff, b>>i&0xff)
	}
	return c
}

// msadU8 is sadU8 without the bytes for which b's is 0.
func msadU8(a, b, c uint32) uint32 {
	for i := 0; i < 32; i += 8 {
		if b>>i&0xff != 0 {
			c += distance(a>>i&0xff, b>>i&0xff)
		}
	}
	return c
}

func sadU16(a, b uint32) uint32 {
	return distance(a&0xffff, b&0xffff) + distance(a>>16, b>>16)
}

// quadSad is four sums of absolute differences of the bytes of b and of a
// window that moves over a, added to four 16-bit sums.
func quadSad(a uint64, b uint32, c uint64, sad func(a, b, c uint32) uint32, saturate bool) uint64 {
	var d uint64
	for i := 0; i < 4; i++ {
		v := sad(uint32(a>>(8*i)), b, uint32(c>>(16*i)&0xffff))
		if saturate {
			v = min(v, 0xffff)
		}
		d |= uint64(v&0xffff) << (16 * i)
	}
	return d
}

// lerpU8 is the mean of four pairs of bytes, rounded up where c's byte is odd.
func lerpU8(a, b, c uint32) uint32 {
	var d uint32
	for i := 0; i < 32; i += 8 {
		d |= (a>>i&0xff + b>>i&0xff + c>>i&1) >> 1 << i
	}
	return d
}

func addU32(w *wave, d, a, b, _ *lanes) {
	ds, as, bs := d[:w.n], a[:w.n], b[:w.n]
	for i := range ds {
		ds[i] = as[i] + bs[i]
	}
}

func subU32(w *wave, d, a, b, _ *lanes) {
	ds, as, bs := d[:w.n], a[:w.n], b[:w.n]
	for i := range ds {
		ds[i] = as[i] - bs[i]
	}
}

func subrevU32(w *wave, d, a, b, c *lanes) { subU32(w, d, b, a, c) }

func add3U32(w *wave, d, a, b, c *lanes) {
	ds, as, bs, cs := d[:w.n], a[:w.n], b[:w.n], c[:w.n]
	for i := range ds {
		ds[i] = as[i] + bs[i] + cs[i]
	}
}

func mulLoU32(w *wave, d, a, b, _ *lanes) {
	ds, as, bs := d[:w.n], a[:w.n], b[:w.n]
	for i := range ds {
		ds[i] = as[i] * bs[i]
	}
}

func mulHiU32(w *wave, d, a, b, _ *lanes) {
	ds, as, bs := d[:w.n], a[:w.n], b[:w.n]
	for i := range ds {
		ds[i] = uint32(uint64(as[i]) * uint64(bs[i]) >> 32)
	}
}

func mulHiI32(w *wave, d, a, b, _ *lanes) {
	ds, as, bs := d[:w.n], a[:w.n], b[:w.n]
	for i := range ds {
		ds[i] = uint32(s64(as[i]) * s64(bs[i]) >> 32)
	}
}

func mulU24(w *wave, d, a, b, _ *lanes) {
	ds, as, bs := d[:w.n], a[:w.n], b[:w.n]
	for i := range ds {
		ds[i] = as[i] & 0xffffff * (bs[i] & 0xffffff)
	}
}

func madU24(w *wave, d, a, b, c *lanes) {
	ds, as, bs, cs := d[:w.n], a[:w.n], b[:w.n], c[:w.n]
	for i := range ds {
		ds[i] = as[i]&0xffffff*(bs[i]&0xffffff) + cs[i]
	}
}

func minI32(w *wave, d, a, b, _ *lanes) {
	ds, as, bs := d[:w.n], a[:w.n], b[:w.n]
	for i := range ds {
		ds[i] = uint32(min(int32(as[i]), int32(bs[i])))
	}
}

func maxI32(w *wave, d, a, b, _ *lanes) {
	ds, as, bs := d[:w.n], a[:w.n], b[:w.n]
	for i := range ds {
		ds[i] = uint32(max(int32(as[i]), int32(bs[i])))
	}
}

func minU32(w *wave, d, a, b, _ *lanes) {
	ds, as, bs := d[:w.n], a[:w.n], b[:w.n]
	for i := range ds {
		ds[i] = min(as[i], bs[i])
	}
}

func maxU32(w *wave, d, a, b, _ *lanes) {
	ds, as, bs := d[:w.n], a[:w.n], b[:w.n]
	for i := range ds {
		ds[i] = max(as[i], bs[i])
	}
}

// madWide is a 32-bit product added to 64 bits, with the carry in a mask.
func madWide(signed bool) func(in *inst) error {
	return func(in *inst) error {
		p, err := newPlan(in)
		if err != nil {
			return err
		}
		in.aux = p
		saturate := p.clamp
		p.clamp = false
		in.run = func(w *wave, _ *inst) {
			s := &w.vec
			a := p.src[0].readyWide(w, &s.wideSrc[0])
			b := p.src[1].readyWide(w, &s.wideSrc[1])
			c := p.src[2].readyWide(w, &s.wideSrc[2])
			var out uint64
			if signed {
				out = madI64(s.wideDst[:w.n], a, b, c, saturate)
			} else {
				out = madU64(s.wideDst[:w.n], a, b, c, saturate)
			}
			active := w.active()
			p.writeWide(w, &s.wideDst, active)
			w.setMask(p.maskOut, out&active)
		}
		return nil
	}
}

func madU64(d []uint64, a, b, c *wide, saturate bool) (out uint64) {
	for i := range d {
		v, carry := bits.Add64(a[i&63]*b[i&63], c[i&63], 0)
		if saturate && carry != 0 {
			v = ^uint64(0)
		}
		d[i] = v
		out = out>>1 | carry<<63
	}
	return out >> ((64 - uint(len(d))) & 63)
}

// madI64 has the bit above the 64 of the sum as its carry: the sign of the
// exact sum.
func madI64(d []uint64, a, b, c *wide, saturate bool) (out uint64) {
	for i := range d {
		x, y := s64(uint32(a[i&63]))*s64(uint32(b[i&63])), int64(c[i&63])
		v := x + y
		negative := v < 0
		if (x < 0) == (y < 0) && negative != (x < 0) { // overflow
			negative = x < 0
			if saturate {
				v = 1<<63 - 1
				if negative {
					v = -1 << 63
				}
			}
		}
		d[i] = uint64(v)
		out = out>>1 | bit(negative)<<63
	}
	return out >> ((64 - uint(len(d))) & 63)
}

// prepareMaskedSad is for v_mqsad_u32_u8: as v_mqsad_pk_u16_u8, but with four
// sums of 32 bits in four registers.
func prepareMaskedSad(in *inst) error {
	dst := in.Operands[0].Reg
	a, err := newSource(in, &in.Operands[1], 0)
	if err != nil {
		return err
	}
	b, err := newSource(in, &in.Operands[2], 1)
	if err != nil {
		return err
	}
	sums := in.Operands[3].Reg
	saturate := in.Mods.Flags&isa.Clamp != 0
	in.run = func(w *wave, _ *inst) {
		as, bs := a.readyWide(w, &w.vec.wideSrc[0]), b.readyWide(w, &w.vec.wideSrc[1])
		for m := w.active(); m != 0; m &= m - 1 {
			i := bits.TrailingZeros64(m) & 63
			var r [4]uint32
			for j := range r {
				sum := uint64(msadU8(uint32(as[i]>>(8*j)), uint32(bs[i]), 0)) + uint64(w.vgpr[int(sums)+j][i])
				if saturate {
					sum = min(sum, 0xffffffff)
				}
				r[j] = uint32(sum)
			}
			for j, v := range r {
				w.vgpr[int(dst)+j][i] = v
			}
		}
	}
	return nil
}
