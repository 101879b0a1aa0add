package isa

// The vector encodings share their operands, modifiers and text; this file has
// what they share. Each encoding's file has its table and finds its fields.

// The flags of vector operations.
const (
	OpClamp  OpFlags = 1 << (8 + iota) // the clamp bit exists
	OpOmod                             // the output modifier exists
	OpSel                              // op_sel chooses the halves of 16-bit operands
	OpNoDPP                            // no DPP forms, though every operand would allow them
	opStrict                           // op_sel bits that belong to no operand must be 0
	opIgnore                           // neg and abs of integer sources are ignored, not reserved
	opSelect                           // op_sel is not in the text, and neg and abs apply to B16 sources
	opFetch                            // op_sel holds two flags of a lane permutation
	opMix                              // VOP3P: neg_hi is abs, and op_sel_hi says which sources are halves
)

// The usual modifiers of operations on floats, and on halves.
const (
	floatMods = OpClamp | OpOmod
	halfMods  = floatMods | OpSel
)

// The fields of vector operands: which field, and (in the high bits) which
// registers and constants it may name. The zero class is any source.
const (
	vdst  Field = iota // vector register
	sdst               // scalar register in the field of vdst
	sdst2              // scalar register in the field of its own, VOP3 only
	vccIO              // vcc, in no field
	src0
	src1
	src2
	litK // the literal that the operation always has

	fieldMask Field = 0xf

	onlyV   Field = 1 << 4 // a vector register
	onlyVL  Field = 2 << 4 // a vector register or src_lds_direct
	onlyS   Field = 3 << 4 // a scalar register or constant
	onlySL  Field = 4 << 4 // likewise, or src_lds_direct
	onlyM   Field = 5 << 4 // a lane mask: a register, which should be a scalar one
	onlyVC  Field = 6 << 4 // a vector register or a constant
	notM0   Field = 7 << 4 // a scalar destination, but not m0
	classes Field = 0xf0
)

// alu describes a vector operation for a table: its destination (NoType: none),
// its sources, and what is irregular.
type alu struct {
	code  int
	name  string
	dst   Type
	src   []Type
	flags OpFlags
}

// args is the usual operands of o: vdst and the sources.
func (o *alu) args(dst Access) []Arg {
	var a []Arg
	if o.dst != NoType {
		a = append(a, Arg{vdst, o.dst, dst})
	}
	for i, t := range o.src {
		a = append(a, Arg{src0 + Field(i), t, Read})
	}
	return a
}

// sources is the types of one to three sources, for tables.
func sources(t ...Type) []Type { return t }

// set puts an operation into a table.
func set(t []*Op, f Format, code int, name, suffix string, args []Arg, flags OpFlags) {
	if t[code] != nil {
		panic("isa: " + f.String() + ": two operations with the opcode of " + name)
	}
	t[code] = &Op{
		ID: uint16(idBase(f) + code), Code: uint16(code), Format: f, Flags: flags,
		Name: name, Suffix: suffix, Args: args,
	}
}

// isHalf says whether a vector register of the type is one half of a register.
func isHalf(t Type) bool { return t == B16 || t == F16 || t == BF16 }

// isFloat says whether a source of the type takes neg and abs.
func isFloat(t Type) bool {
	switch t {
	case F16, BF16, F32, F64, V2F16, V2BF16:
		return true
	}
	return false
}

// vfields are the fields of one vector instruction, wherever its encoding keeps
// them.
type vfields struct {
	vdst, sdst uint32
	src        [3]uint32 // codes of 9 bits
	neg, abs   uint32    // bit i for source i
	opsel      uint32    // bits 0 to 2 for the sources, 3 for the destination
	short      bool      // halves are in bit 7 of a register's number, not in op_sel
}

// vector resolves the operands of d.in.Op.
func (d *decoder) vector(f *vfields) {
	op := d.in.Op
	for i := range op.Args {
		a := &op.Args[i]
		d.vectorOperand(d.operand(a.Access), f, a)
	}
}

// vectorOperand resolves one operand.
func (d *decoder) vectorOperand(o *Operand, f *vfields, a *Arg) {
	switch a.Field & fieldMask {
	case vdst:
		d.vgpr(o, f.vdst, a.Type)
		d.half(o, f.short, f.opsel>>3&1)
		return
	case sdst:
		if f.vdst > RegExecHi {
			d.unknown("a scalar destination past exec_hi")
		}
		if a.Field&classes == notM0 && f.vdst == RegM0 {
			d.unknown("m0 as the destination")
		}
		d.ssrc(o, f.vdst&0x7f, a.Type)
		return
	case sdst2:
		d.ssrc(o, f.sdst, a.Type)
		return
	case vccIO:
		d.ssrc(o, RegVCCLo, a.Type)
		return
	case litK:
		o.Kind, o.Type, o.Imm = Imm, a.Type, d.literal()
		return
	}
	n := a.Field&fieldMask - src0
	d.vsrc(o, f.src[n], a)
	d.half(o, f.short, f.opsel>>n&1)
	if d.in.Op.takesNeg(a.Type) {
		if f.neg>>n&1 != 0 {
			o.Mods |= Neg
		}
		if f.abs>>n&1 != 0 {
			o.Mods |= Abs
		}
	}
}

// takesNeg says whether neg and abs mean something for a source of the type.
func (o *Op) takesNeg(t Type) bool {
	return isFloat(t) || o.Flags&opSelect != 0 && t == B16
}

// vsrc resolves a source and checks it against what the operand may be.
func (d *decoder) vsrc(o *Operand, code uint32, a *Arg) {
	class := a.Field & classes
	bad := false
	switch class {
	case onlyV:
		bad = code < 256
	case onlyVL:
		bad = code < 256 && code != RegLDSDirect
	case onlyS:
		bad = code >= 256 || code == RegLDSDirect
	case onlySL:
		bad = code >= 256
	case onlyM:
		bad = code >= 128 && code < 235 || code >= 240 && code < 251 || code == RegLDSDirect || code == literalCode
	case onlyVC:
		bad = code < 128 || code > 208 && code < 240 || code > 248 && code < 255
	}
	if bad {
		d.unknown("a source of a kind that the operation does not take")
		return
	}
	if code == RegLDSDirect && a.Type.Dwords() > 1 {
		d.unknown("src_lds_direct as more than one register")
	}
	d.src(o, code, a.Type)
}

// literalCode is the source code of a literal, which comes after a DPP word.
const literalCode = 255

// modBits checks the modifier bits of a VOP3 instruction with n sources against
// what the operation has: reserved bits must be 0.
func (d *decoder) modBits(f *vfields, clamp bool, omod uint32) {
	op := d.in.Op
	var allowed uint32
	for i := range op.Args {
		a := &op.Args[i]
		n := a.Field & fieldMask
		if n < src0 || n > src2 || a.Field&classes == onlyM {
			continue
		}
		if op.takesNeg(a.Type) || op.Flags&opIgnore != 0 || op.Flags&OpSel != 0 && !d.in.staleOpSel() {
			allowed |= 1 << (n - src0)
		}
	}
	if (f.neg|f.abs)&^allowed != 0 {
		d.unknown("neg or abs of a source that has none")
	}
	if clamp && op.Flags&OpClamp == 0 {
		d.unknown("clamp, which the operation does not have")
	}
	if omod != 0 && op.Flags&OpOmod == 0 {
		d.unknown("an output modifier, which the operation does not have")
	}
	if clamp {
		d.in.Mods.Flags |= Clamp
	}
	d.in.Mods.Omod = uint8(omod)
}

// appendVector prints VOP1, VOP2, VOPC, VOP3 and VOP3P, with their DPP forms.
func appendVector(b []byte, in *Inst) []byte {
	op := in.Op
	b = append(b, op.Name...)
	b = append(b, in.vectorSuffix()...)
	whole := in.staleOpSel()
	for i := range in.Args() {
		if i == 0 {
			b = append(b, ' ')
		} else {
			b = append(b, ", "...)
		}
		o := in.Operands[i]
		if whole {
			o.Mods &^= Half
		}
		switch {
		case op.Flags&opIgnore != 0 && o.Type == B16:
			o.Type = F16 // v_ldexp_f16: the exponent is written as a float is
		case op.Format == VOP2 && op.Name == "v_pk_fmac_f16" && o.Kind == Literal:
			// A constant goes to both halves, so only equal halves could be inline.
			if o.Imm>>16 == o.Imm&0xffff {
				o.Type = F16
			} else if o.Imm > 64 && o.Imm < 1<<16 {
				o.Kind = Imm
			}
		}
		b = o.appendTo(b)
	}
	if op.Format == VOP3P {
		b = in.appendPackedMods(b)
	} else {
		b = in.appendOpSel(b)
	}
	if in.Mods.Flags&Clamp != 0 {
		b = append(b, " clamp"...)
	}
	b = append(b, omodNames[in.Mods.Omod]...)
	return in.appendDPP(b)
}

var omodNames = [4]string{"", " mul:2", " mul:4", " div:2"}

// vectorSuffix is what follows the name: the form of the encoding.
func (in *Inst) vectorSuffix() string {
	if in.Mods.DPP == NoDPP {
		return in.Op.Suffix
	}
	switch in.Op.Format {
	case VOP3, VOP3P:
		return "_e64_dpp"
	case VOPC:
		return ""
	}
	return "_dpp"
}

// appendBits appends a list of n bits with its name, unless they are the
// default.
func appendBits(b []byte, name string, bits uint8, n int, def uint8) []byte {
	if bits == def {
		return b
	}
	b = append(b, name...)
	b = append(b, '[')
	for i := range n {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '0'+bits>>i&1)
	}
	return append(b, ']')
}
