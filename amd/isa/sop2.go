package isa

// SOP2: two scalar sources, one destination.
//
//	31:30 10 | 29:23 opcode | 22:16 sdst | 15:8 ssrc1 | 7:0 ssrc0

func decodeSOP2(d *decoder) { d.scalar(sop2, d.w0>>23&0x7f) }

var (
	s32x2   = []Arg{dst32, src0B32, src1B32}
	s64x2   = []Arg{dst64, src0B64, src1B64}
	s64x32  = []Arg{dst64, src0B64, src1B32} // a shift or a bit field of 64 bits
	si64x32 = []Arg{dst64, src0I64, src1B32}
	sf32x2  = []Arg{dstF32, src0F32, src1F32}
	sf16x2  = []Arg{dstF16, src0F16, src1F16}
)

var sop2 = table(SOP2, "", []row{
	{0, "s_add_u32", s32x2, 0},
	{1, "s_sub_u32", s32x2, 0},
	{2, "s_add_i32", s32x2, 0},
	{3, "s_sub_i32", s32x2, 0},
	{4, "s_addc_u32", s32x2, 0},
	{5, "s_subb_u32", s32x2, 0},
	{6, "s_absdiff_i32", s32x2, 0},
	{8, "s_lshl_b32", s32x2, 0},
	{9, "s_lshl_b64", s64x32, 0},
	{10, "s_lshr_b32", s32x2, 0},
	{11, "s_lshr_b64", s64x32, 0},
	{12, "s_ashr_i32", s32x2, 0},
	{13, "s_ashr_i64", si64x32, 0},
	{14, "s_lshl1_add_u32", s32x2, 0},
	{15, "s_lshl2_add_u32", s32x2, 0},
	{16, "s_lshl3_add_u32", s32x2, 0},
	{17, "s_lshl4_add_u32", s32x2, 0},
	{18, "s_min_i32", s32x2, 0},
	{19, "s_min_u32", s32x2, 0},
	{20, "s_max_i32", s32x2, 0},
	{21, "s_max_u32", s32x2, 0},
	{22, "s_and_b32", s32x2, 0},
	{23, "s_and_b64", s64x2, 0},
	{24, "s_or_b32", s32x2, 0},
	{25, "s_or_b64", s64x2, 0},
	{26, "s_xor_b32", s32x2, 0},
	{27, "s_xor_b64", s64x2, 0},
	{28, "s_nand_b32", s32x2, 0},
	{29, "s_nand_b64", s64x2, 0},
	{30, "s_nor_b32", s32x2, 0},
	{31, "s_nor_b64", s64x2, 0},
	{32, "s_xnor_b32", s32x2, 0},
	{33, "s_xnor_b64", s64x2, 0},
	{34, "s_and_not1_b32", s32x2, 0},
	{35, "s_and_not1_b64", s64x2, 0},
	{36, "s_or_not1_b32", s32x2, 0},
	{37, "s_or_not1_b64", s64x2, 0},
	{38, "s_bfe_u32", s32x2, 0},
	{39, "s_bfe_i32", s32x2, 0},
	{40, "s_bfe_u64", s64x32, 0},
	{41, "s_bfe_i64", si64x32, 0},
	{42, "s_bfm_b32", s32x2, 0},
	{43, "s_bfm_b64", []Arg{dst64, src0B32, src1B32}, 0},
	{44, "s_mul_i32", s32x2, 0},
	{45, "s_mul_hi_u32", s32x2, 0},
	{46, "s_mul_hi_i32", s32x2, 0},
	{48, "s_cselect_b32", s32x2, 0},
	{49, "s_cselect_b64", s64x2, 0},
	{50, "s_pack_ll_b32_b16", s32x2, 0},
	{51, "s_pack_lh_b32_b16", s32x2, 0},
	{52, "s_pack_hh_b32_b16", s32x2, 0},
	{53, "s_pack_hl_b32_b16", s32x2, 0},

	// Only GFX11.5 has the scalar float operations.
	{64, "s_add_f32", sf32x2, 0},
	{65, "s_sub_f32", sf32x2, 0},
	{66, "s_min_f32", sf32x2, 0},
	{67, "s_max_f32", sf32x2, 0},
	{68, "s_mul_f32", sf32x2, 0},
	{69, "s_fmaak_f32", []Arg{dstF32, src0F32, src1F32, constK}, OpLiteral},
	{70, "s_fmamk_f32", []Arg{dstF32, src0F32, constK, src1F32}, OpLiteral},
	{71, "s_fmac_f32", []Arg{bothF32, src0F32, src1F32}, 0},
	{72, "s_cvt_pk_rtz_f16_f32", []Arg{dst32, src0F32, src1F32}, 0},
	{73, "s_add_f16", sf16x2, 0},
	{74, "s_sub_f16", sf16x2, 0},
	{75, "s_min_f16", sf16x2, 0},
	{76, "s_max_f16", sf16x2, 0},
	{77, "s_mul_f16", sf16x2, 0},
	{78, "s_fmac_f16", []Arg{bothF16, src0F16, src1F16}, 0},
})
