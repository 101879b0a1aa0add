package isa

// The scalar encodings share their operands; this file has what they share.

// The fields of scalar operands. Those from fHex on are immediates, of which
// the field also says how the text shows them.
const (
	fSDst    Field = iota // bits 22:16
	fSSrc0                // bits 7:0
	fSSrc1                // bits 15:8
	fSReg0                // bits 7:0, and no constant
	fK                    // the literal that the operation always has, in hex
	fImm32                // likewise, but small values are in decimal
	fHex                  // bits 15:0
	fDec                  // in decimal
	fNum                  // in decimal up to 64, else in hex
	fWait                 // the counters of s_waitcnt
	fDepctr               // the counters of s_waitcnt_depctr
	fDelay                // the three parts of s_delay_alu
	fHWReg                // a hardware register, first bit and number of bits
	fMsg                  // a message
	fMsg8                 // a message in bits 7:0
	fVersion              // the version and wave sizes that code was made for
)

// The flags of scalar operations: LLVM's text of their constants is not that of
// the operand's type.
const (
	opText32 OpFlags = 1 << (5 + iota) // halves, with the text of 32 bits
	opText16                           // halves, with the text of integers
)

// Operands of scalar operations, for the tables.
var (
	dst32    = Arg{fSDst, B32, Write}
	dst64    = Arg{fSDst, B64, Write}
	both32   = Arg{fSDst, B32, Read | Write}
	both64   = Arg{fSDst, B64, Read | Write}
	dstF16   = Arg{fSDst, F16, Write}
	bothF16  = Arg{fSDst, F16, Read | Write}
	dstF32   = Arg{fSDst, F32, Write}
	bothF32  = Arg{fSDst, F32, Read | Write}
	src0B32  = Arg{fSSrc0, B32, Read}
	src0B64  = Arg{fSSrc0, B64, Read}
	src0I64  = Arg{fSSrc0, I64, Read}
	src0F16  = Arg{fSSrc0, F16, Read}
	src0F32  = Arg{fSSrc0, F32, Read}
	src1B32  = Arg{fSSrc1, B32, Read}
	src1B64  = Arg{fSSrc1, B64, Read}
	src1F16  = Arg{fSSrc1, F16, Read}
	src1F32  = Arg{fSSrc1, F32, Read}
	constK   = Arg{fK, F32, Read}
	immHex   = Arg{fHex, NoType, Read}
	immDec   = Arg{fDec, NoType, Read}
	immNum   = Arg{fNum, NoType, Read}
	immHWReg = Arg{fHWReg, NoType, Read}
)

// scalarArgs resolves the operands of d.in.Op.
func (d *decoder) scalarArgs() {
	for i := range d.in.Op.Args {
		a := &d.in.Op.Args[i]
		o := d.operand(a.Access)
		switch a.Field {
		case fSDst:
			d.ssrc(o, d.w0>>16&0x7f, a.Type)
		case fSSrc0:
			d.ssrc(o, d.w0&0xff, a.Type)
		case fSReg0:
			if d.ssrc(o, d.w0&0xff, a.Type); o.IsConst() {
				d.unknown("a constant where the operation takes a register")
			}
		case fSSrc1:
			d.ssrc(o, d.w0>>8&0xff, a.Type)
		case fK, fImm32:
			o.Kind, o.Type, o.Imm = Imm, a.Type, d.literal()
		case fMsg8:
			o.Kind, o.Imm = Imm, d.w0&0xff
		default:
			o.Kind, o.Imm = Imm, d.w0&0xffff
		}
		if o.Kind == Special && o.Reg == RegLDSDirect {
			d.unknown("src_lds_direct as a scalar source")
		}
	}
}

// scalar decodes an instruction of a scalar encoding whose opcode is code.
func (d *decoder) scalar(t []*Op, code uint32) {
	if d.in.Op = t[code]; d.in.Op == nil {
		d.unknown("reserved scalar opcode")
		return
	}
	d.scalarArgs()
}
