package isa

// LDSDIR: a vector register is loaded from local memory, at m0 or a pixel's
// parameter.
//
//	31:24 11001110 | 21:20 opcode | 19:16 wait_vdst | 15:10 attribute | 9:8 component | 7:0 vdst

// The fields of LDSDIR operands.
const (
	fLDSDst  Field = iota // bits 7:0
	fLDSAttr              // bits 15:8: the attribute times 4, plus the component
)

var ldsdir = table(LDSDIR, "", []row{
	{0, "lds_param_load", []Arg{{fLDSDst, B32, Write}, {fLDSAttr, NoType, Read}}, 0},
	{1, "lds_direct_load", []Arg{{fLDSDst, B32, Write}}, 0},
})

func decodeLDSDIR(d *decoder) {
	op := ldsdir[d.w0>>20&3]
	if op == nil || d.w0>>22&3 != 0 {
		d.unknown("reserved opcode of LDSDIR")
		return
	}
	d.in.Op = op
	d.in.Mods.Wait = uint8(d.w0 >> 16 & 0xf)
	d.vgpr(d.operand(Write), d.w0&0xff, B32)
	if len(op.Args) > 1 {
		o := d.operand(Read)
		o.Kind, o.Imm = Imm, d.w0>>8&0xff
	}
}

// appendLDSDir appends the text of LDSDIR.
func appendLDSDir(b []byte, in *Inst) []byte {
	b = append(append(b, in.Op.Name...), ' ')
	b = in.Operands[0].appendTo(b)
	if in.N > 1 {
		attr := in.Operands[1].Imm
		b = appendUint(append(b, ", attr"...), attr>>2)
		b = append(b, '.', "xyzw"[attr&3])
	}
	return appendUint(append(b, " wait_vdst:"...), uint32(in.Mods.Wait))
}
