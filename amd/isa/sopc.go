package isa

// SOPC: comparisons of two scalar sources into SCC.
//
//	31:23 101111110 | 22:16 opcode | 15:8 ssrc1 | 7:0 ssrc0

func decodeSOPC(d *decoder) { d.scalar(sopc, d.w0>>16&0x7f) }

var (
	c32  = []Arg{src0B32, src1B32}
	c64  = []Arg{src0B64, src1B64}
	cbit = []Arg{src0B64, src1B32}
	cf32 = []Arg{src0F32, src1F32}
	cf16 = []Arg{src0F16, src1F16}
)

var sopc = table(SOPC, "", []row{
	{0, "s_cmp_eq_i32", c32, 0},
	{1, "s_cmp_lg_i32", c32, 0},
	{2, "s_cmp_gt_i32", c32, 0},
	{3, "s_cmp_ge_i32", c32, 0},
	{4, "s_cmp_lt_i32", c32, 0},
	{5, "s_cmp_le_i32", c32, 0},
	{6, "s_cmp_eq_u32", c32, 0},
	{7, "s_cmp_lg_u32", c32, 0},
	{8, "s_cmp_gt_u32", c32, 0},
	{9, "s_cmp_ge_u32", c32, 0},
	{10, "s_cmp_lt_u32", c32, 0},
	{11, "s_cmp_le_u32", c32, 0},
	{12, "s_bitcmp0_b32", c32, 0},
	{13, "s_bitcmp1_b32", c32, 0},
	{14, "s_bitcmp0_b64", cbit, 0},
	{15, "s_bitcmp1_b64", cbit, 0},
	{16, "s_cmp_eq_u64", c64, 0},
	{17, "s_cmp_lg_u64", c64, 0},

	// Only GFX11.5 has the scalar float operations.
	{65, "s_cmp_lt_f32", cf32, 0},
	{66, "s_cmp_eq_f32", cf32, 0},
	{67, "s_cmp_le_f32", cf32, 0},
	{68, "s_cmp_gt_f32", cf32, 0},
	{69, "s_cmp_lg_f32", cf32, 0},
	{70, "s_cmp_ge_f32", cf32, 0},
	{71, "s_cmp_o_f32", cf32, 0},
	{72, "s_cmp_u_f32", cf32, 0},
	{73, "s_cmp_nge_f32", cf32, 0},
	{74, "s_cmp_nlg_f32", cf32, 0},
	{75, "s_cmp_ngt_f32", cf32, 0},
	{76, "s_cmp_nle_f32", cf32, 0},
	{77, "s_cmp_neq_f32", cf32, 0},
	{78, "s_cmp_nlt_f32", cf32, 0},
	{81, "s_cmp_lt_f16", cf16, opText16},
	{82, "s_cmp_eq_f16", cf16, opText16},
	{83, "s_cmp_le_f16", cf16, opText16},
	{84, "s_cmp_gt_f16", cf16, opText16},
	{85, "s_cmp_lg_f16", cf16, opText16},
	{86, "s_cmp_ge_f16", cf16, opText16},
	{87, "s_cmp_o_f16", cf16, opText16},
	{88, "s_cmp_u_f16", cf16, opText16},
	{89, "s_cmp_nge_f16", cf16, opText16},
	{90, "s_cmp_nlg_f16", cf16, opText16},
	{91, "s_cmp_ngt_f16", cf16, opText16},
	{92, "s_cmp_nle_f16", cf16, opText16},
	{93, "s_cmp_neq_f16", cf16, opText16},
	{94, "s_cmp_nlt_f16", cf16, opText16},
})
