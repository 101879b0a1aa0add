package emu

import "strings"

// Compares. Every condition is one of "less", "equal", "less or equal" and
// (of floats) "ordered", with the sources exchanged or the result negated.

// condition is how a compare is derived from a basic one.
type condition struct {
	basic  string
	swap   bool
	negate bool
}

var floatConditions = map[string]condition{
	"lt": {basic: "lt"}, "eq": {basic: "eq"}, "le": {basic: "le"},
	"gt": {basic: "lt", swap: true}, "ge": {basic: "le", swap: true},
	"lg": {basic: "lg"}, "o": {basic: "o"}, "u": {basic: "o", negate: true},
	"nge": {basic: "le", swap: true, negate: true}, "ngt": {basic: "lt", swap: true, negate: true},
	"nle": {basic: "le", negate: true}, "nlt": {basic: "lt", negate: true},
	"nlg": {basic: "lg", negate: true}, "neq": {basic: "eq", negate: true},
	"f": {basic: "f"}, "t": {basic: "f", negate: true},
}

var intConditions = map[string]condition{
	"lt": {basic: "lt"}, "eq": {basic: "eq"}, "le": {basic: "lt", swap: true, negate: true},
	"gt": {basic: "lt", swap: true}, "ge": {basic: "lt", negate: true}, "ne": {basic: "eq", negate: true},
	"f": {basic: "f"}, "t": {basic: "f", negate: true},
}

// basicTests are the basic compares of each type of up to 32 bits.
var basicTests = map[string]map[string]test{
	"f32": {"lt": ltF32, "eq": eqF32, "le": leF32, "lg": lgF32, "o": orderedF32, "f": never},
	"f16": {"lt": ltF16, "eq": eqF16, "le": leF16, "lg": lgF16, "o": orderedF16, "f": never},
	"i32": {"lt": ltI32, "eq": eqU32, "f": never},
	"u32": {"lt": ltU32, "eq": eqU32, "f": never},
	"i16": {"lt": ltI16, "eq": eqU16},
	"u16": {"lt": ltU16, "eq": eqU16},
}

// basicWideTests are those of the types of 64 bits.
var basicWideTests = map[string]map[string]wideTest{
	"f64": {
		"lt": testF64(func(x, y float64) bool { return x < y }),
		"eq": testF64(func(x, y float64) bool { return x == y }),
		"le": testF64(func(x, y float64) bool { return x <= y }),
		"lg": testF64(func(x, y float64) bool { return x < y || x > y }),
		"o":  testF64(func(x, y float64) bool { return x == x && y == y }),
		"f":  neverWide,
	},
	"i64": {"lt": testWide(func(x, y uint64) bool { return int64(x) < int64(y) }), "eq": testWide(equal64), "f": neverWide},
	"u64": {"lt": testWide(func(x, y uint64) bool { return x < y }), "eq": testWide(equal64), "f": neverWide},
}

// compareOperations makes the operations of VOPC.
func compareOperations() map[string]operation {
	all := map[string]operation{
		"v_cmp_class_f32": {test: testClass(single)},
		"v_cmp_class_f16": {test: testClass(half)},
		"v_cmp_class_f64": {wideTest: classF64},
	}
	conditions := func(typ string) map[string]condition {
		if strings.HasPrefix(typ, "f") {
			return floatConditions
		}
		return intConditions
	}
	for typ, tests := range basicTests {
		for name, c := range conditions(typ) {
			t := tests[c.basic]
			if t == nil {
				continue
			}
			if c.swap {
				basic := t
				t = func(w *wave, a, b *lanes) uint64 { return basic(w, b, a) }
			}
			all["v_cmp_"+name+"_"+typ] = operation{test: t, negate: c.negate}
		}
	}
	for typ, tests := range basicWideTests {
		for name, c := range conditions(typ) {
			t := tests[c.basic]
			if c.swap {
				basic := t
				t = func(w *wave, a, b *wide) uint64 { return basic(w, b, a) }
			}
			all["v_cmp_"+name+"_"+typ] = operation{wideTest: t, negate: c.negate}
		}
	}
	for name, o := range all {
		all[strings.Replace(name, "v_cmp_", "v_cmpx_", 1)] = o
	}
	return all
}

func never(*wave, *lanes, *lanes) uint64 { return 0 }

func neverWide(*wave, *wide, *wide) uint64 { return 0 }

func equal64(x, y uint64) bool { return x == y }

// Tests put a lane's bit on top and shift what is there down by one, because
// shifts by constants are cheap.

// aligned moves lane 0's bit, which was put on top first, to the lowest.
func (w *wave) aligned(m uint64) uint64 { return m >> ((64 - uint(w.n)) & 63) }

// bit is 1 for true.
func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

func ltI32(w *wave, a, b *lanes) (m uint64) {
	as, bs := a[:w.n], b[:w.n]
	for i := range as {
		m = m>>1 | bit(int32(as[i]) < int32(bs[i]))<<63
	}
	return w.aligned(m)
}

func ltU32(w *wave, a, b *lanes) (m uint64) {
	as, bs := a[:w.n], b[:w.n]
	for i := range as {
		m = m>>1 | bit(as[i] < bs[i])<<63
	}
	return w.aligned(m)
}

func eqU32(w *wave, a, b *lanes) (m uint64) {
	as, bs := a[:w.n], b[:w.n]
	for i := range as {
		m = m>>1 | bit(as[i] == bs[i])<<63
	}
	return w.aligned(m)
}

func ltI16(w *wave, a, b *lanes) (m uint64) {
	for i := range a[:w.n] {
		m = m>>1 | bit(int16(a[i]) < int16(b[i]))<<63
	}
	return w.aligned(m)
}

func ltU16(w *wave, a, b *lanes) (m uint64) {
	for i := range a[:w.n] {
		m = m>>1 | bit(uint16(a[i]) < uint16(b[i]))<<63
	}
	return w.aligned(m)
}

func eqU16(w *wave, a, b *lanes) (m uint64) {
	for i := range a[:w.n] {
		m = m>>1 | bit(uint16(a[i]) == uint16(b[i]))<<63
	}
	return w.aligned(m)
}

// compared32 is what a compare sees of denormals: as sources of arithmetic.
func (w *wave) compared32(a, b *lanes) (x, y *lanes) {
	m := w.mode32()
	if !m.flushIn {
		return a, b
	}
	return flushed(&w.vec.dst, a, w.n), flushed(&w.vec.moved, b, w.n)
}

func flushed(dst, src *lanes, n int) *lanes {
	for i, v := range src[:n] {
		dst[i] = single.flush(v, true)
	}
	return dst
}

func ltF32(w *wave, a, b *lanes) (m uint64) {
	a, b = w.compared32(a, b)
	as, bs := a[:w.n], b[:w.n]
	for i := range as {
		m = m>>1 | bit(f32(as[i]) < f32(bs[i]))<<63
	}
	return w.aligned(m)
}

func leF32(w *wave, a, b *lanes) (m uint64) {
	a, b = w.compared32(a, b)
	as, bs := a[:w.n], b[:w.n]
	for i := range as {
		m = m>>1 | bit(f32(as[i]) <= f32(bs[i]))<<63
	}
	return w.aligned(m)
}

func eqF32(w *wave, a, b *lanes) (m uint64) {
	a, b = w.compared32(a, b)
	as, bs := a[:w.n], b[:w.n]
	for i := range as {
		m = m>>1 | bit(f32(as[i]) == f32(bs[i]))<<63
	}
	return w.aligned(m)
}

func lgF32(w *wave, a, b *lanes) uint64 { return orderedF32(w, a, b) &^ eqF32(w, a, b) }

func orderedF32(w *wave, a, b *lanes) (m uint64) {
	for i := range a[:w.n] {
		m = m>>1 | bit(!single.isNaN(a[i]) && !single.isNaN(b[i]))<<63
	}
	return w.aligned(m)
}

// testHalf compares the low halves as float32.
func testHalf(w *wave, a, b *lanes, compare func(x, y float32) bool) (m uint64) {
	flush := w.mode64().flushIn
	for i := range a[:w.n] {
		x, y := half.flush(a[i]&0xffff, flush), half.flush(b[i]&0xffff, flush)
		m = m>>1 | bit(compare(f32(widen(x)), f32(widen(y))))<<63
	}
	return w.aligned(m)
}

func ltF16(w *wave, a, b *lanes) uint64 {
	return testHalf(w, a, b, func(x, y float32) bool { return x < y })
}

func leF16(w *wave, a, b *lanes) uint64 {
	return testHalf(w, a, b, func(x, y float32) bool { return x <= y })
}

func eqF16(w *wave, a, b *lanes) uint64 {
	return testHalf(w, a, b, func(x, y float32) bool { return x == y })
}

func lgF16(w *wave, a, b *lanes) uint64 {
	return testHalf(w, a, b, func(x, y float32) bool { return x < y || x > y })
}

func orderedF16(w *wave, a, b *lanes) uint64 {
	return testHalf(w, a, b, func(x, y float32) bool { return x == x && y == y })
}

func testF64(compare func(x, y float64) bool) wideTest {
	return func(w *wave, a, b *wide) (m uint64) {
		flush := w.mode64().flushIn
		for i := range a[:w.n] {
			m = m>>1 | bit(compare(f64(flush64(a[i], flush)), f64(flush64(b[i], flush))))<<63
		}
		return w.aligned(m)
	}
}

func testWide(compare func(x, y uint64) bool) wideTest {
	return func(w *wave, a, b *wide) (m uint64) {
		for i := range a[:w.n] {
			m = m>>1 | bit(compare(a[i], b[i]))<<63
		}
		return w.aligned(m)
	}
}

// The bits of v_cmp_class: what a float is.
const (
	classSignaling = iota
	classQuiet
	classNegInf
	classNegNormal
	classNegDenormal
	classNegZero
	classZero
	classDenormal
	classNormal
	classInf
)

// class is the number of v's class. Denormals are told apart from zeros in
// every mode.
func (f format) class(v uint32) uint {
	switch {
	case f.isSignaling(v):
		return classSignaling
	case f.isNaN(v):
		return classQuiet
	}
	n := uint(classZero)
	switch magnitude := v & (f.sign() - 1); {
	case magnitude == f.inf():
		n = classInf
	case magnitude >= 1<<f.mant:
		n = classNormal
	case magnitude != 0:
		n = classDenormal
	}
	return signedClass(n, v&f.sign() != 0)
}

// signedClass mirrors a class to that of the negative number.
func signedClass(n uint, negative bool) uint {
	if negative {
		return classNegZero + classZero - n
	}
	return n
}

func testClass(f format) test {
	mask := f.sign() | (f.sign() - 1)
	return func(w *wave, a, b *lanes) (m uint64) {
		for i := range a[:w.n] {
			m = m>>1 | uint64(b[i]>>f.class(a[i]&mask))<<63
		}
		return w.aligned(m)
	}
}

func classF64(w *wave, a, b *wide) (m uint64) {
	for i := range a[:w.n] {
		m = m>>1 | b[i]>>class64(a[i])<<63
	}
	return w.aligned(m)
}

func class64(v uint64) uint {
	switch {
	case isSignaling64(v):
		return classSignaling
	case isNaN64(v):
		return classQuiet
	}
	n := uint(classZero)
	switch magnitude := v &^ (1 << 63); {
	case magnitude == 0x7ff<<52:
		n = classInf
	case magnitude >= 1<<52:
		n = classNormal
	case magnitude != 0:
		n = classDenormal
	}
	return signedClass(n, v>>63 != 0)
}
