package emu

import "math"

// The scalar float operations of gfx11.5, which round as the vector ones do.

var scalarFloats1 = map[string]scalarOp{
	"s_ceil_f32":  roundScalar32(math.Ceil),
	"s_floor_f32": roundScalar32(math.Floor),
	"s_trunc_f32": roundScalar32(math.Trunc),
	"s_rndne_f32": roundScalar32(math.RoundToEven),
	"s_ceil_f16":  roundScalar16(math.Ceil),
	"s_floor_f16": roundScalar16(math.Floor),
	"s_trunc_f16": roundScalar16(math.Trunc),
	"s_rndne_f16": roundScalar16(math.RoundToEven),

	"s_cvt_f32_i32": {run32: func(w *wave, a, _, _ uint32) uint32 { return single.round(w.mode32(), float64(int32(a))) }},
	"s_cvt_f32_u32": {run32: func(w *wave, a, _, _ uint32) uint32 { return single.round(w.mode32(), float64(a)) }},
	"s_cvt_i32_f32": {run32: func(w *wave, a, _, _ uint32) uint32 {
		return toInt(float64(source32(w, a)), math.MinInt32, math.MaxInt32)
	}},
	"s_cvt_u32_f32":    {run32: func(w *wave, a, _, _ uint32) uint32 { return toInt(float64(source32(w, a)), 0, math.MaxUint32) }},
	"s_cvt_f16_f32":    {run32: func(w *wave, a, _, _ uint32) uint32 { return convert(single, half, w.mode32().flushIn, w.mode64(), a) }},
	"s_cvt_f32_f16":    {run32: func(w *wave, a, _, _ uint32) uint32 { return widenScalar(w, a&0xffff) }},
	"s_cvt_hi_f32_f16": {run32: func(w *wave, a, _, _ uint32) uint32 { return widenScalar(w, a>>16) }},
}

var scalarFloats2 = map[string]scalarOp{
	"s_add_f32":            {run32: func(w *wave, a, b, _ uint32) uint32 { return single.add(w.mode32(), a, b) }},
	"s_sub_f32":            {run32: func(w *wave, a, b, _ uint32) uint32 { return single.add(w.mode32(), a, single.negate(b)) }},
	"s_min_f32":            {run32: func(w *wave, a, b, _ uint32) uint32 { return single.min(w, w.mode32(), a, b) }},
	"s_max_f32":            {run32: func(w *wave, a, b, _ uint32) uint32 { return single.max(w, w.mode32(), a, b) }},
	"s_mul_f32":            {run32: func(w *wave, a, b, _ uint32) uint32 { return single.mul(w.mode32(), a, b) }},
	"s_fmaak_f32":          {run32: fmaScalar},
	"s_fmamk_f32":          {run32: fmaScalar},
	"s_fmac_f32":           {run32: fmaScalar},
	"s_cvt_pk_rtz_f16_f32": {run32: func(w *wave, a, b, _ uint32) uint32 { return packTowardZero(w, a, b) }},
	"s_add_f16":            {run32: func(w *wave, a, b, _ uint32) uint32 { return half.add(w.mode64(), a&0xffff, b&0xffff) }},
	"s_sub_f16":            {run32: func(w *wave, a, b, _ uint32) uint32 { return half.add(w.mode64(), a&0xffff, half.negate(b&0xffff)) }},
	"s_min_f16":            {run32: func(w *wave, a, b, _ uint32) uint32 { return half.min(w, w.mode64(), a&0xffff, b&0xffff) }},
	"s_max_f16":            {run32: func(w *wave, a, b, _ uint32) uint32 { return half.max(w, w.mode64(), a&0xffff, b&0xffff) }},
	"s_mul_f16":            {run32: func(w *wave, a, b, _ uint32) uint32 { return half.mul(w.mode64(), a&0xffff, b&0xffff) }},
	"s_fmac_f16":           {run32: func(w *wave, a, b, c uint32) uint32 { return half.fma(w.mode64(), a&0xffff, b&0xffff, c&0xffff) }},
}

func roundScalar32(fn func(float64) float64) scalarOp {
	return scalarOp{run32: func(w *wave, a, _, _ uint32) uint32 { return single.each(w.mode32(), a, fn) }}
}

func roundScalar16(fn func(float64) float64) scalarOp {
	return scalarOp{run32: func(w *wave, a, _, _ uint32) uint32 { return half.each(w.mode64(), a&0xffff, fn) }}
}

func fmaScalar(w *wave, a, b, c uint32) uint32 { return single.fma(w.mode32(), a, b, c) }

// widenScalar is a half in single precision.
func widenScalar(w *wave, a uint32) uint32 {
	return convert(half, single, w.mode64().flushIn, floatMode{}, a)
}

// negate changes the sign of a number; a NaN stays as it is.
func (f format) negate(v uint32) uint32 {
	if f.isNaN(v) {
		return v
	}
	return v ^ f.sign()
}
