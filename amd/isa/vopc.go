package isa

// VOPC: compares, in one word; the second source is a vector register. The
// result is a lane mask: vcc, or for v_cmpx exec, which the text does not name.
// Opcode n is VOP3's n too, with any scalar destination for v_cmp; that of
// v_cmpx should be exec and is ignored.

// cmpx is the opcode bit of those that write exec.
const cmpx = 0x80

// The conditions, in opcode order.
var (
	floatConds = []string{
		"f", "lt", "eq", "le", "gt", "lg", "ge", "o",
		"u", "nge", "nlg", "ngt", "nle", "neq", "nlt", "t",
	}
	intConds = []string{"f", "lt", "eq", "le", "gt", "ne", "ge", "t"}
)

// compares are the groups of opcodes: one for each type.
var compares = []struct {
	code  int
	name  string
	typ   Type
	conds []string
	flags OpFlags
}{
	{0x00, "f16", F16, floatConds, OpClamp | OpSel},
	{0x10, "f32", F32, floatConds, OpClamp},
	{0x20, "f64", F64, floatConds, OpClamp},
	{0x30, "i16", B16, intConds, OpSel},
	{0x38, "u16", B16, intConds, OpSel},
	{0x40, "i32", B32, intConds, 0},
	{0x48, "u32", B32, intConds, 0},
	{0x50, "i64", I64, intConds, 0},
	{0x58, "u64", B64, intConds, 0},
}

// classes of floats: the second source is a set of bits.
var compareClass = []alu{
	{0x7d, "class_f16", NoType, sources(F16, F16), OpSel},
	{0x7e, "class_f32", NoType, sources(F32, B32), 0},
	{0x7f, "class_f64", NoType, sources(F64, B32), 0},
}

var vopcOps = makeVOPC(VOPC, "_e32", Arg{vccIO, Mask, Write})

// makeVOPC puts the compares into a table of VOPC or VOP3, whose v_cmp have the
// destination dst.
func makeVOPC(f Format, suffix string, dst Arg) []*Op {
	t := make([]*Op, opcodes[f])
	add := func(code int, name string, src []Type, flags OpFlags) {
		o := alu{src: src}
		set(t, f, code, "v_cmp_"+name, suffix, append([]Arg{dst}, o.args(Write)...), flags)
		if f == VOP3 && src[len(src)-1] == B32 && isFloat(src[0]) {
			flags |= opIgnore // v_cmpx_class only
		}
		set(t, f, code|cmpx, "v_cmpx_"+name, suffix, o.args(Write), flags)
	}
	for _, g := range compares {
		for i, cond := range g.conds {
			if g.typ == B16 && (cond == "f" || cond == "t") {
				continue // not in the 16-bit integer groups
			}
			add(g.code+i, cond+"_"+g.name, sources(g.typ, g.typ), g.flags)
		}
	}
	for _, o := range compareClass {
		add(o.code, o.name, o.src, o.flags)
	}
	return t
}

func decodeVOPC(d *decoder) {
	w := d.w0
	op := vopcOps[w>>17&0xff]
	if op == nil {
		d.unknown("reserved opcode of VOPC")
		return
	}
	d.in.Op = op
	f := vfields{short: true}
	f.src[0], f.src[1] = w&0x1ff, 256+(w>>9&0xff)
	d.dpp(&f)
	d.vector(&f)
}
