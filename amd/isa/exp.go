package isa

// EXP: up to four vector registers go to a target outside of the wave: a color,
// a depth, a position or a primitive.
//
//	31:26 111110 | 13 row_en | 11 done | 9:4 target | 3:0 which sources there are
//	63:56 src3 | 55:48 src2 | 47:40 src1 | 39:32 src0

// The fields of EXP operands: the target, and a source for each byte of the
// second word.
const (
	fExpTarget Field = iota
	fExpSrc0
)

var export = table(EXP, "", []row{{0, "exp", []Arg{
	{fExpTarget, NoType, Read}, {fExpSrc0, B32, Read}, {fExpSrc0 + 1, B32, Read}, {fExpSrc0 + 2, B32, Read}, {fExpSrc0 + 3, B32, Read},
}, 0}})

func decodeEXP(d *decoder) {
	d.in.Op = export[0]
	if !d.extend(2) {
		return
	}
	d.in.Mods.Flags = Flags(d.w0>>11&1)*Done | Flags(d.w0>>13&1)*RowEn
	target := d.operand(Read)
	target.Kind, target.Imm = Imm, d.w0>>4&0x3f
	for i := range 4 {
		o := d.operand(Read)
		if d.w0>>i&1 == 0 {
			o.Kind = Off
			continue
		}
		d.vgpr(o, d.w1>>(8*i)&0xff, B32)
	}
}

// expTargets are the ranges of targets: the first of each, and how many.
var expTargets = []struct {
	name     string
	first, n uint32
}{
	{"mrt", 0, 8},
	{"mrtz", 8, 1},
	{"pos", 12, 5},
	{"prim", 20, 1},
	{"dual_src_blend", 21, 2},
}

func appendTarget(b []byte, target uint32) []byte {
	for _, t := range expTargets {
		if target-t.first >= t.n { // unsigned: also below the first
			continue
		}
		b = append(b, t.name...)
		if t.n > 1 {
			b = appendUint(b, target-t.first)
		}
		return b
	}
	return appendUint(append(b, "invalid_target_"...), target)
}

// appendExport appends the text of EXP.
func appendExport(b []byte, in *Inst) []byte {
	b = append(append(b, in.Op.Name...), ' ')
	b = appendTarget(b, in.Operands[0].Imm)
	for i := 1; i < int(in.N); i++ {
		if i > 1 {
			b = append(b, ',')
		}
		b = in.Operands[i].appendTo(append(b, ' '))
	}
	b = appendFlag(b, in.Mods.Flags, Done, " done")
	return appendFlag(b, in.Mods.Flags, RowEn, " row_en")
}
