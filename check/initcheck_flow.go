package check

import (
	"math/bits"
	"strings"
)

// operand is a source: its value, of which the bits in t are undefined, and its
// width.
type operand struct {
	v    uint64
	t    taint
	bits int
}

// flow says which bits of an operation's result are undefined, and the value of
// those that are not as far as anybody asks: of bitwise operations.
type flow func(s []operand) (undefined, value uint64)

// flowOf is an operation's flow, nil for one whose whole result is undefined if a
// bit of a source is; moves says that its result is made of the sources' bits.
func flowOf(name string) (f flow, moves bool) {
	base := strings.TrimSuffix(strings.TrimSuffix(name, "_e64"), "_e32")
	if i := strings.LastIndexByte(base, '_'); i > 0 {
		switch kind := base[i+1:]; kind {
		case "b16", "b32", "b64":
			if f := bitFlows[base[:i]]; f != nil {
				return f, true
			}
		case "u16", "u32", "i16", "i32", "u64", "i64", "u24":
			if base[:i] == "bfe" {
				return flowBFE(kind[0] == 'i'), true
			}
			if f := sumFlows[base[:i]]; f != nil {
				return f, false
			}
		}
	}
	if f := otherFlows[base]; f != nil {
		return f, true
	}
	if strings.HasPrefix(base, "cmp_eq_") || strings.HasPrefix(base, "cmp_ne_") || strings.HasPrefix(base, "cmp_lg_") || strings.HasPrefix(base, "cmpk_eq_") || strings.HasPrefix(base, "cmpk_lg_") || strings.HasPrefix(base, "cmpx_eq_") || strings.HasPrefix(base, "cmpx_ne_") {
		if !strings.Contains(base, "_f") {
			return flowEqual, false
		}
	}
	if strings.HasPrefix(base, "bitcmp") {
		return flowBitcmp, false
	}
	return nil, false
}

// bitFlows are of operations on bits, by name without the type.
var bitFlows = map[string]flow{
	"mov": flowMove, "movk": flowMove,
	"and":      flowAnd(0),
	"and_not1": flowAnd(2),
	"and_not0": flowAnd(1),
	"nand":     inverted(flowAnd(0)),
	"or":       flowOr(0),
	"or_not1":  flowOr(2),
	"or_not0":  flowOr(1),
	"nor":      inverted(flowOr(0)),
	"xor":      flowXor, "xnor": inverted(flowXor), "xor3": flowXor,
	"not":     flowNot,
	"or3":     flowOr3,
	"and_or":  flowAndOr,
	"bfi":     flowBFI,
	"lshl":    flowShift(shiftLeft, 1),
	"lshr":    flowShift(shiftRight, 1),
	"lshlrev": flowShift(shiftLeft, 0),
	"lshrrev": flowShift(shiftRight, 0),
	"lshl_or": flowShiftOr,
	"bfrev":   flowReverse, "brev": flowReverse,
	"alignbit":  flowAlign(1),
	"alignbyte": flowAlign(8),
	"perm":      flowPerm,
	"cndmask":   flowSelect, "cselect": flowSelect,
}

// sumFlows are of operations that carry upward.
var sumFlows = map[string]flow{
	"add": flowSum, "sub": flowSum, "add_nc": flowSum, "sub_nc": flowSum, "subrev_nc": flowSum, "addk": flowSum,
	"add3": flowSum, "mul_lo": flowSum, "mul": flowSum, "mulk": flowSum, "mad_u32": flowSum, "mad_u64": flowSum, "mad_i64": flowSum, "mad": flowSum, "addc": flowSum, "subb": flowSum,
	"add_co": flowSum, "add_co_ci": flowSum, "sub_co": flowSum, "sub_co_ci": flowSum, "subrev_co": flowSum, "subrev_co_ci": flowSum,
	"lshl_add": flowShiftAdd, "add_lshl": flowAddShift,
	"ashr": flowShift(shiftSigned, 1), "ashrrev": flowShift(shiftSigned, 0),
}

// otherFlows are of single operations.
var otherFlows = map[string]flow{
	"cvt_f32_ubyte0": flowByte(0), "cvt_f32_ubyte1": flowByte(1), "cvt_f32_ubyte2": flowByte(2), "cvt_f32_ubyte3": flowByte(3),
	"sext_i32_i8": flowExtend(8), "sext_i32_i16": flowExtend(16),
	"pack_ll_b32_b16": flowPack(0, 0), "pack_lh_b32_b16": flowPack(0, 16), "pack_hl_b32_b16": flowPack(16, 0), "pack_hh_b32_b16": flowPack(16, 16),
	"pack_b32_f16": flowPack(0, 0),
}

// ones is the low n bits.
func ones(n int) uint64 { return ^uint64(0) >> (64 - n) }

func flowMove(s []operand) (uint64, uint64) { return s[0].t.bits, s[0].v }

// flowAnd is of a & b, with a (1) or b (2) complemented.
func flowAnd(complement int) flow {
	return func(s []operand) (uint64, uint64) {
		a, b := s[0].v, s[1].v
		if complement == 1 {
			a = ^a
		}
		if complement == 2 {
			b = ^b
		}
		// Undefined where one is and the other is not a known 0.
		ua, ub := s[0].t.bits, s[1].t.bits
		return ua&(ub|b) | ub&(ua|a), a & b
	}
}

// inverted is of an operation whose result is another's complement.
func inverted(f flow) flow {
	return func(s []operand) (uint64, uint64) {
		u, v := f(s)
		return u, ^v
	}
}

func flowOr(complement int) flow {
	return func(s []operand) (uint64, uint64) {
		a, b := s[0].v, s[1].v
		if complement == 1 {
			a = ^a
		}
		if complement == 2 {
			b = ^b
		}
		return orBits(a, s[0].t.bits, b, s[1].t.bits), a | b
	}
}

// orBits is what is undefined in a | b: not where one is a known 1.
func orBits(a, ua, b, ub uint64) uint64 { return ua&(ub|^b) | ub&(ua|^a) }

func flowXor(s []operand) (u, v uint64) {
	for i := range s {
		u |= s[i].t.bits
		v ^= s[i].v
	}
	return u, v
}

func flowNot(s []operand) (uint64, uint64) { return s[0].t.bits, ^s[0].v }

func flowOr3(s []operand) (uint64, uint64) {
	u := orBits(s[0].v, s[0].t.bits, s[1].v, s[1].t.bits)
	v := s[0].v | s[1].v
	return orBits(v, u, s[2].v, s[2].t.bits), v | s[2].v
}

func flowAndOr(s []operand) (uint64, uint64) {
	u, v := flowAnd(0)(s[:2])
	return orBits(v, u, s[2].v, s[2].t.bits), v | s[2].v
}

// flowBFI takes bits of s1 where s0 has a 1, of s2 elsewhere.
func flowBFI(s []operand) (uint64, uint64) {
	m := s[0].v
	return s[1].t.bits&m | s[2].t.bits&^m | s[0].t.bits, s[1].v&m | s[2].v&^m
}

const (
	shiftLeft = iota
	shiftRight
	shiftSigned
)

// flowShift is of shifts of a source by what the source amount says.
func flowShift(kind, amount int) flow {
	return func(s []operand) (uint64, uint64) {
		x, by := &s[1-amount], &s[amount]
		n := by.v & uint64(x.bits-1)
		if by.t.bits&uint64(x.bits-1) != 0 {
			return ones(x.bits), 0
		}
		switch kind {
		case shiftLeft:
			return x.t.bits << n & ones(x.bits), x.v << n & ones(x.bits)
		case shiftRight:
			return x.t.bits >> n, x.v & ones(x.bits) >> n
		}
		pad := 64 - x.bits
		return uint64(int64(x.t.bits<<pad)>>n) >> pad, uint64(int64(x.v<<pad)>>n) >> pad
	}
}

func flowShiftOr(s []operand) (uint64, uint64) {
	u, v := flowShift(shiftLeft, 1)(s[:2])
	return orBits(v, u, s[2].v, s[2].t.bits), v | s[2].v
}

// carried is bits and all above the lowest of them.
func carried(u uint64) uint64 { return u | -u }

func flowSum(s []operand) (u, _ uint64) {
	for i := range s {
		u |= s[i].t.bits
	}
	return carried(u), 0
}

func flowShiftAdd(s []operand) (uint64, uint64) {
	u, _ := flowShift(shiftLeft, 1)(s[:2])
	return carried(u | s[2].t.bits), 0
}

func flowAddShift(s []operand) (uint64, uint64) {
	sum := operand{t: taint{bits: carried(s[0].t.bits | s[1].t.bits)}, bits: s[0].bits}
	return flowShift(shiftLeft, 1)([]operand{sum, s[2]})
}

func flowReverse(s []operand) (uint64, uint64) {
	return bits.Reverse64(s[0].t.bits) >> (64 - s[0].bits), bits.Reverse64(s[0].v) >> (64 - s[0].bits)
}

// flowAlign takes 32 bits out of two words.
func flowAlign(unit uint64) flow {
	return func(s []operand) (uint64, uint64) {
		if s[2].t.bits&31 != 0 {
			return ones(32), 0
		}
		n := s[2].v * unit & 31
		return (s[0].t.bits<<32 | s[1].t.bits&ones(32)) >> n & ones(32), (s[0].v<<32 | s[1].v&ones(32)) >> n & ones(32)
	}
}

// flowPerm takes bytes out of two words.
func flowPerm(s []operand) (uint64, uint64) {
	if s[2].t.bits != 0 {
		return ones(32), 0
	}
	from := s[0].t.bits<<32 | s[1].t.bits&ones(32)
	var u uint64
	for i := range 4 {
		switch sel := s[2].v >> (8 * i) & 0xff; {
		case sel < 8:
			u |= from >> (8 * sel) & 0xff << (8 * i)
		case sel < 12: // the sign of a half
			if from>>(16*(sel-8)+15)&1 != 0 {
				u |= 0xff << (8 * i)
			}
		}
	}
	return u, 0
}

// flowSelect takes s1 if the condition s2 is set, s0 otherwise.
func flowSelect(s []operand) (uint64, uint64) {
	switch {
	case s[2].t.bits != 0:
		return s[0].t.bits | s[1].t.bits | (s[0].v^s[1].v)&ones(s[0].bits), s[0].v
	case s[2].v != 0:
		return s[1].t.bits, s[1].v
	}
	return s[0].t.bits, s[0].v
}

// flowBFE takes a field out of s0: the offset and the width are two sources, of
// scalars one.
func flowBFE(signed bool) flow {
	return func(s []operand) (uint64, uint64) {
		x := &s[0]
		if len(s) == 2 {
			if s[1].t.bits != 0 {
				return ones(x.bits), 0
			}
			return field(x.t.bits, s[1].v&uint64(x.bits-1), s[1].v>>16&0x7f, x.bits, signed), 0
		}
		if (s[1].t.bits|s[2].t.bits)&31 != 0 {
			return ones(x.bits), 0
		}
		return field(x.t.bits, s[1].v&31, s[2].v&31, x.bits, signed), 0
	}
}

// field is what is undefined in a field of n bits from off on, and in the sign
// above it.
func field(u, off, n uint64, width int, signed bool) uint64 {
	u &= ones(width)
	n = min(n, uint64(width)-off)
	if n == 0 {
		return 0
	}
	u = u >> off & ones(int(n))
	if signed && u>>(n-1)&1 != 0 {
		u |= ones(width) &^ ones(int(n))
	}
	return u
}

func flowByte(i int) flow {
	return func(s []operand) (uint64, uint64) {
		if s[0].t.bits>>(8*i)&0xff != 0 {
			return ones(32), 0
		}
		return 0, 0
	}
}

func flowExtend(n uint64) flow {
	return func(s []operand) (uint64, uint64) { return field(s[0].t.bits, 0, n, 32, true), 0 }
}

func flowPack(a, b int) flow {
	return func(s []operand) (uint64, uint64) {
		return s[0].t.bits>>a&0xffff | s[1].t.bits>>b&0xffff<<16, 0
	}
}

// flowEqual is defined if bits that are differ.
func flowEqual(s []operand) (uint64, uint64) {
	u := s[0].t.bits | s[1].t.bits
	if u == 0 || (s[0].v^s[1].v)&^u&ones(s[0].bits) != 0 {
		return 0, 0
	}
	return ones(32), 0
}

func flowBitcmp(s []operand) (uint64, uint64) {
	if s[1].t.bits&uint64(s[0].bits-1) != 0 || s[0].t.bits>>(s[1].v&uint64(s[0].bits-1))&1 != 0 {
		return ones(32), 0
	}
	return 0, 0
}
