package emu

import (
	"math"
	"math/bits"

	"github.com/holdfast-llm/holdfast/amd/isa"
)

// Floating point as the MODE register says. Kernels have a fast path for the
// usual mode (to nearest even, denormals kept), where the host's arithmetic is
// the hardware's; everything else goes through the functions here, which are
// correctly rounded in every mode.
//
// What a NaN becomes is chosen thus: the first source that is a NaN, made
// quiet; an invalid operation gives the negative quiet NaN, as the documents
// say of v_sqrt_f32, v_log_f32 and v_div_fixup_f32.

// The fields of MODE. Single precision has its own rounding and denormals;
// half and double share theirs.
const (
	modeRound32  = 3
	modeRound64  = 3 << 2
	modeDenorm32 = 3 << 4
	modeDenorm64 = 3 << 6
	modeDX10     = 1 << 8 // clamp makes a NaN 0
	modeIEEE     = 1 << 9 // min and max make signaling NaNs quiet; no omod
)

// plain32 says whether single precision runs as the host does.
func (w *wave) plain32() bool { return w.mode&(modeRound32|modeDenorm32) == modeDenorm32 }

// plain64 is plain32 for half and double precision.
func (w *wave) plain64() bool { return w.mode&(modeRound64|modeDenorm64) == modeDenorm64 }

// rounding is a rounding mode, as MODE has it.
type rounding uint8

const (
	toNearest rounding = iota // to even
	toPositive
	toNegative
	toZero
)

// floatMode is how one precision rounds and treats denormals.
type floatMode struct {
	round    rounding
	flushIn  bool // denormal sources are zero
	flushOut bool // denormal results are zero
}

func (w *wave) mode32() floatMode { return newFloatMode(w.mode) }

// mode64 is the mode of half and double precision.
func (w *wave) mode64() floatMode { return newFloatMode(w.mode>>2&^modeRound64&^0x30 | w.mode>>2&0x30) }

func newFloatMode(m uint32) floatMode {
	return floatMode{rounding(m & modeRound32), m&0x10 == 0, m&0x20 == 0}
}

// format is a binary floating-point format of up to 32 bits.
type format struct {
	mant uint // bits of the fraction
	exp  uint // bits of the exponent
}

var (
	single   = format{23, 8}
	half     = format{10, 5}
	bfloat16 = format{7, 8}
)

func (f format) bias() int        { return 1<<(f.exp-1) - 1 }
func (f format) inf() uint32      { return (1<<f.exp - 1) << f.mant }
func (f format) sign() uint32     { return 1 << (f.mant + f.exp) }
func (f format) quietBit() uint32 { return 1 << (f.mant - 1) }

// invalid is the NaN of an invalid operation.
func (f format) invalid() uint32 { return f.sign() | f.inf() | f.quietBit() }

func (f format) isNaN(v uint32) bool { return v&(f.sign()-1) > f.inf() }

func (f format) isSignaling(v uint32) bool { return f.isNaN(v) && v&f.quietBit() == 0 }

func (f format) isDenormal(v uint32) bool {
	return v&f.inf() == 0 && v&(f.sign()-1) != 0
}

// flush makes a denormal a zero of its sign.
func (f format) flush(v uint32, flush bool) uint32 {
	if flush && f.isDenormal(v) {
		return v & f.sign()
	}
	return v
}

// value is the exact value of v, which is no NaN.
func (f format) value(v uint32) float64 {
	sign := uint64(v&f.sign()) << (63 - f.mant - f.exp)
	m := uint64(v & (1<<f.mant - 1))
	e := int(v >> f.mant & (1<<f.exp - 1))
	switch {
	case e == 1<<f.exp-1:
		return math.Float64frombits(sign | 0x7ff<<52)
	case e == 0 && m == 0:
		return math.Float64frombits(sign)
	case e == 0:
		x := math.Ldexp(float64(m), 1-f.bias()-int(f.mant))
		return math.Float64frombits(math.Float64bits(x) | sign)
	}
	return math.Float64frombits(sign | uint64(e-f.bias()+1023)<<52 | m<<(52-f.mant))
}

// round makes x a number of the format. x is the exact result, or the exact
// result rounded to odd to the 53 bits of a float64, which loses nothing that
// a second rounding needs. It is no NaN.
func (f format) round(m floatMode, x float64) uint32 {
	b := math.Float64bits(x)
	sign := uint32(b>>63) << (f.mant + f.exp)
	e := int(b >> 52 & 0x7ff)
	frac := b & (1<<52 - 1)
	switch {
	case e == 0x7ff:
		return sign | f.inf()
	case e == 0 && frac == 0:
		return sign
	case e == 0: // far below every format's denormals: only sticky matters
		e = 1
	default:
		frac |= 1 << 52
	}
	e += f.bias() - 1023
	shift := 52 - f.mant
	base := uint32(e-1) << f.mant
	if e < 1 { // a denormal result
		shift += uint(1 - e)
		base = 0
	}
	if shift > 62 {
		shift, frac = 62, 1
	}
	kept := uint32(frac >> shift)
	if m.roundsUp(sign != 0, kept&1 != 0, frac&(1<<shift-1), 1<<(shift-1)) {
		kept++
	}
	if e >= 1<<f.exp-1 {
		return sign | f.overflow(m, sign != 0)
	}
	r := base + kept
	if r >= f.inf() {
		return sign | f.overflow(m, sign != 0)
	}
	if m.flushOut && r < 1<<f.mant {
		r = 0
	}
	return sign | r
}

// roundsUp says whether a magnitude whose lost bits are rest, of which half is
// the middle, is rounded away from zero.
func (m floatMode) roundsUp(negative, odd bool, rest, half uint64) bool {
	switch m.round {
	case toNearest:
		return rest > half || rest == half && odd
	case toPositive:
		return !negative && rest != 0
	case toNegative:
		return negative && rest != 0
	}
	return false
}

// overflow is the magnitude of a result too large for the format.
func (f format) overflow(m floatMode, negative bool) uint32 {
	if m.round == toNearest || m.round == toPositive && !negative || m.round == toNegative && negative {
		return f.inf()
	}
	return f.inf() - 1
}

// nan is the result of an operation of which a source is a NaN, or 0, false.
func (f format) nan(sources ...uint32) (uint32, bool) {
	for _, v := range sources {
		if f.isNaN(v) {
			return v | f.quietBit(), true
		}
	}
	return 0, false
}

// addOdd is x + y rounded to odd: exact, or the neighbour with a last bit of 1.
func addOdd(x, y float64) float64 {
	s := x + y
	if math.IsInf(s, 0) || s == 0 {
		return s
	}
	v := s - x
	lost := (x - (s - v)) + (y - v)
	if lost == 0 {
		return s
	}
	b := math.Float64bits(s)
	if b&1 == 0 {
		// The true sum lies between s and the neighbour on lost's side.
		if (lost > 0) == (s > 0) {
			b++
		} else {
			b--
		}
	}
	return math.Float64frombits(b)
}

// add is a + b.
func (f format) add(m floatMode, a, b uint32) uint32 {
	return f.fma(m, f.one(), a, b)
}

func (f format) one() uint32 { return uint32(f.bias()) << f.mant }

// mul is a * b.
func (f format) mul(m floatMode, a, b uint32) uint32 {
	a, b = f.flush(a, m.flushIn), f.flush(b, m.flushIn)
	if v, ok := f.nan(a, b); ok {
		return v
	}
	p := f.value(a) * f.value(b) // exact
	if p != p {
		return f.invalid()
	}
	return f.round(m, p)
}

// fma is a*b + c, rounded once.
func (f format) fma(m floatMode, a, b, c uint32) uint32 {
	a, b, c = f.flush(a, m.flushIn), f.flush(b, m.flushIn), f.flush(c, m.flushIn)
	if v, ok := f.nan(a, b, c); ok {
		return v
	}
	p, y := f.value(a)*f.value(b), f.value(c) // exact
	s := addOdd(p, y)
	if s != s {
		return f.invalid()
	}
	if s == 0 && m.round == toNegative && (math.Signbit(p) || math.Signbit(y)) {
		s = math.Copysign(0, -1)
	}
	return f.round(m, s)
}

// limit applies the output modifiers to a result: omod, which IEEE mode and
// denormal results rule out, and clamp to the range 0 to 1.
func (f format) limit(w *wave, m floatMode, omod uint8, clamp bool, v uint32) uint32 {
	if omod != 0 && m.flushOut && w.mode&modeIEEE == 0 && !f.isNaN(v) {
		v = f.round(m, f.value(v)*omodFactor[omod])
		if v == f.sign() {
			v = 0
		}
	}
	if clamp {
		switch {
		case f.isNaN(v):
			if w.mode&modeDX10 != 0 {
				v = 0
			}
		case v&f.sign() != 0:
			v = 0
		case v > f.one():
			v = f.one()
		}
	}
	return v
}

var omodFactor = [4]float64{1, 2, 4, 0.5}

// modifyResult applies omod and clamp to a result of up to 32 bits.
func (p *plan) modifyResult(w *wave, r *lanes) {
	switch p.typ {
	case isa.F32:
		m := w.mode32()
		for i, v := range r[:w.n] {
			r[i] = single.limit(w, m, p.omod, p.clamp, v)
		}
	case isa.F16:
		m := w.mode64()
		for i, v := range r[:w.n] {
			r[i] = half.limit(w, m, p.omod, p.clamp, v&0xffff)
		}
	case isa.BF16:
		m := w.mode32()
		for i, v := range r[:w.n] {
			r[i] = bfloat16.limit(w, m, p.omod, p.clamp, v&0xffff)
		}
	case isa.V2F16:
		m := w.mode64()
		for i, v := range r[:w.n] {
			r[i] = half.limit(w, m, p.omod, p.clamp, v&0xffff) | half.limit(w, m, p.omod, p.clamp, v>>16)<<16
		}
	}
}

// sticky is v shifted right by n, with the lost bits or-ed into the lowest.
func sticky(hi, lo uint64, n uint) (uint64, uint64) {
	switch {
	case n == 0:
		return hi, lo
	case n < 64:
		lost := lo << (64 - n)
		lo = hi<<(64-n) | lo>>n
		if lost != 0 {
			lo |= 1
		}
		return hi >> n, lo
	case n < 128:
		lost := lo
		if n > 64 {
			lost |= hi << (128 - n)
		}
		lo = hi >> (n - 64)
		if lost != 0 {
			lo |= 1
		}
		return 0, lo
	}
	if hi|lo != 0 {
		return 0, 1
	}
	return 0, 0
}

// leading is the number of leading zeros of a 128-bit number.
func leading(hi, lo uint64) uint {
	if hi != 0 {
		return uint(bits.LeadingZeros64(hi))
	}
	return 64 + uint(bits.LeadingZeros64(lo))
}
