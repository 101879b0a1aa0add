package inspect

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"sort"
	"strings"

	"github.com/holdfast-llm/holdfast/amd/hsaco"
	"github.com/holdfast-llm/holdfast/amd/isa"
)

// Disasm writes every section with code as llvm-objdump -d does: labels,
// instructions, the padding between functions, and data as bytes. Eight zero
// bytes and more become "...", and words that are no instruction .long.
// Before the tab stands what an instruction is for, if it orders memory: wait,
// barrier or cache. A source position is written where it changes. The error is
// w's.
func Disasm(w io.Writer, o *hsaco.Object) error {
	l := lister{printer: printer{w: bufio.NewWriter(w)}, o: o, labels: labels(o)}
	for i := range l.labels {
		l.stretch(i)
	}
	if l.unknown > 0 {
		l.line("\n%d words are no instruction that is known", l.unknown)
	}
	return l.w.Flush()
}

// A lister writes a disassembly.
type lister struct {
	printer
	o       *hsaco.Object
	labels  []label
	unknown int
}

// stretch writes what is between a label and the next one. Of labels at one
// address the last is written.
func (l *lister) stretch(i int) {
	f := &l.labels[i]
	sec := &l.o.Sections[f.section]
	start, end := f.addr-sec.Addr, uint64(len(sec.Data))
	if i+1 < len(l.labels) && l.labels[i+1].section == f.section {
		end = l.labels[i+1].addr - sec.Addr
	}
	if start == end {
		return
	}
	l.line("\n%016x <%s>:", f.addr, plain(f.name))
	if f.data {
		l.bytes(f.addr, sec.Data[start:end])
		return
	}
	source := ""
	for at := start; at < end; {
		if n := zeros(sec.Data[at:end]); n > 0 {
			l.line("\t\t...")
			at += n
			continue
		}
		pc := sec.Addr + at
		if file, line, col, ok := l.o.Line(pc); ok {
			if s := fmt.Sprintf("%s:%d:%d", plain(file), line, col); s != source {
				l.line("; %s", s)
				source = s
			}
		}
		// An instruction may run on past the next label.
		at += l.instruction(f, pc, sec.Data[at:])
	}
}

// zeros is how many bytes at the start of b are zeros and not listed: whole
// words, if there are eight bytes at least.
func zeros(b []byte) uint64 {
	n := 0
	for n < len(b) && b[n] == 0 {
		n++
	}
	if n < 8 {
		return 0
	}
	return uint64(n) &^ 3
}

// bytes writes data, eight bytes a line.
func (l *lister) bytes(addr uint64, data []byte) {
	for row := range slices.Chunk(data, 8) {
		text := ""
		for _, c := range row {
			if c < ' ' || c > '~' {
				c = '.'
			}
			text += string(rune(c))
		}
		l.line("%8x: %-32s%s", addr, fmt.Sprintf("% 02x", row), text)
		addr += uint64(len(row))
	}
}

// instruction writes the first instruction of code and returns its size.
func (l *lister) instruction(f *label, pc uint64, code []byte) uint64 {
	in, err := isa.Decode(pc, code, f.wave)
	if err != nil {
		return l.word(pc, code)
	}
	text, after := in.String(), ""
	if to, ok := branchTarget(&in); ok {
		if name, ok := l.place(f.section, to); ok {
			text = in.Op.Name + " " + plain(name)
		} else {
			after = l.target(f.section, to)
		}
	}
	words := ""
	for i := range in.Size / 4 {
		words += fmt.Sprintf(" %08X", in.Words[i])
	}
	l.line("%s\t%-59s// %012X:%s%s", purpose(in.Op.Name), text, pc, words, after)
	return uint64(in.Size)
}

// word writes the first word of code, which is no instruction, or the bytes of
// an incomplete one.
func (l *lister) word(pc uint64, code []byte) uint64 {
	l.unknown++
	if len(code) < 4 {
		list := fmt.Sprintf("% #02x", code)
		l.line("\t%-59s// %012X: % 02X", ".byte "+strings.ReplaceAll(list, " ", ", "), pc, code)
		return uint64(len(code))
	}
	word := binary.LittleEndian.Uint32(code)
	text := fmt.Sprintf(".long 0x%08x", word)
	if word == 0 {
		text = "v_illegal" // the one illegal word that has a name
	}
	l.line("\t%-59s// %012X: %08X", text, pc, word)
	return 4
}

// purpose says how an instruction orders memory, if it does.
func purpose(name string) string {
	switch {
	case strings.HasPrefix(name, "s_waitcnt"), name == "s_wait_idle":
		return "wait"
	case name == "s_barrier", name == "ds_gws_barrier":
		return "barrier"
	case name == "buffer_gl0_inv", name == "buffer_gl1_inv", name == "s_dcache_inv", name == "s_gl1_inv", name == "s_icache_inv":
		return "cache"
	}
	return ""
}

// branchTarget is where a branch goes.
func branchTarget(in *isa.Inst) (to uint64, ok bool) {
	if in.Op.Format != isa.SOPP || in.Op.Name != "s_branch" && !strings.HasPrefix(in.Op.Name, "s_cbranch_") {
		return 0, false
	}
	return in.PC + 4 + uint64(int64(int16(in.Words[0])))*4, true
}

// place is the name of the place in code that is at an address: llvm-objdump
// writes it in the place of the distance.
func (l *lister) place(section int, addr uint64) (name string, ok bool) {
	i := l.after(section, addr)
	for i > 0 && l.labels[i-1].section == section && l.labels[i-1].addr == addr {
		i--
		if l.labels[i].place {
			name, ok = l.labels[i].name, true // of several, the first
		}
	}
	return name, ok
}

// target names an address by the last label of the section that is at or before
// it, as llvm-objdump does after the words; "" if there is none.
func (l *lister) target(section int, addr uint64) string {
	i := l.after(section, addr) - 1
	if i < 0 || l.labels[i].section != section {
		return ""
	}
	f := &l.labels[i]
	if addr == f.addr {
		return fmt.Sprintf(" <%s>", plain(f.name))
	}
	return fmt.Sprintf(" <%s+%#x>", plain(f.name), addr-f.addr)
}

// after is the index of the first label past an address.
func (l *lister) after(section int, addr uint64) int {
	return sort.Search(len(l.labels), func(i int) bool {
		f := &l.labels[i]
		return f.section > section || f.section == section && f.addr > addr
	})
}
