package emu

import "math"

// The functions that the hardware approximates: reciprocals, roots, powers,
// logarithms and sines. Here they are computed in float64 and rounded. Roots
// and reciprocals are correctly rounded; so are the others but where the result
// lies within about 2^-26 of an ulp of the middle between two neighbours.
//
// In single precision denormal sources and results count as zero in every
// mode, except for sines. Sines take turns, not radians, of any size.

const (
	approximate   = "correctly rounded; hardware is within 1 ULP"
	approximately = "within 0.50001 ULP; hardware is within 1 ULP"
	approximate64 = "within 1 ULP; hardware has about half of the bits, which code refines"
)

var transOperations = map[string]operation{
	"v_exp_f32":       {run: expF32, approximate: approximately},
	"v_log_f32":       {run: logF32, approximate: approximately},
	"v_rcp_f32":       {run: rcpF32, approximate: approximate},
	"v_rcp_iflag_f32": {run: rcpF32, approximate: approximate},
	"v_rsq_f32":       {run: rsqF32, approximate: approximate},
	"v_sqrt_f32":      {run: sqrtF32, approximate: approximate},
	"v_sin_f32":       {run: sine32(sineTurns), approximate: approximately},
	"v_cos_f32":       {run: sine32(cosineTurns), approximate: approximately},
	"v_exp_f16":       {run: trans16(exp2), approximate: approximate},
	"v_log_f16":       {run: trans16(log2), approximate: approximate},
	"v_rcp_f16":       {run: trans16(reciprocal), approximate: approximate},
	"v_rsq_f16":       {run: trans16(reciprocalRoot), approximate: approximate},
	"v_sqrt_f16":      {run: trans16(math.Sqrt), approximate: approximate},
	"v_sin_f16":       {run: trans16(sineTurns), approximate: approximate},
	"v_cos_f16":       {run: trans16(cosineTurns), approximate: approximate},
	"v_rcp_f64":       {wide: trans64(reciprocal), approximate: approximate64},
	"v_rsq_f64":       {wide: trans64(reciprocalRoot), approximate: approximate64},
	"v_sqrt_f64":      {wide: trans64(math.Sqrt), approximate: approximate64},
}

// evaluate is f of v, which is no NaN unless f has no value.
func (f format) evaluate(m floatMode, v uint32, fn func(float64) float64) uint32 {
	v = f.flush(v, m.flushIn)
	if f.isNaN(v) {
		return v | f.quietBit()
	}
	x := fn(f.value(v))
	if x != x {
		return f.invalid()
	}
	return f.round(m, x)
}

// flushing is how single precision treats denormals here.
var flushing = floatMode{flushIn: true, flushOut: true}

// The commonest have loops of their own for positive normal numbers with
// results of the kind.

func rcpF32(w *wave, d, a, _, _ *lanes) {
	for i := range d[:w.n] {
		v := a[i]
		if e := v >> 23 & 0xff; e-1 < 252 { // the result is no denormal
			d[i] = math.Float32bits(1 / f32(v))
			continue
		}
		d[i] = single.evaluate(flushing, v, reciprocal)
	}
}

func rsqF32(w *wave, d, a, _, _ *lanes) {
	for i := range d[:w.n] {
		v := a[i]
		if v>>23-1 < 254 {
			d[i] = math.Float32bits(float32(1 / math.Sqrt(float64(f32(v)))))
			continue
		}
		d[i] = single.evaluate(flushing, v, reciprocalRoot)
	}
}

func sqrtF32(w *wave, d, a, _, _ *lanes) {
	for i := range d[:w.n] {
		v := a[i]
		if v>>23-1 < 254 {
			d[i] = math.Float32bits(float32(math.Sqrt(float64(f32(v)))))
			continue
		}
		d[i] = single.evaluate(flushing, v, math.Sqrt)
	}
}

func expF32(w *wave, d, a, _, _ *lanes) {
	for i := range d[:w.n] {
		v := a[i]
		if x := float64(f32(v)); x > -126 && x < 127 {
			d[i] = math.Float32bits(float32(exp2(x)))
			continue
		}
		d[i] = single.evaluate(flushing, v, exp2)
	}
}

func logF32(w *wave, d, a, _, _ *lanes) {
	for i := range d[:w.n] {
		v := a[i]
		if v>>23-1 < 254 {
			d[i] = math.Float32bits(float32(log2(float64(f32(v)))))
			continue
		}
		d[i] = single.evaluate(flushing, v, log2)
	}
}

func sine32(fn func(float64) float64) kernel {
	return func(w *wave, d, a, _, _ *lanes) {
		m, plain := w.mode32(), w.plain32()
		m.round = toNearest
		for i := range d[:w.n] {
			v := a[i]
			if x := float64(f32(v)); plain && (x > 1e-30 || x < -1e-30) && v<<1 < 0xff<<24 {
				d[i] = math.Float32bits(float32(fn(x)))
				continue
			}
			d[i] = single.evaluate(m, v, fn)
		}
	}
}

func trans16(fn func(float64) float64) kernel {
	return func(w *wave, d, a, _, _ *lanes) {
		m := w.mode64()
		m.round = toNearest
		for i := range d[:w.n] {
			d[i] = half.evaluate(m, a[i]&0xffff, fn)
		}
	}
}

func trans64(fn func(float64) float64) wideKernel {
	return func(w *wave, d, a, _, _ *wide) {
		m := w.mode64()
		for i := range d[:w.n] {
			v := flush64(a[i], m.flushIn)
			if isNaN64(v) {
				d[i] = v | quiet64
				continue
			}
			if v = math.Float64bits(fn(f64(v))); isNaN64(v) {
				v = invalid64
			}
			d[i] = flush64(v, m.flushOut)
		}
	}
}

func reciprocal(x float64) float64 { return 1 / x }

// reciprocalRoot of -0 is -Inf.
func reciprocalRoot(x float64) float64 { return 1 / math.Sqrt(x) }

// powers are 2^(i/32).
var powers = func() (t [32]float64) {
	for i := range t {
		t[i] = math.Exp2(float64(i) / 32)
	}
	return t
}()

// exp2 is 2^x, to within 2^-51 where the result is in the range of float32.
// With k the nearest of 32nds, it is 2^k times the series of e^((x-k)*ln 2),
// whose argument is at most 0.011.
func exp2(x float64) float64 {
	if !(x > -1000 && x < 1000) {
		return math.Exp2(x)
	}
	k := math.RoundToEven(x * 32)
	r := (x - k/32) * math.Ln2
	q := r * r // the series in parts that do not wait for each other
	p := 1 + r + float64(q*(1.0/2+float64(r*(1.0/6))+float64(q*(1.0/24+float64(r*(1.0/120))+float64(q*(1.0/720))))))
	n := int(k)
	return p * powers[n&31] * math.Float64frombits(uint64(1023+n>>5)<<52)
}

// log2 is the logarithm of x to base 2, to within 2^-50 of its size: with x =
// 2^e * m and m near 1, e plus the series of the inverse hyperbolic tangent of
// (m-1)/(m+1), which is at most 0.172.
func log2(x float64) float64 {
	b := math.Float64bits(x)
	if b-1<<52 >= (infinite-1)<<52 { // zeros, denormals, negative numbers, infinities, NaNs
		return math.Log2(x)
	}
	const sqrtHalf = 0x3fe6a09e667f3bcd
	e := int64(b-sqrtHalf) >> 52
	m := math.Float64frombits(b - uint64(e)<<52)
	t := (m - 1) / (m + 1)
	q := t * t
	return float64(e) + float64((t+float64(t*q*polynomial(q, &log2Terms)))*(2/math.Ln2))
}

// polynomial has the coefficients c, that of the highest power first. Products
// are rounded on every machine, so that results are the same everywhere.
func polynomial(x float64, c *[10]float64) float64 {
	p := c[0]
	for _, k := range c[1:] {
		p = float64(p*x) + k
	}
	return p
}

// The terms of the series, after those that are exact.
var (
	log2Terms   = [10]float64{1.0 / 21, 1.0 / 19, 1.0 / 17, 1.0 / 15, 1.0 / 13, 1.0 / 11, 1.0 / 9, 1.0 / 7, 1.0 / 5, 1.0 / 3}
	sineTerms   = alternating(3)
	cosineTerms = alternating(4)
)

// alternating is ten coefficients of the series of the sine (from the third
// power) or the cosine (from the fourth).
func alternating(power int) (c [10]float64) {
	factorial, sign := 1.0, 1.0
	for i := 2; i <= power; i++ {
		factorial *= float64(i)
	}
	if power == 3 {
		sign = -1
	}
	for i := range c {
		c[len(c)-1-i] = sign / factorial
		sign = -sign
		factorial *= float64((power + 1) * (power + 2))
		power += 2
	}
	return c
}

// infinite is the exponent field of float64's infinities.
const infinite = 0x7ff

// sineTurns is the sine of x turns. The argument is reduced exactly, so that
// quarters of turns give exact results.
func sineTurns(x float64) float64 {
	quarter, rest, ok := reduceTurns(x)
	if !ok {
		return math.NaN()
	}
	switch quarter {
	case 0:
		if x == 0 {
			return x // whole turns give +0, in either direction
		}
		return sine(rest)
	case 1:
		return cosine(rest)
	case 2:
		return 0 - sine(rest)
	}
	return -cosine(rest)
}

func cosineTurns(x float64) float64 {
	quarter, rest, ok := reduceTurns(x)
	if !ok {
		return math.NaN()
	}
	switch quarter {
	case 0:
		return cosine(rest)
	case 1:
		return 0 - sine(rest)
	case 2:
		return -cosine(rest)
	}
	return 0 + sine(rest)
}

// reduceTurns is x turns as quarters of a turn and a rest in radians, at most
// an eighth of a turn; false if x is not finite.
func reduceTurns(x float64) (quarter int, rest float64, ok bool) {
	if math.IsInf(x, 0) || x != x {
		return 0, 0, false
	}
	x -= math.RoundToEven(x)
	q := math.RoundToEven(4 * x)
	return int(q) & 3, (x - q/4) * (2 * math.Pi), true
}

// sine and cosine are the first terms of the series, which for up to pi/4 leave
// less than 2^-53.

func sine(x float64) float64 {
	q := x * x
	return x + float64(x*q*polynomial(q, &sineTerms))
}

func cosine(x float64) float64 {
	q := x * x
	return 1 - q/2 + float64(q*q*polynomial(q, &cosineTerms))
}
