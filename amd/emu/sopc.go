package emu

// SOPC: comparisons, of which SCC is the result.

func sopcOperations() map[string]scalarOp {
	t32 := func(f func(a, b uint32) bool) scalarOp {
		return scalarOp{test32: func(_ *wave, a, b uint32) bool { return f(a, b) }}
	}
	t64 := func(f func(a, b uint64) bool) scalarOp {
		return scalarOp{test64: func(_ *wave, a, b uint64) bool { return f(a, b) }}
	}
	all := map[string]scalarOp{
		"s_bitcmp0_b32": t32(func(a, b uint32) bool { return a>>(b&31)&1 == 0 }),
		"s_bitcmp1_b32": t32(func(a, b uint32) bool { return a>>(b&31)&1 != 0 }),
		"s_bitcmp0_b64": t64(func(a, b uint64) bool { return a>>(b&63)&1 == 0 }),
		"s_bitcmp1_b64": t64(func(a, b uint64) bool { return a>>(b&63)&1 != 0 }),
		"s_cmp_eq_u64":  t64(func(a, b uint64) bool { return a == b }),
		"s_cmp_lg_u64":  t64(func(a, b uint64) bool { return a != b }),
	}
	for name, f := range scalarCompares {
		all["s_cmp_"+name] = t32(f)
	}
	for name, f := range floatCompares {
		all["s_cmp_"+name+"_f32"] = scalarOp{test32: func(w *wave, a, b uint32) bool {
			m := w.mode32()
			return f(single.compare(m, a, b))
		}}
		all["s_cmp_"+name+"_f16"] = scalarOp{test32: func(w *wave, a, b uint32) bool {
			m := w.mode64()
			return f(half.compare(m, a&0xffff, b&0xffff))
		}}
	}
	return all
}

// scalarCompares are the comparisons of integers, of SOPC and SOPK.
var scalarCompares = map[string]func(a, b uint32) bool{
	"eq_i32": func(a, b uint32) bool { return a == b },
	"lg_i32": func(a, b uint32) bool { return a != b },
	"gt_i32": func(a, b uint32) bool { return int32(a) > int32(b) },
	"ge_i32": func(a, b uint32) bool { return int32(a) >= int32(b) },
	"lt_i32": func(a, b uint32) bool { return int32(a) < int32(b) },
	"le_i32": func(a, b uint32) bool { return int32(a) <= int32(b) },
	"eq_u32": func(a, b uint32) bool { return a == b },
	"lg_u32": func(a, b uint32) bool { return a != b },
	"gt_u32": func(a, b uint32) bool { return a > b },
	"ge_u32": func(a, b uint32) bool { return a >= b },
	"lt_u32": func(a, b uint32) bool { return a < b },
	"le_u32": func(a, b uint32) bool { return a <= b },
}

// floatOrder is how two floats compare.
type floatOrder uint8

const (
	floatLess floatOrder = iota
	floatEqual
	floatGreater
	floatUnordered
)

// compare compares two numbers of the format.
func (f format) compare(m floatMode, a, b uint32) floatOrder {
	if f.isNaN(a) || f.isNaN(b) {
		return floatUnordered
	}
	x, y := f.value(f.flush(a, m.flushIn)), f.value(f.flush(b, m.flushIn))
	switch {
	case x < y:
		return floatLess
	case x > y:
		return floatGreater
	}
	return floatEqual
}

var floatCompares = map[string]func(o floatOrder) bool{
	"lt":  func(o floatOrder) bool { return o == floatLess },
	"eq":  func(o floatOrder) bool { return o == floatEqual },
	"le":  func(o floatOrder) bool { return o <= floatEqual },
	"gt":  func(o floatOrder) bool { return o == floatGreater },
	"lg":  func(o floatOrder) bool { return o == floatLess || o == floatGreater },
	"ge":  func(o floatOrder) bool { return o == floatGreater || o == floatEqual },
	"o":   func(o floatOrder) bool { return o != floatUnordered },
	"u":   func(o floatOrder) bool { return o == floatUnordered },
	"nge": func(o floatOrder) bool { return o != floatGreater && o != floatEqual },
	"nlg": func(o floatOrder) bool { return o != floatLess && o != floatGreater },
	"ngt": func(o floatOrder) bool { return o != floatGreater },
	"nle": func(o floatOrder) bool { return o > floatEqual },
	"neq": func(o floatOrder) bool { return o != floatEqual },
	"nlt": func(o floatOrder) bool { return o != floatLess },
}
