package progen

import (
	_ "embed"
	"fmt"
	"math/rand/v2"
	"strings"
)

//go:embed prelude.h
var prelude string

// The shape of every program's launch and memory; prelude.h has the same.
const (
	Items       = 96 // work-items in a workgroup
	Groups      = 2  // workgroups
	InputWords  = 2048
	MemoryWords = 16 // of 32 bits, for each work-item
	Outputs     = 20 // of 64 bits, for each work-item
	Shared      = 16 // accumulators of 64 bits
	FloatShared = 12 // the accumulator that starts at zero, not at the input
)

// Program is a random program.
type Program struct {
	Seed   uint64
	vars   []variable
	phases []*phase
	wild   bool // floats start as any bits, not as small numbers
}

// phase is what every work-item does by itself, and what happens to all after.
type phase struct {
	apart bool // a function that is not inlined
	body  []*stmt
	after *stmt // nil after the last
}

type variable struct {
	name    string
	typ     typ
	uniform bool // the same for every work-item
}

// gen is the state of generation.
type gen struct {
	rng     *rand.Rand
	theme   []typ
	scope   []variable
	uniform bool // only uniform operands
	loops   int
}

// variable is one of the program's variables of one of the types, or none.
func (g *gen) variable(of []typ) variable {
	var vs []variable
	for _, v := range g.scope {
		if contains(of, v.typ) && strings.HasPrefix(v.name, "s.") {
			vs = append(vs, v)
		}
	}
	if len(vs) == 0 {
		return variable{}
	}
	return vs[g.rng.IntN(len(vs))]
}

// Generate makes the program of a seed.
func Generate(seed uint64) *Program {
	g := &gen{rng: rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15))}
	g.theme = themes[g.rng.IntN(len(themes))]
	p := &Program{Seed: seed, wild: g.rng.IntN(3) == 0}
	for _, t := range g.theme {
		for i := range 2 {
			p.vars = append(p.vars, variable{name: fmt.Sprintf("s.%s_%d", t, i), typ: t})
		}
	}
	g.scope = append(g.scope, p.vars...)
	phases := 1 + g.rng.IntN(3)
	for i := range phases {
		ph := &phase{apart: g.rng.IntN(8) == 0}
		mark := len(g.scope)
		for k := range g.rng.IntN(3) {
			t := []typ{u32, i32, u32, u64, f32, g.theme[g.rng.IntN(len(g.theme))]}[g.rng.IntN(6)]
			g.uniform = true
			s := &stmt{form: declare, name: fmt.Sprintf("q%d", k), head: g.expr(t, 3)}
			g.uniform = false
			ph.body = append(ph.body, s)
			g.scope = append(g.scope, variable{name: s.name, typ: t, uniform: true})
		}
		ph.body = append(ph.body, g.block(5, 2, false)...)
		g.scope = g.scope[:mark]
		if i < phases-1 {
			ph.after = g.crossing()
		}
		p.phases = append(p.phases, ph)
	}
	return p
}

func (p *Program) clone() *Program {
	c := *p
	c.phases = make([]*phase, len(p.phases))
	for i, ph := range p.phases {
		c.phases[i] = &phase{apart: ph.apart, body: cloneBlock(ph.body), after: ph.after}
	}
	return &c
}

// write prints the program as a kernel called name.
func (p *Program) write(b *strings.Builder, name string) {
	fmt.Fprintf(b, "struct S_%s {", name)
	for _, v := range p.vars {
		fmt.Fprintf(b, " %s %s;", v.typ, v.name[2:])
	}
	b.WriteString(" u64 ex; u32 arr[8]; };\n")
	for i, ph := range p.phases {
		attribute := ""
		if ph.apart {
			attribute = "__attribute__((noinline)) "
		}
		fmt.Fprintf(b, "%sstatic void %s_%d(S_%s &s, const ctx &c) {\n", attribute, name, i, name)
		writeBlock(b, ph.body, "\t")
		b.WriteString("}\n")
	}
	fmt.Fprintf(b, "static void %s_in(S_%s &s, const ctx &c) {\n", name, name)
	for i, v := range p.vars {
		word := fmt.Sprintf("ld<u64>(c, c.gid * 5 + %d)", i*7)
		switch {
		case isInt(v.typ):
			fmt.Fprintf(b, "\t%s = (%s)(%s >> %d);\n", v.name, v.typ, word, int(p.Seed>>(i%32))&15)
		case v.typ == h2:
			fmt.Fprintf(b, "\t%s = pair(small<f16>(%s), small<f16>(%s >> 16));\n", v.name, word, word)
		case contains(vectors, v.typ):
			fmt.Fprintf(b, "\t%s = cast<%s>((u32)%s);\n", v.name, v.typ, word)
		case p.wild:
			fmt.Fprintf(b, "\t%s = fromw<%s>(%s);\n", v.name, v.typ, word)
		default:
			fmt.Fprintf(b, "\t%s = small<%s>(%s);\n", v.name, v.typ, word)
		}
	}
	b.WriteString("\ts.ex = c.tid;\n\tfor (u32 i = 0; i < 8; i++) s.arr[i] = c.gid * 3 + i;\n}\n")
	fmt.Fprintf(b, "static void %s_out(S_%s &s, GLOBAL u64 *out) {\n", name, name)
	for i, v := range p.vars {
		fmt.Fprintf(b, "\tout[%d] = bits(%s);\n", i, v.name)
	}
	b.WriteString("\tout[17] = s.ex;\n")
	if p.usesArray() {
		b.WriteString("\tout[18] = (u64)(s.arr[0] + s.arr[1] * 3) << 32 | (s.arr[2] + s.arr[3] * 5);\n\tout[19] = (u64)(s.arr[4] + s.arr[5] * 3) << 32 | (s.arr[6] + s.arr[7] * 5);\n")
	}
	fmt.Fprintf(b, "}\nPROGRAM(%s, S_%s)\n\tEACH(%s_in(s, c))\n", name, name, name)
	for i, ph := range p.phases {
		fmt.Fprintf(b, "\tEACH(%s_%d(s, c))\n", name, i)
		if ph.after != nil {
			ph.after.write(b, "\t")
		}
	}
	fmt.Fprintf(b, "\tEACH(%s_out(s, out + gid * NOUT))\nEND\n\n", name)
}

func (p *Program) usesArray() bool {
	return strings.Contains(p.body(), "s.arr")
}

// String is the program's source without the prelude.
func (p *Program) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "// progen seed %d\n", p.Seed)
	p.write(&b, "p")
	return b.String()
}

// Name is the kernel's name of the i-th program of a source.
func Name(i int) string { return fmt.Sprintf("p%d", i) }

// Source is one translation unit with all the programs, as kernels for the
// device and with a main for the host.
func Source(programs []*Program) string {
	var b strings.Builder
	b.WriteString(prelude)
	var names []string
	for i, p := range programs {
		p.write(&b, Name(i))
		names = append(names, Name(i))
	}
	fmt.Fprintf(&b, "#if !DEVICE\nMAIN(%s)\n#endif\n", strings.Join(names, ", "))
	return b.String()
}

// Input is a program's input: words with many edges among them.
func (p *Program) Input() []uint32 {
	rng := rand.New(rand.NewPCG(p.Seed, 1))
	edges := []uint32{0, 1, 2, 0x7fffffff, 0x80000000, 0xffffffff, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x00800000, 1 << 20, 0x3c003c00, 0x7bff0400, 0x00018001, 0x3ff00000, 0x7fefffff}
	in := make([]uint32, InputWords)
	for i := range in {
		switch k := rng.IntN(8); {
		case k == 0:
			in[i] = edges[rng.IntN(len(edges))]
		case k == 1:
			in[i] = rng.Uint32() >> rng.IntN(32)
		case k == 2:
			in[i] = -(rng.Uint32() >> rng.IntN(32))
		default:
			in[i] = rng.Uint32()
		}
	}
	return in
}
