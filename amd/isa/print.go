package isa

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

func (in *Inst) appendOperand(b []byte, i int) []byte {
	return in.Operands[i].appendTo(b)
}

func (in *Inst) appendMemoryMods(b []byte) []byte { return b }
