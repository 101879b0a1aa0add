package isa

// VOP3: up to three sources of any kind and modifiers, in two words. It has the
// operations of VOPC, VOP1 and VOP2 under opcodes below 0x200, and its own,
// which are in vop3_ops.go and vop3sd.go.

var vop3Ops = makeVOP3()

func makeVOP3() []*Op {
	t := makeVOPC(VOP3, "_e64", Arg{sdst, Mask, Write})
	short := func(base int, ops []alu, dst Access) {
		for i := range ops {
			o := &ops[i]
			set(t, VOP3, base+o.code, o.name, "_e64", o.args(dst), o.flags)
		}
	}
	short(0x100, vop2ALU, Write)
	short(0x100, vop2Acc, Read|Write)
	short(0x180, vop1ALU, Write)
	for _, o := range vop1Move {
		set(t, VOP3, 0x180+o.code, o.name, "_e64", []Arg{{vdst, B32, Write}, {o.src, B32, Read}}, 0)
	}
	for _, o := range vop1Bare {
		set(t, VOP3, 0x180+o.code, o.name, "", nil, OpNoDPP)
	}
	for _, o := range vop2Carry {
		set(t, VOP3, 0x100+o.code, o.name, "_e64", carryE64, OpClamp)
	}
	set(t, VOP3, 0x101, "v_cndmask_b32", "_e64", cndmaskE64, 0)
	for i := range vop3ALU {
		o := &vop3ALU[i]
		set(t, VOP3, o.code, o.name, "", o.args(Write), o.flags)
	}
	for _, ops := range [][]irregular{vop3Lane, vop3SD} {
		for _, o := range ops {
			set(t, VOP3, o.code, o.name, "", o.args, o.flags)
		}
	}
	return t
}

// irregular is an operation with operands of its own kinds.
type irregular struct {
	code  int
	name  string
	args  []Arg
	flags OpFlags
}

func decodeVOP3(d *decoder) {
	if !d.extend(2) {
		return
	}
	w, w1 := d.w0, d.w1
	op := vop3Ops[w>>16&0x3ff]
	if op == nil {
		d.unknown("reserved opcode of VOP3")
		return
	}
	d.in.Op = op
	f := vfields{
		vdst: w & 0xff,
		src:  [3]uint32{w1 & 0x1ff, w1 >> 9 & 0x1ff, w1 >> 18 & 0x1ff},
		neg:  w1 >> 29,
	}
	if op.hasSDst2() {
		f.sdst = w >> 8 & 0x7f // in place of abs and op_sel
	} else {
		f.abs, f.opsel = w>>8&7, w>>11&0xf
	}
	if len(op.Args) == 0 && f.vdst != 0 {
		d.unknown("a destination of an operation without operands")
	}
	d.decodeOpSel(&f)
	d.modBits(&f, w>>15&1 != 0, w1>>27&3)
	if len(op.Args) > 0 {
		d.dpp(&f)
	}
	d.vector(&f)
}
