package emu

import (
	"math"
	"math/bits"
)

// Double precision. In the usual mode it is the host's; otherwise fma64
// computes with integers.

var doubleOperations = map[string]operation{
	"v_add_f64": {wide: addF64},
	"v_mul_f64": {wide: mulF64},
	"v_fma_f64": {wide: fmaF64},
	"v_min_f64": {wide: wide2(func(w *wave, a, b uint64) uint64 { return pick64(w, w.mode64(), a, b, false) })},
	"v_max_f64": {wide: wide2(func(w *wave, a, b uint64) uint64 { return pick64(w, w.mode64(), a, b, true) })},
}

// nan64 is the result of an operation that is no number: the first source that
// is none, or the NaN of invalid operations.
func nan64(sources ...uint64) uint64 {
	for _, v := range sources {
		if isNaN64(v) {
			return v | quiet64
		}
	}
	return invalid64
}

func addF64(w *wave, d, a, b, _ *wide) {
	plain, m := w.plain64(), w.mode64()
	for i := range d[:w.n] {
		x, y := a[i], b[i]
		if r := f64(x) + f64(y); plain && r == r {
			d[i] = math.Float64bits(r)
			continue
		}
		d[i] = softFMA64(m, 0x3ff<<52, x, y)
	}
}

func mulF64(w *wave, d, a, b, _ *wide) {
	plain, m := w.plain64(), w.mode64()
	for i := range d[:w.n] {
		x, y := a[i], b[i]
		if r := f64(x) * f64(y); plain && r == r {
			d[i] = math.Float64bits(r)
			continue
		}
		d[i] = softFMA64(m, x, y, (x^y)&(1<<63)) // a zero of the product's sign
	}
}

func fmaF64(w *wave, d, a, b, c *wide) {
	plain, m := w.plain64(), w.mode64()
	for i := range d[:w.n] {
		x, y, z := a[i], b[i], c[i]
		if r := math.FMA(f64(x), f64(y), f64(z)); plain && r == r {
			d[i] = math.Float64bits(r)
			continue
		}
		d[i] = softFMA64(m, x, y, z)
	}
}

// number is a finite number: ±m * 2^exp with m of 53 bits, or 0.
type number struct {
	negative bool
	m        uint64
	exp      int
}

// unpack64 normalises v so that bit 52 of m is set, unless v is 0.
func unpack64(v uint64) number {
	n := number{v>>63 != 0, v & (1<<52 - 1), int(v>>52&0x7ff) - 1075}
	if n.exp != -1075 {
		n.m |= 1 << 52
		return n
	}
	n.exp++
	if n.m != 0 {
		shift := bits.LeadingZeros64(n.m) - 11
		n.m <<= shift
		n.exp -= shift
	}
	return n
}

// softFMA64 is a*b + c, rounded once as the mode says.
func softFMA64(m floatMode, a, b, c uint64) uint64 { return scaledFMA64(m, a, b, c, 0) }

// scaledFMA64 is (a*b + c) * 2^n, rounded once.
func scaledFMA64(m floatMode, a, b, c uint64, n int) uint64 {
	a, b, c = flush64(a, m.flushIn), flush64(b, m.flushIn), flush64(c, m.flushIn)
	// Infinities and NaNs are the host's, and rounding is no matter.
	if isSpecial(a) || isSpecial(b) || isSpecial(c) {
		r := specialFMA(f64(a), f64(b), f64(c))
		if r != r {
			return nan64(a, b, c)
		}
		return math.Float64bits(r)
	}
	x, y, z := unpack64(a), unpack64(b), unpack64(c)
	p := product{negative: x.negative != y.negative, exp: x.exp + y.exp - 20}
	p.hi, p.lo = bits.Mul64(x.m, y.m) // below 2^106
	p.shift(20)
	s := product{negative: z.negative, hi: z.m << 9, exp: z.exp - 73}
	if s.zero() {
		s.exp = p.exp
	}
	if p.zero() {
		p.exp = s.exp
	}
	r := p.add(s)
	if r.zero() {
		negative := m.round == toNegative
		if p.negative == s.negative {
			negative = p.negative
		}
		return uint64(bit(negative)) << 63
	}
	r.exp += n
	return r.round64(m)
}

func isSpecial(v uint64) bool { return v>>52&0x7ff == 0x7ff }

// specialFMA is a*b + c where one of them is an infinity or a NaN.
func specialFMA(a, b, c float64) float64 {
	p := a * b
	if !math.IsInf(a, 0) && !math.IsInf(b, 0) && p == p {
		p = 0 // a finite product, which may have overflowed
	}
	return p + c
}

// product is ±(hi,lo) * 2^exp. Sums keep what they lose in the lowest bit.
type product struct {
	negative bool
	hi, lo   uint64
	exp      int
}

func (p *product) zero() bool { return p.hi|p.lo == 0 }

// shift moves the digits to the left.
func (p *product) shift(n uint) {
	p.hi, p.lo = p.hi<<n|p.lo>>(64-n), p.lo<<n
}

// add is p + q. Both have room for a carry, and enough low bits that are 0.
func (p product) add(q product) product {
	if p.exp < q.exp {
		p, q = q, p
	}
	q.hi, q.lo = sticky(q.hi, q.lo, uint(p.exp-q.exp))
	var c uint64
	if p.negative == q.negative {
		p.lo, c = bits.Add64(p.lo, q.lo, 0)
		p.hi, _ = bits.Add64(p.hi, q.hi, c)
		return p
	}
	p.lo, c = bits.Sub64(p.lo, q.lo, 0)
	p.hi, c = bits.Sub64(p.hi, q.hi, c)
	if c != 0 {
		p.lo, c = bits.Sub64(0, p.lo, 0)
		p.hi, _ = bits.Sub64(0, p.hi, c)
		p.negative = !p.negative
	}
	return p
}

// round64 rounds a number that is not 0 to a float64.
func (p product) round64(m floatMode) uint64 {
	n := leading(p.hi, p.lo)
	exp := p.exp - int(n) + 127 // of the leading bit
	if n > 0 {
		if n >= 64 {
			p.hi, p.lo, n = p.lo, 0, n-64
		}
		p.hi, p.lo = p.hi<<n|p.lo>>(64-n), p.lo<<n
	}
	rest := p.lo
	frac := p.hi // the leading bit is bit 63
	if rest != 0 {
		frac |= 1
	}
	shift := uint(11)
	base := uint64(0)
	if exp >= -1022 {
		base = uint64(exp+1022) << 52
	} else {
		shift += uint(min(-1022-exp, 60))
	}
	if shift > 63 { // a shift by 64 can still round up
		lost := frac<<(127-shift) != 0
		frac >>= shift - 63
		frac |= bit(lost)
		shift = 63
	}
	kept := frac >> shift
	if m.roundsUp(p.negative, kept&1 != 0, frac&(1<<shift-1), 1<<(shift-1)) {
		kept++
	}
	sign := bit(p.negative) << 63
	r := base + kept
	if exp > 1023 || r >= 0x7ff<<52 {
		r = 0x7ff << 52
		if m.round == toZero || m.round == toPositive && p.negative || m.round == toNegative && !p.negative {
			r--
		}
	}
	if m.flushOut && r < 1<<52 {
		r = 0
	}
	return sign | r
}

// modifyWide applies omod and clamp to a float64 result.
func (p *plan) modifyWide(w *wave, r *wide) {
	m := w.mode64()
	for i, v := range r[:w.n] {
		if p.omod != 0 && m.flushOut && w.mode&modeIEEE == 0 && !isNaN64(v) {
			v = softFMA64(m, v, math.Float64bits(omodFactor[p.omod]), v&(1<<63))
			if v == 1<<63 {
				v = 0
			}
		}
		if p.clamp {
			switch {
			case isNaN64(v):
				if w.mode&modeDX10 != 0 {
					v = 0
				}
			case v>>63 != 0:
				v = 0
			case v > 0x3ff<<52:
				v = 0x3ff << 52
			}
		}
		r[i] = v
	}
}
