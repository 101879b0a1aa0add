package emu

import "math"

// The steps of a division: v_div_scale keeps numerator and denominator away
// from the ends of the range and says in a mask that the quotient has to be
// scaled back, v_div_fmas does that in the last refinement, and v_div_fixup
// handles the special cases.
//
// The documents' pseudocode is wrong in places that the published tests of the
// hardware show: the scale of v_div_fmas is 2^64 up or down by the quotient's
// size (2^128 in double precision), and the mask is set for zeros. Where it
// scales a huge denominator up, which would overflow, we scale down.

const approximateScale = "scales as quotients need, which are correctly rounded; the hardware may choose otherwise at the limits"

var divideOperations = map[string]operation{
	"v_div_scale_f32": {custom: prepareDivScale(false), approximate: approximateScale},
	"v_div_scale_f64": {custom: prepareDivScale(true), approximate: approximateScale},
	"v_div_fmas_f32":  {run: divFMAs32},
	"v_div_fmas_f64":  {wide: divFMAs64},
	"v_div_fixup_f32": {run: lanes3(func(w *wave, a, b, c uint32) uint32 { return single.divFixup(w.mode32(), a, b, c, 150) })},
	"v_div_fixup_f16": {run: lanes3(func(w *wave, a, b, c uint32) uint32 {
		return half.divFixup(w.mode64(), a&0xffff, b&0xffff, c&0xffff, 1<<10)
	})},
	"v_div_fixup_f64": {wide: wide3(divFixup64)},
}

// scaling is a decision of v_div_scale: how much to scale the value that is
// the denominator, the numerator, and whether the quotient is scaled.
type scaling struct {
	denominator, numerator int
	scaled                 bool
	nan                    bool
}

// ends describes a format to the decision: the exponents as the format has
// them, and the limits.
type ends struct {
	step    int // the scale: 64 or 128
	near    int // difference of exponents at which a quotient is near overflow
	tiny    int // exponent up to which a numerator is tiny
	lowest  int // the least exponent of a normal number, unbiased
	biggest int // exponent above which a reciprocal is a denormal
}

var (
	ends32 = ends{step: 64, near: 96, tiny: 23, lowest: -126, biggest: 253}
	ends64 = ends{step: 128, near: 768, tiny: 53, lowest: -1022, biggest: 2045}
)

// decide says how to scale, given the biased exponents of numerator and
// denominator and whether the denominator's fraction is 0.
func (e *ends) decide(num, den int, zero, power bool) scaling {
	hugeDen := den > e.biggest || den == e.biggest && !power
	tinyQuotient := num-den <= e.lowest
	switch {
	case zero:
		return scaling{nan: true, scaled: true}
	case num-den >= e.near:
		return scaling{denominator: e.step, scaled: true}
	case den == 0:
		return scaling{denominator: e.step, numerator: e.step}
	case hugeDen && tinyQuotient:
		return scaling{denominator: -e.step, scaled: true}
	case hugeDen:
		return scaling{denominator: -e.step, numerator: -e.step}
	case tinyQuotient:
		return scaling{numerator: e.step, scaled: true}
	case num <= e.tiny:
		return scaling{denominator: e.step, numerator: e.step}
	}
	return scaling{}
}

// of is the scale of value a, which is the denominator or the numerator.
func (s scaling) of(isDenominator bool) int {
	if isDenominator {
		return s.denominator
	}
	return s.numerator
}

func prepareDivScale(double bool) func(in *inst) error {
	return func(in *inst) error {
		p, err := newPlan(in)
		if err != nil {
			return err
		}
		in.aux, in.run = p, runDivScale32
		if double {
			in.run = runDivScale64
		}
		return nil
	}
}

func runDivScale32(w *wave, in *inst) {
	p := in.aux.(*plan)
	a, b, c, active := p.operands(w)
	m := w.mode32()
	var mask uint64
	d := &w.vec.dst
	for i := range d[:w.n] {
		value, den, num := single.flush(a[i], m.flushIn), single.flush(b[i], m.flushIn), single.flush(c[i], m.flushIn)
		s := ends32.decide(int(num>>23&0xff), int(den>>23&0xff), num<<1 == 0 || den<<1 == 0, den&(1<<23-1) == 0)
		mask |= bit(s.scaled) << uint(i)
		if s.nan {
			d[i] = single.invalid()
			continue
		}
		d[i] = value
		if n := s.of(value == den); n != 0 {
			d[i] = single.scale(m, value, n)
		}
	}
	p.write(w, d, active)
	w.setMask(p.maskOut, mask&active)
}

func runDivScale64(w *wave, in *inst) {
	p := in.aux.(*plan)
	v := &w.vec
	a := p.src[0].readyWide(w, &v.wideSrc[0])
	b := p.src[1].readyWide(w, &v.wideSrc[1])
	c := p.src[2].readyWide(w, &v.wideSrc[2])
	m := w.mode64()
	var mask uint64
	d := &v.wideDst
	for i := range d[:w.n] {
		value, den, num := flush64(a[i], m.flushIn), flush64(b[i], m.flushIn), flush64(c[i], m.flushIn)
		s := ends64.decide(int(num>>52&0x7ff), int(den>>52&0x7ff), num<<1 == 0 || den<<1 == 0, den&(1<<52-1) == 0)
		mask |= bit(s.scaled) << uint(i)
		if s.nan {
			d[i] = invalid64
			continue
		}
		d[i] = value
		if n := s.of(value == den); n != 0 {
			d[i] = scale64(m, value, n)
		}
	}
	active := w.active()
	p.writeWide(w, d, active)
	w.setMask(p.maskOut, mask&active)
}

// divFMAs32 is a*b + c, scaled where vcc says so, and rounded once.
func divFMAs32(w *wave, d, a, b, c *lanes) {
	m, vcc := w.mode32(), w.vcc()
	for i := range d[:w.n] {
		if vcc>>uint(i)&1 == 0 {
			d[i] = single.fma(m, a[i], b[i], c[i])
			continue
		}
		n := -64
		if c[i]>>23&0xff > 127 {
			n = 64
		}
		d[i] = single.scaledFMA(m, a[i], b[i], c[i], n)
	}
}

// scaledFMA is (a*b + c) * 2^n.
func (f format) scaledFMA(m floatMode, a, b, c uint32, n int) uint32 {
	a, b, c = f.flush(a, m.flushIn), f.flush(b, m.flushIn), f.flush(c, m.flushIn)
	if v, ok := f.nan(a, b, c); ok {
		return v
	}
	s := addOdd(f.value(a)*f.value(b), f.value(c))
	if s != s {
		return f.invalid()
	}
	return f.round(m, math.Ldexp(s, n))
}

func divFMAs64(w *wave, d, a, b, c *wide) {
	m, vcc := w.mode64(), w.vcc()
	for i := range d[:w.n] {
		n := 0
		if vcc>>uint(i)&1 != 0 {
			n = -128
			if c[i]>>52&0x7ff > 1023 {
				n = 128
			}
		}
		d[i] = scaledFMA64(m, a[i], b[i], c[i], n)
	}
}

// divFixup is the quotient c/b of which a is the result of refinement. A
// difference of exponents below -least is an underflow.
func (f format) divFixup(m floatMode, a, b, c uint32, least int) uint32 {
	a, b, c = f.flush(a, m.flushIn), f.flush(b, m.flushIn), f.flush(c, m.flushIn)
	sign := (b ^ c) & f.sign()
	magnitude := f.sign() - 1
	den, num := b&magnitude, c&magnitude
	switch {
	case f.isNaN(c):
		return c | f.quietBit()
	case f.isNaN(b):
		return b | f.quietBit()
	case den == 0 && num == 0, den == f.inf() && num == f.inf():
		return f.invalid()
	case den == 0 || num == f.inf():
		return sign | f.inf()
	case den == f.inf() || num == 0:
		return sign
	case int(num>>f.mant)-int(den>>f.mant) < -least:
		return f.round(m, tinyOf(sign != 0))
	case f.isNaN(a):
		return sign | f.inf()
	}
	return sign | f.flush(a&magnitude, m.flushOut)
}

// tinyOf is a number too small for every format but double.
func tinyOf(negative bool) float64 {
	if negative {
		return -math.SmallestNonzeroFloat64
	}
	return math.SmallestNonzeroFloat64
}

func divFixup64(w *wave, a, b, c uint64) uint64 {
	m := w.mode64()
	a, b, c = flush64(a, m.flushIn), flush64(b, m.flushIn), flush64(c, m.flushIn)
	const signBit, inf = 1 << 63, 0x7ff << 52
	sign := (b ^ c) & signBit
	den, num := b&^signBit, c&^signBit
	switch {
	case isNaN64(c):
		return c | quiet64
	case isNaN64(b):
		return b | quiet64
	case den == 0 && num == 0, den == inf && num == inf:
		return invalid64
	case den == 0 || num == inf:
		return sign | inf
	case den == inf || num == 0:
		return sign
	case int(num>>52)-int(den>>52) < -1075:
		return product{negative: sign != 0, lo: 1, exp: -3000}.round64(m)
	case isNaN64(a):
		return sign | inf
	}
	return sign | flush64(a&^signBit, m.flushOut)
}
