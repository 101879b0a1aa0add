package isa

// VOPD: two operations at once, X and Y, in two words and a literal that both
// share. Only wave32 has it. Each has a destination, a source of any kind and one that is a vector
// register. One destination is even, the other odd.

// VOPDHalf is one of the two operations of a VOPD instruction.
type VOPDHalf struct {
	Code int // opcode: X has those below 16
	Name string
	Args int // its operands in the instruction: X's come first
}

// The fields of VOPD: those of VOP2 for X, and these for Y.
const (
	vdstY Field = iota + 8
	src0Y
	src1Y
)

// The shapes of a half's operands.
const (
	dualPlain = iota // vdst, src0, src1
	dualAcc          // likewise, adding to vdst
	dualMove         // vdst, src0
	dualMK           // vdst, src0, literal, src1
	dualAK           // vdst, src0, src1, literal
)

// dualMov is the opcode of v_dual_mov_b32.
const dualMov = 8

// dualCounts is the number of operands of each shape.
var dualCounts = [...]int{dualPlain: 3, dualAcc: 3, dualMove: 2, dualMK: 4, dualAK: 4}

var vopdHalves = []struct {
	code  int
	name  string
	typ   Type // of the sources
	shape int
}{
	{0x00, "v_dual_fmac_f32", F32, dualAcc},
	{0x01, "v_dual_fmaak_f32", F32, dualAK},
	{0x02, "v_dual_fmamk_f32", F32, dualMK},
	{0x03, "v_dual_mul_f32", F32, dualPlain},
	{0x04, "v_dual_add_f32", F32, dualPlain},
	{0x05, "v_dual_sub_f32", F32, dualPlain},
	{0x06, "v_dual_subrev_f32", F32, dualPlain},
	{0x07, "v_dual_mul_dx9_zero_f32", F32, dualPlain},
	{dualMov, "v_dual_mov_b32", B32, dualMove},
	{0x09, "v_dual_cndmask_b32", B32, dualPlain}, // reads vcc_lo, which the text does not name
	{0x0a, "v_dual_max_f32", F32, dualPlain},
	{0x0b, "v_dual_min_f32", F32, dualPlain},
	{0x0c, "v_dual_dot2acc_f32_f16", V2F16, dualAcc},
	{0x0d, "v_dual_dot2acc_f32_bf16", V2BF16, dualAcc},
	{0x10, "v_dual_add_nc_u32", B32, dualPlain},
	{0x11, "v_dual_lshlrev_b32", B32, dualPlain},
	{0x12, "v_dual_and_b32", B32, dualPlain},
}

// vopdOps is indexed by X's opcode times 32 plus Y's.
var vopdOps = makeVOPD()

func makeVOPD() []*Op {
	t := make([]*Op, opcodes[VOPD])
	for _, x := range vopdHalves {
		if x.code >= 16 {
			continue
		}
		for _, y := range vopdHalves {
			args := dualArgs(x.typ, x.shape, vdst, src0, src1)
			args = append(args, dualArgs(y.typ, y.shape, vdstY, src0Y, src1Y)...)
			set(t, VOPD, x.code<<5|y.code, x.name+"::"+y.name, "", args, 0)
		}
	}
	return t
}

func dualArgs(t Type, shape int, dst, a, b Field) []Arg {
	d, k := Arg{dst, B32, Write}, Arg{litK, t, Read}
	switch shape {
	case dualMove:
		return []Arg{d, {a, t, Read}}
	case dualMK:
		return []Arg{d, {a, t, Read}, k, {b, t, Read}}
	case dualAK:
		return []Arg{d, {a, t, Read}, {b, t, Read}, k}
	case dualAcc:
		d.Access |= Read
	}
	return []Arg{d, {a, t, Read}, {b, t, Read}}
}

// Halves are the two operations of a VOPD instruction.
func (o *Op) Halves() (x, y VOPDHalf) {
	half := func(code int) VOPDHalf {
		for _, h := range vopdHalves {
			if h.code == code {
				return VOPDHalf{code, h.name, dualCounts[h.shape]}
			}
		}
		return VOPDHalf{Code: code}
	}
	return half(int(o.Code >> 5)), half(int(o.Code & 31))
}

func decodeVOPD(d *decoder) {
	if d.in.Wave == Wave64 {
		d.unknown("VOPD in wave64")
		return
	}
	if !d.extend(2) {
		return
	}
	w, w1 := d.w0, d.w1
	op := vopdOps[(w>>22&0xf)<<5|w>>17&0x1f]
	if op == nil {
		d.unknown("reserved opcode of VOPD")
		return
	}
	d.in.Op = op
	if w>>22&0xf == dualMov && w>>9&0xff != 0 || w>>17&0x1f == dualMov && w1>>9&0xff != 0 {
		d.unknown("a second source of v_dual_mov_b32")
	}
	for i := range op.Args {
		a := &op.Args[i]
		d.dualOperand(d.operand(a.Access), a, w, w1)
	}
}

// dualOperand resolves one operand of a VOPD instruction.
func (d *decoder) dualOperand(o *Operand, a *Arg, w, w1 uint32) {
	dstX := w1 >> 24
	switch a.Field {
	case vdst:
		d.vgpr(o, dstX, a.Type)
	case src0:
		d.src(o, w&0x1ff, a.Type)
	case src1:
		d.vgpr(o, w>>9&0xff, a.Type)
	case vdstY:
		// The lowest bit is the other one of X's.
		d.vgpr(o, w1>>17&0x7f<<1|^dstX&1, a.Type)
	case src0Y:
		d.src(o, w1&0x1ff, a.Type)
	case src1Y:
		d.vgpr(o, w1>>9&0xff, a.Type)
	default:
		o.Kind, o.Type, o.Imm = Imm, a.Type, d.literal()
	}
}

func appendVOPD(b []byte, in *Inst) []byte {
	x, y := in.Op.Halves()
	b = appendOperation(b, x.Name, in.Operands[:x.Args])
	return appendOperation(append(b, " :: "...), y.Name, in.Operands[x.Args:x.Args+y.Args])
}

// appendOperation appends a name and operands.
func appendOperation(b []byte, name string, operands []Operand) []byte {
	b = append(b, name...)
	for i := range operands {
		if i == 0 {
			b = append(b, ' ')
		} else {
			b = append(b, ", "...)
		}
		b = operands[i].appendTo(b)
	}
	return b
}
