package isa

// VOP3 with a scalar destination besides the vector one: a carry out, or the
// scaling mask of a division. Its number takes the place of abs and op_sel.
// The forms of VOP2's operations with carries are in vop2.go.
var vop3SD = []irregular{
	{0x2fc, "v_div_scale_f32", scaleArgs(F32), floatMods | OpNoDPP},
	{0x2fd, "v_div_scale_f64", scaleArgs(F64), floatMods},
	{0x2fe, "v_mad_u64_u32", wideMad(B64), OpClamp},
	{0x2ff, "v_mad_i64_i32", wideMad(I64), OpClamp},
	{0x300, "v_add_co_u32", carryOut, OpClamp},
	{0x301, "v_sub_co_u32", carryOut, OpClamp},
	{0x302, "v_subrev_co_u32", carryOut, OpClamp},
}

var carryOut = []Arg{{vdst, B32, Write}, {sdst2, Mask, Write}, {src0, B32, Read}, {src1, B32, Read}}

func scaleArgs(f Type) []Arg {
	return []Arg{{vdst, f, Write}, {sdst2, Mask, Write}, {src0, f, Read}, {src1, f, Read}, {src2, f, Read}}
}

func wideMad(sum Type) []Arg {
	return []Arg{{vdst, sum, Write}, {sdst2, Mask, Write}, {src0, B32, Read}, {src1, B32, Read}, {src2, sum, Read}}
}

func (o *Op) hasSDst2() bool { return len(o.Args) > 1 && o.Args[1].Field == sdst2 }
