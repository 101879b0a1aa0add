package isa

import (
	"math"
	"strconv"
)

// Kind says what an operand is.
type Kind uint8

// The kinds. Special registers carry the number of the source field in Reg.
const (
	None        Kind = iota
	SGPR             // Reg is 0 to 105
	VGPR             // Reg is 0 to 255
	TTMP             // Reg is 0 to 15
	Special          // Reg is one of the Reg constants
	InlineInt        // Imm is -16 to 64 as 32 bits
	InlineFloat      // Imm is the value as float32; Bits converts it
	Literal          // Imm is the word that follows the instruction
	Imm              // Imm is an immediate field of the instruction
	Off              // no address register: prints "off"
)

// The special registers, by their number in a source field.
const (
	RegVCCLo           = 106
	RegVCCHi           = 107
	RegNull            = 124
	RegM0              = 125
	RegExecLo          = 126
	RegExecHi          = 127
	RegSharedBase      = 235
	RegSharedLimit     = 236
	RegPrivateBase     = 237
	RegPrivateLimit    = 238
	RegPopsExitingWave = 239
	RegVCCZ            = 251
	RegExecZ           = 252
	RegSCC             = 253
	RegLDSDirect       = 254
)

// Type is the width of an operand and how constants are read: a float constant
// in a 16-bit float operand is a half, and so on.
type Type uint8

// The types. Mask is a lane mask, of which decoding makes B32 or B64 by the
// wave size. V2 types are two packed elements of 16 bits (V2F32: of 32).
const (
	NoType Type = iota
	Mask
	B16
	F16
	BF16
	B32
	F32
	B64
	I64 // like B64, but a literal is sign extended
	F64
	B96
	B128
	B160
	B256
	B512
	V2B16
	V2F16
	V2BF16
	V2F32
	numTypes
)

var typeDwords = [numTypes]uint8{
	NoType: 0, Mask: 1, B16: 1, F16: 1, BF16: 1, B32: 1, F32: 1, B64: 2, I64: 2, F64: 2,
	B96: 3, B128: 4, B160: 5, B256: 8, B512: 16, V2B16: 1, V2F16: 1, V2BF16: 1, V2F32: 2,
}

// Dwords is the number of 32-bit registers that a value of the type takes.
func (t Type) Dwords() int { return int(typeDwords[t]) }

// OperandMods are the modifiers of one operand.
type OperandMods uint8

// Neg and Abs apply to floats (the text is -|v1|), SExt to integers. Half marks
// a 16-bit VGPR half, which is the low one without High (v1.l, v1.h).
const (
	Neg OperandMods = 1 << iota
	Abs
	SExt
	Half
	High
)

// Operand is one resolved operand: 12 bytes.
type Operand struct {
	Kind   Kind
	Type   Type
	N      uint8 // registers, for register kinds
	Mods   OperandMods
	Reg    uint16
	Access Access
	Imm    uint32
}

// IsConst says whether the operand is a constant that Bits gives.
func (o *Operand) IsConst() bool { return o.Kind >= InlineInt && o.Kind <= Imm }

// Bits is the value of a constant operand as the instruction reads it, in the
// low bits: float constants in the operand's format, integers sign extended,
// literals extended to 64 bits as the type says (a double's literal is its
// high word). Integers of 16 bits, packed or not, read a float constant's 32
// bits, or the low half of them: LLVM's assembler manual says that no inline
// constant is the half's bits there, and its compiler writes 0x3e22f983 as
// 0.15915494 into v_alignbyte_b32 and 0x3f800000 as 1.0 into v_pk_add_u16. (Its
// disassembler prints the half.)
func (o *Operand) Bits() uint64 {
	switch o.Kind {
	case InlineInt:
		return uint64(int64(int32(o.Imm)))
	case InlineFloat:
		return o.inlineFloatBits()
	case Literal:
		switch o.Type {
		case F64:
			return uint64(o.Imm) << 32
		case I64:
			return uint64(int64(int32(o.Imm)))
		}
	}
	return uint64(o.Imm)
}

// inlineFloats are the constants of source codes 240 to 248 in the formats of
// 16, 32 and 64 bits. The last is 1/(2*pi).
var inlineFloats = [9]struct {
	f16, bf16 uint16
	f32       uint32
	f64       uint64
	text      string
}{
	{0x3800, 0x3f00, 0x3f000000, 0x3fe0000000000000, "0.5"},
	{0xb800, 0xbf00, 0xbf000000, 0xbfe0000000000000, "-0.5"},
	{0x3c00, 0x3f80, 0x3f800000, 0x3ff0000000000000, "1.0"},
	{0xbc00, 0xbf80, 0xbf800000, 0xbff0000000000000, "-1.0"},
	{0x4000, 0x4000, 0x40000000, 0x4000000000000000, "2.0"},
	{0xc000, 0xc000, 0xc0000000, 0xc000000000000000, "-2.0"},
	{0x4400, 0x4080, 0x40800000, 0x4010000000000000, "4.0"},
	{0xc400, 0xc080, 0xc0800000, 0xc010000000000000, "-4.0"},
	{0x3118, 0x3e22, 0x3e22f983, 0x3fc45f306dc9c882, "0.15915494"},
}

func (o *Operand) inlineFloatBits() uint64 {
	f := &inlineFloats[o.Reg-240]
	switch o.Type {
	case F16, V2F16:
		return uint64(f.f16)
	case BF16, V2BF16:
		return uint64(f.bf16)
	case F64, B64, I64:
		return f.f64
	}
	return uint64(f.f32)
}

// appendTo appends the operand as the text has it.
func (o *Operand) appendTo(b []byte) []byte {
	if o.Mods&SExt != 0 {
		b = append(b, "sext("...)
	}
	// A constant's minus sign would read as part of the number.
	call := o.Mods&(Neg|Abs) == Neg && (o.Kind == InlineInt || o.Kind == InlineFloat || o.Kind == Literal)
	if o.Mods&Neg != 0 {
		if call {
			b = append(b, "neg("...)
		} else {
			b = append(b, '-')
		}
	}
	if o.Mods&Abs != 0 {
		b = append(b, '|')
	}
	b = o.appendBare(b)
	if o.Mods&Abs != 0 {
		b = append(b, '|')
	}
	if call {
		b = append(b, ')')
	}
	if o.Mods&SExt != 0 {
		b = append(b, ')')
	}
	return b
}

func (o *Operand) appendBare(b []byte) []byte {
	switch o.Kind {
	case SGPR:
		return appendRange(b, "s", int(o.Reg), int(o.N))
	case VGPR:
		b = appendRange(b, "v", int(o.Reg), int(o.N))
		switch {
		case o.Mods&Half == 0:
			return b
		case o.Mods&High != 0:
			return append(b, ".h"...)
		}
		return append(b, ".l"...)
	case TTMP:
		return appendRange(b, "ttmp", int(o.Reg), int(o.N))
	case Special:
		return append(b, specialName(o.Reg, int(o.N))...)
	case InlineInt:
		return strconv.AppendInt(b, int64(int32(o.Imm)), 10)
	case InlineFloat:
		return o.appendInlineFloat(b)
	case Literal:
		return o.appendLiteral(b)
	case Imm:
		return appendHex(b, o.Imm)
	case Off:
		return append(b, "off"...)
	}
	return append(b, '?')
}

func appendHex(b []byte, v uint32) []byte {
	return strconv.AppendUint(append(b, "0x"...), uint64(v), 16)
}

// appendRange appends a register (v1) or a range of n registers (v[1:2]).
func appendRange(b []byte, file string, first, n int) []byte {
	b = append(b, file...)
	if n == 1 {
		return strconv.AppendInt(b, int64(first), 10)
	}
	b = append(b, '[')
	b = strconv.AppendInt(b, int64(first), 10)
	b = append(b, ':')
	b = strconv.AppendInt(b, int64(first+n-1), 10)
	return append(b, ']')
}

func specialName(reg uint16, n int) string {
	if n == 2 {
		switch reg {
		case RegVCCLo:
			return "vcc"
		case RegExecLo:
			return "exec"
		}
	}
	switch reg {
	case RegVCCLo:
		return "vcc_lo"
	case RegVCCHi:
		return "vcc_hi"
	case RegNull:
		return "null"
	case RegM0:
		return "m0"
	case RegExecLo:
		return "exec_lo"
	case RegExecHi:
		return "exec_hi"
	case RegSharedBase:
		return "src_shared_base"
	case RegSharedLimit:
		return "src_shared_limit"
	case RegPrivateBase:
		return "src_private_base"
	case RegPrivateLimit:
		return "src_private_limit"
	case RegPopsExitingWave:
		return "src_pops_exiting_wave_id"
	case RegVCCZ:
		return "src_vccz"
	case RegExecZ:
		return "src_execz"
	case RegSCC:
		return "src_scc"
	case RegLDSDirect:
		return "src_lds_direct"
	}
	return "?"
}

// float32 of an inline float's code, for Operand.Imm.
func inlineFloat32(code uint32) uint32 { return inlineFloats[code-240].f32 }

// Float32 is the value of an inline float.
func (o *Operand) Float32() float32 { return math.Float32frombits(o.Imm) }
