package isa

// VOP3P: packed operations on two halves, dot products and matrix products
// (WMMA), in two words. op_sel and op_sel_hi say which half of each source goes
// into the low and the high result, neg_lo and neg_hi negate them (in integer
// dot products they say which sources are signed).

var vop3pALU = []alu{
	{0x00, "v_pk_mad_i16", V2B16, sources(V2B16, V2B16, V2B16), OpClamp | OpNoDPP},
	{0x01, "v_pk_mul_lo_u16", V2B16, sources(V2B16, V2B16), OpClamp | OpNoDPP},
	{0x02, "v_pk_add_i16", V2B16, sources(V2B16, V2B16), OpClamp | OpNoDPP},
	{0x03, "v_pk_sub_i16", V2B16, sources(V2B16, V2B16), OpClamp | OpNoDPP},
	{0x04, "v_pk_lshlrev_b16", V2B16, sources(V2B16, V2B16), OpClamp | OpNoDPP},
	{0x05, "v_pk_lshrrev_b16", V2B16, sources(V2B16, V2B16), OpClamp | OpNoDPP},
	{0x06, "v_pk_ashrrev_i16", V2B16, sources(V2B16, V2B16), OpClamp | OpNoDPP},
	{0x07, "v_pk_max_i16", V2B16, sources(V2B16, V2B16), OpClamp | OpNoDPP},
	{0x08, "v_pk_min_i16", V2B16, sources(V2B16, V2B16), OpClamp | OpNoDPP},
	{0x09, "v_pk_mad_u16", V2B16, sources(V2B16, V2B16, V2B16), OpClamp | OpNoDPP},
	{0x0a, "v_pk_add_u16", V2B16, sources(V2B16, V2B16), OpClamp | OpNoDPP},
	{0x0b, "v_pk_sub_u16", V2B16, sources(V2B16, V2B16), OpClamp | OpNoDPP},
	{0x0c, "v_pk_max_u16", V2B16, sources(V2B16, V2B16), OpClamp | OpNoDPP},
	{0x0d, "v_pk_min_u16", V2B16, sources(V2B16, V2B16), OpClamp | OpNoDPP},
	{0x0e, "v_pk_fma_f16", V2F16, sources(V2F16, V2F16, V2F16), OpClamp | OpNoDPP},
	{0x0f, "v_pk_add_f16", V2F16, sources(V2F16, V2F16), OpClamp | OpNoDPP},
	{0x10, "v_pk_mul_f16", V2F16, sources(V2F16, V2F16), OpClamp | OpNoDPP},
	{0x11, "v_pk_min_f16", V2F16, sources(V2F16, V2F16), OpClamp | OpNoDPP},
	{0x12, "v_pk_max_f16", V2F16, sources(V2F16, V2F16), OpClamp | OpNoDPP},
	{0x13, "v_dot2_f32_f16", F32, sources(V2F16, V2F16, F32), OpClamp},
	{0x16, "v_dot4_i32_iu8", B32, sources(B32, B32, B32), OpClamp | OpNoDPP | opStrict},
	{0x17, "v_dot4_u32_u8", B32, sources(B32, B32, B32), OpClamp | OpNoDPP | opStrict},
	{0x18, "v_dot8_i32_iu4", B32, sources(B32, B32, B32), OpClamp | OpNoDPP | opStrict},
	{0x19, "v_dot8_u32_u4", B32, sources(B32, B32, B32), OpClamp | OpNoDPP | opStrict},
	{0x1a, "v_dot2_f32_bf16", F32, sources(V2BF16, V2BF16, F32), OpClamp},
}

// vop3pMix are the multiply-adds whose sources are each a float, or a half that
// op_sel_hi marks and op_sel chooses. Constants are read as halves. The result
// of mixlo and mixhi is one half of the destination.
var vop3pMix = []alu{
	{0x20, "v_fma_mix_f32", F32, nil, OpClamp | opMix},
	{0x21, "v_fma_mixlo_f16", B32, nil, OpClamp | opMix},
	{0x22, "v_fma_mixhi_f16", B32, nil, OpClamp | opMix},
}

// wmmaOps are the matrix products of 16x16x16 elements: D = A*B + C. factor is
// the type of A and B; C and D are 8 registers in wave32 and 4 in wave64.
var wmmaOps = []struct {
	code   int
	name   string
	factor Type
	flags  OpFlags
}{
	{0x40, "v_wmma_f32_16x16x16_f16", B256, opStrict},
	{0x41, "v_wmma_f32_16x16x16_bf16", B256, opStrict},
	{0x42, "v_wmma_f16_16x16x16_f16", B256, 0},
	{0x43, "v_wmma_bf16_16x16x16_bf16", B256, 0},
	{0x44, "v_wmma_i32_16x16x16_iu8", B128, OpClamp | opStrict},
	{0x45, "v_wmma_i32_16x16x16_iu4", B64, OpClamp | opStrict},
}

var (
	vop3pOps32 = makeVOP3P(B256)
	vop3pOps64 = makeVOP3P(B128)
)

// makeVOP3P makes the table for the wave size that gives matrices C and D the
// type.
func makeVOP3P(matrix Type) []*Op {
	t := make([]*Op, opcodes[VOP3P])
	for i := range vop3pALU {
		o := &vop3pALU[i]
		set(t, VOP3P, o.code, o.name, "", o.args(Write), o.flags)
	}
	for i := range vop3pMix {
		o := vop3pMix[i]
		o.src = sources(F16, F16, F16)
		dst := Write
		if o.dst == B32 {
			dst |= Read
		}
		set(t, VOP3P, o.code, o.name, "", o.args(dst), o.flags)
	}
	for _, o := range wmmaOps {
		set(t, VOP3P, o.code, o.name, "", []Arg{
			{vdst, matrix, Write},
			{src0 | onlyV, o.factor, Read},
			{src1 | onlyV, o.factor, Read},
			{src2 | onlyVC, matrix, Read},
		}, o.flags|OpNoDPP)
	}
	return t
}

func decodeVOP3P(d *decoder) {
	if !d.extend(2) {
		return
	}
	w, w1 := d.w0, d.w1
	table := vop3pOps32
	if d.in.Wave == Wave64 {
		table = vop3pOps64
	}
	if w>>23&1 != 0 || table[w>>16&0x7f] == nil {
		d.unknown("reserved opcode of VOP3P")
		return
	}
	op := table[w>>16&0x7f]
	d.in.Op = op
	f := vfields{vdst: w & 0xff, src: [3]uint32{w1 & 0x1ff, w1 >> 9 & 0x1ff, w1 >> 18 & 0x1ff}}
	m := &d.in.Mods
	all := uint8(1)<<op.numSources() - 1
	m.NegLo, m.NegHi = uint8(w1>>29), uint8(w>>8&7)
	m.OpSel, m.OpSelHi = uint8(w>>11&7), uint8(w1>>27&3|w>>14&1<<2)&all
	if (m.NegLo|m.NegHi|m.OpSel)&^all != 0 {
		d.unknown("neg or op_sel of a source that the operation does not have")
	}
	if op.Flags&opStrict != 0 {
		if m.OpSel != 0 {
			d.unknown("op_sel of an operation without halves")
		}
		m.OpSelHi = all
	}
	if op.Flags&opMix != 0 {
		f.neg, f.abs = uint32(m.NegLo), uint32(m.NegHi)
		m.NegLo, m.NegHi = 0, 0
	}
	if w>>15&1 != 0 {
		m.Flags |= Clamp
		if op.Flags&OpClamp == 0 {
			d.unknown("clamp, which the operation does not have")
		}
	}
	d.dpp(&f)
	d.vector(&f)
}

// appendPackedMods appends VOP3P's modifiers before clamp. op_sel_hi is all
// ones unless something else is meant, but for the mixed multiply-adds.
func (in *Inst) appendPackedMods(b []byte) []byte {
	m, n := &in.Mods, in.Op.numSources()
	high := uint8(1)<<n - 1
	if in.Op.Flags&opMix != 0 {
		high = 0
	}
	b = appendBits(b, " op_sel:", m.OpSel, n, 0)
	b = appendBits(b, " op_sel_hi:", m.OpSelHi, n, high)
	b = appendBits(b, " neg_lo:", m.NegLo, n, 0)
	return appendBits(b, " neg_hi:", m.NegHi, n, 0)
}
