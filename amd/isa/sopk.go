package isa

// SOPK: a scalar register and an immediate of 16 bits.
//
//	31:28 1011 | 27:23 opcode | 22:16 sdst | 15:0 simm16

func decodeSOPK(d *decoder) { d.scalar(sopk, d.w0>>23&0x1f) }

var (
	cmpk = []Arg{{fSDst, B32, Read}, immHex}
	wait = []Arg{{fSDst, B32, Read}, immHex} // a counter may be sdst + simm16
)

var sopk = table(SOPK, "", []row{
	{0, "s_movk_i32", []Arg{dst32, immHex}, 0},
	{1, "s_version", []Arg{{fVersion, NoType, Read}}, 0},
	{2, "s_cmovk_i32", []Arg{both32, immHex}, 0},
	{3, "s_cmpk_eq_i32", cmpk, 0},
	{4, "s_cmpk_lg_i32", cmpk, 0},
	{5, "s_cmpk_gt_i32", cmpk, 0},
	{6, "s_cmpk_ge_i32", cmpk, 0},
	{7, "s_cmpk_lt_i32", cmpk, 0},
	{8, "s_cmpk_le_i32", cmpk, 0},
	{9, "s_cmpk_eq_u32", cmpk, 0},
	{10, "s_cmpk_lg_u32", cmpk, 0},
	{11, "s_cmpk_gt_u32", cmpk, 0},
	{12, "s_cmpk_ge_u32", cmpk, 0},
	{13, "s_cmpk_lt_u32", cmpk, 0},
	{14, "s_cmpk_le_u32", cmpk, 0},
	{15, "s_addk_i32", []Arg{both32, immHex}, 0},
	{16, "s_mulk_i32", []Arg{both32, immHex}, 0},
	{17, "s_getreg_b32", []Arg{dst32, immHWReg}, 0},
	{18, "s_setreg_b32", []Arg{immHWReg, {fSDst, B32, Read}}, 0},
	{19, "s_setreg_imm32_b32", []Arg{immHWReg, {fImm32, B32, Read}}, OpLiteral},
	{20, "s_call_b64", []Arg{dst64, immDec}, 0},
	{22, "s_subvector_loop_begin", []Arg{both32, immDec}, 0},
	{23, "s_subvector_loop_end", []Arg{both32, immDec}, 0},
	{24, "s_waitcnt_vscnt", wait, 0},
	{25, "s_waitcnt_vmcnt", wait, 0},
	{26, "s_waitcnt_expcnt", wait, 0},
	{27, "s_waitcnt_lgkmcnt", wait, 0},
})
