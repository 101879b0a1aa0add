package isa

// A constant's text depends on the type that reads it: LLVM prints a literal as
// lit(0x1) where the assembler, given 0x1, would choose an inline constant.

// isWide says whether constants of the type are written as doubles: the matrix
// that a wave32 WMMA adds to is, that of a wave64 is not.
func isWide(t Type) bool { return t == F64 || t == B256 }

// appendInlineFloat appends 0.5 and its like.
func (o *Operand) appendInlineFloat(b []byte) []byte {
	c := &inlineFloats[o.Reg-240]
	switch {
	case o.Type == B16:
		// An integer operand of 16 bits has the bits of the half.
		return appendHex(b, uint32(c.f16))
	case o.Reg == 248 && (isWide(o.Type) || o.Type == B64 || o.Type == I64):
		return append(b, "0.15915494309189532"...)
	}
	return append(b, c.text...)
}

// appendLiteral appends the word that follows an instruction, as its operand
// reads it.
func (o *Operand) appendLiteral(b []byte) []byte {
	v := o.Imm
	if isWide(o.Type) {
		// The word is the high half of the value, so that the text can be an
		// inline constant's and cannot be taken for one.
		if v == 0 {
			return append(b, '0')
		}
		if i := findInline(func(i int) bool { return inlineFloats[i].f64 == uint64(v)<<32 }); i >= 0 {
			return append(b, inlineFloats[i].text...)
		}
		return appendHex(b, v)
	}
	if o.isInlineLiteral() {
		return append(appendHex(append(b, "lit("...), v), ')')
	}
	if o.Type == F16 || o.Type == B16 {
		v &= 0xffff
	}
	return appendHex(b, v)
}

// isInlineLiteral says whether the literal has the value of an inline constant.
func (o *Operand) isInlineLiteral() bool {
	v := o.Imm
	low := uint16(v)
	isInt := func(x int32) bool { return -16 <= x && x <= 64 }
	switch o.Type {
	case F16:
		return isInt(int32(int16(low))) || findInline(func(i int) bool { return inlineFloats[i].f16 == low }) >= 0
	case BF16:
		return isInt(int32(int16(low))) || findInline(func(i int) bool { return inlineFloats[i].bf16 == low }) >= 0
	case V2F16:
		return isInt(int32(v)) || findInline(func(i int) bool { return uint32(inlineFloats[i].f16) == v }) >= 0
	case V2BF16:
		return isInt(int32(v)) || findInline(func(i int) bool { return uint32(inlineFloats[i].bf16) == v }) >= 0
	case B64, I64:
		return v <= 64
	}
	return isInt(int32(v)) || findInline(func(i int) bool { return inlineFloats[i].f32 == v }) >= 0
}

func findInline(is func(i int) bool) int {
	for i := range inlineFloats {
		if is(i) {
			return i
		}
	}
	return -1
}
