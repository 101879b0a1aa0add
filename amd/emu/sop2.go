package emu

import (
	"maps"
	"math/bits"
)

// SOP2: two sources.

func sop2Operations() map[string]scalarOp {
	all := map[string]scalarOp{
		"s_add_u32": {run32: func(w *wave, a, b, _ uint32) uint32 {
			v, carry := bits.Add32(a, b, 0)
			w.scc = carry != 0
			return v
		}},
		"s_sub_u32": {run32: func(w *wave, a, b, _ uint32) uint32 {
			w.scc = b > a
			return a - b
		}},
		"s_add_i32": {run32: addOverflow},
		"s_sub_i32": {run32: func(w *wave, a, b, _ uint32) uint32 {
			v := a - b
			w.scc = (a^b)&(a^v)>>31 != 0
			return v
		}},
		"s_addc_u32": {run32: func(w *wave, a, b, _ uint32) uint32 {
			v, carry := bits.Add32(a, b, bit32(w.scc))
			w.scc = carry != 0
			return v
		}},
		"s_subb_u32": {run32: func(w *wave, a, b, _ uint32) uint32 {
			v, borrow := bits.Sub32(a, b, bit32(w.scc))
			w.scc = borrow != 0
			return v
		}},
		"s_absdiff_i32": logic32(func(a, b uint32) uint32 { d := int32(a - b); return uint32(max(d, -d)) }),

		"s_lshl_b32":      logic32(func(a, b uint32) uint32 { return a << (b & 31) }),
		"s_lshl_b64":      logic64(func(a, b uint64) uint64 { return a << (b & 63) }),
		"s_lshr_b32":      logic32(func(a, b uint32) uint32 { return a >> (b & 31) }),
		"s_lshr_b64":      logic64(func(a, b uint64) uint64 { return a >> (b & 63) }),
		"s_ashr_i32":      logic32(func(a, b uint32) uint32 { return uint32(int32(a) >> (b & 31)) }),
		"s_ashr_i64":      logic64(func(a, b uint64) uint64 { return uint64(int64(a) >> (b & 63)) }),
		"s_lshl1_add_u32": {run32: shiftAdd(1)},
		"s_lshl2_add_u32": {run32: shiftAdd(2)},
		"s_lshl3_add_u32": {run32: shiftAdd(3)},
		"s_lshl4_add_u32": {run32: shiftAdd(4)},

		"s_min_i32": {run32: func(w *wave, a, b, _ uint32) uint32 { return pickScalar(w, int32(a) < int32(b), a, b) }},
		"s_min_u32": {run32: func(w *wave, a, b, _ uint32) uint32 { return pickScalar(w, a < b, a, b) }},
		"s_max_i32": {run32: func(w *wave, a, b, _ uint32) uint32 { return pickScalar(w, int32(a) >= int32(b), a, b) }},
		"s_max_u32": {run32: func(w *wave, a, b, _ uint32) uint32 { return pickScalar(w, a >= b, a, b) }},

		"s_and_b32":      logic32(func(a, b uint32) uint32 { return a & b }),
		"s_and_b64":      logic64(func(a, b uint64) uint64 { return a & b }),
		"s_or_b32":       logic32(func(a, b uint32) uint32 { return a | b }),
		"s_or_b64":       logic64(func(a, b uint64) uint64 { return a | b }),
		"s_xor_b32":      logic32(func(a, b uint32) uint32 { return a ^ b }),
		"s_xor_b64":      logic64(func(a, b uint64) uint64 { return a ^ b }),
		"s_nand_b32":     logic32(func(a, b uint32) uint32 { return ^(a & b) }),
		"s_nand_b64":     logic64(func(a, b uint64) uint64 { return ^(a & b) }),
		"s_nor_b32":      logic32(func(a, b uint32) uint32 { return ^(a | b) }),
		"s_nor_b64":      logic64(func(a, b uint64) uint64 { return ^(a | b) }),
		"s_xnor_b32":     logic32(func(a, b uint32) uint32 { return ^(a ^ b) }),
		"s_xnor_b64":     logic64(func(a, b uint64) uint64 { return ^(a ^ b) }),
		"s_and_not1_b32": logic32(func(a, b uint32) uint32 { return a &^ b }),
		"s_and_not1_b64": logic64(func(a, b uint64) uint64 { return a &^ b }),
		"s_or_not1_b32":  logic32(func(a, b uint32) uint32 { return a | ^b }),
		"s_or_not1_b64":  logic64(func(a, b uint64) uint64 { return a | ^b }),

		"s_bfe_u32": logic32(func(a, b uint32) uint32 { return uint32(bitField(uint64(a), b&31, b>>16&0x7f)) }),
		"s_bfe_i32": logic32(func(a, b uint32) uint32 {
			return uint32(signedField(int64(int32(a)), b&31, min(b>>16&0x7f, 32)))
		}),
		"s_bfe_u64": logic64(func(a, b uint64) uint64 { return bitField(a, uint32(b)&63, uint32(b)>>16&0x7f) }),
		"s_bfe_i64": logic64(func(a, b uint64) uint64 {
			return uint64(signedField(int64(a), uint32(b)&63, uint32(b)>>16&0x7f))
		}),
		"s_bfm_b32": plain32(func(a, b uint32) uint32 { return (1<<(a&31) - 1) << (b & 31) }),
		"s_bfm_b64": plain64(func(a, b uint64) uint64 { return (1<<(a&63) - 1) << (b & 63) }),

		"s_mul_i32":    plain32(func(a, b uint32) uint32 { return a * b }),
		"s_mul_hi_u32": plain32(func(a, b uint32) uint32 { return uint32(uint64(a) * uint64(b) >> 32) }),
		"s_mul_hi_i32": plain32(func(a, b uint32) uint32 { return uint32(int64(int32(a)) * int64(int32(b)) >> 32) }),

		"s_cselect_b32": {run32: func(w *wave, a, b, _ uint32) uint32 {
			if w.scc {
				return a
			}
			return b
		}},
		"s_cselect_b64": {run64: func(w *wave, a, b, _ uint64) uint64 {
			if w.scc {
				return a
			}
			return b
		}},
		"s_pack_ll_b32_b16": plain32(func(a, b uint32) uint32 { return a&0xffff | b<<16 }),
		"s_pack_lh_b32_b16": plain32(func(a, b uint32) uint32 { return a&0xffff | b&^0xffff }),
		"s_pack_hh_b32_b16": plain32(func(a, b uint32) uint32 { return a>>16 | b&^0xffff }),
		"s_pack_hl_b32_b16": plain32(func(a, b uint32) uint32 { return a>>16 | b<<16 }),
	}
	maps.Copy(all, scalarFloats2)
	return all
}

func bit32(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}

// addOverflow is a signed addition, of which SCC is the overflow.
func addOverflow(w *wave, a, b, _ uint32) uint32 {
	v := a + b
	w.scc = ^(a^b)&(a^v)>>31 != 0
	return v
}

// shiftAdd is a << n + b, of which SCC says that it takes more than 32 bits.
func shiftAdd(n uint) func(w *wave, a, b, _ uint32) uint32 {
	return func(w *wave, a, b, _ uint32) uint32 {
		v := uint64(a)<<n + uint64(b)
		w.scc = v>>32 != 0
		return uint32(v)
	}
}

// pickScalar is the first source if SCC becomes so.
func pickScalar(w *wave, first bool, a, b uint32) uint32 {
	w.scc = first
	if first {
		return a
	}
	return b
}

// bitField is n bits of a from bit first.
func bitField(a uint64, first, n uint32) uint64 { return a >> first & (1<<n - 1) }

// signedField is bitField, sign extended.
func signedField(a int64, first, n uint32) int64 {
	if n == 0 {
		return 0
	}
	a >>= first
	if n >= 64 {
		return a
	}
	return a << (64 - n) >> (64 - n)
}
