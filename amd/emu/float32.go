package emu

import "math"

// Single precision: the arithmetic kernels.

var floatOperations = map[string]operation{
	"v_add_f32":           {run: addF32},
	"v_sub_f32":           {run: subF32},
	"v_subrev_f32":        {run: func(w *wave, d, a, b, c *lanes) { subF32(w, d, b, a, c) }},
	"v_mul_f32":           {run: mulF32},
	"v_fma_f32":           {run: fmaF32},
	"v_fmac_f32":          {run: fmaF32},
	"v_fmaak_f32":         {run: fmaF32},
	"v_fmamk_f32":         {run: fmaF32},
	"v_mul_dx9_zero_f32":  {run: mulZeroF32},
	"v_fma_dx9_zero_f32":  {run: fmaZeroF32},
	"v_fmac_dx9_zero_f32": {run: fmaZeroF32},
	"v_min_f32":           {run: minF32},
	"v_max_f32":           {run: maxF32},
	"v_min3_f32": {run: lanes3(func(w *wave, a, b, c uint32) uint32 {
		return single.min(w, w.mode32(), single.min(w, w.mode32(), a, b), c)
	})},
	"v_max3_f32": {run: lanes3(func(w *wave, a, b, c uint32) uint32 {
		return single.max(w, w.mode32(), single.max(w, w.mode32(), a, b), c)
	})},
	"v_maxmin_f32": {run: lanes3(func(w *wave, a, b, c uint32) uint32 {
		return single.min(w, w.mode32(), single.max(w, w.mode32(), a, b), c)
	})},
	"v_minmax_f32": {run: lanes3(func(w *wave, a, b, c uint32) uint32 {
		return single.max(w, w.mode32(), single.min(w, w.mode32(), a, b), c)
	})},
	"v_med3_f32": {run: middle.single()},
}

func f32(v uint32) float32 { return math.Float32frombits(v) }

// nan32 is the NaN that comes of sources of which one is a NaN, or which
// make an invalid operation.
func nan32(a, b uint32) uint32 {
	if single.isNaN(a) {
		return a | 1<<22
	}
	if single.isNaN(b) {
		return b | 1<<22
	}
	return single.invalid()
}

func addF32(w *wave, d, a, b, _ *lanes) {
	ds, as, bs := d[:w.n], a[:w.n], b[:w.n]
	if !w.plain32() {
		m := w.mode32()
		for i := range ds {
			ds[i] = single.add(m, as[i], bs[i])
		}
		return
	}
	for i := range ds {
		x, y := as[i], bs[i]
		r := f32(x) + f32(y)
		if r != r {
			ds[i] = nan32(x, y)
			continue
		}
		ds[i] = math.Float32bits(r)
	}
}

func subF32(w *wave, d, a, b, _ *lanes) {
	ds, as, bs := d[:w.n], a[:w.n], b[:w.n]
	if !w.plain32() {
		m := w.mode32()
		for i := range ds {
			y := bs[i]
			if !single.isNaN(y) {
				y ^= 1 << 31
			}
			ds[i] = single.add(m, as[i], y)
		}
		return
	}
	for i := range ds {
		x, y := as[i], bs[i]
		r := f32(x) - f32(y)
		if r != r {
			ds[i] = nan32(x, y)
			continue
		}
		ds[i] = math.Float32bits(r)
	}
}

func mulF32(w *wave, d, a, b, _ *lanes) {
	ds, as, bs := d[:w.n], a[:w.n], b[:w.n]
	if !w.plain32() {
		m := w.mode32()
		for i := range ds {
			ds[i] = single.mul(m, as[i], bs[i])
		}
		return
	}
	for i := range ds {
		x, y := as[i], bs[i]
		r := f32(x) * f32(y)
		if r != r {
			ds[i] = nan32(x, y)
			continue
		}
		ds[i] = math.Float32bits(r)
	}
}

// fmaF32 rounds the float64 sum of the exact product and the addend. That is
// the right result unless the sum lies in the middle between two float32 (it
// may have been rounded to there) or among the denormals, or is no number.
func fmaF32(w *wave, d, a, b, c *lanes) {
	ds, as, bs, cs := d[:w.n], a[:w.n], b[:w.n], c[:w.n]
	if !w.plain32() {
		m := w.mode32()
		for i := range ds {
			ds[i] = single.fma(m, as[i], bs[i], cs[i])
		}
		return
	}
	for i := range ds {
		x, y, z := as[i], bs[i], cs[i]
		s := float64(f32(x))*float64(f32(y)) + float64(f32(z))
		if u := math.Float64bits(s); u&(1<<29-1) == 1<<28 || u<<1-normal32 >= normals32 {
			if s == 0 {
				ds[i] = uint32(u >> 32)
			} else {
				ds[i] = fma32(x, y, z)
			}
			continue
		}
		ds[i] = math.Float32bits(float32(s))
	}
}

// addProduct is fmaF32 of one lane, for a product that is exact in float64.
func addProduct(p float64, z uint32) uint32 {
	s := p + float64(f32(z))
	if u := math.Float64bits(s); u&(1<<29-1) == 1<<28 || u<<1-normal32 >= normals32 {
		return sumOdd(p, z)
	}
	return math.Float32bits(float32(s))
}

// The float64 bits, without the sign, of what is a normal number as a float32:
// from normal32 on, normals32 of them (and those that overflow).
const (
	normal32  = (1023 - 126) << 53
	normals32 = infinite<<53 - normal32
)

// fma32 is the multiply-add of one lane in the usual mode.
func fma32(x, y, z uint32) uint32 {
	if single.isNaN(x) {
		return x | 1<<22
	}
	if single.isNaN(y) {
		return y | 1<<22
	}
	return sumOdd(float64(f32(x))*float64(f32(y)), z)
}

// sumOdd is the float32 of an exact product plus z, rounded once.
func sumOdd(p float64, z uint32) uint32 {
	s := addOdd(p, float64(f32(z)))
	if s != s {
		return nan32(z, z)
	}
	return math.Float32bits(float32(s))
}

// mulZeroF32 is a multiplication in which zero times anything is zero.
func mulZeroF32(w *wave, d, a, b, _ *lanes) {
	m := w.mode32()
	for i := range d[:w.n] {
		d[i] = mulZero(m, a[i], b[i])
	}
}

func mulZero(m floatMode, a, b uint32) uint32 {
	if isZero(m, a) || isZero(m, b) {
		return 0
	}
	return single.mul(m, a, b)
}

func fmaZeroF32(w *wave, d, a, b, c *lanes) {
	m := w.mode32()
	for i := range d[:w.n] {
		if isZero(m, a[i]) || isZero(m, b[i]) {
			d[i] = single.flush(c[i], m.flushIn)
			continue
		}
		d[i] = single.fma(m, a[i], b[i], c[i])
	}
}

// isZero says whether a source is a zero, or a denormal that counts as one.
func isZero(m floatMode, a uint32) bool { return single.flush(a, m.flushIn)<<1 == 0 }
