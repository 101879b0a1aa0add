package emu

import "math"

// Minimum, maximum and median. -0 is less than +0. Of a number and a NaN the
// number is the result; in IEEE mode a signaling NaN comes out quiet instead.

// pickNaN is the result of min and max if a source is a NaN.
func (f format) pickNaN(w *wave, a, b uint32) (uint32, bool) {
	if w.mode&modeIEEE != 0 {
		if f.isSignaling(a) {
			return a | f.quietBit(), true
		}
		if f.isSignaling(b) {
			return b | f.quietBit(), true
		}
	}
	if f.isNaN(b) {
		return a, true
	}
	if f.isNaN(a) {
		return b, true
	}
	return 0, false
}

// order maps numbers to integers in their order, -0 before +0.
func (f format) order(v uint32) int32 {
	if v&f.sign() != 0 {
		return ^int32(v &^ f.sign())
	}
	return int32(v)
}

func (f format) min(w *wave, m floatMode, a, b uint32) uint32 {
	a, b = f.flush(a, m.flushIn || m.flushOut), f.flush(b, m.flushIn || m.flushOut)
	if v, ok := f.pickNaN(w, a, b); ok {
		return v
	}
	if f.order(a) < f.order(b) {
		return a
	}
	return b
}

func (f format) max(w *wave, m floatMode, a, b uint32) uint32 {
	a, b = f.flush(a, m.flushIn || m.flushOut), f.flush(b, m.flushIn || m.flushOut)
	if v, ok := f.pickNaN(w, a, b); ok {
		return v
	}
	if f.order(a) > f.order(b) {
		return a
	}
	return b
}

// med3 is the median, or the minimum if a source is a NaN.
func (f format) med3(w *wave, m floatMode, a, b, c uint32) uint32 {
	if f.isNaN(a) || f.isNaN(b) || f.isNaN(c) {
		return f.min(w, m, f.min(w, m, a, b), c)
	}
	switch top := f.max(w, m, f.max(w, m, a, b), c); {
	case f.same(top, a):
		return f.max(w, m, b, c)
	case f.same(top, b):
		return f.max(w, m, a, c)
	}
	return f.max(w, m, a, b)
}

// same says whether two numbers compare equal, as zeros of both signs do.
func (f format) same(a, b uint32) bool { return a == b || (a|b)&^f.sign() == 0 }

// key maps float32 bits to integers in the order of the numbers, and back. The
// keys of halves are those of their bits in the upper half of a word.
func key(v uint32) int32 { return int32(v) ^ int32(uint32(int32(v)>>31)>>1) }

// anyNaN says whether a source, a float32 or a half in the upper half of a
// word, is no number; inf is the format's infinity there.
func anyNaN(inf, a, b, c uint32) bool {
	const magnitude = 1<<31 - 1
	return a&magnitude > inf || b&magnitude > inf || c&magnitude > inf
}

// ordered is an operation that chooses one of its sources by their order.
type ordered struct {
	keys  func(a, b, c int32) int32 // of numbers
	exact func(f format, w *wave, m floatMode, a, b, c uint32) uint32
}

var (
	least = ordered{
		func(a, b, _ int32) int32 { return min(a, b) },
		func(f format, w *wave, m floatMode, a, b, _ uint32) uint32 { return f.min(w, m, a, b) },
	}
	greatest = ordered{
		func(a, b, _ int32) int32 { return max(a, b) },
		func(f format, w *wave, m floatMode, a, b, _ uint32) uint32 { return f.max(w, m, a, b) },
	}
	least3 = ordered{
		func(a, b, c int32) int32 { return min(a, b, c) },
		func(f format, w *wave, m floatMode, a, b, c uint32) uint32 { return f.min(w, m, f.min(w, m, a, b), c) },
	}
	greatest3 = ordered{
		func(a, b, c int32) int32 { return max(a, b, c) },
		func(f format, w *wave, m floatMode, a, b, c uint32) uint32 { return f.max(w, m, f.max(w, m, a, b), c) },
	}
	leastOfGreatest = ordered{
		func(a, b, c int32) int32 { return min(max(a, b), c) },
		func(f format, w *wave, m floatMode, a, b, c uint32) uint32 { return f.min(w, m, f.max(w, m, a, b), c) },
	}
	greatestOfLeast = ordered{
		func(a, b, c int32) int32 { return max(min(a, b), c) },
		func(f format, w *wave, m floatMode, a, b, c uint32) uint32 { return f.max(w, m, f.min(w, m, a, b), c) },
	}
	middle = ordered{median[int32], format.med3}
)

// single is the operation's kernel for float32. A source that is not there
// counts as the first.
func (o ordered) single() kernel {
	return func(w *wave, d, a, b, c *lanes) {
		if c == nil {
			c = a
		}
		ds, as, bs, cs := d[:w.n], a[:w.n], b[:w.n], c[:w.n]
		m, plain := w.mode32(), w.plain32()
		for i := range ds {
			x, y, z := as[i], bs[i], cs[i]
			if r := o.keys(key(x), key(y), key(z)); plain && r<<1 != 0 && !anyNaN(0x7f800000, x, y, z) {
				ds[i] = uint32(key(uint32(r)))
				continue
			}
			ds[i] = o.exact(single, w, m, x, y, z)
		}
	}
}

// half is the operation's kernel for halves.
func (o ordered) half() kernel {
	return func(w *wave, d, a, b, c *lanes) {
		if c == nil {
			c = a
		}
		ds, as, bs, cs := d[:w.n], a[:w.n], b[:w.n], c[:w.n]
		m, plain := w.mode64(), w.plain64()
		for i := range ds {
			x, y, z := as[i]<<16, bs[i]<<16, cs[i]<<16
			if r := o.keys(key(x), key(y), key(z)); plain && r>>16 != 0 && !anyNaN(0x7c000000, x, y, z) {
				ds[i] = uint32(key(uint32(r))) >> 16
				continue
			}
			ds[i] = o.exact(half, w, m, x>>16, y>>16, z>>16)
		}
	}
}

func minF32(w *wave, d, a, b, _ *lanes) {
	ds, as, bs := d[:w.n], a[:w.n], b[:w.n]
	if !w.plain32() {
		least.single()(w, d, a, b, nil)
		return
	}
	for i := range ds {
		x, y := as[i], bs[i]
		switch p, q := f32(x), f32(y); {
		case p < q:
			ds[i] = x
		case q < p:
			ds[i] = y
		default: // equal, or a NaN
			ds[i] = single.min(w, floatMode{}, x, y)
		}
	}
}

func maxF32(w *wave, d, a, b, _ *lanes) {
	ds, as, bs := d[:w.n], a[:w.n], b[:w.n]
	if !w.plain32() {
		greatest.single()(w, d, a, b, nil)
		return
	}
	for i := range ds {
		x, y := as[i], bs[i]
		switch p, q := f32(x), f32(y); {
		case p > q:
			ds[i] = x
		case q > p:
			ds[i] = y
		default:
			ds[i] = single.max(w, floatMode{}, x, y)
		}
	}
}

// The same for float64.

func order64(v uint64) int64 {
	if v>>63 != 0 {
		return ^int64(v &^ (1 << 63))
	}
	return int64(v)
}

func isNaN64(v uint64) bool { return v&^(1<<63) > 0x7ff<<52 }

func isSignaling64(v uint64) bool { return isNaN64(v) && v&quiet64 == 0 }

// pick64 is the minimum, or the maximum if most.
func pick64(w *wave, m floatMode, a, b uint64, most bool) uint64 {
	a, b = flush64(a, m.flushIn || m.flushOut), flush64(b, m.flushIn || m.flushOut)
	if w.mode&modeIEEE != 0 {
		if isSignaling64(a) {
			return a | quiet64
		}
		if isSignaling64(b) {
			return b | quiet64
		}
	}
	switch {
	case isNaN64(b):
		return a
	case isNaN64(a):
		return b
	case (order64(a) < order64(b)) != most:
		return a
	}
	return b
}

func flush64(v uint64, flush bool) uint64 {
	if flush && v&(0x7ff<<52) == 0 {
		return v & (1 << 63)
	}
	return v
}

const (
	quiet64   = 1 << 51
	invalid64 = 0xfff8 << 48
)

func f64(v uint64) float64 { return math.Float64frombits(v) }
