package isa

// VOP1: one source and a destination, in one word. Opcode n is VOP3's 0x180+n
// too, unless the table of vop1Short has it.

// vop1ALU are the regular operations.
var vop1ALU = []alu{
	{0x1, "v_mov_b32", B32, sources(B32), 0},
	{0x3, "v_cvt_i32_f64", B32, sources(F64), floatMods},
	{0x4, "v_cvt_f64_i32", F64, sources(B32), floatMods},
	{0x5, "v_cvt_f32_i32", F32, sources(B32), floatMods},
	{0x6, "v_cvt_f32_u32", F32, sources(B32), floatMods},
	{0x7, "v_cvt_u32_f32", B32, sources(F32), floatMods},
	{0x8, "v_cvt_i32_f32", B32, sources(F32), floatMods},
	{0xa, "v_cvt_f16_f32", F16, sources(F32), halfMods},
	{0xb, "v_cvt_f32_f16", F32, sources(F16), halfMods},
	{0xc, "v_cvt_nearest_i32_f32", B32, sources(F32), OpClamp},
	{0xd, "v_cvt_floor_i32_f32", B32, sources(F32), OpClamp},
	{0xe, "v_cvt_off_f32_i4", B32, sources(B32), floatMods},
	{0xf, "v_cvt_f32_f64", F32, sources(F64), floatMods},
	{0x10, "v_cvt_f64_f32", F64, sources(F32), floatMods},
	{0x11, "v_cvt_f32_ubyte0", F32, sources(B32), floatMods},
	{0x12, "v_cvt_f32_ubyte1", F32, sources(B32), floatMods},
	{0x13, "v_cvt_f32_ubyte2", F32, sources(B32), floatMods},
	{0x14, "v_cvt_f32_ubyte3", F32, sources(B32), floatMods},
	{0x15, "v_cvt_u32_f64", B32, sources(F64), floatMods},
	{0x16, "v_cvt_f64_u32", F64, sources(B32), floatMods},
	{0x17, "v_trunc_f64", F64, sources(F64), floatMods},
	{0x18, "v_ceil_f64", F64, sources(F64), floatMods},
	{0x19, "v_rndne_f64", F64, sources(F64), floatMods},
	{0x1a, "v_floor_f64", F64, sources(F64), floatMods},
	{0x1c, "v_mov_b16", B16, sources(B16), OpSel | opStrict},
	{0x20, "v_fract_f32", F32, sources(F32), floatMods},
	{0x21, "v_trunc_f32", F32, sources(F32), floatMods},
	{0x22, "v_ceil_f32", F32, sources(F32), floatMods},
	{0x23, "v_rndne_f32", F32, sources(F32), floatMods},
	{0x24, "v_floor_f32", F32, sources(F32), floatMods},
	{0x25, "v_exp_f32", F32, sources(F32), floatMods},
	{0x27, "v_log_f32", F32, sources(F32), floatMods},
	{0x2a, "v_rcp_f32", F32, sources(F32), floatMods},
	{0x2b, "v_rcp_iflag_f32", F32, sources(F32), floatMods},
	{0x2e, "v_rsq_f32", F32, sources(F32), floatMods},
	{0x2f, "v_rcp_f64", F64, sources(F64), floatMods},
	{0x31, "v_rsq_f64", F64, sources(F64), floatMods},
	{0x33, "v_sqrt_f32", F32, sources(F32), floatMods},
	{0x34, "v_sqrt_f64", F64, sources(F64), floatMods},
	{0x35, "v_sin_f32", F32, sources(F32), floatMods},
	{0x36, "v_cos_f32", F32, sources(F32), floatMods},
	{0x37, "v_not_b32", B32, sources(B32), 0},
	{0x38, "v_bfrev_b32", B32, sources(B32), 0},
	{0x39, "v_clz_i32_u32", B32, sources(B32), 0},
	{0x3a, "v_ctz_i32_b32", B32, sources(B32), 0},
	{0x3b, "v_cls_i32", B32, sources(B32), 0},
	{0x3c, "v_frexp_exp_i32_f64", B32, sources(F64), floatMods},
	{0x3d, "v_frexp_mant_f64", F64, sources(F64), floatMods},
	{0x3e, "v_fract_f64", F64, sources(F64), floatMods},
	{0x3f, "v_frexp_exp_i32_f32", B32, sources(F32), OpClamp},
	{0x40, "v_frexp_mant_f32", F32, sources(F32), floatMods},
	{0x50, "v_cvt_f16_u16", F16, sources(B16), halfMods},
	{0x51, "v_cvt_f16_i16", F16, sources(B16), halfMods},
	{0x52, "v_cvt_u16_f16", B16, sources(F16), halfMods},
	{0x53, "v_cvt_i16_f16", B16, sources(F16), halfMods},
	{0x54, "v_rcp_f16", F16, sources(F16), halfMods},
	{0x55, "v_sqrt_f16", F16, sources(F16), halfMods},
	{0x56, "v_rsq_f16", F16, sources(F16), halfMods},
	{0x57, "v_log_f16", F16, sources(F16), halfMods},
	{0x58, "v_exp_f16", F16, sources(F16), halfMods},
	{0x59, "v_frexp_mant_f16", F16, sources(F16), halfMods},
	{0x5a, "v_frexp_exp_i16_f16", B16, sources(F16), halfMods},
	{0x5b, "v_floor_f16", F16, sources(F16), halfMods},
	{0x5c, "v_ceil_f16", F16, sources(F16), halfMods},
	{0x5d, "v_trunc_f16", F16, sources(F16), halfMods},
	{0x5e, "v_rndne_f16", F16, sources(F16), halfMods},
	{0x5f, "v_fract_f16", F16, sources(F16), halfMods},
	{0x60, "v_sin_f16", F16, sources(F16), halfMods},
	{0x61, "v_cos_f16", F16, sources(F16), halfMods},
	{0x62, "v_sat_pk_u8_i16", B16, sources(B32), OpSel},
	{0x63, "v_cvt_norm_i16_f16", B16, sources(F16), halfMods},
	{0x64, "v_cvt_norm_u16_f16", B16, sources(F16), halfMods},
	{0x69, "v_not_b16", B16, sources(B16), OpSel},
	{0x6a, "v_cvt_i32_i16", B32, sources(B16), OpSel},
	{0x6b, "v_cvt_u32_u16", B32, sources(B16), OpSel},
}

// vop1Move are the moves with a register number from m0. Their source is a
// vector register, but for the first.
var vop1Move = []struct {
	code int
	name string
	src  Field
}{
	{0x42, "v_movreld_b32", src0},
	{0x43, "v_movrels_b32", src0 | onlyV},
	{0x44, "v_movrelsd_b32", src0 | onlyV},
	{0x48, "v_movrelsd_2_b32", src0 | onlyV},
}

// vop1Short are those that only VOP1 has and the text gives no suffix.
var vop1Short = []struct {
	code int
	name string
	args []Arg
}{
	{0x02, "v_readfirstlane_b32", []Arg{{sdst | notM0, B32, Write}, {src0 | onlyVL, B32, Read}}},
	{0x65, "v_swap_b32", []Arg{{vdst, B32, Read | Write}, {src0 | onlyV, B32, Read | Write}}},
	{0x66, "v_swap_b16", []Arg{{vdst, B16, Read | Write}, {src0 | onlyV, B16, Read | Write}}},
	{0x67, "v_permlane64_b32", []Arg{{vdst, B32, Write}, {src0 | onlyV, B32, Read}}},
	{0x68, "v_swaprel_b32", []Arg{{vdst, B32, Read | Write}, {src0 | onlyV, B32, Read | Write}}},
}

// vop1Bare are those without operands.
var vop1Bare = []struct {
	code int
	name string
}{
	{0x00, "v_nop"},
	{0x1b, "v_pipeflush"},
}

var vop1Ops = makeVOP1()

func makeVOP1() []*Op {
	t := make([]*Op, opcodes[VOP1])
	for i := range vop1ALU {
		o := &vop1ALU[i]
		set(t, VOP1, o.code, o.name, "_e32", o.args(Write), o.flags)
	}
	for _, o := range vop1Move {
		set(t, VOP1, o.code, o.name, "_e32", []Arg{{vdst, B32, Write}, {o.src, B32, Read}}, 0)
	}
	for _, o := range vop1Short {
		set(t, VOP1, o.code, o.name, "", o.args, OpNoDPP)
	}
	for _, o := range vop1Bare {
		set(t, VOP1, o.code, o.name, "", nil, OpNoDPP)
	}
	return t
}

func decodeVOP1(d *decoder) {
	w := d.w0
	code := w >> 9 & 0xff
	if int(code) >= len(vop1Ops) || vop1Ops[code] == nil {
		d.unknown("reserved opcode of VOP1")
		return
	}
	d.in.Op = vop1Ops[code]
	if len(d.in.Op.Args) == 0 {
		if w>>17&0xff != 0 {
			d.unknown("a destination of an operation without operands")
		}
		return
	}
	f := vfields{vdst: w >> 17 & 0xff, short: true}
	f.src[0] = w & 0x1ff
	d.dpp(&f)
	d.vector(&f)
}
