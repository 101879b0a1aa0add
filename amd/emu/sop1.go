package emu

import (
	"maps"
	"math/bits"
)

// SOP1: one source.

func sop1Operations() map[string]scalarOp {
	all := map[string]scalarOp{
		"s_mov_b32": plain32(func(a, _ uint32) uint32 { return a }),
		"s_mov_b64": plain64(func(a, _ uint64) uint64 { return a }),
		"s_cmov_b32": {run32: func(w *wave, a, old, _ uint32) uint32 {
			if w.scc {
				return a
			}
			return old
		}},
		"s_cmov_b64": {run64: func(w *wave, a, old, _ uint64) uint64 {
			if w.scc {
				return a
			}
			return old
		}},

		"s_brev_b32":              plain32(func(a, _ uint32) uint32 { return bits.Reverse32(a) }),
		"s_brev_b64":              plain64(func(a, _ uint64) uint64 { return bits.Reverse64(a) }),
		"s_ctz_i32_b32":           plain32(func(a, _ uint32) uint32 { return orNone(a == 0, bits.TrailingZeros32(a)) }),
		"s_ctz_i32_b64":           plain64(func(a, _ uint64) uint64 { return uint64(orNone(a == 0, bits.TrailingZeros64(a))) }),
		"s_clz_i32_u32":           plain32(func(a, _ uint32) uint32 { return orNone(a == 0, bits.LeadingZeros32(a)) }),
		"s_clz_i32_u64":           plain64(func(a, _ uint64) uint64 { return uint64(orNone(a == 0, bits.LeadingZeros64(a))) }),
		"s_cls_i32":               plain32(func(a, _ uint32) uint32 { return signBits(uint64(int64(int32(a))), 32) }),
		"s_cls_i32_i64":           plain64(func(a, _ uint64) uint64 { return uint64(signBits(a, 64)) }),
		"s_sext_i32_i8":           plain32(func(a, _ uint32) uint32 { return uint32(int8(a)) }),
		"s_sext_i32_i16":          plain32(func(a, _ uint32) uint32 { return uint32(int16(a)) }),
		"s_bitset0_b32":           plain32(func(a, old uint32) uint32 { return old &^ (1 << (a & 31)) }),
		"s_bitset0_b64":           plain64(func(a, old uint64) uint64 { return old &^ (1 << (a & 63)) }),
		"s_bitset1_b32":           plain32(func(a, old uint32) uint32 { return old | 1<<(a&31) }),
		"s_bitset1_b64":           plain64(func(a, old uint64) uint64 { return old | 1<<(a&63) }),
		"s_bitreplicate_b64_b32":  plain64(func(a, _ uint64) uint64 { return 3 * spread(uint32(a)) }),
		"s_abs_i32":               logic32(func(a, _ uint32) uint32 { return uint32(max(int32(a), -int32(a))) }),
		"s_bcnt0_i32_b32":         logic32(func(a, _ uint32) uint32 { return 32 - uint32(bits.OnesCount32(a)) }),
		"s_bcnt0_i32_b64":         logic64(func(a, _ uint64) uint64 { return 64 - uint64(bits.OnesCount64(a)) }),
		"s_bcnt1_i32_b32":         logic32(func(a, _ uint32) uint32 { return uint32(bits.OnesCount32(a)) }),
		"s_bcnt1_i32_b64":         logic64(func(a, _ uint64) uint64 { return uint64(bits.OnesCount64(a)) }),
		"s_quadmask_b32":          logic32(func(a, _ uint32) uint32 { return uint32(quads(uint64(a))) }),
		"s_quadmask_b64":          logic64(func(a, _ uint64) uint64 { return quads(a) }),
		"s_wqm_b32":               logic32(func(a, _ uint32) uint32 { return uint32(wholeQuads(uint64(a))) }),
		"s_wqm_b64":               logic64(func(a, _ uint64) uint64 { return wholeQuads(a) }),
		"s_not_b32":               logic32(func(a, _ uint32) uint32 { return ^a }),
		"s_not_b64":               logic64(func(a, _ uint64) uint64 { return ^a }),
		"s_and_not0_wrexec_b32":   writeExec32(func(a, exec uint32) uint32 { return ^a & exec }),
		"s_and_not0_wrexec_b64":   writeExec64(func(a, exec uint64) uint64 { return ^a & exec }),
		"s_and_not1_wrexec_b32":   writeExec32(func(a, exec uint32) uint32 { return a &^ exec }),
		"s_and_not1_wrexec_b64":   writeExec64(func(a, exec uint64) uint64 { return a &^ exec }),
		"s_and_saveexec_b32":      saveExec32(func(a, exec uint32) uint32 { return a & exec }),
		"s_and_saveexec_b64":      saveExec64(func(a, exec uint64) uint64 { return a & exec }),
		"s_or_saveexec_b32":       saveExec32(func(a, exec uint32) uint32 { return a | exec }),
		"s_or_saveexec_b64":       saveExec64(func(a, exec uint64) uint64 { return a | exec }),
		"s_xor_saveexec_b32":      saveExec32(func(a, exec uint32) uint32 { return a ^ exec }),
		"s_xor_saveexec_b64":      saveExec64(func(a, exec uint64) uint64 { return a ^ exec }),
		"s_nand_saveexec_b32":     saveExec32(func(a, exec uint32) uint32 { return ^(a & exec) }),
		"s_nand_saveexec_b64":     saveExec64(func(a, exec uint64) uint64 { return ^(a & exec) }),
		"s_nor_saveexec_b32":      saveExec32(func(a, exec uint32) uint32 { return ^(a | exec) }),
		"s_nor_saveexec_b64":      saveExec64(func(a, exec uint64) uint64 { return ^(a | exec) }),
		"s_xnor_saveexec_b32":     saveExec32(func(a, exec uint32) uint32 { return ^(a ^ exec) }),
		"s_xnor_saveexec_b64":     saveExec64(func(a, exec uint64) uint64 { return ^(a ^ exec) }),
		"s_and_not0_saveexec_b32": saveExec32(func(a, exec uint32) uint32 { return ^a & exec }),
		"s_and_not0_saveexec_b64": saveExec64(func(a, exec uint64) uint64 { return ^a & exec }),
		"s_or_not0_saveexec_b32":  saveExec32(func(a, exec uint32) uint32 { return ^a | exec }),
		"s_or_not0_saveexec_b64":  saveExec64(func(a, exec uint64) uint64 { return ^a | exec }),
		"s_and_not1_saveexec_b32": saveExec32(func(a, exec uint32) uint32 { return a &^ exec }),
		"s_and_not1_saveexec_b64": saveExec64(func(a, exec uint64) uint64 { return a &^ exec }),
		"s_or_not1_saveexec_b32":  saveExec32(func(a, exec uint32) uint32 { return a | ^exec }),
		"s_or_not1_saveexec_b64":  saveExec64(func(a, exec uint64) uint64 { return a | ^exec }),

		"s_movrels_b32":    {prepare: prepareScalarRelative(false, 1)},
		"s_movrels_b64":    {prepare: prepareScalarRelative(false, 2)},
		"s_movreld_b32":    {prepare: prepareScalarRelative(true, 1)},
		"s_movreld_b64":    {prepare: prepareScalarRelative(true, 2)},
		"s_movrelsd_2_b32": {prepare: prepareScalarRelative2},

		"s_getpc_b64":       {run64: func(w *wave, _, _, _ uint64) uint64 { return w.pc }},
		"s_setpc_b64":       {prepare: prepareSetPC},
		"s_swappc_b64":      {prepare: prepareSetPC},
		"s_sendmsg_rtn_b32": {run64: answer, approximate: "time is the number of instructions run; the queue's handles are 0"},
		"s_sendmsg_rtn_b64": {run64: answer, approximate: "time is the number of instructions run; the queue's handles are 0"},
	}
	maps.Copy(all, scalarFloats1)
	return all
}

// orNone is n, or -1 if there is none.
func orNone(none bool, n int) uint32 {
	if none {
		return ^uint32(0)
	}
	return uint32(n)
}

// signBits is how many of the leading bits of a are like its sign, of n bits,
// or -1 if all are.
func signBits(a uint64, n int) uint32 {
	if int64(a) < 0 {
		a = ^a
	}
	return orNone(a == 0, bits.LeadingZeros64(a)-(64-n))
}

// spread puts a zero after each bit.
func spread(a uint32) uint64 {
	v := uint64(a)
	v = (v | v<<16) & 0x0000ffff0000ffff
	v = (v | v<<8) & 0x00ff00ff00ff00ff
	v = (v | v<<4) & 0x0f0f0f0f0f0f0f0f
	v = (v | v<<2) & 0x3333333333333333
	return (v | v<<1) & 0x5555555555555555
}

// anyOfQuad has the lowest bit of each group of four that is not zero.
func anyOfQuad(a uint64) uint64 {
	a |= a >> 1
	a |= a >> 2
	return a & 0x1111111111111111
}

// quads has a bit for each group of four bits that is not zero.
func quads(a uint64) uint64 {
	v := anyOfQuad(a)
	v = (v | v>>3) & 0x0303030303030303
	v = (v | v>>6) & 0x000f000f000f000f
	v = (v | v>>12) & 0x000000ff000000ff
	return (v | v>>24) & 0xffff
}

// wholeQuads fills each group of four bits that is not zero.
func wholeQuads(a uint64) uint64 { return anyOfQuad(a) * 15 }

// saveExec32 gives the old EXEC and sets the new one.
func saveExec32(f func(a, exec uint32) uint32) scalarOp {
	return scalarOp{run32: func(w *wave, a, _, _ uint32) uint32 {
		old := uint32(w.exec())
		v := f(a, old)
		w.setExec(w.exec()&^0xffffffff | uint64(v))
		w.scc = v != 0
		return old
	}}
}

func saveExec64(f func(a, exec uint64) uint64) scalarOp {
	return scalarOp{run64: func(w *wave, a, _, _ uint64) uint64 {
		old := w.exec()
		v := f(a, old)
		w.setExec(v)
		w.scc = v != 0
		return old
	}}
}

// writeExec32 sets the new EXEC and gives it too.
func writeExec32(f func(a, exec uint32) uint32) scalarOp {
	return scalarOp{run32: func(w *wave, a, _, _ uint32) uint32 {
		v := f(a, uint32(w.exec()))
		w.setExec(w.exec()&^0xffffffff | uint64(v))
		w.scc = v != 0
		return v
	}}
}

func writeExec64(f func(a, exec uint64) uint64) scalarOp {
	return scalarOp{run64: func(w *wave, a, _, _ uint64) uint64 {
		v := f(a, w.exec())
		w.setExec(v)
		w.scc = v != 0
		return v
	}}
}
