package isa

import "strconv"

// String is the instruction's text as llvm-objdump prints it, without the
// comment that follows.
func (in *Inst) String() string { return string(in.AppendText(nil)) }

// AppendText appends String's text to b.
func (in *Inst) AppendText(b []byte) []byte {
	if in.Op == nil {
		return append(b, "(no instruction)"...)
	}
	switch in.Op.Format {
	case VOPD:
		return appendVOPD(b, in)
	case VOP1, VOP2, VOPC, VOP3, VOP3P:
		return appendVector(b, in)
	case MIMG:
		return appendImage(b, in)
	case VINTERP:
		return appendInterpolation(b, in)
	case LDSDIR:
		return appendLDSDir(b, in)
	case EXP:
		return appendExport(b, in)
	}
	b = append(b, in.Op.Name...)
	for i := range in.Args() {
		if i == 0 {
			b = append(b, ' ')
		} else {
			b = append(b, ", "...)
		}
		b = in.appendOperand(b, i)
	}
	return in.appendMemoryMods(b)
}

// appendOperand appends operand i of a scalar or memory instruction.
func (in *Inst) appendOperand(b []byte, i int) []byte {
	o := &in.Operands[i]
	switch in.Op.Format {
	case SOP1, SOP2, SOPC, SOPK, SOPP:
		if o.Kind == Imm {
			return appendImm(b, in.Op.Args[i].Field, o.Imm)
		}
		if in.Op.Flags&(opText32|opText16) != 0 {
			as := *o
			as.Type = B32
			if in.Op.Flags&opText16 != 0 {
				as.Type = B16
			}
			return as.appendTo(b)
		}
	case SMEM:
		switch in.Op.Args[i].Field {
		case fProbe:
			return appendImm(b, fNum, o.Imm)
		case fSOff:
			return appendScalarOffset(b, o, in.Mods.Offset)
		}
	}
	return o.appendTo(b)
}

func appendUint(b []byte, v uint32) []byte { return strconv.AppendUint(b, uint64(v), 10) }

// appendScalarOffset appends the offset of a scalar load: a register, a
// constant or both.
func appendScalarOffset(b []byte, o *Operand, offset int32) []byte {
	constant := o.Kind == Special && o.Reg == RegNull
	if !constant || offset == 0 {
		b = o.appendTo(b)
	}
	if offset == 0 {
		return b
	}
	if !constant {
		b = append(b, " offset:"...)
	}
	if offset < 0 {
		b, offset = append(b, '-'), -offset
	}
	return appendHex(b, uint32(offset))
}

// appendMemoryMods appends the modifiers of DS, FLAT, SMEM, MUBUF and MTBUF.
func (in *Inst) appendMemoryMods(b []byte) []byte {
	m := &in.Mods
	f := m.Flags
	switch format := in.Op.Format; format {
	case MTBUF, MUBUF:
		if format == MTBUF {
			b = appendBufFormat(b, m.Format)
		}
		b = appendFlag(b, f, IdxEn, " idxen")
		b = appendFlag(b, f, OffEn, " offen")
		b = appendOffset(b, m.Offset)
	case FLAT, GLOBAL, SCRATCH:
		b = appendOffset(b, m.Offset)
	case DS:
		switch {
		case in.Op.Code == dsSwizzle:
			b = appendSwizzle(b, uint32(m.Offset))
		case in.Op.Flags&opTwoAddr != 0:
			b = appendOffset2(b, " offset0:", m.Offset0)
			b = appendOffset2(b, " offset1:", m.Offset1)
		default:
			b = appendOffset(b, m.Offset)
		}
	case SMEM:
	default:
		return b
	}
	b = appendFlag(b, f, GLC, " glc")
	b = appendFlag(b, f, SLC, " slc")
	b = appendFlag(b, f, DLC, " dlc")
	b = appendFlag(b, f, TFE, " tfe")
	return appendFlag(b, f, GDS, " gds")
}

func appendFlag(b []byte, have, flag Flags, text string) []byte {
	if have&flag == 0 {
		return b
	}
	return append(b, text...)
}

func appendOffset(b []byte, offset int32) []byte {
	if offset == 0 {
		return b
	}
	return strconv.AppendInt(append(b, " offset:"...), int64(offset), 10)
}

func appendOffset2(b []byte, name string, offset uint8) []byte {
	if offset == 0 {
		return b
	}
	return appendUint(append(b, name...), uint32(offset))
}

func appendBufFormat(b []byte, format uint8) []byte {
	switch {
	case format == 1:
		return b
	case int(format) < len(bufFormats):
		return append(append(append(b, " format:[BUF_FMT_"...), bufFormats[format]...), ']')
	}
	return appendUint(append(b, " format:"...), uint32(format))
}
