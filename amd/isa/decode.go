package isa

import "encoding/binary"

// Field says where in the words an operand's number is and how it is read. The
// encodings define theirs with the constants below.
type Field uint8

// decoder is the state of one Decode. It lives on the stack: every method that
// fails sets reason (or need) and decoding stops at the end of the encoding's
// function, so that the common path has no error values.
type decoder struct {
	in     *Inst
	code   []byte
	w0, w1 uint32 // the first two words; w1 is 0 where there is none
	words  int    // words of the instruction so far, without a literal
	lit    bool   // a literal has been read into in.Words[words-1]
	reason string // why the words are unknown, "" while they are known
	need   int    // bytes needed when the code is too short
}

// unknown records why the words are no instruction. The first reason stays.
func (d *decoder) unknown(reason string) {
	if d.reason == "" {
		d.reason = reason
	}
}

// extend makes the instruction n words long and reads those that are new.
func (d *decoder) extend(n int) bool {
	if len(d.code) < 4*n {
		if d.need < 4*n {
			d.need = 4 * n
		}
		d.unknown("truncated")
		return false
	}
	for i := d.words; i < n; i++ {
		d.in.Words[i] = binary.LittleEndian.Uint32(d.code[4*i:])
	}
	d.words = n
	if n > 1 {
		d.w1 = d.in.Words[1]
	}
	return true
}

// literal returns the literal word, which follows the encoding's own words. It
// is read once; all operands that name it share it.
func (d *decoder) literal() uint32 {
	if !d.lit {
		d.lit = true
		if !d.extend(d.words + 1) {
			return 0
		}
	}
	return d.in.Words[d.words-1]
}

// operand appends an operand to the instruction. It is filled in its place:
// returning one and copying it costs as much as all else.
func (d *decoder) operand(access Access) *Operand {
	o := &d.in.Operands[d.in.N]
	d.in.N++
	o.Access = access
	return o
}

// Decode decodes the instruction at the start of code. pc is its address and
// goes into the result and into errors; wave is the wave size of the kernel.
// The error is an *Unknown or a *Truncated.
func Decode(pc uint64, code []byte, wave Wave) (Inst, error) {
	var in Inst
	err := DecodeInto(&in, pc, code, wave)
	return in, err
}

// DecodeInto is Decode into a value that the caller owns.
func DecodeInto(in *Inst, pc uint64, code []byte, wave Wave) error {
	*in = Inst{PC: pc, Wave: wave}
	d := decoder{in: in, code: code}
	if d.extend(1) {
		d.w0 = in.Words[0]
		d.dispatch()
	}
	if d.reason != "" {
		return d.fail()
	}
	in.Size = 4 * d.words
	return nil
}

func (d *decoder) fail() error {
	pc, n := d.in.PC, len(d.code)
	if d.need > 0 {
		*d.in = Inst{PC: pc}
		return &Truncated{PC: pc, Have: n, Need: d.need}
	}
	e := &Unknown{PC: pc, Words: append([]uint32(nil), d.in.Words[:d.words]...), Reason: d.reason}
	*d.in = Inst{PC: pc}
	return e
}

// dispatch finds the encoding by the leading bits and calls its function, which
// sets in.Op, the operands and the modifiers, and extends the instruction by
// further words.
func (d *decoder) dispatch() {
	w := d.w0
	if w>>31 == 0 { // 0: VOP1, VOP2, VOPC
		switch w >> 25 {
		case 0x3f:
			decodeVOP1(d)
		case 0x3e:
			decodeVOPC(d)
		default:
			decodeVOP2(d)
		}
		return
	}
	if w>>30 == 2 { // 10: the scalar encodings
		switch w >> 23 {
		case 0x17d:
			decodeSOP1(d)
		case 0x17e:
			decodeSOPC(d)
		case 0x17f:
			decodeSOPP(d)
		default:
			if w>>28 == 0xb {
				decodeSOPK(d)
			} else {
				decodeSOP2(d)
			}
		}
		return
	}
	switch w >> 26 { // 11xxxx
	case 0x32:
		decodeVOPD(d)
	case 0x33:
		switch w >> 24 & 3 {
		case 0:
			decodeVOP3P(d)
		case 1:
			decodeVINTERP(d)
		case 2:
			decodeLDSDIR(d)
		default:
			d.unknown("no encoding has these leading bits")
		}
	case 0x35:
		decodeVOP3(d)
	case 0x36:
		decodeDS(d)
	case 0x37:
		decodeFLAT(d)
	case 0x38:
		decodeMUBUF(d)
	case 0x3a:
		decodeMTBUF(d)
	case 0x3c:
		decodeMIMG(d)
	case 0x3d:
		decodeSMEM(d)
	case 0x3e:
		decodeEXP(d)
	default:
		d.unknown("no encoding has these leading bits")
	}
}

// src resolves a source code of 8 or 9 bits: 0 to 255 scalar registers and
// constants, 256 to 511 vector registers.
func (d *decoder) src(o *Operand, code uint32, t Type) {
	if code >= 256 {
		d.vgpr(o, code-256, t)
		return
	}
	d.ssrc(o, code, t)
}

// vgpr is n = t.Dwords() vector registers from reg.
func (d *decoder) vgpr(o *Operand, reg uint32, t Type) {
	t = d.resolve(t)
	o.Type = t
	d.vgprs(o, reg, int(typeDwords[t]))
}

// vgprs is a range of n vector registers.
func (d *decoder) vgprs(o *Operand, reg uint32, n int) {
	if int(reg)+n > 256 {
		d.unknown("vector registers past v255")
	}
	o.Kind, o.N, o.Reg = VGPR, uint8(n), uint16(reg)
}

// resolve replaces Mask by the type that the wave size gives.
func (d *decoder) resolve(t Type) Type {
	if t != Mask {
		return t
	}
	if d.in.Wave == Wave64 {
		return B64
	}
	return B32
}

// ssrc resolves a scalar source code of 8 bits; 7-bit destinations are its
// codes below 128.
func (d *decoder) ssrc(o *Operand, code uint32, t Type) {
	t = d.resolve(t)
	n := typeDwords[t]
	o.Type, o.N, o.Reg = t, n, uint16(code)
	switch {
	case code < 106:
		code &^= scalarAlign(n)
		o.Kind, o.Reg = SGPR, uint16(code)
		if code+uint32(n) > 106 {
			d.unknown("scalar registers past s105")
		}
	case code >= 108 && code < 124:
		code = (code - 108) &^ scalarAlign(n)
		o.Kind, o.Reg = TTMP, uint16(code)
		if code+uint32(n) > 16 {
			d.unknown("registers past ttmp15")
		}
	case code < 128:
		o.Kind = Special
		if n > 1 && (code == RegVCCHi || code == RegM0 || code == RegExecHi) {
			d.unknown("a pair that starts at vcc_hi, m0 or exec_hi")
		}
		if n > 2 && code != RegNull {
			d.unknown("more than two registers from vcc or exec")
		}
	case code <= 192:
		o.Kind, o.Imm = InlineInt, code-128
	case code <= 208:
		o.Kind, o.Imm = InlineInt, 192-code // -1 to -16
	case code >= 240 && code <= 248:
		o.Kind, o.Imm = InlineFloat, inlineFloat32(code)
	case code == 255:
		o.Kind, o.Imm = Literal, d.literal()
	case code >= 235 && code <= 239, code >= 251 && code <= 254:
		o.Kind = Special
	default:
		d.unknown("reserved source operand")
	}
}

// scalarAlign is the bits that the first of n scalar registers cannot have: the
// hardware ignores them.
func scalarAlign(n uint8) uint32 {
	switch {
	case n >= 4:
		return 3
	case n >= 2:
		return 1
	}
	return 0
}
