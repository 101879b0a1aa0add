package progen

import (
	"fmt"
	"strings"
)

// form is how a statement's head and blocks are put together.
type form uint8

const (
	simple   form = iota // head;
	branch               // if (head) {} else {}
	loop                 // at most seven times, each work-item its own number
	choose               // switch
	leave                // if (head) break, or continue
	declare              // const T name = head
	exchange             // between phases: head is a macro of prelude.h, with no operands
)

// stmt is a statement.
type stmt struct {
	form   form
	name   string // declare: of the constant; loop: of the counter; leave: the keyword
	head   *expr
	blocks [][]*stmt
}

func (s *stmt) clone() *stmt {
	c := &stmt{form: s.form, name: s.name, head: s.head.clone()}
	for _, b := range s.blocks {
		c.blocks = append(c.blocks, cloneBlock(b))
	}
	return c
}

func cloneBlock(b []*stmt) []*stmt {
	c := make([]*stmt, len(b))
	for i, s := range b {
		c[i] = s.clone()
	}
	return c
}

func writeBlock(b *strings.Builder, ss []*stmt, indent string) {
	for _, s := range ss {
		s.write(b, indent)
	}
}

func (s *stmt) write(b *strings.Builder, indent string) {
	in := indent + "\t"
	switch s.form {
	case simple:
		fmt.Fprintf(b, "%s%s;\n", indent, s.head)
	case exchange:
		fmt.Fprintf(b, "%s%s\n", indent, s.head)
	case declare:
		fmt.Fprintf(b, "%sconst %s %s = %s;\n", indent, s.head.typ, s.name, s.head)
	case leave:
		fmt.Fprintf(b, "%sif (%s) %s;\n", indent, s.head, s.name)
	case branch:
		fmt.Fprintf(b, "%sif (%s) {\n", indent, s.head)
		writeBlock(b, s.blocks[0], in)
		if len(s.blocks) > 1 {
			fmt.Fprintf(b, "%s} else {\n", indent)
			writeBlock(b, s.blocks[1], in)
		}
		fmt.Fprintf(b, "%s}\n", indent)
	case loop:
		fmt.Fprintf(b, "%sfor (u32 %s = 0, end = %s & 7; %s < end; %s++) {\n", indent, s.name, s.head, s.name, s.name)
		writeBlock(b, s.blocks[0], in)
		fmt.Fprintf(b, "%s}\n", indent)
	case choose:
		fmt.Fprintf(b, "%sswitch (%s & 3) {\n", indent, s.head)
		for i, block := range s.blocks {
			fmt.Fprintf(b, "%scase %d: {\n", indent, i)
			writeBlock(b, block, in)
			fmt.Fprintf(b, "%s} break;\n", indent)
		}
		fmt.Fprintf(b, "%s}\n", indent)
	}
}

// Statements other than assignments. V is a variable of type T.
var (
	memoryStatements = []string{
		"stmem<T>(c, {u32}, {T})", "stown<T>(c, {u32}, {T})", "stmem<T>(c, {u32}, {T})", "stown<T>(c, {u32}, {T})",
		"stwide(c, {u32}, {u32}, {u32})", "stownwide(c, {u32}, {u32})", "s.arr[{u32} & 7] = {u32}", "s.arr[{u32} & 7] = {u32}",
	}
	atomicStatements = []string{
		"V = mem_add<T>(c, {u32}, {T})", "V = mem_sub<T>(c, {u32}, {T})", "V = mem_and<T>(c, {u32}, {T})", "V = mem_or<T>(c, {u32}, {T})", "V = mem_xor<T>(c, {u32}, {T})",
		"V = mem_min<T>(c, {u32}, {T})", "V = mem_max<T>(c, {u32}, {T})", "V = mem_swap<T>(c, {u32}, {T})", "V = mem_cas<T>(c, {u32}, {T}, {T})",
		"V = own_add<T>(c, {u32}, {T})", "V = own_sub<T>(c, {u32}, {T})", "V = own_and<T>(c, {u32}, {T})", "V = own_or<T>(c, {u32}, {T})", "V = own_xor<T>(c, {u32}, {T})",
		"V = own_min<T>(c, {u32}, {T})", "V = own_max<T>(c, {u32}, {T})", "V = own_swap<T>(c, {u32}, {T})", "V = own_cas<T>(c, {u32}, {T}, {T})",
		"V = own_cas<T>(c, {u32}, ldown<T>(c, {u32}), {T})", "V = mem_cas<T>(c, 0, ldmem<T>(c, 0), {T})",
		"mem_add<T>(c, {u32}, {T})", "mem_xor<T>(c, {u32}, {T})", "mem_max<T>(c, {u32}, {T})", "own_min<T>(c, {u32}, {T})", "own_or<T>(c, {u32}, {T})",
	}
	sharedStatements = []string{
		"add32(c, {u32})", "or32(c, {u32})", "and32(c, {u32})", "xor32(c, {u32})", "umax32(c, {u32})", "umin32(c, {u32})", "smax32(c, {i32})", "smin32(c, {i32})",
		"add64(c, {u64})", "xor64(c, {u64})", "smax64(c, {i64})", "umin64(c, {u64})", "faddsmall(c, {i8})",
	}
)

// block writes up to n statements, nested at most depth deep.
func (g *gen) block(n, depth int, inLoop bool) []*stmt {
	var b []*stmt
	for range 1 + g.rng.IntN(n) {
		b = append(b, g.stmt(depth, inLoop))
	}
	return b
}

func (g *gen) stmt(depth int, inLoop bool) *stmt {
	switch k := g.rng.IntN(20); {
	case k < 3 && depth > 0:
		s := &stmt{form: branch, head: g.condition(), blocks: [][]*stmt{g.block(3, depth-1, inLoop)}}
		if g.rng.IntN(2) == 0 {
			s.blocks = append(s.blocks, g.block(3, depth-1, inLoop))
		}
		return s
	case k < 5 && depth > 0:
		s := &stmt{form: loop, name: fmt.Sprintf("n%d", g.loops), head: g.expr(u32, 2)}
		g.loops++
		g.scope = append(g.scope, variable{name: s.name, typ: u32})
		s.blocks = [][]*stmt{g.block(3, depth-1, true)}
		g.scope = g.scope[:len(g.scope)-1]
		return s
	case k < 6 && depth > 0:
		s := &stmt{form: choose, head: g.expr(u32, 2)}
		for range 2 + g.rng.IntN(3) {
			s.blocks = append(s.blocks, g.block(2, depth-1, false))
		}
		return s
	case k < 8 && inLoop:
		return &stmt{form: leave, name: []string{"break", "continue"}[g.rng.IntN(2)], head: g.condition()}
	case k < 9:
		return &stmt{head: g.fill(memoryStatements[g.rng.IntN(len(memoryStatements))], g.preferred(classes["store"]), 3)}
	case k < 10 && g.rng.IntN(2) == 0:
		v := g.variable(classes["word"])
		if v.name == "" {
			break
		}
		text := atomicStatements[g.rng.IntN(len(atomicStatements))]
		return &stmt{head: g.fill(strings.Replace(text, "V", v.name, 1), v.typ, 3)}
	case k < 11 && g.rng.IntN(2) == 0:
		prefix := []string{"all_", "group_"}[g.rng.IntN(2)]
		return &stmt{head: g.fill(prefix+sharedStatements[g.rng.IntN(len(sharedStatements))], void, 3)}
	}
	v := g.variable(g.theme)
	e := g.expr(v.typ, 2+g.rng.IntN(3))
	return &stmt{head: &expr{typ: void, text: []string{v.name + " = ", ""}, kids: []*expr{e}}}
}

// condition of a branch: now and then the same for all work-items.
func (g *gen) condition() *expr {
	g.uniform = g.rng.IntN(4) == 0
	defer func() { g.uniform = false }()
	return g.expr(bit, 3)
}

// crossing is what happens between two phases.
func (g *gen) crossing() *stmt {
	a, b := g.variable(classes["lane"]), g.variable(classes["lane"])
	k := g.rng.IntN(13)
	if a.name == "" || k < 3 { // any type can be exchanged by its bits; only whole ones are read back
		v := g.variable(ints)
		if v.name == "" {
			v = g.variable(g.theme)
			return &stmt{form: exchange, head: leaf(void, fmt.Sprintf("EXCHANGE(s.ex, (u64)bits(%s), %d, %d)", v.name, 1+6*g.rng.IntN(16), g.rng.IntN(96)))}
		}
		// 6k+1 is odd and not a multiple of three: coprime to 96.
		m := 6*g.rng.IntN(16) + 1
		if g.rng.IntN(4) == 0 {
			return &stmt{form: exchange, head: leaf(void, fmt.Sprintf("GATHER(%s, %d)", v.name, g.rng.IntN(12)))}
		}
		return &stmt{form: exchange, head: leaf(void, fmt.Sprintf("EXCHANGE(%s, (u64)%s, %d, %d)", v.name, g.variable(ints).name, m, g.rng.IntN(96)))}
	}
	var text string
	switch k {
	case 3:
		text = fmt.Sprintf("PERMUTE(%s, %s, %s)", a.name, b.name, g.variable(classes["lane"]).name)
	case 4, 5:
		controls := []int{g.rng.IntN(256), 0x101 + g.rng.IntN(15), 0x111 + g.rng.IntN(15), 0x121 + g.rng.IntN(15), 0x140, 0x141, 0x150 + g.rng.IntN(16), 0x160 + g.rng.IntN(16)}
		text = fmt.Sprintf("DPP(%s, %s, %#x)", a.name, b.name, controls[g.rng.IntN(len(controls))])
	case 6:
		text = fmt.Sprintf("DPP8(%s, %s, %#x)", a.name, b.name, g.rng.IntN(1<<24))
	case 7:
		text = fmt.Sprintf("SWIZZLE(%s, %s, %#x)", a.name, b.name, g.rng.IntN(1<<15))
	case 8:
		text = fmt.Sprintf("%s(%s, %s, %#xu, %#xu)", []string{"PERMLANE", "PERMLANEX"}[g.rng.IntN(2)], a.name, b.name, g.rng.Uint32(), g.rng.Uint32())
	case 9:
		text = fmt.Sprintf("FIRST(%s, %s)", a.name, b.name)
	case 10:
		text = fmt.Sprintf("READ(%s, %s, %d)", a.name, b.name, g.rng.IntN(32))
	case 11:
		v := g.variable(ints)
		text = fmt.Sprintf("BALLOT(%s, %s > (%s)%s)", v.name, b.name, b.typ, intLiterals[g.rng.IntN(len(intLiterals))])
	default:
		text = fmt.Sprintf("COUNT(%s, %s)", a.name, g.variable(ints).name)
	}
	return &stmt{form: exchange, head: leaf(void, text)}
}
