package isa

// VOP2: two sources and a destination, in one word; the second source is a
// vector register. Opcode n is VOP3's 0x100+n too, unless it always has a
// literal or is in vop2Short.

// vop2ALU are the regular operations.
var vop2ALU = []alu{
	{0x3, "v_add_f32", F32, sources(F32, F32), floatMods},
	{0x4, "v_sub_f32", F32, sources(F32, F32), floatMods},
	{0x5, "v_subrev_f32", F32, sources(F32, F32), floatMods},
	{0x7, "v_mul_dx9_zero_f32", F32, sources(F32, F32), floatMods},
	{0x8, "v_mul_f32", F32, sources(F32, F32), floatMods},
	{0x9, "v_mul_i32_i24", B32, sources(B32, B32), OpClamp},
	{0xa, "v_mul_hi_i32_i24", B32, sources(B32, B32), 0},
	{0xb, "v_mul_u32_u24", B32, sources(B32, B32), OpClamp},
	{0xc, "v_mul_hi_u32_u24", B32, sources(B32, B32), 0},
	{0xf, "v_min_f32", F32, sources(F32, F32), floatMods},
	{0x10, "v_max_f32", F32, sources(F32, F32), floatMods},
	{0x11, "v_min_i32", B32, sources(B32, B32), 0},
	{0x12, "v_max_i32", B32, sources(B32, B32), 0},
	{0x13, "v_min_u32", B32, sources(B32, B32), 0},
	{0x14, "v_max_u32", B32, sources(B32, B32), 0},
	{0x18, "v_lshlrev_b32", B32, sources(B32, B32), 0},
	{0x19, "v_lshrrev_b32", B32, sources(B32, B32), 0},
	{0x1a, "v_ashrrev_i32", B32, sources(B32, B32), 0},
	{0x1b, "v_and_b32", B32, sources(B32, B32), 0},
	{0x1c, "v_or_b32", B32, sources(B32, B32), 0},
	{0x1d, "v_xor_b32", B32, sources(B32, B32), 0},
	{0x1e, "v_xnor_b32", B32, sources(B32, B32), 0},
	{0x25, "v_add_nc_u32", B32, sources(B32, B32), OpClamp},
	{0x26, "v_sub_nc_u32", B32, sources(B32, B32), OpClamp},
	{0x27, "v_subrev_nc_u32", B32, sources(B32, B32), OpClamp},
	{0x2f, "v_cvt_pk_rtz_f16_f32", V2F16, sources(F32, F32), floatMods},
	{0x32, "v_add_f16", F16, sources(F16, F16), halfMods},
	{0x33, "v_sub_f16", F16, sources(F16, F16), halfMods},
	{0x34, "v_subrev_f16", F16, sources(F16, F16), halfMods},
	{0x35, "v_mul_f16", F16, sources(F16, F16), halfMods},
	{0x39, "v_max_f16", F16, sources(F16, F16), halfMods},
	{0x3a, "v_min_f16", F16, sources(F16, F16), halfMods},
	{0x3b, "v_ldexp_f16", F16, sources(F16, B16), halfMods | opIgnore},
}

// vop2Acc are those that add to the destination.
var vop2Acc = []alu{
	{0x06, "v_fmac_dx9_zero_f32", F32, sources(F32, F32), floatMods | OpNoDPP},
	{0x2b, "v_fmac_f32", F32, sources(F32, F32), floatMods},
	{0x36, "v_fmac_f16", F16, sources(F16, F16), halfMods},
}

// vop2Short are those with packed sources that only VOP2 has; the text gives
// them no suffix. They add to the destination.
var vop2Short = []alu{
	{0x02, "v_dot2acc_f32_f16", F32, sources(V2F16, V2F16), 0},
	{0x3c, "v_pk_fmac_f16", V2F16, sources(V2F16, V2F16), OpNoDPP},
}

// vop2Carry are those with a carry in and a carry out, which are vcc in VOP2
// and any scalar registers in VOP3.
var vop2Carry = []struct {
	code int
	name string
}{
	{0x20, "v_add_co_ci_u32"},
	{0x21, "v_sub_co_ci_u32"},
	{0x22, "v_subrev_co_ci_u32"},
}

// The operands of v_cndmask_b32 and of the operations with carries.
var (
	cndmaskE32 = []Arg{{vdst, B32, Write}, {src0, F32, Read}, {src1, F32, Read}, {vccIO, Mask, Read}}
	cndmaskE64 = []Arg{{vdst, B32, Write}, {src0, F32, Read}, {src1, F32, Read}, {src2 | onlyM, Mask, Read}}
	carryE32   = []Arg{{vdst, B32, Write}, {vccIO, Mask, Write}, {src0, B32, Read}, {src1, B32, Read}, {vccIO, Mask, Read}}
	carryE64   = []Arg{{vdst, B32, Write}, {sdst2, Mask, Write}, {src0, B32, Read}, {src1, B32, Read}, {src2 | onlyM, Mask, Read}}
)

var vop2Ops = makeVOP2()

func makeVOP2() []*Op {
	t := make([]*Op, opcodes[VOP2])
	for i := range vop2ALU {
		o := &vop2ALU[i]
		set(t, VOP2, o.code, o.name, "_e32", o.args(Write), o.flags)
	}
	for i := range vop2Acc {
		o := &vop2Acc[i]
		set(t, VOP2, o.code, o.name, "_e32", o.args(Read|Write), o.flags)
	}
	for i := range vop2Short {
		o := &vop2Short[i]
		set(t, VOP2, o.code, o.name, "", o.args(Read|Write), o.flags)
	}
	for _, o := range vop2Carry {
		set(t, VOP2, o.code, o.name, "_e32", carryE32, OpClamp)
	}
	set(t, VOP2, 0x01, "v_cndmask_b32", "_e32", cndmaskE32, 0)
	mk := func(f Type) []Arg { return []Arg{{vdst, f, Write}, {src0, f, Read}, {litK, f, Read}, {src1, f, Read}} }
	ak := func(f Type) []Arg { return []Arg{{vdst, f, Write}, {src0, f, Read}, {src1, f, Read}, {litK, f, Read}} }
	set(t, VOP2, 0x2c, "v_fmamk_f32", "", mk(F32), OpNoDPP|OpLiteral)
	set(t, VOP2, 0x2d, "v_fmaak_f32", "", ak(F32), OpNoDPP|OpLiteral)
	set(t, VOP2, 0x37, "v_fmamk_f16", "", mk(F16), OpNoDPP|OpLiteral)
	set(t, VOP2, 0x38, "v_fmaak_f16", "", ak(F16), OpNoDPP|OpLiteral)
	return t
}

func decodeVOP2(d *decoder) {
	w := d.w0
	op := vop2Ops[w>>25&0x3f]
	if op == nil {
		d.unknown("reserved opcode of VOP2")
		return
	}
	d.in.Op = op
	f := vfields{vdst: w >> 17 & 0xff, short: true}
	f.src[0], f.src[1] = w&0x1ff, 256+(w>>9&0xff)
	d.dpp(&f)
	d.vector(&f)
}
