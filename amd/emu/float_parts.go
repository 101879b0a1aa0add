package emu

import "math"

// Rounding to integers, and the parts of a float: fraction, exponent, scaling.

var partOperations = map[string]operation{
	"v_trunc_f32": {run: rounded32(math.Trunc)},
	"v_ceil_f32":  {run: rounded32(math.Ceil)},
	"v_floor_f32": {run: rounded32(math.Floor)},
	"v_rndne_f32": {run: rounded32(math.RoundToEven)},
	"v_trunc_f16": {run: rounded16(math.Trunc)},
	"v_ceil_f16":  {run: rounded16(math.Ceil)},
	"v_floor_f16": {run: rounded16(math.Floor)},
	"v_rndne_f16": {run: rounded16(math.RoundToEven)},
	"v_trunc_f64": {wide: rounded64(math.Trunc)},
	"v_ceil_f64":  {wide: rounded64(math.Ceil)},
	"v_floor_f64": {wide: rounded64(math.Floor)},
	"v_rndne_f64": {wide: rounded64(math.RoundToEven)},

	"v_fract_f32": {run: lanes1(func(w *wave, a uint32) uint32 { return single.fract(w.mode32(), a) })},
	"v_fract_f16": {run: lanes1(func(w *wave, a uint32) uint32 { return half.fract(w.mode64(), a&0xffff) })},
	"v_fract_f64": {wide: wide1(fract64)},

	"v_frexp_mant_f32":    {run: lanes1(func(w *wave, a uint32) uint32 { return single.mantissa(w.mode32(), a) })},
	"v_frexp_mant_f16":    {run: lanes1(func(w *wave, a uint32) uint32 { return half.mantissa(w.mode64(), a&0xffff) })},
	"v_frexp_mant_f64":    {wide: wide1(mantissa64)},
	"v_frexp_exp_i32_f32": {run: lanes1(func(w *wave, a uint32) uint32 { return single.exponent(w.mode32(), a) })},
	"v_frexp_exp_i16_f16": {run: lanes1(func(w *wave, a uint32) uint32 { return half.exponent(w.mode64(), a&0xffff) })},
	"v_frexp_exp_i32_f64": {wide: wide1(func(w *wave, a uint64) uint64 {
		return uint64(uint32(exponentOf(f64(flush64(a, w.mode64().flushIn)))))
	})},

	"v_ldexp_f32": {run: ldexpF32},
	"v_ldexp_f16": {run: lanes2(func(w *wave, a, b uint32) uint32 { return half.scale(w.mode64(), a&0xffff, int(int16(b))) })},
	"v_ldexp_f64": {wide: wide2(func(w *wave, a, b uint64) uint64 { return scale64(w.mode64(), a, int(int32(b))) })},

	"v_trig_preop_f64": {wide: wide2(func(_ *wave, a, b uint64) uint64 { return trigPreop(a, uint(b&31)) })},
}

// each applies f, whose result the format can hold, to one value.
func (f format) each(m floatMode, v uint32, fn func(float64) float64) uint32 {
	v = f.flush(v, m.flushIn)
	if f.isNaN(v) {
		return v | f.quietBit()
	}
	return f.round(m, fn(f.value(v)))
}

func rounded32(fn func(float64) float64) kernel {
	return func(w *wave, d, a, _, _ *lanes) {
		m, plain := w.mode32(), w.plain32()
		for i := range d[:w.n] {
			v := a[i]
			if r := float32(fn(float64(f32(v)))); plain && r == r {
				d[i] = math.Float32bits(r)
				continue
			}
			d[i] = single.each(m, v, fn)
		}
	}
}

func rounded16(fn func(float64) float64) kernel {
	return lanes1(func(w *wave, a uint32) uint32 { return half.each(w.mode64(), a&0xffff, fn) })
}

func rounded64(fn func(float64) float64) wideKernel {
	return wide1(func(w *wave, a uint64) uint64 {
		if isNaN64(a) {
			return a | quiet64
		}
		return math.Float64bits(fn(f64(flush64(a, w.mode64().flushIn))))
	})
}

// fract is v less its floor, and below 1 even where that difference rounds to 1.
func (f format) fract(m floatMode, v uint32) uint32 {
	v = f.flush(v, m.flushIn)
	if f.isNaN(v) {
		return v | f.quietBit()
	}
	if v&(f.sign()-1) == f.inf() {
		return f.invalid()
	}
	x := f.value(v)
	return min(f.round(m, addOdd(x, -math.Floor(x))), f.one()-1)
}

func fract64(w *wave, a uint64) uint64 {
	m := w.mode64()
	a = flush64(a, m.flushIn)
	if isNaN64(a) {
		return a | quiet64
	}
	floor := math.Float64bits(-math.Floor(f64(a)))
	if isSpecial(a) {
		return invalid64
	}
	return min(softFMA64(m, 0x3ff<<52, a, floor), 0x3ff<<52-1)
}

// mantissa is the fraction of v, from 0.5 to 1, with its sign.
func (f format) mantissa(m floatMode, v uint32) uint32 {
	return f.each(m, v, func(x float64) float64 { x, _ = math.Frexp(x); return x })
}

func mantissa64(w *wave, a uint64) uint64 {
	if isNaN64(a) {
		return a | quiet64
	}
	x, _ := math.Frexp(f64(flush64(a, w.mode64().flushIn)))
	return math.Float64bits(x)
}

// exponent is the power of two that goes with mantissa: 0 for zeros,
// infinities and NaNs.
func (f format) exponent(m floatMode, v uint32) uint32 {
	if v = f.flush(v, m.flushIn); f.isNaN(v) {
		return 0
	}
	return uint32(exponentOf(f.value(v)))
}

func exponentOf(x float64) int {
	_, e := math.Frexp(x)
	return e
}

// scale is v * 2^n, rounded once.
func (f format) scale(m floatMode, v uint32, n int) uint32 {
	n = max(-400, min(n, 400)) // beyond which every result is a zero or overflows
	return f.each(m, v, func(x float64) float64 { return math.Ldexp(x, n) })
}

func ldexpF32(w *wave, d, a, b, _ *lanes) {
	m := w.mode32()
	for i := range d[:w.n] {
		v, n := a[i], int32(b[i])
		e := int32(v >> 23 & 0xff)
		if e-1 < 254 && e > 0 && n > -e && n < 255-e { // normal, before and after
			d[i] = v + uint32(n)<<23
			continue
		}
		d[i] = single.scale(m, v, int(n))
	}
}

func scale64(m floatMode, v uint64, n int) uint64 {
	v = flush64(v, m.flushIn)
	switch {
	case isNaN64(v):
		return v | quiet64
	case isSpecial(v) || v<<1 == 0:
		return v
	}
	x := unpack64(v)
	n = max(-5000, min(n, 5000))
	return product{negative: x.negative, lo: x.m, exp: x.exp + n}.round64(m)
}

// trigPreop is the part-th 53 bits of 2/pi, as far to the right as an argument
// of a's exponent needs them.
func trigPreop(a uint64, part uint) uint64 {
	exp := uint(a >> 52 & 0x7ff)
	shift := part * 53
	if exp > 1077 {
		shift += exp - 1077
	}
	scale := -53 - int(shift)
	if exp >= 1968 {
		scale += 128
	}
	return math.Float64bits(math.Ldexp(float64(twoOverPiBits(shift)), scale))
}

// twoOverPiBits is 53 bits of 2/pi after the first n fraction bits.
func twoOverPiBits(n uint) uint64 {
	word := func(i uint) uint64 {
		if i < uint(len(twoOverPi)) {
			return twoOverPi[i]
		}
		return 0
	}
	i, s := n/64, n%64
	return (word(i)<<s | word(i+1)>>(64-s)) >> 11
}

// twoOverPi is the first 1201 bits of the fraction of 2/pi, which is what the
// hardware has, then zeros.
var twoOverPi = [19]uint64{
	0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561,
	0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484,
	0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f,
	0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d, 0x7527bac7ebe5f17b,
	0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b0000,
}
