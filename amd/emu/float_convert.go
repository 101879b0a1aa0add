package emu

import "math"

// Conversions. To an integer: toward zero unless the name says otherwise,
// saturating, and a NaN is 0. To a float: as MODE rounds.

// approximateRounding is said of conversions whose documents leave it open.
const approximateRounding = "toward zero; how the hardware rounds is not documented"

// approximatePackByte is said of v_cvt_pk_u8_f32. AMD's pseudocode names no
// rounding. Others who measured it on gfx7 and gfx9 report the nearest, even,
// and a NaN as 0.
const approximatePackByte = "to the nearest even whatever MODE says, as measured on gfx7 and gfx9; not documented"

var convertOperations = map[string]operation{
	"v_cvt_f32_i32":    {run: cvtF32I32},
	"v_cvt_f32_u32":    {run: cvtF32U32},
	"v_cvt_i32_f32":    {run: cvtI32F32},
	"v_cvt_u32_f32":    {run: cvtU32F32},
	"v_cvt_f32_ubyte0": {run: cvtByte(0)},
	"v_cvt_f32_ubyte1": {run: cvtByte(8)},
	"v_cvt_f32_ubyte2": {run: cvtByte(16)},
	"v_cvt_f32_ubyte3": {run: cvtByte(24)},
	"v_cvt_f16_f32":    {run: cvtF16F32},
	"v_cvt_f32_f16":    {run: cvtF32F16},
	"v_cvt_nearest_i32_f32": {run: lanes1(func(w *wave, a uint32) uint32 {
		return toInt(math.Floor(float64(source32(w, a))+0.5), math.MinInt32, math.MaxInt32)
	})},
	"v_cvt_floor_i32_f32": {run: lanes1(func(w *wave, a uint32) uint32 {
		return toInt(math.Floor(float64(source32(w, a))), math.MinInt32, math.MaxInt32)
	})},
	"v_cvt_off_f32_i4":   {run: int1(func(a uint32) uint32 { return math.Float32bits(float32(int32(a<<28)>>28) / 16) })},
	"v_cvt_f16_u16":      {run: lanes1(func(w *wave, a uint32) uint32 { return half.round(w.mode64(), float64(a&0xffff)) })},
	"v_cvt_f16_i16":      {run: lanes1(func(w *wave, a uint32) uint32 { return half.round(w.mode64(), float64(i16(a))) })},
	"v_cvt_u16_f16":      {run: lanes1(func(w *wave, a uint32) uint32 { return toInt(sourceHalf(w, a), 0, math.MaxUint16) })},
	"v_cvt_i16_f16":      {run: lanes1(func(w *wave, a uint32) uint32 { return toInt(sourceHalf(w, a), math.MinInt16, math.MaxInt16) })},
	"v_cvt_norm_i16_f16": {run: lanes1(func(w *wave, a uint32) uint32 { return toNorm(sourceHalf(w, a), -1, math.MaxInt16) })},
	"v_cvt_norm_u16_f16": {run: lanes1(func(w *wave, a uint32) uint32 { return toNorm(sourceHalf(w, a), 0, math.MaxUint16) })},
	"v_cvt_pk_norm_i16_f16": {run: lanes2(func(w *wave, a, b uint32) uint32 {
		return pack(toNorm(sourceHalf(w, a), -1, math.MaxInt16), toNorm(sourceHalf(w, b), -1, math.MaxInt16))
	})},
	"v_cvt_pk_norm_u16_f16": {run: lanes2(func(w *wave, a, b uint32) uint32 {
		return pack(toNorm(sourceHalf(w, a), 0, math.MaxUint16), toNorm(sourceHalf(w, b), 0, math.MaxUint16))
	})},
	"v_cvt_pk_norm_i16_f32": {run: lanes2(func(w *wave, a, b uint32) uint32 {
		return pack(toNorm(float64(source32(w, a)), -1, math.MaxInt16), toNorm(float64(source32(w, b)), -1, math.MaxInt16))
	})},
	"v_cvt_pk_norm_u16_f32": {run: lanes2(func(w *wave, a, b uint32) uint32 {
		return pack(toNorm(float64(source32(w, a)), 0, math.MaxUint16), toNorm(float64(source32(w, b)), 0, math.MaxUint16))
	})},
	"v_cvt_pk_i16_f32": {run: lanes2(func(w *wave, a, b uint32) uint32 {
		return pack(toInt(float64(source32(w, a)), math.MinInt16, math.MaxInt16), toInt(float64(source32(w, b)), math.MinInt16, math.MaxInt16))
	}), approximate: approximateRounding},
	"v_cvt_pk_u16_f32": {run: lanes2(func(w *wave, a, b uint32) uint32 {
		return pack(toInt(float64(source32(w, a)), 0, math.MaxUint16), toInt(float64(source32(w, b)), 0, math.MaxUint16))
	}), approximate: approximateRounding},
	"v_cvt_pk_u16_u32":     {run: int2(func(a, b uint32) uint32 { return pack(min(a, 0xffff), min(b, 0xffff)) })},
	"v_cvt_pk_i16_i32":     {run: int2(func(a, b uint32) uint32 { return pack(satI16(int32(a)), satI16(int32(b))) })},
	"v_cvt_pk_u8_f32":      {run: lanes3(packByte), approximate: approximatePackByte},
	"v_cvt_pk_rtz_f16_f32": {run: lanes2(packTowardZero)},
	"v_pack_b32_f16":       {run: lanes2(packHalves)},

	"v_cvt_f64_i32": {wide: wide1(func(_ *wave, a uint64) uint64 { return math.Float64bits(float64(int32(a))) })},
	"v_cvt_f64_u32": {wide: wide1(func(_ *wave, a uint64) uint64 { return math.Float64bits(float64(uint32(a))) })},
	"v_cvt_i32_f64": {wide: wide1(func(w *wave, a uint64) uint64 {
		return uint64(toInt(f64(flush64(a, w.mode64().flushIn)), math.MinInt32, math.MaxInt32))
	})},
	"v_cvt_u32_f64": {wide: wide1(func(w *wave, a uint64) uint64 {
		return uint64(toInt(f64(flush64(a, w.mode64().flushIn)), 0, math.MaxUint32))
	})},
	"v_cvt_f64_f32": {wide: wide1(cvtF64F32)},
	"v_cvt_f32_f64": {wide: wide1(cvtF32F64)},
}

// source32 is a source as arithmetic sees it.
func source32(w *wave, a uint32) float32 { return f32(single.flush(a, w.mode32().flushIn)) }

// sourceHalf is the low half of a as arithmetic sees it.
func sourceHalf(w *wave, a uint32) float64 {
	return float64(f32(widen(half.flush(a&0xffff, w.mode64().flushIn))))
}

// toInt is x toward zero, within the bounds.
func toInt(x, least, most float64) uint32 {
	switch {
	case x != x:
		return 0
	case x <= least:
		x = least
	case x >= most:
		x = most
	}
	return uint32(int64(x))
}

// toNorm maps least to 1 to integers, 1 to most, to the nearest even.
func toNorm(x, least, most float64) uint32 {
	if x != x {
		return 0
	}
	return uint32(int64(math.RoundToEven(max(least, min(x, 1)) * most)))
}

func pack(lo, hi uint32) uint32 { return lo&0xffff | hi<<16 }

func cvtF32I32(w *wave, d, a, _, _ *lanes) {
	ds, as := d[:w.n], a[:w.n]
	if m := w.mode32(); m.round != toNearest {
		for i := range ds {
			ds[i] = single.round(m, float64(int32(as[i])))
		}
		return
	}
	for i := range ds {
		ds[i] = math.Float32bits(float32(int32(as[i])))
	}
}

func cvtF32U32(w *wave, d, a, _, _ *lanes) {
	ds, as := d[:w.n], a[:w.n]
	if m := w.mode32(); m.round != toNearest {
		for i := range ds {
			ds[i] = single.round(m, float64(as[i]))
		}
		return
	}
	for i := range ds {
		ds[i] = math.Float32bits(float32(int64(as[i])))
	}
}

func cvtI32F32(w *wave, d, a, _, _ *lanes) {
	ds, as := d[:w.n], a[:w.n]
	for i := range ds {
		x := f32(as[i])
		if x > -1<<31 && x < 1<<31 {
			ds[i] = uint32(int32(x))
			continue
		}
		ds[i] = toInt(float64(x), math.MinInt32, math.MaxInt32)
	}
}

func cvtU32F32(w *wave, d, a, _, _ *lanes) {
	ds, as := d[:w.n], a[:w.n]
	for i := range ds {
		x := f32(as[i])
		if x >= 0 && x < 1<<32 {
			ds[i] = uint32(int64(x))
			continue
		}
		ds[i] = toInt(float64(x), 0, math.MaxUint32)
	}
}

// cvtByte converts the byte at the shift, exactly.
func cvtByte(shift uint) kernel {
	return func(w *wave, d, a, _, _ *lanes) {
		for i := range d[:w.n] {
			d[i] = math.Float32bits(float32(int32(a[i] >> shift & 0xff)))
		}
	}
}

// A conversion between single and half precision flushes sources as their
// precision says and rounds as the result's does.

func cvtF16F32(w *wave, d, a, _, _ *lanes) {
	ds, as := d[:w.n], a[:w.n]
	if w.plain64() {
		for i := range ds {
			ds[i] = narrow(as[i])
		}
		return
	}
	m := w.mode64()
	for i := range ds {
		ds[i] = convert(single, half, w.mode32().flushIn, m, as[i])
	}
}

// convert is v, of one format, in another.
func convert(from, to format, flush bool, m floatMode, v uint32) uint32 {
	if from.isNaN(v) {
		sign := v >> (from.mant + from.exp) << (to.mant + to.exp)
		frac := uint64(v) & (1<<from.mant - 1) << (52 - from.mant) >> (52 - to.mant)
		return sign | to.inf() | to.quietBit() | uint32(frac)
	}
	return to.round(m, from.value(from.flush(v, flush)))
}

func cvtF32F16(w *wave, d, a, _, _ *lanes) {
	ds, as := d[:w.n], a[:w.n]
	flush := w.mode64().flushIn
	for i := range ds {
		v := as[i] & 0xffff
		if !flush && v&0x7c00 != 0x7c00 {
			ds[i] = math.Float32bits(float(v))
			continue
		}
		v = widen(half.flush(v, flush))
		if v&0x7fffffff > 0x7f800000 {
			v |= 1 << 22
		}
		ds[i] = v
	}
}

func cvtF64F32(w *wave, a uint64) uint64 {
	v := single.flush(uint32(a), w.mode32().flushIn)
	if single.isNaN(v) {
		return uint64(v)>>31<<63 | 0x7ff8<<48 | uint64(v)&(1<<23-1)<<29
	}
	return math.Float64bits(float64(f32(v)))
}

func cvtF32F64(w *wave, a uint64) uint64 {
	a = flush64(a, w.mode64().flushIn)
	if isNaN64(a) {
		return a>>63<<31 | 0x7fc00000 | a>>29&(1<<22-1)
	}
	return uint64(single.round(w.mode32(), f64(a)))
}

// packByte replaces byte b of c by a as an unsigned byte, the nearest.
func packByte(w *wave, a, b, c uint32) uint32 {
	shift := b & 3 * 8
	return c&^(0xff<<shift) | toInt(math.RoundToEven(float64(source32(w, a))), 0, 255)<<shift
}

func packTowardZero(w *wave, a, b uint32) uint32 {
	if x, y := a&^(1<<31)-0x38800000, b&^(1<<31)-0x38800000; x < 0x0f000000 && y < 0x0f000000 { // normal halves
		return x>>13 + 1<<10 | a>>16&0x8000 | (y>>13+1<<10)<<16 | b&(1<<31)
	}
	m := w.mode64()
	m.round = toZero
	flush := w.mode32().flushIn
	return pack(convert(single, half, flush, m, a), convert(single, half, flush, m, b))
}

// packHalves flushes denormals as the mode says.
func packHalves(w *wave, a, b uint32) uint32 {
	m := w.mode64()
	flush := m.flushIn || m.flushOut
	return pack(half.flush(a&0xffff, flush), half.flush(b&0xffff, flush))
}
