package inspect

import (
	"bytes"
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-llm/holdfast/amd/hsaco"
	"github.com/holdfast-llm/holdfast/amd/isa"
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

// TestDisasmAgreesWithLLVM compares every line with llvm-objdump's, but for the
// marks and source positions.
func TestDisasmAgreesWithLLVM(t *testing.T) {
	for _, name := range []string{"args.hsaco", "relocs.hsaco", "relocs.o", "lines.hsaco"} {
		t.Run(name, func(t *testing.T) {
			compareWithLLVM(t, parse(t, name), filepath.Join("..", "testdata", name))
		})
	}
}

// TestKernelsAgreeWithLLVM compares the kernels that the engine runs.
func TestKernelsAgreeWithLLVM(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join("..", "..", "..", "device", "kernel", "objects", "*.hsaco"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("%d kernels, %v", len(paths), err)
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			o, err := hsaco.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			compareWithLLVM(t, o, path)
		})
	}
}

func compareWithLLVM(t *testing.T, o *hsaco.Object, path string) {
	t.Helper()
	needTool(t, "llvm-objdump-22")
	args := []string{"-d", path}
	if len(o.Kernels) > 0 && o.Kernels[0].Descriptor.WavefrontSize() == 64 {
		args = append(args, "--mattr=+wavefrontsize64,-wavefrontsize32")
	}
	text, err := exec.Command("llvm-objdump-22", args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	got, want := listing(disasm(t, o)), listing(string(text))
	if len(want) < 10 || len(got) != len(want) {
		t.Errorf("%d lines, llvm-objdump %d", len(got), len(want))
	}
	for i := range min(len(want), len(got)) {
		if got[i] != want[i] {
			t.Errorf("line %d:\n%q, llvm-objdump\n%q", i, got[i], want[i])
		}
	}
}

func needTool(t *testing.T, name string) {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		t.Skipf("NOT COMPARED WITH LLVM: no %s; install llvm-22", name)
	}
}

var mark = regexp.MustCompile(`^(wait|barrier|cache)\t`)

// listing returns the lines from the first label on, without marks, source
// positions and what each tool says of its own.
func listing(text string) []string {
	var lines []string
	for _, line := range strings.Split(text, "\n") {
		own := line == "" || strings.HasPrefix(line, "; ") || strings.HasPrefix(line, "Disassembly of section ") ||
			strings.Contains(line, "file format") || strings.HasSuffix(line, "words are no instruction that is known")
		if !own {
			lines = append(lines, mark.ReplaceAllString(line, "\t"))
		}
	}
	return lines
}

// The source of an object whose text has all that is not a plain instruction.
const oddities = `
	s_nop 1
place:
	s_branch place
	s_branch function
.globl b_function
.type b_function,@function
a_function:
b_function:
.type function,@function
function:
	s_cbranch_scc0 other
	s_branch 0x7f
.type data,@object
data:
	.ascii "bytes, and zeros"
	.zero 17
	.byte 255
.type other,@function
other:
	.zero 4
	s_nop 2
	.zero 11
	.byte 1
	.long 0xffffffff
	.long 0x8002ff02
inside:
	.long 0
	s_nop 3
	.byte 1, 2, 3
.section .text.zeros,"ax"
	.zero 20
.section .text.tail,"ax"
	s_nop 4
	.zero 3
.text
last:
	.zero 2
`

// TestOdditiesAgreeWithLLVM assembles padding, zeros, data, words that are no
// instruction, labels at one address and in the middle of an instruction, and
// branches to all of them.
func TestOdditiesAgreeWithLLVM(t *testing.T) {
	needTool(t, "llvm-mc-22")
	dir := t.TempDir()
	source, object := filepath.Join(dir, "odd.s"), filepath.Join(dir, "odd.o")
	if err := os.WriteFile(source, []byte(oddities), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("llvm-mc-22", "-triple=amdgcn-amd-amdhsa", "-mcpu=gfx1151", "-filetype=obj", "-o", object, source)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	o, err := hsaco.Open(object)
	if err != nil {
		t.Fatal(err)
	}
	compareWithLLVM(t, o, object)
}

// TestMarks holds the marked lines of two objects, as they are printed.
func TestMarks(t *testing.T) {
	var marked strings.Builder
	for _, name := range []string{"args.hsaco", "lines.hsaco"} {
		marked.WriteString(name + "\n")
		for _, line := range strings.SplitAfter(disasm(t, parse(t, name)), "\n") {
			if mark.MatchString(line) {
				marked.WriteString(line)
			}
		}
	}
	golden.Check(t, "marks.txt", marked.String())
}

func TestOperationsThatAreMarked(t *testing.T) {
	got := make(map[string][]string)
	for _, op := range isa.Ops() {
		if p := purpose(op.Name); p != "" {
			got[p] = append(got[p], op.Name)
		}
	}
	for p, want := range map[string][]string{
		"wait": {
			"s_waitcnt_vscnt", "s_waitcnt_vmcnt", "s_waitcnt_expcnt", "s_waitcnt_lgkmcnt",
			"s_waitcnt_depctr", "s_waitcnt", "s_wait_idle",
		},
		"barrier": {"s_barrier", "ds_gws_barrier"},
		"cache":   {"s_icache_inv", "s_gl1_inv", "s_dcache_inv", "buffer_gl0_inv", "buffer_gl1_inv"},
	} {
		if !slices.Equal(got[p], want) {
			t.Errorf("%s: %q, want %q", p, got[p], want)
		}
		delete(got, p)
	}
	if len(got) > 0 {
		t.Errorf("other marks: %v", got)
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
