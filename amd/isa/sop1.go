package isa

// SOP1: one scalar source, one destination.
//
//	31:23 101111101 | 22:16 sdst | 15:8 opcode | 7:0 ssrc0

func decodeSOP1(d *decoder) { d.scalar(sop1, d.w0>>8&0xff) }

var (
	s32x1  = []Arg{dst32, src0B32}
	s64x1  = []Arg{dst64, src0B64}
	s32b64 = []Arg{dst32, src0B64} // counts of 64 bits
	sf32x1 = []Arg{dstF32, src0F32}
	sf16x1 = []Arg{dstF16, src0F16}
)

var sop1 = table(SOP1, "", []row{
	{0, "s_mov_b32", s32x1, 0},
	{1, "s_mov_b64", s64x1, 0},
	{2, "s_cmov_b32", []Arg{both32, src0B32}, 0},
	{3, "s_cmov_b64", []Arg{both64, src0B64}, 0},
	{4, "s_brev_b32", s32x1, 0},
	{5, "s_brev_b64", s64x1, 0},
	{8, "s_ctz_i32_b32", s32x1, 0},
	{9, "s_ctz_i32_b64", s32b64, 0},
	{10, "s_clz_i32_u32", s32x1, 0},
	{11, "s_clz_i32_u64", s32b64, 0},
	{12, "s_cls_i32", s32x1, 0},
	{13, "s_cls_i32_i64", []Arg{dst32, src0I64}, 0},
	{14, "s_sext_i32_i8", s32x1, 0},
	{15, "s_sext_i32_i16", s32x1, 0},
	{16, "s_bitset0_b32", []Arg{both32, src0B32}, 0},
	{17, "s_bitset0_b64", []Arg{both64, src0B32}, 0},
	{18, "s_bitset1_b32", []Arg{both32, src0B32}, 0},
	{19, "s_bitset1_b64", []Arg{both64, src0B32}, 0},
	{20, "s_bitreplicate_b64_b32", []Arg{dst64, src0B32}, 0},
	{21, "s_abs_i32", s32x1, 0},
	{22, "s_bcnt0_i32_b32", s32x1, 0},
	{23, "s_bcnt0_i32_b64", s32b64, 0},
	{24, "s_bcnt1_i32_b32", s32x1, 0},
	{25, "s_bcnt1_i32_b64", s32b64, 0},
	{26, "s_quadmask_b32", s32x1, 0},
	{27, "s_quadmask_b64", s64x1, 0},
	{28, "s_wqm_b32", s32x1, 0},
	{29, "s_wqm_b64", s64x1, 0},
	{30, "s_not_b32", s32x1, 0},
	{31, "s_not_b64", s64x1, 0},
	{32, "s_and_saveexec_b32", s32x1, 0},
	{33, "s_and_saveexec_b64", s64x1, 0},
	{34, "s_or_saveexec_b32", s32x1, 0},
	{35, "s_or_saveexec_b64", s64x1, 0},
	{36, "s_xor_saveexec_b32", s32x1, 0},
	{37, "s_xor_saveexec_b64", s64x1, 0},
	{38, "s_nand_saveexec_b32", s32x1, 0},
	{39, "s_nand_saveexec_b64", s64x1, 0},
	{40, "s_nor_saveexec_b32", s32x1, 0},
	{41, "s_nor_saveexec_b64", s64x1, 0},
	{42, "s_xnor_saveexec_b32", s32x1, 0},
	{43, "s_xnor_saveexec_b64", s64x1, 0},
	{44, "s_and_not0_saveexec_b32", s32x1, 0},
	{45, "s_and_not0_saveexec_b64", s64x1, 0},
	{46, "s_or_not0_saveexec_b32", s32x1, 0},
	{47, "s_or_not0_saveexec_b64", s64x1, 0},
	{48, "s_and_not1_saveexec_b32", s32x1, 0},
	{49, "s_and_not1_saveexec_b64", s64x1, 0},
	{50, "s_or_not1_saveexec_b32", s32x1, 0},
	{51, "s_or_not1_saveexec_b64", s64x1, 0},
	{52, "s_and_not0_wrexec_b32", s32x1, 0},
	{53, "s_and_not0_wrexec_b64", s64x1, 0},
	{54, "s_and_not1_wrexec_b32", s32x1, 0},
	{55, "s_and_not1_wrexec_b64", s64x1, 0},

	// The registers named here are moved by M0; s_movrelsd_2 moves both.
	{64, "s_movrels_b32", []Arg{dst32, {fSReg0, B32, Read}}, 0},
	{65, "s_movrels_b64", []Arg{dst64, {fSReg0, B64, Read}}, 0},
	{66, "s_movreld_b32", s32x1, 0},
	{67, "s_movreld_b64", s64x1, 0},
	{68, "s_movrelsd_2_b32", s32x1, 0},

	{71, "s_getpc_b64", []Arg{dst64}, 0},
	{72, "s_setpc_b64", []Arg{{fSReg0, B64, Read}}, 0},
	{73, "s_swappc_b64", s64x1, 0},
	{74, "s_rfe_b64", []Arg{{fSReg0, B64, Read}}, 0},
	{76, "s_sendmsg_rtn_b32", []Arg{dst32, {fMsg8, NoType, Read}}, 0},
	{77, "s_sendmsg_rtn_b64", []Arg{dst64, {fMsg8, NoType, Read}}, 0},

	// Only GFX11.5 has the scalar float operations.
	{96, "s_ceil_f32", sf32x1, 0},
	{97, "s_floor_f32", sf32x1, 0},
	{98, "s_trunc_f32", sf32x1, 0},
	{99, "s_rndne_f32", sf32x1, 0},
	{100, "s_cvt_f32_i32", []Arg{dstF32, src0B32}, 0},
	{101, "s_cvt_f32_u32", []Arg{dstF32, src0B32}, 0},
	{102, "s_cvt_i32_f32", []Arg{dst32, src0F32}, 0},
	{103, "s_cvt_u32_f32", []Arg{dst32, src0F32}, 0},
	{104, "s_cvt_f16_f32", []Arg{dstF16, src0F32}, 0},
	{105, "s_cvt_f32_f16", []Arg{dstF32, src0B32}, 0},    // the low half; a constant is 32 bits
	{106, "s_cvt_hi_f32_f16", []Arg{dstF32, src0B32}, 0}, // the high half of the source
	{107, "s_ceil_f16", sf16x1, opText32},
	{108, "s_floor_f16", sf16x1, opText32},
	{109, "s_trunc_f16", sf16x1, opText32},
	{110, "s_rndne_f16", sf16x1, opText32},
})
