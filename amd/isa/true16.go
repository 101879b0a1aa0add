package isa

// A 16-bit operand in a vector register is one half of it (v6.l, v6.h). The
// short encodings have the half in bit 7 of the register's number and so reach
// v0 to v127; VOP3 has it in op_sel, and prints op_sel as well.

// half marks a vector register as half a register, if its type is one. The
// mixed multiply-adds name whole registers, of which op_sel_hi may take a half.
func (d *decoder) half(o *Operand, short bool, high uint32) {
	if o.Kind != VGPR || !isHalf(o.Type) || d.in.Op.Flags&opMix != 0 {
		return
	}
	o.Mods |= Half
	if short {
		high = uint32(o.Reg >> 7)
		o.Reg &= 0x7f
	}
	if high != 0 {
		o.Mods |= High
	}
}

// opSelMask is the op_sel bits that the operation has: bit i for source i, bit
// 3 for a vector destination.
func (o *Op) opSelMask() uint32 {
	var mask uint32
	for i := range o.Args {
		a := &o.Args[i]
		n := a.Field & fieldMask
		switch {
		case n == vdst:
			mask |= 8
		case a.Field&classes == onlyM:
			// A lane mask has no halves.
		case n >= src0 && n <= src2 && !isPacked(a.Type):
			mask |= 1 << (n - src0)
		}
	}
	return mask
}

func isPacked(t Type) bool { return t == V2F16 || t == V2BF16 || t == V2B16 }

// decodeOpSel checks the op_sel field of a VOP3 instruction and keeps the bits
// that mean something.
func (d *decoder) decodeOpSel(f *vfields) {
	op := d.in.Op
	if op.Flags&opFetch != 0 {
		d.in.Mods.OpSel = uint8(f.opsel & 3)
		return
	}
	if op.Flags&OpSel == 0 {
		f.opsel = 0
		return
	}
	mask := op.opSelMask()
	if f.opsel&^mask != 0 && op.Flags&opStrict != 0 {
		d.unknown("op_sel of an operand that has no halves")
	}
	f.opsel &= mask
	d.in.Mods.OpSel = uint8(f.opsel)
}

// staleOpSel says whether op_sel has bits that belong to no operand. The text
// is then that of the time before operands had halves, and shows none.
func (in *Inst) staleOpSel() bool {
	op := in.Op
	return op.Format == VOP3 && op.Flags&OpSel != 0 && !op.hasPacked() &&
		in.Words[0]>>11&0xf&^op.opSelMask() != 0
}

func (o *Op) hasPacked() bool {
	for i := range o.Args {
		if isPacked(o.Args[i].Type) && o.Args[i].Field&fieldMask != vdst {
			return true
		}
	}
	return false
}

// appendOpSel appends op_sel as the text has it: a bit for each source, and one
// for the destination. v_cmp has that bit too, but not with DPP.
func (in *Inst) appendOpSel(b []byte) []byte {
	op, bits := in.Op, in.Mods.OpSel
	if op.Flags&opFetch != 0 {
		return appendBits(b, " op_sel:", bits, 2, 0)
	}
	if op.Flags&OpSel == 0 || op.Flags&opSelect != 0 || in.staleOpSel() {
		return b
	}
	n := op.numSources()
	if op.Args[0].Field == vdst && op.Args[0].Access&Read != 0 {
		n++ // v_fmac_f16: the destination is the last source
	}
	all := n + 1
	if op.Code < 0x100 && (in.Mods.DPP != NoDPP || op.Args[0].Field == src0) {
		all = n
	}
	return appendBits(b, " op_sel:", bits&7|bits>>3<<n, all, 0)
}

// numSources is the number of sources that come from source fields.
func (o *Op) numSources() int {
	n := 0
	for i := range o.Args {
		if f := o.Args[i].Field & fieldMask; f >= src0 && f <= src2 {
			n++
		}
	}
	return n
}
