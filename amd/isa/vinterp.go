package isa

// VINTERP: interpolation of a pixel's parameters, in two words. All operands are
// vector registers.
//
//	31:24 11001101 | 22:16 opcode | 15 clamp | 14:11 op_sel | 10:8 wait_exp | 7:0 vdst
//	63:61 neg | 58:50 src2 | 49:41 src1 | 40:32 src0

var vinterp = table(VINTERP, "", []row{
	{0, "v_interp_p10_f32", interpolate(F32, F32, F32), OpClamp},
	{1, "v_interp_p2_f32", interpolate(F32, F32, F32), OpClamp},
	{2, "v_interp_p10_f16_f32", interpolate(F32, F16, F16), OpClamp | OpSel},
	{3, "v_interp_p2_f16_f32", interpolate(F16, F16, F32), OpClamp | OpSel},
	{4, "v_interp_p10_rtz_f16_f32", interpolate(F32, F16, F16), OpClamp | OpSel},
	{5, "v_interp_p2_rtz_f16_f32", interpolate(F16, F16, F32), OpClamp | OpSel},
})

// interpolate is the operands of a step: the parameter's part, the coordinate
// (always F32) and what is added to.
func interpolate(dst, part, sum Type) []Arg {
	return []Arg{{vdst, dst, Write}, {src0 | onlyV, part, Read}, {src1 | onlyV, F32, Read}, {src2 | onlyV, sum, Read}}
}

func decodeVINTERP(d *decoder) {
	if !d.extend(2) {
		return
	}
	w, w1 := d.w0, d.w1
	op := vinterp[w>>16&0x7f]
	if op == nil {
		d.unknown("reserved opcode of VINTERP")
		return
	}
	d.in.Op = op
	m := &d.in.Mods
	f := vfields{
		vdst: w & 0xff,
		src:  [3]uint32{w1 & 0x1ff, w1 >> 9 & 0x1ff, w1 >> 18 & 0x1ff},
		neg:  w1 >> 29,
	}
	if op.Flags&OpSel != 0 {
		f.opsel = w >> 11 & 0xf
		m.OpSel = uint8(f.opsel)
	}
	for i := range f.src {
		if isHalf(op.Args[1+i].Type) {
			f.src[i] |= 256 // of a half, the highest bit is ignored
		}
	}
	m.Flags |= Flags(w>>15&1) * Clamp
	m.Wait = uint8(w >> 8 & 7)
	d.vector(&f)
}

// appendInterpolation appends the text of VINTERP.
func appendInterpolation(b []byte, in *Inst) []byte {
	b = appendOperation(b, in.Op.Name, in.Args())
	b = appendFlag(b, in.Mods.Flags, Clamp, " clamp")
	b = appendBits(b, " op_sel:", in.Mods.OpSel, 4, 0)
	return appendUint(append(b, " wait_exp:"...), uint32(in.Mods.Wait))
}
