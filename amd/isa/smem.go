package isa

// SMEM: scalar loads, and the scalar cache operations.
//
//	31:26 111101 | 25:18 opcode | 14 glc | 13 dlc | 12:6 sdata | 5:0 sbase/2
//	63:57 soffset | 52:32 offset, signed

// The fields of SMEM operands.
const (
	fSData Field = iota // bits 12:6
	fSBase              // an even register
	fProbe              // sdata as a number: the kind of a probe
	fSOff               // soffset, or the offset if that is null
)

func decodeSMEM(d *decoder) {
	op := smem[d.w0>>18&0xff]
	if op == nil {
		d.unknown("reserved SMEM opcode")
		return
	}
	d.in.Op = op
	if !d.extend(2) {
		return
	}
	glcdlc := d.w0>>13&1 | d.w0>>14&1
	if glcdlc != 0 && op.Code >= 32 {
		d.unknown("glc or dlc, which only loads have")
	}
	if len(op.Args) == 0 {
		return
	}
	d.in.Mods.Flags |= Flags(d.w0>>14&1)*GLC | Flags(d.w0>>13&1)*DLC
	offset := int32(d.w1<<11) >> 11
	d.in.Mods.Offset = offset
	for i := range op.Args {
		a := &op.Args[i]
		o := d.operand(a.Access)
		switch a.Field {
		case fSData:
			d.ssrc(o, d.w0>>6&0x7f, a.Type)
			if o.Kind == Special && (o.Reg == RegM0 || o.Reg == RegExecLo || o.Reg == RegExecHi) {
				d.unknown("m0 or exec as the destination of a load")
			}
		case fProbe:
			o.Kind, o.Imm = Imm, d.w0>>6&0x7f
		case fSBase:
			d.ssrc(o, d.w0&0x3f<<1, a.Type)
		case fSOff:
			d.ssrc(o, d.w1>>25, a.Type)
		}
	}
}

var (
	sOff   = Arg{fSOff, B32, Read}
	sAddr  = Arg{fSBase, B64, Read}
	sRsrc  = Arg{fSBase, B128, Read}
	sProbe = Arg{fProbe, NoType, Read}
)

func sLoad(t Type, base Arg) []Arg { return []Arg{{fSData, t, Write}, base, sOff} }

var smem = table(SMEM, "", []row{
	{0, "s_load_b32", sLoad(B32, sAddr), 0},
	{1, "s_load_b64", sLoad(B64, sAddr), 0},
	{2, "s_load_b128", sLoad(B128, sAddr), 0},
	{3, "s_load_b256", sLoad(B256, sAddr), 0},
	{4, "s_load_b512", sLoad(B512, sAddr), 0},
	{8, "s_buffer_load_b32", sLoad(B32, sRsrc), 0},
	{9, "s_buffer_load_b64", sLoad(B64, sRsrc), 0},
	{10, "s_buffer_load_b128", sLoad(B128, sRsrc), 0},
	{11, "s_buffer_load_b256", sLoad(B256, sRsrc), 0},
	{12, "s_buffer_load_b512", sLoad(B512, sRsrc), 0},
	{32, "s_gl1_inv", nil, 0},
	{33, "s_dcache_inv", nil, 0},
	{34, "s_atc_probe", []Arg{sProbe, sAddr, sOff}, 0},
	{35, "s_atc_probe_buffer", []Arg{sProbe, sRsrc, sOff}, 0},
})
