package inspect

import (
	"bytes"
	"debug/elf"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/holdfast-llm/holdfast/amd/hsaco"
	"github.com/holdfast-llm/holdfast/internal/golden"
)

func disasm(t *testing.T, o *hsaco.Object) string {
	t.Helper()
	var out bytes.Buffer
	if err := Disasm(&out, o); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestDisasm(t *testing.T) {
	golden.Check(t, "lines.hsaco.disasm", disasm(t, parse(t, "lines.hsaco")))
}

// TestDisasmAgreesWithLLVM compares every line of every function with
// llvm-objdump's, but for the marks and source positions.
func TestDisasmAgreesWithLLVM(t *testing.T) {
	if _, err := exec.LookPath("llvm-objdump-22"); err != nil {
		t.Skip("NOT COMPARED WITH LLVM: no llvm-objdump-22; install llvm-22")
	}
	for _, c := range []struct{ name, attributes string }{
		{"args.hsaco", ""},
		{"relocs.hsaco", ""},
		{"relocs.o", ""},
		{"lines.hsaco", "+wavefrontsize64,-wavefrontsize32"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := parse(t, c.name)
			var names []string
			for _, f := range functions(o) {
				names = append(names, f.name)
			}
			args := []string{"-d", "--disassemble-symbols=" + strings.Join(names, ","), filepath.Join("..", "testdata", c.name)}
			if c.attributes != "" {
				args = append(args, "--mattr="+c.attributes)
			}
			text, err := exec.Command("llvm-objdump-22", args...).Output()
			if err != nil {
				t.Fatal(err)
			}
			got, want := instructions(o, disasm(t, o)), instructions(o, string(text))
			if len(want) < 10 || len(got) != len(want) {
				t.Fatalf("%d lines, llvm-objdump %d", len(got), len(want))
			}
			for i := range want {
				if got[i] != want[i] {
					t.Errorf("\n%s, llvm-objdump\n%s", got[i], want[i])
				}
			}
		})
	}
}

var (
	mark    = regexp.MustCompile(`^(wait|barrier|cache)\t`)
	address = regexp.MustCompile(`// ([0-9A-F]{12}):`)
)

// instructions returns the lines with labels and instructions, without marks.
// Padding between functions, which llvm-objdump prints too, is left out.
func instructions(o *hsaco.Object, text string) []string {
	list := functions(o)
	var lines []string
	for _, line := range strings.Split(text, "\n") {
		if strings.HasSuffix(line, ">:") {
			lines = append(lines, line)
			continue
		}
		m := address.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		pc, err := strconv.ParseUint(m[1], 16, 64)
		if err != nil {
			panic(err) // the expression takes hexadecimal digits only
		}
		if slices.ContainsFunc(list, func(f function) bool { return pc >= f.addr && pc-f.addr < uint64(len(f.code)) }) {
			lines = append(lines, mark.ReplaceAllString(line, "\t"))
		}
	}
	return lines
}

func TestMarks(t *testing.T) {
	text := disasm(t, parse(t, "args.hsaco"))
	for _, want := range []string{
		"\nwait\ts_waitcnt lgkmcnt(0) ", "\nwait\ts_waitcnt_vscnt null, 0x0 ", "\nbarrier\ts_barrier ", "\ncache\tbuffer_gl0_inv ", "\n\ts_endpgm ",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q", want)
		}
	}
}

func TestWordsThatAreNoInstruction(t *testing.T) {
	o := parse(t, "args.hsaco")
	for i := range o.Symbols {
		if s := &o.Symbols[i]; s.Name == "empty" {
			code := o.Sections[s.Section].Data[s.Value-o.Sections[s.Section].Addr:]
			copy(code, "\xff\xff\xff\xff")
		}
	}
	if text := disasm(t, o); !strings.Contains(text, "\t.long 0xffffffff ") || !strings.Contains(text, "\n1 words are no instruction") {
		t.Error(text[max(0, len(text)-2000):])
	}
}

func TestOverlappingFunctionsAreListedOnce(t *testing.T) {
	o := parse(t, "lines.hsaco")
	lines := strings.Count(disasm(t, o), "// 0")
	hash := o.Kernels[0]
	for _, at := range []uint64{8, 12} { // the second and third instruction
		o.Symbols = append(o.Symbols, hsaco.Symbol{
			Name: "inner", Type: elf.STT_FUNC, Section: elf.SectionIndex(hash.Section), Value: hash.Entry + at, Size: uint64(len(hash.Code)) - at,
		})
	}
	if got := strings.Count(disasm(t, o), "// 0"); got != lines {
		t.Errorf("%d lines, want %d", got, lines)
	}
}
