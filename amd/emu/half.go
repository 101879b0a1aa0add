package emu

import "math"

// Half precision. Sources are widened to float32, in which sums, products,
// quotients and roots may be rounded twice without harm (24 bits are at least
// 2*11+2); a fused multiply-add is exact in float64 wherever it matters.

// widen is a half as float32 bits. A NaN keeps its payload and is not quieted.
func widen(h uint32) uint32 {
	sign, rest := h&0x8000<<16, h&0x7fff
	switch {
	case rest >= 0x7c00:
		return sign | 0x7f800000 | rest&0x3ff<<13
	case rest >= 0x400:
		return sign | (rest<<13 + (127-15)<<23)
	case rest == 0:
		return sign
	}
	// A denormal: its fraction as an integer, times 2^-24.
	return sign | math.Float32bits(float32(rest)*(1.0/(1<<24)))
}

// narrow rounds a float32 to the nearest half; NaNs become quiet.
func narrow(v uint32) uint32 {
	if rest := v & 0x7fffffff; rest-0x38800000 < 0x477ff000-0x38800000 { // a normal half
		return v>>16&0x8000 | ((rest+0xfff+rest>>13&1)>>13 - (127-15)<<10)
	}
	return narrowEdge(v)
}

// narrowEdge is narrow for results that are denormals, infinities or NaNs.
func narrowEdge(v uint32) uint32 {
	sign, rest := v>>16&0x8000, v&0x7fffffff
	switch {
	case rest > 0x7f800000:
		return sign | 0x7e00 | rest>>13&0x3ff
	case rest >= 0x477ff000: // rounds to more than 65504
		return sign | 0x7c00
	}
	// Adding 0.5 puts the last bit that a denormal half keeps at the end of the
	// float32, which rounds it.
	x := math.Float32bits(math.Float32frombits(rest) + 0.5)
	return sign | (x - 0x3f000000)
}

var halfOperations = map[string]operation{
	"v_add_f16":    {run: addF16},
	"v_sub_f16":    {run: subF16},
	"v_subrev_f16": {run: func(w *wave, d, a, b, c *lanes) { subF16(w, d, b, a, c) }},
	"v_mul_f16":    {run: mulF16},
	"v_fma_f16":    {run: fmaF16},
	"v_fmac_f16":   {run: fmaF16},
	"v_fmaak_f16":  {run: fmaF16},
	"v_fmamk_f16":  {run: fmaF16},
	"v_min_f16":    {run: least.half()},
	"v_max_f16":    {run: greatest.half()},
	"v_min3_f16":   {run: least3.half()},
	"v_max3_f16":   {run: greatest3.half()},
	"v_maxmin_f16": {run: leastOfGreatest.half()},
	"v_minmax_f16": {run: greatestOfLeast.half()},
	"v_med3_f16":   {run: middle.half()},
}

// finite says whether no exponent of three halves is that of infinities.
func finite(a, b, c uint32) bool {
	return ((a&0x7fff+0x400)|(b&0x7fff+0x400)|(c&0x7fff+0x400))&0x8000 == 0
}

// float is the value of a finite half: its bits, moved to the place of a
// float32's, and scaled by the difference of the biases.
func float(h uint32) float32 {
	return math.Float32frombits(h&0x8000<<16|h&0x7fff<<13) * 0x1p112
}

// addHalf, mulHalf and fmaHalf compute in the usual mode.

func addHalf(a, b uint32) uint32 {
	if finite(a, b, 0) {
		return narrow(math.Float32bits(float(a) + float(b)))
	}
	return half.add(floatMode{}, a, b)
}

func mulHalf(a, b uint32) uint32 {
	if finite(a, b, 0) {
		return narrow(math.Float32bits(float32(float(a) * float(b))))
	}
	return half.mul(floatMode{}, a, b)
}

// fmaHalf is a*b + c of halves. The product is exact in float32. Their sum
// there rounds to the right half unless it lies in the middle between two (it
// may have been rounded to there) or among the denormals.
func fmaHalf(a, b, c uint32) uint32 {
	if !finite(a, b, c) {
		return half.fma(floatMode{}, a, b, c)
	}
	p := float(a) * float(b)
	v := math.Float32bits(p + float(c))
	rest := v & 0x7fffffff
	if rest-0x38800000 < 0x477ff000-0x38800000 && v&0x1fff != 0x1000 {
		return v>>16&0x8000 | ((rest+0xfff+rest>>13&1)>>13 - (127-15)<<10)
	}
	if rest == 0 {
		return v >> 16
	}
	return fmaHalfOdd(a, b, c)
}

// fmaHalfOdd is fmaHalf of finite sources. The sum in float64 is exact wherever
// the result is not plainly nearer to one half than to another; to odd in
// float32 it has enough bits for the second rounding.
func fmaHalfOdd(a, b, c uint32) uint32 {
	s := float64(float(a))*float64(float(b)) + float64(float(c))
	r := float32(s)
	v := math.Float32bits(r)
	if float64(r) != s {
		v = oddNeighbour(v, s)
	}
	return narrow(v)
}

func addF16(w *wave, d, a, b, _ *lanes) {
	if !w.plain64() {
		m := w.mode64()
		for i := range d[:w.n] {
			d[i] = half.add(m, a[i]&0xffff, b[i]&0xffff)
		}
		return
	}
	for i := range d[:w.n] {
		d[i] = addHalf(a[i]&0xffff, b[i]&0xffff)
	}
}

func subF16(w *wave, d, a, b, c *lanes) {
	m := w.mode64()
	for i := range d[:w.n] {
		y := b[i] & 0xffff
		if !half.isNaN(y) {
			y ^= 0x8000
		}
		if w.plain64() {
			d[i] = addHalf(a[i]&0xffff, y)
		} else {
			d[i] = half.add(m, a[i]&0xffff, y)
		}
	}
}

func mulF16(w *wave, d, a, b, _ *lanes) {
	if !w.plain64() {
		m := w.mode64()
		for i := range d[:w.n] {
			d[i] = half.mul(m, a[i]&0xffff, b[i]&0xffff)
		}
		return
	}
	for i := range d[:w.n] {
		d[i] = mulHalf(a[i]&0xffff, b[i]&0xffff)
	}
}

func fmaF16(w *wave, d, a, b, c *lanes) {
	if w.plain64() {
		for i := range d[:w.n] {
			d[i] = fmaHalf(a[i]&0xffff, b[i]&0xffff, c[i]&0xffff)
		}
		return
	}
	m := w.mode64()
	for i := range d[:w.n] {
		d[i] = half.fma(m, a[i]&0xffff, b[i]&0xffff, c[i]&0xffff)
	}
}

// oddNeighbour is the float32 with an odd last bit next to s, of which v is the
// nearest.
func oddNeighbour(v uint32, s float64) uint32 {
	if v&1 != 0 {
		return v
	}
	if (float64(f32(v)) < s) == (s > 0) {
		return v + 1
	}
	return v - 1
}
