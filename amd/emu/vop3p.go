package emu

import (
	"math"

	"github.com/holdfast-llm/holdfast/amd/isa"
)

// VOP3P: operations on two halves, and multiply-adds of mixed precision. op_sel
// and the signs are applied when sources are made ready.

// packedOperations makes operations on both halves of those on one.
func packedOperations() map[string]operation {
	all := map[string]operation{
		"v_pk_fma_f16":    {run: packedFMA},
		"v_pk_fmac_f16":   {run: packedFMA},
		"v_pk_add_f16":    {run: packedFloat(addHalf, half.add)},
		"v_pk_mul_f16":    {run: packedFloat(mulHalf, half.mul)},
		"v_fma_mix_f32":   {custom: prepareMix(mixWhole)},
		"v_fma_mixlo_f16": {custom: prepareMix(mixLow)},
		"v_fma_mixhi_f16": {custom: prepareMix(mixHigh)},
	}
	for packed, one := range map[string]string{
		"v_pk_mad_i16": "v_mad_i16", "v_pk_mad_u16": "v_mad_u16", "v_pk_mul_lo_u16": "v_mul_lo_u16",
		"v_pk_add_i16": "v_add_nc_i16", "v_pk_sub_i16": "v_sub_nc_i16",
		"v_pk_add_u16": "v_add_nc_u16", "v_pk_sub_u16": "v_sub_nc_u16",
		"v_pk_lshlrev_b16": "v_lshlrev_b16", "v_pk_lshrrev_b16": "v_lshrrev_b16", "v_pk_ashrrev_i16": "v_ashrrev_i16",
		"v_pk_min_i16": "v_min_i16", "v_pk_max_i16": "v_max_i16", "v_pk_min_u16": "v_min_u16", "v_pk_max_u16": "v_max_u16",
	} {
		o := shortOperations[one]
		all[packed] = operation{run: bothHalves(o.run), saturate: bothHalves(o.saturate)}
	}
	for _, name := range []string{"min", "max"} {
		all["v_pk_"+name+"_f16"] = operation{run: bothHalves(halfOperations["v_"+name+"_f16"].run)}
	}
	return all
}

// bothHalves applies a kernel of 16-bit operands to the low halves and to the
// high ones.
func bothHalves(k kernel) kernel {
	if k == nil {
		return nil
	}
	return func(w *wave, d, a, b, c *lanes) {
		h := &w.vec.halves
		var high [3]*lanes
		for j, s := range [3]*lanes{a, b, c} {
			if s == nil {
				continue
			}
			high[j] = &h[j]
			for i, v := range s[:w.n] {
				h[j][i&63] = v >> 16
			}
		}
		k(w, &h[3], high[0], high[1], high[2])
		k(w, d, a, b, c)
		for i, v := range h[3][:w.n] {
			d[i&63] = d[i&63]&0xffff | v<<16
		}
	}
}

// packedFloat has one function for the usual mode and one for the others.
func packedFloat(usual func(a, b uint32) uint32, exact func(m floatMode, a, b uint32) uint32) kernel {
	return func(w *wave, d, a, b, _ *lanes) {
		ds, as, bs := d[:w.n], a[:w.n], b[:w.n]
		if w.plain64() {
			for i := range ds {
				x, y := as[i], bs[i]
				ds[i] = usual(x&0xffff, y&0xffff) | usual(x>>16, y>>16)<<16
			}
			return
		}
		m := w.mode64()
		for i := range ds {
			x, y := as[i], bs[i]
			ds[i] = exact(m, x&0xffff, y&0xffff) | exact(m, x>>16, y>>16)<<16
		}
	}
}

func packedFMA(w *wave, d, a, b, c *lanes) {
	ds, as, bs, cs := d[:w.n], a[:w.n], b[:w.n], c[:w.n]
	if w.plain64() {
		for i := range ds {
			x, y, z := as[i], bs[i], cs[i]
			ds[i] = fmaHalf(x&0xffff, y&0xffff, z&0xffff) | fmaHalf(x>>16, y>>16, z>>16)<<16
		}
		return
	}
	m := w.mode64()
	for i := range ds {
		x, y, z := as[i], bs[i], cs[i]
		ds[i] = half.fma(m, x&0xffff, y&0xffff, z&0xffff) | half.fma(m, x>>16, y>>16, z>>16)<<16
	}
}

// mixResult is what a mixed multiply-add writes.
type mixResult uint8

const (
	mixWhole mixResult = iota // a float32
	mixLow                    // a half, to the low one
	mixHigh
)

// prepareMix is for multiply-adds in single precision whose sources are
// float32, or the half that op_sel chooses where op_sel_hi says so. The result
// of mixlo and mixhi is rounded twice, as the documents have it.
func prepareMix(result mixResult) func(in *inst) error {
	return func(in *inst) error {
		dst := &in.Operands[0]
		p := &plan{dst: dst.Reg, typ: isa.F32, clamp: in.Mods.Flags&isa.Clamp != 0, move: newPermutation(&in.Mods)}
		if result != mixWhole {
			p.typ, p.half, p.high = isa.F16, true, result == mixHigh
		}
		var halves [3]bool
		for i := range p.src {
			o := &in.Operands[i+1]
			s := source{and: ^uint64(0)}
			halves[i] = in.Mods.OpSelHi>>i&1 != 0
			sign := uint64(1) << 31
			if halves[i] {
				sign = 1 << 15
				s.shift = in.Mods.OpSel >> i & 1 * 16
			}
			if o.Mods&isa.Abs != 0 {
				s.and = ^sign
			}
			if o.Mods&isa.Neg != 0 {
				s.xor = sign
			}
			if err := s.resolve(in, o); err != nil {
				return err
			}
			p.src[i] = s
		}
		p.kernel = func(w *wave, d, a, b, c *lanes) { mix(w, d, [3]*lanes{a, b, c}, &halves, result) }
		in.aux, in.run = p, runLanes
		if p.plain() {
			in.run = runPlain
		}
		return nil
	}
}

func mix(w *wave, d *lanes, src [3]*lanes, halves *[3]bool, result mixResult) {
	flush := w.mode64().flushIn
	for j, s := range src {
		if !halves[j] {
			continue
		}
		t := &w.vec.halves[j]
		for i, v := range s[:w.n] {
			if v &= 0xffff; !flush && v&0x7c00 != 0x7c00 {
				t[i&63] = math.Float32bits(float(v))
				continue
			}
			t[i&63] = widen(half.flush(v, flush))
		}
		src[j] = t
	}
	fmaF32(w, d, src[0], src[1], src[2])
	if result != mixWhole {
		cvtF16F32(w, d, d, nil, nil)
	}
}

// Dot products. Those of floats add one product after the other to the sum,
// each with one rounding; the hardware's order and precision in between are
// not documented.

const approximateDot = "one product after the other, each added with one rounding; the hardware's precision in between is not documented"

var dotOperations = map[string]operation{
	"v_dot2_f32_f16":     {run: dot2(half), approximate: approximateDot},
	"v_dot2acc_f32_f16":  {run: dot2(half), approximate: approximateDot},
	"v_dot2_f32_bf16":    {run: dot2(bfloat16), approximate: approximateDot},
	"v_dot2acc_f32_bf16": {run: dot2(bfloat16), approximate: approximateDot},
	"v_dot2_f16_f16": {run: lanes3(func(w *wave, a, b, c uint32) uint32 {
		m := w.mode64()
		return half.fma(m, a>>16, b>>16, half.fma(m, a&0xffff, b&0xffff, c&0xffff))
	}), approximate: approximateDot},
	"v_dot2_bf16_bf16": {run: lanes3(func(w *wave, a, b, c uint32) uint32 {
		m := w.mode32()
		return bfloat16.fma(m, a>>16, b>>16, bfloat16.fma(m, a&0xffff, b&0xffff, c&0xffff))
	}), approximate: approximateDot},
	"v_dot4_i32_iu8": {custom: prepareDot(8, true)},
	"v_dot4_u32_u8":  {custom: prepareDot(8, false)},
	"v_dot8_i32_iu4": {custom: prepareDot(4, true)},
	"v_dot8_u32_u4":  {custom: prepareDot(4, false)},
}

// dot2 adds the products of two pairs of the format to a float32.
func dot2(f format) kernel {
	return func(w *wave, d, a, b, c *lanes) {
		m, flush := w.mode32(), w.mode64().flushIn && f == half
		plain := w.plain32() && !flush
		for i := range d[:w.n] {
			x, y := a[i], b[i]
			if plain {
				lo, hi := f.pair(x)
				lo2, hi2 := f.pair(y)
				r := addProduct(float64(hi)*float64(hi2), addProduct(float64(lo)*float64(lo2), c[i]))
				if !single.isNaN(r) {
					d[i] = r
					continue
				}
			}
			sum := single.fma(m, f.single(x&0xffff, flush), f.single(y&0xffff, flush), c[i])
			d[i] = single.fma(m, f.single(x>>16, flush), f.single(y>>16, flush), sum)
		}
	}
}

// pair is the two halves or bfloat16 of a word as float32.
func (f format) pair(v uint32) (lo, hi float32) {
	if f == bfloat16 {
		return f32(v << 16), f32(v &^ 0xffff)
	}
	if x := v & 0x7c007c00; x&0x7c00 != 0x7c00 && x>>16 != 0x7c00 {
		return float(v & 0xffff), float(v >> 16)
	}
	return f32(widen(v & 0xffff)), f32(widen(v >> 16))
}

// single is v, a half or bfloat16, as a float32.
func (f format) single(v uint32, flush bool) uint32 {
	if f == bfloat16 {
		return v << 16
	}
	return widen(half.flush(v, flush))
}

// prepareDot is for products of integers of so many bits. In the signed forms
// neg_lo says which sources are signed.
func prepareDot(width uint, signed bool) func(in *inst) error {
	return func(in *inst) error {
		neg := in.Mods.NegLo
		in.Mods.NegLo = 0
		p, err := newPlan(in)
		in.Mods.NegLo = neg
		if err != nil {
			return err
		}
		saturate := p.clamp
		p.clamp = false
		signedA, signedB := signed && neg&1 != 0, signed && neg&2 != 0
		p.kernel = dotKernel(width, signed, signedA, signedB, saturate)
		in.aux, in.run = p, runLanes
		if p.plain() {
			in.run = runPlain
		}
		return nil
	}
}

// dotKernel is the sum of c and the products of the fields of a and b.
func dotKernel(width uint, signed, signedA, signedB, saturate bool) kernel {
	if width == 8 && !saturate {
		return dotBytes(signedA, signedB)
	}
	return int3(func(a, b, c uint32) uint32 {
		sum := int64(c)
		if signed {
			sum = s64(c)
		}
		for i := uint(0); i < 32; i += width {
			sum += field(a>>i, width, signedA) * field(b>>i, width, signedB)
		}
		switch {
		case !saturate:
			return uint32(sum)
		case signed:
			return satI32(sum)
		}
		return satU32(uint64(sum))
	})
}

// field is the low bits of v as an integer.
func field(v uint32, width uint, signed bool) int64 {
	if signed {
		return int64(int32(v<<(32-width)) >> (32 - width))
	}
	return int64(v & (1<<width - 1))
}

// dotBytes extends signed bytes by flipping the sign and subtracting it.
func dotBytes(signedA, signedB bool) kernel {
	s, t := uint32(bit(signedA))<<7, uint32(bit(signedB))<<7
	return func(w *wave, d, a, b, c *lanes) {
		ds, as, bs, cs := d[:w.n], a[:w.n], b[:w.n], c[:w.n]
		for i := range ds {
			x, y := as[i], bs[i]
			ds[i] = cs[i] + (x&0xff^s-s)*(y&0xff^t-t) +
				(x>>8&0xff^s-s)*(y>>8&0xff^t-t) +
				(x>>16&0xff^s-s)*(y>>16&0xff^t-t) +
				(x>>24^s-s)*(y>>24^t-t)
		}
	}
}
