package check

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-llm/holdfast/amd/emu"
)

// initCase is instructions of a wave of 32, and what initcheck says of them. v1
// is four times the work-item, s[4:5] is a buffer of zeros, "given", s[6:7] one
// that nobody has written, "raw". What registers, LDS and scratch begin with is
// undefined.
type initCase struct {
	name, code string
	want       []Kind
	says       string // in the first finding
}

const (
	storeV8 = `;global_store_b32 v1, v8, s[4:5]`
	loadRaw = `global_load_b32 v9, v1, s[6:7];s_waitcnt vmcnt(0);`
	loadLDS = `ds_load_b32 v9, v1;s_waitcnt lgkmcnt(0);`
)

var initCases = []initCase{
	// Stores.
	{name: "a register that was never written", code: `global_store_b32 v1, v9, s[4:5]`, want: []Kind{UninitStore}, says: `4 bytes stored to "given" + 0 by 32 lanes are undefined: it comes from v9, which was never written`},
	{name: "a sum with one", code: `v_add_nc_u32 v8, v9, v1` + storeV8, want: []Kind{UninitStore}, says: "computed from v9"},
	{name: "a scalar register that was never written", code: `v_mov_b32 v8, s20` + storeV8, want: []Kind{UninitStore}, says: "s20"},
	{name: "LDS that nobody has written", code: loadLDS + `v_mov_b32 v8, v9` + storeV8, want: []Kind{UninitStore}, says: `byte 0 of "LDS", that nobody has written`},
	{name: "a sum over LDS of which one lane's word is missing", code: `v_cmp_ne_u32 vcc_lo, 7, v0;s_and_saveexec_b32 s10, vcc_lo;ds_store_b32 v1, v0;s_mov_b32 exec_lo, s10;` + loadLDS + `v_add_nc_u32 v8, v9, v0` + storeV8, want: []Kind{UninitStore}, says: `by 1 lanes are undefined: it was computed from byte 28 of "LDS"`},
	{name: "scratch that nobody has written", code: `scratch_load_b32 v8, off, off offset:4;s_waitcnt vmcnt(0)` + storeV8, want: []Kind{UninitStore}, says: `byte 4 of "scratch"`},
	{name: "a sum with global memory that nobody has written", code: loadRaw + `v_add_f32 v8, v9, v0` + storeV8, want: []Kind{UninitStore}, says: `computed from byte 0 of "raw", that nobody has written`},
	{name: "zero times what may be a NaN", code: loadRaw + `v_mul_f32 v8, 0, v9` + storeV8, want: []Kind{UninitStore}},
	{name: "zero times a half that may be a NaN", code: `global_load_d16_b16 v9, v1, s[6:7];s_waitcnt vmcnt(0);v_fma_mix_f32 v8, v0, v9, v0 op_sel_hi:[0,1,0]` + storeV8, want: []Kind{UninitStore}},
	{name: "a byte of a word that is added", code: `ds_store_b16 v1, v0;ds_store_b8 v1, v0 offset:3;` + loadLDS + `v_add_nc_u32 v8, 1, v9` + storeV8, want: []Kind{UninitStore}, says: `byte 2 of "LDS"`},
	{name: "a result that went through LDS", code: loadRaw + `v_add_nc_u32 v9, 1, v9;ds_store_b32 v1, v9;` + loadLDS + `global_store_b32 v1, v9, s[4:5]`, want: []Kind{UninitStore}, says: `byte 0 of "LDS", to which something undefined was stored`},
	{name: "a result that went through scratch", code: loadRaw + `v_add_nc_u32 v9, 1, v9;scratch_store_b32 off, v9, off;scratch_load_b32 v8, off, off;s_waitcnt vmcnt(0)` + storeV8, want: []Kind{UninitStore}},
	{name: "lanes that were masked off when it was written", code: `s_mov_b32 exec_lo, 0xff;v_mov_b32 v8, 1;s_mov_b32 exec_lo, -1` + storeV8, want: []Kind{UninitStore}, says: "by 24 lanes"},
	{name: "vcc_hi of a wave32", code: `v_cmp_eq_u32 vcc_lo, v0, v1;v_mov_b32 v8, vcc_hi` + storeV8, want: []Kind{UninitStore}, says: "vcc_hi"},
	{name: "exec_hi of a wave32", code: `s_mov_b64 s[10:11], exec;v_mov_b32 v8, s11` + storeV8, want: []Kind{UninitStore}, says: "exec_hi"},
	{name: "the side that is selected", code: `s_mov_b32 s10, 0x10;v_cndmask_b32 v8, v0, v9, s10` + storeV8, want: []Kind{UninitStore}, says: "by 1 lanes"},
	{name: "an undefined condition", code: `v_cndmask_b32 v8, v0, v1, s20` + storeV8, want: []Kind{UninitStore}, says: "s20"},
	{name: "a comparison with what is undefined", code: `v_cmp_lt_u32 s10, v0, v9;v_cndmask_b32 v8, v0, v1, s10` + storeV8, want: []Kind{UninitStore}, says: "computed from v9"},
	{name: "another lane by DPP", code: `s_mov_b32 exec_lo, 0xffff;v_mov_b32 v9, 1;s_mov_b32 exec_lo, -1;v_mov_b32_dpp v8, v9 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:1` + storeV8, want: []Kind{UninitStore}, says: "by 15 lanes"},
	{name: "another lane by readlane", code: `s_mov_b32 exec_lo, 0xff;v_mov_b32 v9, 1;s_mov_b32 exec_lo, -1;v_readlane_b32 s10, v9, 8;v_mov_b32 v8, s10` + storeV8, want: []Kind{UninitStore}, says: "by 32 lanes"},
	{name: "another lane through LDS", code: `s_mov_b32 exec_lo, 0xff;v_mov_b32 v9, 1;s_mov_b32 exec_lo, -1;v_xor_b32 v7, 4, v1;ds_bpermute_b32 v8, v7, v9;s_waitcnt lgkmcnt(0)` + storeV8, want: []Kind{UninitStore}, says: "by 24 lanes"},
	{name: "another lane by permlane", code: `s_mov_b32 s10, -1;v_permlanex16_b32 v8, v9, s10, s10` + storeV8, want: []Kind{UninitStore}, says: "by 32 lanes"},
	{name: "a half of a packed sum", code: `v_mov_b16 v9.l, v0.l;v_pk_add_u16 v8, v9, v0` + storeV8, want: []Kind{UninitStore}},
	{name: "a column of a matrix", code: wmma(`v_cmp_ne_u32 vcc_lo, 3, v0;s_and_saveexec_b32 s10, vcc_lo;`, 8, `s_mov_b32 exec_lo, s10;`, 16) + `v_mov_b32 v8, v24` + storeV8, want: []Kind{UninitStore}, says: "by 2 lanes"},
	{name: "one of two operations at once", code: `v_dual_mov_b32 v7, v9 :: v_dual_add_f32 v8, v0, v9` + storeV8, want: []Kind{UninitStore}},
	{name: "two words, one is missing and the other computed from it", code: `v_add_nc_u32 v8, v9, v0;v_mov_b32 v9, v0;global_store_b64 v1, v[8:9], s[4:5] offset:64`, want: []Kind{UninitStore}},
	{name: "the second of two places in LDS", code: `ds_store_b32 v1, v0;ds_load_2addr_b32 v[8:9], v1 offset1:64;s_waitcnt lgkmcnt(0);v_add_nc_u32 v8, v9, v8` + storeV8, want: []Kind{UninitStore}, says: `byte 256 of "LDS"`},
	{name: "a signed byte fills the register", code: `global_load_i8 v9, v1, s[6:7];s_waitcnt vmcnt(0);v_lshrrev_b32 v9, 16, v9;v_add_nc_u32 v8, v9, v0` + storeV8, want: []Kind{UninitStore}},
	{name: "a relative move", code: `s_mov_b32 m0, 1;v_movrels_b32 v8, v8` + storeV8, want: []Kind{UninitStore}, says: "v9"},

	// Addresses.
	{name: "an address of global memory", code: `global_load_b32 v8, v9, s[4:5]`, want: []Kind{UninitAddress}, says: "v9 is undefined in 32 lanes and part of an address"},
	{name: "an address of a store", code: `global_store_b32 v9, v1, s[4:5]`, want: []Kind{UninitAddress}},
	{name: "an address of LDS", code: `ds_load_b32 v8, v9`, want: []Kind{UninitAddress}},
	{name: "an index that was loaded", code: loadRaw + `global_load_b32 v8, v9, s[4:5]`, want: []Kind{UninitAddress}, says: `from byte 0 of "raw"`},
	{name: "a scalar offset", code: `s_load_b32 s10, s[4:5], s20`, want: []Kind{UninitAddress}, says: "s20"},
	{name: "a scalar base", code: `s_mov_b32 s10, s4;s_add_u32 s11, s5, s21;global_load_b32 v8, v1, s[10:11]`, want: []Kind{UninitAddress}, says: "computed from s21"},
	{name: "a lane to exchange with", code: `ds_bpermute_b32 v8, v9, v1`, want: []Kind{UninitAddress}},
	{name: "the register of a relative move", code: `v_movrels_b32 v8, v0`, want: []Kind{UninitAddress}, says: "m0"},

	// Branches and exec.
	{name: "a comparison of scalars decides", code: `s_cmp_eq_u32 s20, 0;s_cbranch_scc1 .Lnext@;.Lnext@:`, want: []Kind{UninitBranch}, says: "computed from s20"},
	{name: "scc that nothing has set", code: `s_cbranch_scc1 .Lnext@;.Lnext@:`, want: []Kind{UninitBranch}, says: "scc, which was never written"},
	{name: "a scalar that was loaded decides", code: `s_load_b32 s10, s[6:7], 0x0;s_waitcnt lgkmcnt(0);s_cmp_lt_u32 s10, 5;s_cbranch_scc0 .Lnext@;.Lnext@:`, want: []Kind{UninitBranch}, says: `byte 0 of "raw"`},
	{name: "vcc decides", code: `v_cmp_gt_u32 vcc_lo, 0, v9;s_cbranch_vccnz .Lnext@;.Lnext@:`, want: []Kind{UninitBranch}, says: "vcc is undefined"},
	{name: "which lanes are active", code: `v_cmp_gt_u32 vcc_lo, 5, v9;s_and_saveexec_b32 s10, vcc_lo`, want: []Kind{UninitExec}, says: "32 bits of exec are undefined"},
	{name: "which lanes are active, by cmpx", code: `v_cmpx_gt_u32 5, v9`, want: []Kind{UninitExec}},
	{name: "exec from a scalar", code: `s_mov_b32 exec_lo, s20`, want: []Kind{UninitExec}, says: "s20"},

	// Atomics.
	{name: "an atomic adds what is undefined", code: `global_atomic_add_u32 v1, v9, s[4:5]`, want: []Kind{UninitAtomic}, says: "undefined data"},
	{name: "an atomic on memory that nobody has written", code: `global_atomic_add_u32 v1, v0, s[6:7]`, want: []Kind{UninitAtomic}, says: `changes 4 bytes at "raw" + 0`},
	{name: "an atomic on LDS that nobody has written", code: `v_mov_b32 v7, 0;ds_add_u32 v7, v0 offset:16`, want: []Kind{UninitAtomic}, says: `"LDS" + 16`},
	{name: "an atomic that returns", code: `v_mov_b32 v7, 0;ds_add_rtn_u32 v8, v7, v0;s_waitcnt lgkmcnt(0)` + storeV8, want: []Kind{UninitAtomic}},

	// Harmless.
	{name: "what is given", code: `v_add_nc_u32 v8, v0, v1` + storeV8},
	{name: "a register that is moved and not used", code: `v_mov_b32 v8, v9;s_mov_b32 s10, s20;v_add_nc_u32 v7, v8, v8`},
	{name: "global memory is copied as it is", code: loadRaw + `v_mov_b32 v8, v9` + storeV8},
	{name: "and through LDS", code: loadRaw + `ds_store_b32 v1, v9;` + loadLDS + `v_mov_b32 v8, v9` + storeV8},
	{name: "and through scratch", code: loadRaw + `scratch_store_b32 off, v9, off;scratch_load_b32 v8, off, off;s_waitcnt vmcnt(0)` + storeV8},
	{name: "and byte by byte", code: loadRaw + `v_and_b32 v7, 0xff00, v9;v_lshrrev_b32 v8, 8, v7;v_lshl_or_b32 v8, v9, 8, v8;v_perm_b32 v8, v8, v9, 0x03020100` + storeV8},
	{name: "and across lanes", code: loadRaw + `v_mov_b32_dpp v8, v9 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf` + storeV8},
	{name: "and by four words", code: `v_lshlrev_b32 v2, 4, v0;v_and_b32 v2, 0x1f0, v2;global_load_b128 v[8:11], v2, s[6:7];s_waitcnt vmcnt(0);global_store_b128 v2, v[8:11], s[4:5]`},
	{name: "padding of what is copied out of LDS", code: `v_lshlrev_b32 v2, 3, v0;v_and_b32 v2, 0xf8, v2;ds_store_b32 v2, v0;ds_load_b64 v[8:9], v2;s_waitcnt lgkmcnt(0);global_store_b64 v2, v[8:9], s[4:5]`},
	{name: "a load wider than what is used", code: `v_lshlrev_b32 v2, 4, v0;v_and_b32 v2, 0x1f0, v2;ds_store_b96 v2, v[20:22];v_mov_b32 v4, 0;v_mov_b32 v5, 0;v_mov_b32 v6, 0;ds_store_b96 v2, v[4:6];ds_load_b128 v[8:11], v2;s_waitcnt lgkmcnt(0);v_add3_u32 v8, v8, v9, v10` + storeV8},
	{name: "the rest of a tile that no lane stores", code: `v_cmp_gt_u32 vcc_lo, 20, v0;s_and_saveexec_b32 s10, vcc_lo;ds_store_b32 v1, v0;s_mov_b32 exec_lo, s10;` + loadLDS + `v_add_nc_u32 v8, 1, v9;s_and_saveexec_b32 s10, vcc_lo` + storeV8},
	{name: "lanes under one mask", code: `s_mov_b32 exec_lo, 0xff;v_mov_b32 v8, 1;v_add_nc_u32 v8, v8, v8` + storeV8},
	{name: "and with zeros", code: `v_and_b32 v8, 0, v9` + storeV8},
	{name: "or with ones", code: `v_or_b32 v8, -1, v9` + storeV8},
	{name: "xor with itself", code: `v_xor_b32 v8, v9, v9` + storeV8},
	{name: "minus itself", code: `v_sub_nc_u32 v8, v9, v9` + storeV8},
	{name: "the side that is not selected", code: `s_mov_b32 s10, 0;v_cndmask_b32 v8, v0, v9, s10` + storeV8},
	{name: "the side that scc does not select", code: `s_cmp_eq_u32 s4, s4;s_cselect_b32 s10, s4, s20;v_mov_b32 v8, s10` + storeV8},
	{name: "bits that are shifted out", code: `v_lshl_or_b32 v9, v9, 16, v0;v_and_b32 v7, 0xffff, v0;v_lshl_or_b32 v7, v9, 16, v7;v_lshlrev_b32 v8, 16, v7` + storeV8},
	{name: "a field of a word", code: `global_load_u8 v9, v1, s[4:5];s_waitcnt vmcnt(0);v_lshl_or_b32 v9, v10, 8, v9;v_bfe_u32 v8, v9, 0, 8;v_add_nc_u32 v8, v8, v0` + storeV8},
	{name: "a byte of a word becomes a float", code: `v_lshl_or_b32 v9, v10, 8, v0;v_cvt_f32_ubyte0 v8, v9;v_cvt_f32_u32 v9, v0;v_add_f32 v8, v8, v9` + storeV8},
	{name: "low bits of a sum", code: `v_lshlrev_b32 v9, 8, v9;v_or_b32 v9, v0, v9;v_add_nc_u32 v9, v9, v1;v_and_b32 v8, 0x7f, v9` + storeV8},
	{name: "the low word of a wide product", code: `v_mov_b32 v10, v0;v_mad_u64_u32 v[8:9], null, v0, v1, v[10:11]` + storeV8},
	{name: "a half is stored", code: `v_cvt_f16_f32 v8, v0;global_store_b16 v1, v8, s[4:5]`},
	{name: "a byte is stored", code: `global_load_u8 v8, v1, s[4:5];s_waitcnt vmcnt(0);v_lshl_or_b32 v8, v9, 8, v8;global_store_b8 v1, v8, s[4:5]`},
	{name: "two halves are put together", code: `v_mov_b16 v9.l, v0.l;v_mov_b16 v10.l, v1.l;v_pack_b32_f16 v8, v9.l, v10.l` + storeV8},
	{name: "a half of a mixed product", code: `v_mov_b16 v9.l, v0.l;v_fma_mix_f32 v8, v9, v0, v0 op_sel_hi:[1,0,0]` + storeV8},
	{name: "a half of a packed sum is not stored", code: `v_mov_b16 v9.l, v0.l;v_pk_add_u16 v8, v9, v0;global_store_b16 v1, v8, s[4:5]`},
	{name: "the rest of a register that d16 fills", code: `v_mov_b32 v8, v0;global_load_d16_b16 v8, v1, s[4:5];s_waitcnt vmcnt(0)` + storeV8},
	{name: "a comparison that defined bits decide", code: `v_or_b32 v9, 1, v9;v_cmp_eq_u32 vcc_lo, 0, v9;v_cndmask_b32 v8, v0, v1, vcc_lo` + storeV8},
	{name: "a comparison behind a bound", code: `v_cmp_gt_u32 s10, 5, v9;s_mov_b32 s11, 0;s_and_b32 vcc_lo, s10, s11;s_and_saveexec_b32 s10, vcc_lo` + storeV8},
	{name: "vcc of which one lane is sure", code: `s_mov_b32 s10, 1;v_cndmask_b32 v9, v9, v0, s10;v_cmp_gt_u32 vcc_lo, 5, v9;s_or_b32 vcc_lo, vcc_lo, 1;s_cbranch_vccnz .Lnext@;.Lnext@:`},
	{name: "scc that a known bit sets", code: `s_or_b32 s10, s20, 1;s_cbranch_scc1 .Lnext@;.Lnext@:`},
	{name: "the first active lane", code: `s_mov_b32 exec_lo, 0xff0;v_mov_b32 v9, 1;s_mov_b32 exec_lo, 0xf0;v_readfirstlane_b32 s10, v9;s_mov_b32 exec_lo, -1;v_mov_b32 v8, s10` + storeV8},
	{name: "a lane of DPP that is not there", code: `s_mov_b32 exec_lo, 0xffff;v_mov_b32 v9, 1;v_mov_b32_dpp v8, v9 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:1` + storeV8},
	{name: "an address of which undefined bits are masked off", code: `v_and_b32 v9, 0, v9;global_load_b32 v8, v9, s[4:5];s_waitcnt vmcnt(0)` + storeV8},
	{name: "masked lanes with undefined addresses", code: `s_mov_b32 exec_lo, 0xff;v_mov_b32 v9, 0;global_load_b32 v8, v9, s[4:5];s_waitcnt vmcnt(0)` + storeV8},
	{name: "memory that was stored before", code: `global_store_b32 v1, v0, s[6:7];` + loadRaw + `v_add_nc_u32 v8, v9, v0` + storeV8},
	{name: "memory of which each byte was stored before", code: `global_store_b8 v1, v0, s[6:7];global_store_b16 v1, v0, s[6:7] offset:1;global_store_b8 v1, v0, s[6:7] offset:3;` + loadRaw + `v_add_nc_u32 v8, v9, v0` + storeV8},
	{name: "an atomic on memory that was stored before", code: `global_store_b32 v1, v0, s[6:7];global_atomic_add_u32 v1, v0, s[6:7]`},
	{name: "a flat store to LDS", code: `s_mov_b64 s[10:11], src_shared_base;v_mov_b32 v2, v1;v_mov_b32 v3, s11;flat_store_b32 v[2:3], v0;` + loadLDS + `v_add_nc_u32 v8, v9, v0` + storeV8},
	{name: "a lane is written", code: `v_mov_b32 v8, 0;v_writelane_b32 v8, s4, 3` + storeV8},
	{name: "a lane that is not active is written", code: `s_mov_b32 exec_lo, 0xfffffff7;v_mov_b32 v8, 0;s_mov_b32 s10, 5;v_writelane_b32 v8, s10, 3;s_mov_b32 exec_lo, -1` + storeV8},
	{name: "two registers change places", code: `v_mov_b32 v9, v0;v_swap_b32 v8, v9` + storeV8},
	{name: "other columns of a matrix", code: wmma(`v_cmp_ne_u32 vcc_lo, 3, v0;s_and_saveexec_b32 s10, vcc_lo;`, 8, `s_mov_b32 exec_lo, s10;`, 16) + `v_and_b32 v7, 15, v0;v_cmp_ne_u32 vcc_lo, 3, v7;s_and_saveexec_b32 s10, vcc_lo;v_mov_b32 v8, v24` + storeV8},
	{name: "the state of a mode", code: `s_getreg_b32 s10, hwreg(HW_REG_MODE);v_mov_b32 v8, s10` + storeV8},
}

// wmma is a product of two matrices into v[24:31], the first in registers from a
// and the second from b on, of which before leaves lanes out.
func wmma(before string, b int, after string, a int) string {
	var s strings.Builder
	for i := range 8 {
		fmt.Fprintf(&s, "v_mov_b32 v%d, 0;v_mov_b32 v%d, 0;", a+i, 24+i)
	}
	s.WriteString(before)
	for i := range 8 {
		fmt.Fprintf(&s, "v_mov_b32 v%d, 0;", b+i)
	}
	fmt.Fprintf(&s, "%sv_wmma_f32_16x16x16_f16 v[24:31], v[%d:%d], v[%d:%d], v[24:31];", after, a, a+7, b, b+7)
	return s.String()
}

func TestInitcheckFollowsWhatIsUndefinedToWhereItMatters(t *testing.T) {
	var codes []string
	for _, c := range initCases {
		codes = append(codes, c.code)
	}
	o := waveKernels(t, 32, `v_lshlrev_b32 v1, 2, v0;`, codes)
	for i, c := range initCases {
		t.Run(strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			var first []string
			for _, config := range []emu.Config{{Seed: 1}, {Schedule: emu.Schedule{Waves: emu.ReverseAfterBarriers}}, {Schedule: emu.Schedule{Waves: emu.RoundRobin, Quantum: 1}}, {Mode: emu.Relaxed, Timing: emu.Timing{LateLoads: true}}} {
				checker, err := New(Options{Tools: []Tool{Initcheck}})
				if err != nil {
					t.Fatal(err)
				}
				config.Observer = checker
				r := newRig(t, o, fmt.Sprintf("k%d", i), config)
				raw, err := r.dev.Alloc("raw", 1024, emu.Placement{Uninitialised: true})
				if err != nil {
					t.Fatal(err)
				}
				if err := r.launch(2, 32, r.buffer("given", 1024), raw); err != nil {
					t.Fatal(err)
				}
				report := checker.Report()
				if err := kindsAre(report, c.want); err != nil {
					t.Fatal(err)
				}
				if len(report.Findings) > 0 && !strings.Contains(report.Findings[0].Message, c.says) {
					t.Errorf("%q does not say %q", report.Findings[0].Message, c.says)
				}
				var sites []string
				for _, f := range report.Findings {
					sites = append(sites, fmt.Sprintf("%x %s", f.Sites[0].PC, f.Message))
				}
				if first == nil {
					first = sites
				} else if !slices.Equal(first, sites) {
					t.Errorf("%v waves: found %v, in order %v", config.Schedule.Waves, sites, first)
				}
			}
		})
	}
}

// Buffers stay as dispatches and the host leave them.
func TestInitcheckFollowsMemoryFromDispatchToDispatch(t *testing.T) {
	o := waveKernels(t, 32, `v_lshlrev_b32 v1, 2, v0;`, []string{
		loadRaw + `v_add_nc_u32 v8, v9, v0` + storeV8,            // given = raw + id
		`global_store_b32 v1, v0, s[6:7]`,                        // raw = id
		loadRaw + `global_store_b32 v1, v9, s[4:5]`,              // given = raw
		`global_store_b32 v1, v9, s[6:7]`,                        // raw = a register that was never written
		`s_mov_b32 exec_lo, 0xf;global_store_b32 v1, v0, s[6:7]`, // raw = id, four lanes
	})
	const add, write, copies, leave, some = 0, 1, 2, 3, 4
	for _, c := range []struct {
		name  string
		runs  []int // kernels, one after another; -1 is the host, which writes all of raw
		wants []Kind
	}{
		{"a kernel wrote it before", []int{write, add}, nil},
		{"the host wrote it before", []int{-1, add}, nil},
		{"the host writes it behind the kernel", []int{copies, -1, add}, nil},
		{"nobody wrote it", []int{add}, []Kind{UninitStore}},
		{"a kernel writes it too late", []int{copies, write}, nil},
		{"a kernel wrote a part of it", []int{some, add}, []Kind{UninitStore}},
		{"what is undefined is said once", []int{leave, add}, []Kind{UninitStore}},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
			checker, err := New(Options{Tools: []Tool{Initcheck}})
			if err != nil {
				t.Fatal(err)
			}
			r := newRig(t, o, "k0", emu.Config{Observer: checker})
			given := r.buffer("given", 256)
			raw, err := r.dev.Alloc("raw", 256, emu.Placement{Uninitialised: true})
			if err != nil {
				t.Fatal(err)
			}
			for _, n := range c.runs {
				if n < 0 {
					if err := raw.HostWrite(0, make([]byte, 256)); err != nil {
						t.Fatal(err)
					}
					continue
				}
				if r.k, err = r.k.Module.Kernel(fmt.Sprintf("k%d", n)); err != nil {
					t.Fatal(err)
				}
				if err := r.launch(1, 32, given, raw); err != nil {
					t.Fatal(err)
				}
			}
			report := checker.Report()
			if err := kindsAre(report, c.wants); err != nil {
				t.Error(err)
			}
			if len(report.Findings) > 1 {
				t.Errorf("%d findings, want 1: %v", len(report.Findings), report.Findings)
			}
		})
	}
}
