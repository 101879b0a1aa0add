package isa

// imgArgs is the operands of an operation: its data, address and descriptor.
func imgArgs(t Type, access Access) []Arg {
	return []Arg{{fImgData, t, access}, {fImgAddr, NoType, Read}, {fImgRsrc, B256, Read}}
}

// The operands of the kinds of image operations. The type of data is that of an
// atomic's least, for the others dmask says how much there is.
var (
	imgLoaded  = imgArgs(B32, Write)
	imgStored  = imgArgs(B32, Read)
	imgChanged = imgArgs(B32, Read|Write)
	imgSwapped = imgArgs(B64, Read|Write)
	imgSampled = append(imgArgs(B32, Write), Arg{fImgSamp, B128, Read})
	imgTraced  = []Arg{{fImgData, B32, Write}, {fImgAddr, NoType, Read}, {fImgRsrc, B128, Read}}
)

var mimg = table(MIMG, "", []row{
	{0, "image_load", imgLoaded, 0},
	{1, "image_load_mip", imgLoaded, imgLevel},
	{2, "image_load_pck", imgLoaded, imgNoD16},
	{3, "image_load_pck_sgn", imgLoaded, imgNoD16},
	{4, "image_load_mip_pck", imgLoaded, imgLevel | imgNoD16},
	{5, "image_load_mip_pck_sgn", imgLoaded, imgLevel | imgNoD16},
	{6, "image_store", imgStored, 0},
	{7, "image_store_mip", imgStored, imgLevel},
	{8, "image_store_pck", imgStored, imgNoD16},
	{9, "image_store_mip_pck", imgStored, imgLevel | imgNoD16},
	{10, "image_atomic_swap", imgChanged, OpAtomic | imgNoD16},
	{11, "image_atomic_cmpswap", imgSwapped, OpAtomic | imgNoD16},
	{12, "image_atomic_add", imgChanged, OpAtomic | imgNoD16},
	{13, "image_atomic_sub", imgChanged, OpAtomic | imgNoD16},
	{14, "image_atomic_smin", imgChanged, OpAtomic | imgNoD16},
	{15, "image_atomic_umin", imgChanged, OpAtomic | imgNoD16},
	{16, "image_atomic_smax", imgChanged, OpAtomic | imgNoD16},
	{17, "image_atomic_umax", imgChanged, OpAtomic | imgNoD16},
	{18, "image_atomic_and", imgChanged, OpAtomic | imgNoD16},
	{19, "image_atomic_or", imgChanged, OpAtomic | imgNoD16},
	{20, "image_atomic_xor", imgChanged, OpAtomic | imgNoD16},
	{21, "image_atomic_inc", imgChanged, OpAtomic | imgNoD16},
	{22, "image_atomic_dec", imgChanged, OpAtomic | imgNoD16},
	{23, "image_get_resinfo", imgLoaded, imgSize | imgLevel | imgNoD16},
	{24, "image_msaa_load", imgLoaded, imgGather},
	{25, "image_bvh_intersect_ray", imgTraced, imgRay | imgNoD16},
	{26, "image_bvh64_intersect_ray", imgTraced, imgRay64 | imgNoD16},
	{27, "image_sample", imgSampled, 0},
	{28, "image_sample_d", imgSampled, imgGrad},
	{29, "image_sample_l", imgSampled, imgLevel},
	{30, "image_sample_b", imgSampled, imgBias},
	{31, "image_sample_lz", imgSampled, 0},
	{32, "image_sample_c", imgSampled, imgCompare},
	{33, "image_sample_c_d", imgSampled, imgCompare | imgGrad},
	{34, "image_sample_c_l", imgSampled, imgCompare | imgLevel},
	{35, "image_sample_c_b", imgSampled, imgBias | imgCompare},
	{36, "image_sample_c_lz", imgSampled, imgCompare},
	{37, "image_sample_o", imgSampled, imgOffset},
	{38, "image_sample_d_o", imgSampled, imgOffset | imgGrad},
	{39, "image_sample_l_o", imgSampled, imgOffset | imgLevel},
	{40, "image_sample_b_o", imgSampled, imgOffset | imgBias},
	{41, "image_sample_lz_o", imgSampled, imgOffset},
	{42, "image_sample_c_o", imgSampled, imgOffset | imgCompare},
	{43, "image_sample_c_d_o", imgSampled, imgOffset | imgCompare | imgGrad},
	{44, "image_sample_c_l_o", imgSampled, imgOffset | imgCompare | imgLevel},
	{45, "image_sample_c_b_o", imgSampled, imgOffset | imgBias | imgCompare},
	{46, "image_sample_c_lz_o", imgSampled, imgOffset | imgCompare},
	{47, "image_gather4", imgSampled, imgGather},
	{48, "image_gather4_l", imgSampled, imgGather | imgLevel},
	{49, "image_gather4_b", imgSampled, imgGather | imgBias},
	{50, "image_gather4_lz", imgSampled, imgGather},
	{51, "image_gather4_c", imgSampled, imgGather | imgCompare},
	{52, "image_gather4_c_lz", imgSampled, imgGather | imgCompare},
	{53, "image_gather4_o", imgSampled, imgGather | imgOffset},
	{54, "image_gather4_lz_o", imgSampled, imgGather | imgOffset},
	{55, "image_gather4_c_lz_o", imgSampled, imgGather | imgOffset | imgCompare},
	{56, "image_get_lod", imgSampled, imgNoD16},
	{57, "image_sample_d_g16", imgSampled, imgGrad16},
	{58, "image_sample_c_d_g16", imgSampled, imgCompare | imgGrad16},
	{59, "image_sample_d_o_g16", imgSampled, imgOffset | imgGrad16},
	{60, "image_sample_c_d_o_g16", imgSampled, imgOffset | imgCompare | imgGrad16},
	{64, "image_sample_cl", imgSampled, imgLevel},
	{65, "image_sample_d_cl", imgSampled, imgGrad | imgLevel},
	{66, "image_sample_b_cl", imgSampled, imgBias | imgLevel},
	{67, "image_sample_c_cl", imgSampled, imgCompare | imgLevel},
	{68, "image_sample_c_d_cl", imgSampled, imgCompare | imgGrad | imgLevel},
	{69, "image_sample_c_b_cl", imgSampled, imgBias | imgCompare | imgLevel},
	{70, "image_sample_cl_o", imgSampled, imgOffset | imgLevel},
	{71, "image_sample_d_cl_o", imgSampled, imgOffset | imgGrad | imgLevel},
	{72, "image_sample_b_cl_o", imgSampled, imgOffset | imgBias | imgLevel},
	{73, "image_sample_c_cl_o", imgSampled, imgOffset | imgCompare | imgLevel},
	{74, "image_sample_c_d_cl_o", imgSampled, imgOffset | imgCompare | imgGrad | imgLevel},
	{75, "image_sample_c_b_cl_o", imgSampled, imgOffset | imgBias | imgCompare | imgLevel},
	{84, "image_sample_c_d_cl_g16", imgSampled, imgCompare | imgGrad16 | imgLevel},
	{85, "image_sample_d_cl_o_g16", imgSampled, imgOffset | imgGrad16 | imgLevel},
	{86, "image_sample_c_d_cl_o_g16", imgSampled, imgOffset | imgCompare | imgGrad16 | imgLevel},
	{95, "image_sample_d_cl_g16", imgSampled, imgGrad16 | imgLevel},
	{96, "image_gather4_cl", imgSampled, imgGather | imgLevel},
	{97, "image_gather4_b_cl", imgSampled, imgGather | imgBias | imgLevel},
	{98, "image_gather4_c_cl", imgSampled, imgGather | imgCompare | imgLevel},
	{99, "image_gather4_c_l", imgSampled, imgGather | imgCompare | imgLevel},
	{100, "image_gather4_c_b", imgSampled, imgGather | imgBias | imgCompare},
	{101, "image_gather4_c_b_cl", imgSampled, imgGather | imgBias | imgCompare | imgLevel},
	{144, "image_gather4h", imgSampled, imgGather},
})
