package hsaco

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdfast-llm/holdfast/internal/golden"
)

// A build is a code object made of one of the sources in testdata.
type build struct {
	name   string // of the object; .o is not linked
	source string
	flags  string
}

// committed are the objects under testdata, so that most tests need no
// compiler. go test -update makes them anew.
var committed = []build{
	{"args.hsaco", "args.cl", "-mcpu=gfx1151"},
	{"lines.hsaco", "lines.cpp", "-mcpu=gfx1100 -mwavefrontsize64 -mcumode -mcode-object-version=5 -gline-tables-only"},
	{"relocs.hsaco", "relocs.cpp", "-mcpu=gfx1151 -mcode-object-version=4"},
	{"relocs.o", "relocs.cpp", "-mcpu=gfx1150"},
	{"descriptor.hsaco", "descriptor.s", "-mcpu=gfx1100"},
}

// more are made when there is a compiler.
var more = []build{
	{"v4.hsaco", "args.cl", "-mcpu=gfx1100 -mcode-object-version=4"},
	{"v5.hsaco", "args.cl", "-mcpu=gfx1101 -mcode-object-version=5"},
	{"v6.hsaco", "args.cl", "-mcpu=gfx1102 -mcode-object-version=6"},
	{"generic.hsaco", "args.cl", "-mcpu=gfx11-generic -mcode-object-version=6"},
	{"unoptimised.hsaco", "args.cl", "-mcpu=gfx1103 -O0"},
	{"wave64.hsaco", "args.cl", "-mcpu=gfx1152 -mwavefrontsize64"},
	{"cumode.o", "args.cl", "-mcpu=gfx1153 -mcumode"},
	{"v4.o", "args.cl", "-mcpu=gfx1151 -mcode-object-version=4"},
	{"debug.hsaco", "lines.cpp", "-mcpu=gfx1151 -g"},
	{"dwarf4.hsaco", "lines.cpp", "-mcpu=gfx1151 -gdwarf-4 -gline-tables-only"},
	{"dwarf64.hsaco", "lines.cpp", "-mcpu=gfx1151 -gdwarf64 -gline-tables-only -O0"},
	{"descriptor.o", "descriptor.s", "-mcpu=gfx1100"},
}

// needLLVM skips a test that compares with LLVM 22, and says so.
func needLLVM(t *testing.T) {
	t.Helper()
	for _, tool := range []string{"clang-22", "ld.lld-22", "llvm-mc-22", "llvm-readelf-22", "llvm-objdump-22", "llvm-symbolizer-22"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("NOT COMPARED WITH LLVM: no %s; install clang-22, lld-22 and llvm-22", tool)
		}
	}
}

// tool runs a program in testdata and returns its standard output.
func tool(t *testing.T, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = "testdata"
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, &stderr)
	}
	return stdout.String()
}

// compile makes the object in dir and returns its path.
func (b build) compile(t *testing.T, dir string) string {
	t.Helper()
	out := filepath.Join(dir, b.name)
	object := out
	linked := filepath.Ext(b.name) == ".hsaco"
	if linked {
		object += ".o"
	}
	flags := strings.Fields(b.flags)
	if filepath.Ext(b.source) == ".s" {
		tool(t, "llvm-mc-22", append(flags, "-triple=amdgcn-amd-amdhsa", "-filetype=obj", b.source, "-o", object)...)
	} else {
		language := []string{"-x", "c++", "-ffreestanding"}
		if filepath.Ext(b.source) == ".cl" {
			language = []string{"-x", "cl", "-cl-std=CL2.0", "-Xclang", "-finclude-default-header", "-Wno-all"}
		}
		args := append([]string{"-target", "amdgcn-amd-amdhsa", "-nogpulib", "-O2", "-fdebug-compilation-dir=/src", "-w"}, flags...)
		args = append(args, language...)
		tool(t, "clang-22", append(args, "-c", b.source, "-o", object)...)
	}
	if linked {
		tool(t, "ld.lld-22", "-shared", object, "-o", out)
	}
	return out
}

// load reads one of the committed objects.
func load(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestCommittedObjectsAreMadeFromTheirSources rebuilds them, with the compiler
// that made them or in order to replace them.
func TestCommittedObjectsAreMadeFromTheirSources(t *testing.T) {
	needLLVM(t)
	_, version, _ := strings.Cut(tool(t, "clang-22", "--version"), "version ")
	version, _, _ = strings.Cut(version, " ")
	for _, b := range committed {
		t.Run(b.name, func(t *testing.T) {
			made, err := os.ReadFile(b.compile(t, t.TempDir()))
			if err != nil {
				t.Fatal(err)
			}
			if golden.Updating() {
				if err := os.WriteFile(filepath.Join("testdata", b.name), made, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			old := load(t, b.name)
			if !bytes.Equal(made, old) {
				if filepath.Ext(b.source) != ".s" && !bytes.Contains(old, []byte(version)) {
					t.Skipf("made by another compiler than %s", version)
				}
				t.Error("the object differs from what its source gives (go test -update replaces it)")
			}
		})
	}
}
