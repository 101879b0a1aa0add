package isa

// DS: local and global data share.
//
//	31:26 110110 | 25:18 opcode | 17 gds | 15:8 offset1 | 7:0 offset0
//	63:56 vdst | 55:48 data1 | 47:40 data0 | 39:32 addr

// The fields of DS operands.
const (
	fDSDst   Field = iota // bits 63:56
	fDSAddr               // bits 39:32
	fDSData0              // bits 47:40
	fDSData1              // bits 55:48
)

// The flags of DS operations.
const (
	opTwoAddr OpFlags = 1 << (3 + iota) // two offsets, in elements
	opGDSOnly                           // gds must be set
	opLDSOnly                           // gds must not be set
)

func decodeDS(d *decoder) {
	op := ds[d.w0>>18&0xff]
	if op == nil {
		d.unknown("reserved DS opcode")
		return
	}
	d.in.Op = op
	if !d.extend(2) {
		return
	}
	gds := d.w0>>17&1 != 0
	if gds {
		d.in.Mods.Flags |= GDS
	}
	if gds && op.Flags&opLDSOnly != 0 || !gds && op.Flags&opGDSOnly != 0 {
		d.unknown("gds is not what the operation has")
	}
	if op.Flags&opTwoAddr != 0 {
		d.in.Mods.Offset0, d.in.Mods.Offset1 = uint8(d.w0), uint8(d.w0>>8)
	} else {
		d.in.Mods.Offset = int32(d.w0 & 0xffff)
	}
	unused := d.w1 // fields without an operand must be 0
	for i := range op.Args {
		a := &op.Args[i]
		shift := [...]uint{fDSDst: 24, fDSAddr: 0, fDSData0: 8, fDSData1: 16}[a.Field]
		d.vgpr(d.operand(a.Access), d.w1>>shift&0xff, a.Type)
		unused &^= 0xff << shift
	}
	if unused != 0 {
		d.unknown("a register that the DS operation does not have")
	}
}

// Operands of DS operations: the address, data, and the returned value.
var dsAddr = Arg{fDSAddr, B32, Read}

func dsOp(t Type) []Arg  { return []Arg{dsAddr, {fDSData0, t, Read}} }
func dsOp2(t Type) []Arg { return []Arg{dsAddr, {fDSData0, t, Read}, {fDSData1, t, Read}} }
func dsGet(t Type) []Arg { return []Arg{{fDSDst, t, Write}, dsAddr} }
func dsRtn(t Type) []Arg { return append([]Arg{{fDSDst, t, Write}}, dsOp(t)...) }

// dsRtn2 returns r, of two values of type t or of one.
func dsRtn2(r, t Type) []Arg { return append([]Arg{{fDSDst, r, Write}}, dsOp2(t)...) }

var (
	// A byte or a half keeps the other bits of the register.
	dsHalf = []Arg{{fDSDst, B32, Read | Write}, dsAddr}
	gsReg  = []Arg{{fDSDst, B64, Write}, {fDSData0, B32, Read}}
)

var ds = table(DS, "", []row{
	{0, "ds_add_u32", dsOp(B32), OpAtomic},
	{1, "ds_sub_u32", dsOp(B32), OpAtomic},
	{2, "ds_rsub_u32", dsOp(B32), OpAtomic},
	{3, "ds_inc_u32", dsOp(B32), OpAtomic},
	{4, "ds_dec_u32", dsOp(B32), OpAtomic},
	{5, "ds_min_i32", dsOp(B32), OpAtomic},
	{6, "ds_max_i32", dsOp(B32), OpAtomic},
	{7, "ds_min_u32", dsOp(B32), OpAtomic},
	{8, "ds_max_u32", dsOp(B32), OpAtomic},
	{9, "ds_and_b32", dsOp(B32), OpAtomic},
	{10, "ds_or_b32", dsOp(B32), OpAtomic},
	{11, "ds_xor_b32", dsOp(B32), OpAtomic},
	{12, "ds_mskor_b32", dsOp2(B32), OpAtomic},
	{13, "ds_store_b32", dsOp(B32), 0},
	{14, "ds_store_2addr_b32", dsOp2(B32), opTwoAddr},
	{15, "ds_store_2addr_stride64_b32", dsOp2(B32), opTwoAddr},
	{16, "ds_cmpstore_b32", dsOp2(B32), OpAtomic},
	{17, "ds_cmpstore_f32", dsOp2(F32), OpAtomic},
	{18, "ds_min_f32", dsOp(F32), OpAtomic},
	{19, "ds_max_f32", dsOp(F32), OpAtomic},
	{21, "ds_add_f32", dsOp(F32), OpAtomic},
	{24, "ds_gws_sema_release_all", nil, opGDSOnly},
	{25, "ds_gws_init", []Arg{dsAddr}, opGDSOnly},
	{26, "ds_gws_sema_v", nil, opGDSOnly},
	{27, "ds_gws_sema_br", []Arg{dsAddr}, opGDSOnly},
	{28, "ds_gws_sema_p", nil, opGDSOnly},
	{29, "ds_gws_barrier", []Arg{dsAddr}, opGDSOnly},
	{30, "ds_store_b8", dsOp(B32), 0},
	{31, "ds_store_b16", dsOp(B32), 0},
	{32, "ds_add_rtn_u32", dsRtn(B32), OpAtomic},
	{33, "ds_sub_rtn_u32", dsRtn(B32), OpAtomic},
	{34, "ds_rsub_rtn_u32", dsRtn(B32), OpAtomic},
	{35, "ds_inc_rtn_u32", dsRtn(B32), OpAtomic},
	{36, "ds_dec_rtn_u32", dsRtn(B32), OpAtomic},
	{37, "ds_min_rtn_i32", dsRtn(B32), OpAtomic},
	{38, "ds_max_rtn_i32", dsRtn(B32), OpAtomic},
	{39, "ds_min_rtn_u32", dsRtn(B32), OpAtomic},
	{40, "ds_max_rtn_u32", dsRtn(B32), OpAtomic},
	{41, "ds_and_rtn_b32", dsRtn(B32), OpAtomic},
	{42, "ds_or_rtn_b32", dsRtn(B32), OpAtomic},
	{43, "ds_xor_rtn_b32", dsRtn(B32), OpAtomic},
	{44, "ds_mskor_rtn_b32", dsRtn2(B32, B32), OpAtomic},
	{45, "ds_storexchg_rtn_b32", dsRtn(B32), OpAtomic},
	{46, "ds_storexchg_2addr_rtn_b32", dsRtn2(B64, B32), OpAtomic | opTwoAddr},
	{47, "ds_storexchg_2addr_stride64_rtn_b32", dsRtn2(B64, B32), OpAtomic | opTwoAddr},
	{48, "ds_cmpstore_rtn_b32", dsRtn2(B32, B32), OpAtomic},
	{49, "ds_cmpstore_rtn_f32", dsRtn2(F32, F32), OpAtomic},
	{50, "ds_min_rtn_f32", dsRtn(F32), OpAtomic},
	{51, "ds_max_rtn_f32", dsRtn(F32), OpAtomic},
	{52, "ds_wrap_rtn_b32", dsRtn2(B32, B32), OpAtomic},
	{53, "ds_swizzle_b32", dsGet(B32), 0},
	{54, "ds_load_b32", dsGet(B32), 0},
	{55, "ds_load_2addr_b32", dsGet(B64), opTwoAddr},
	{56, "ds_load_2addr_stride64_b32", dsGet(B64), opTwoAddr},
	{57, "ds_load_i8", dsGet(B32), 0},
	{58, "ds_load_u8", dsGet(B32), 0},
	{59, "ds_load_i16", dsGet(B32), 0},
	{60, "ds_load_u16", dsGet(B32), 0},
	{61, "ds_consume", []Arg{{fDSDst, B32, Write}}, OpAtomic},
	{62, "ds_append", []Arg{{fDSDst, B32, Write}}, OpAtomic},
	{63, "ds_ordered_count", dsGet(B32), opGDSOnly},
	{64, "ds_add_u64", dsOp(B64), OpAtomic},
	{65, "ds_sub_u64", dsOp(B64), OpAtomic},
	{66, "ds_rsub_u64", dsOp(B64), OpAtomic},
	{67, "ds_inc_u64", dsOp(B64), OpAtomic},
	{68, "ds_dec_u64", dsOp(B64), OpAtomic},
	{69, "ds_min_i64", dsOp(B64), OpAtomic},
	{70, "ds_max_i64", dsOp(B64), OpAtomic},
	{71, "ds_min_u64", dsOp(B64), OpAtomic},
	{72, "ds_max_u64", dsOp(B64), OpAtomic},
	{73, "ds_and_b64", dsOp(B64), OpAtomic},
	{74, "ds_or_b64", dsOp(B64), OpAtomic},
	{75, "ds_xor_b64", dsOp(B64), OpAtomic},
	{76, "ds_mskor_b64", dsOp2(B64), OpAtomic},
	{77, "ds_store_b64", dsOp(B64), 0},
	{78, "ds_store_2addr_b64", dsOp2(B64), opTwoAddr},
	{79, "ds_store_2addr_stride64_b64", dsOp2(B64), opTwoAddr},
	{80, "ds_cmpstore_b64", dsOp2(B64), OpAtomic},
	{81, "ds_cmpstore_f64", dsOp2(F64), OpAtomic},
	{82, "ds_min_f64", dsOp(F64), OpAtomic},
	{83, "ds_max_f64", dsOp(F64), OpAtomic},
	{96, "ds_add_rtn_u64", dsRtn(B64), OpAtomic},
	{97, "ds_sub_rtn_u64", dsRtn(B64), OpAtomic},
	{98, "ds_rsub_rtn_u64", dsRtn(B64), OpAtomic},
	{99, "ds_inc_rtn_u64", dsRtn(B64), OpAtomic},
	{100, "ds_dec_rtn_u64", dsRtn(B64), OpAtomic},
	{101, "ds_min_rtn_i64", dsRtn(B64), OpAtomic},
	{102, "ds_max_rtn_i64", dsRtn(B64), OpAtomic},
	{103, "ds_min_rtn_u64", dsRtn(B64), OpAtomic},
	{104, "ds_max_rtn_u64", dsRtn(B64), OpAtomic},
	{105, "ds_and_rtn_b64", dsRtn(B64), OpAtomic},
	{106, "ds_or_rtn_b64", dsRtn(B64), OpAtomic},
	{107, "ds_xor_rtn_b64", dsRtn(B64), OpAtomic},
	{108, "ds_mskor_rtn_b64", dsRtn2(B64, B64), OpAtomic},
	{109, "ds_storexchg_rtn_b64", dsRtn(B64), OpAtomic},
	{110, "ds_storexchg_2addr_rtn_b64", dsRtn2(B128, B64), OpAtomic | opTwoAddr},
	{111, "ds_storexchg_2addr_stride64_rtn_b64", dsRtn2(B128, B64), OpAtomic | opTwoAddr},
	{112, "ds_cmpstore_rtn_b64", dsRtn2(B64, B64), OpAtomic},
	{113, "ds_cmpstore_rtn_f64", dsRtn2(F64, F64), OpAtomic},
	{114, "ds_min_rtn_f64", dsRtn(F64), OpAtomic},
	{115, "ds_max_rtn_f64", dsRtn(F64), OpAtomic},
	{118, "ds_load_b64", dsGet(B64), 0},
	{119, "ds_load_2addr_b64", dsGet(B128), opTwoAddr},
	{120, "ds_load_2addr_stride64_b64", dsGet(B128), opTwoAddr},
	{121, "ds_add_rtn_f32", dsRtn(F32), OpAtomic},
	{122, "ds_add_gs_reg_rtn", gsReg, opGDSOnly},
	{123, "ds_sub_gs_reg_rtn", gsReg, opGDSOnly},
	{126, "ds_condxchg32_rtn_b64", dsRtn(B64), OpAtomic},
	{160, "ds_store_b8_d16_hi", dsOp(B32), 0},
	{161, "ds_store_b16_d16_hi", dsOp(B32), 0},
	{162, "ds_load_u8_d16", dsHalf, 0},
	{163, "ds_load_u8_d16_hi", dsHalf, 0},
	{164, "ds_load_i8_d16", dsHalf, 0},
	{165, "ds_load_i8_d16_hi", dsHalf, 0},
	{166, "ds_load_u16_d16", dsHalf, 0},
	{167, "ds_load_u16_d16_hi", dsHalf, 0},
	{173, "ds_bvh_stack_rtn_b32", []Arg{
		{fDSDst, B32, Write},
		{fDSAddr, B32, Read | Write},
		{fDSData0, B32, Read},
		{fDSData1, B128, Read},
	}, opLDSOnly},
	{176, "ds_store_addtid_b32", []Arg{{fDSData0, B32, Read}}, 0},
	{177, "ds_load_addtid_b32", []Arg{{fDSDst, B32, Write}}, 0},
	{178, "ds_permute_b32", dsRtn(B32), opLDSOnly},
	{179, "ds_bpermute_b32", dsRtn(B32), opLDSOnly},
	{222, "ds_store_b96", dsOp(B96), 0},
	{223, "ds_store_b128", dsOp(B128), 0},
	{254, "ds_load_b96", dsGet(B96), 0},
	{255, "ds_load_b128", dsGet(B128), 0},
})
