package inspect

import (
	"bufio"
	"cmp"
	"debug/elf"
	"fmt"
	"io"
	"slices"
	"sort"
	"strings"

	"github.com/holdfast-llm/holdfast/amd/hsaco"
	"github.com/holdfast-llm/holdfast/amd/isa"
)

// Disasm writes every instruction of every function as llvm-objdump -d does.
// Before the tab stands what an instruction is for, if it orders memory: wait,
// barrier or cache. A source position is written where it changes. Words that
// are no instruction become .long. The error is w's.
func Disasm(w io.Writer, o *hsaco.Object) error {
	l := lister{printer: printer{w: bufio.NewWriter(w)}, o: o, functions: functions(o)}
	for i := range l.functions {
		l.function(&l.functions[i])
	}
	if l.unknown > 0 {
		l.line("\n%d words are no instruction that is known", l.unknown)
	}
	return l.w.Flush()
}

// A function is a stretch of code to list.
type function struct {
	name    string
	section int
	addr    uint64
	code    []byte
	wave    isa.Wave
}

// functions lists the symbols of functions by section and address, and kernels
// that have no such symbol. Code that is not a kernel's is taken to run with
// the wave size of the first kernel.
func functions(o *hsaco.Object) []function {
	type place struct {
		section int
		addr    uint64
	}
	waves := make(map[place]isa.Wave)
	wave := isa.Wave32
	for i := range o.Kernels {
		k := &o.Kernels[i]
		w := isa.Wave(k.Descriptor.WavefrontSize())
		if i == 0 {
			wave = w
		}
		waves[place{k.Section, k.Entry}] = w
	}
	var list []function
	seen := make(map[place]bool)
	add := func(name string, at place, code []byte) {
		if seen[at] || len(code) == 0 {
			return
		}
		seen[at] = true
		f := function{name, at.section, at.addr, code, wave}
		if w, ok := waves[at]; ok {
			f.wave = w
		}
		list = append(list, f)
	}
	for _, s := range o.Symbols {
		if s.Type != elf.STT_FUNC || s.Section == elf.SHN_UNDEF || int(s.Section) >= len(o.Sections) {
			continue
		}
		sec := &o.Sections[s.Section]
		if sec.Data == nil || sec.Flags&elf.SHF_EXECINSTR == 0 || !sec.Contains(s.Value, s.Size) {
			continue
		}
		at := s.Value - sec.Addr
		add(s.Name, place{int(s.Section), s.Value}, sec.Data[at:at+s.Size])
	}
	for i := range o.Kernels {
		k := &o.Kernels[i]
		add(k.Name, place{k.Section, k.Entry}, k.Code)
	}
	slices.SortFunc(list, func(a, b function) int {
		return cmp.Or(cmp.Compare(a.section, b.section), cmp.Compare(a.addr, b.addr))
	})
	for i := range list[:max(0, len(list)-1)] {
		// A function ends where the next begins, so that nothing is listed twice.
		f, next := &list[i], &list[i+1]
		if f.section == next.section && next.addr-f.addr < uint64(len(f.code)) {
			f.code = f.code[:next.addr-f.addr]
		}
	}
	return list
}

// A lister writes a disassembly.
type lister struct {
	printer
	o         *hsaco.Object
	functions []function
	unknown   int
}

func (l *lister) function(f *function) {
	l.line("\n%016x <%s>:", f.addr, plain(f.name))
	source := ""
	for at := 0; at < len(f.code); {
		pc := f.addr + uint64(at)
		if file, line, col, ok := l.o.Line(pc); ok {
			if s := fmt.Sprintf("%s:%d:%d", plain(file), line, col); s != source {
				l.line("; %s", s)
				source = s
			}
		}
		at += l.instruction(f, pc, f.code[at:])
	}
}

// instruction writes the first instruction of code and returns its size.
func (l *lister) instruction(f *function, pc uint64, code []byte) int {
	text, mark, after := "", "", ""
	in, err := isa.Decode(pc, code, f.wave)
	size := in.Size
	if err != nil {
		l.unknown++
		size = min(4, len(code))
		var word uint32
		for i, c := range code[:size] {
			word |= uint32(c) << (8 * i)
		}
		text = fmt.Sprintf(".long 0x%08x", word)
	} else {
		text, mark = in.String(), purpose(in.Op.Name)
		after = l.target(f, &in)
	}
	words := ""
	for i := 0; i+4 <= size; i += 4 {
		words += fmt.Sprintf(" %02X%02X%02X%02X", code[i+3], code[i+2], code[i+1], code[i])
	}
	l.line("%s\t%-59s// %012X:%s%s", mark, text, pc, words, after)
	return size
}

// purpose says how an instruction orders memory, if it does.
func purpose(name string) string {
	switch {
	case strings.HasPrefix(name, "s_waitcnt"), name == "s_wait_idle":
		return "wait"
	case name == "s_barrier":
		return "barrier"
	case name == "buffer_gl0_inv", name == "buffer_gl1_inv", name == "s_dcache_inv", name == "s_gl1_inv", name == "s_icache_inv":
		return "cache"
	}
	return ""
}

// target names where a branch goes, as llvm-objdump does after the words.
func (l *lister) target(f *function, in *isa.Inst) string {
	if in.Op.Format != isa.SOPP || in.Op.Name != "s_branch" && !strings.HasPrefix(in.Op.Name, "s_cbranch_") {
		return ""
	}
	to := in.PC + 4 + uint64(int64(int16(in.Words[0])))*4
	// The last function of the section that starts at or before the target.
	i := sort.Search(len(l.functions), func(i int) bool {
		g := &l.functions[i]
		return g.section > f.section || g.section == f.section && g.addr > to
	}) - 1
	if i < 0 || l.functions[i].section != f.section {
		return ""
	}
	g := &l.functions[i]
	if to == g.addr {
		return fmt.Sprintf(" <%s>", plain(g.name))
	}
	return fmt.Sprintf(" <%s+%#x>", plain(g.name), to-g.addr)
}
