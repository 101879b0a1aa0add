package check

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"github.com/holdfast-llm/holdfast/amd/hsaco"
)

// ErrNoCompiler says that a source cannot be built here.
var ErrNoCompiler = errors.New("clang-22 or ld.lld-22 is not there to build it")

// Builder compiles the sources of cases, each once. Its methods may be called at
// the same time.
type Builder struct {
	mu     sync.Mutex
	dir    string
	builds map[string]*build
}

type build struct {
	once   sync.Once
	object *hsaco.Object
	err    error
}

// Close removes what was built.
func (b *Builder) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.dir == "" {
		return nil
	}
	return os.RemoveAll(b.dir)
}

// object is the code object of a case.
func (b *Builder) object(c *Case) (*hsaco.Object, error) {
	if c.Object != "" {
		return hsaco.Open(c.path(c.Object))
	}
	key := strings.Join(append([]string{c.path(c.Source)}, c.Flags...), "\x00")
	b.mu.Lock()
	if b.dir == "" {
		dir, err := os.MkdirTemp("", "holdfast-check")
		if err != nil {
			b.mu.Unlock()
			return nil, err
		}
		b.dir, b.builds = dir, map[string]*build{}
	}
	made := b.builds[key]
	if made == nil {
		made = &build{}
		b.builds[key] = made
	}
	out := filepath.Join(b.dir, fmt.Sprint(len(b.builds)))
	b.mu.Unlock()
	made.once.Do(func() { made.object, made.err = compile(c.path(c.Source), out, c.Flags) })
	return made.object, made.err
}

// path is a path of the case file.
func (c *Case) path(p string) string {
	if filepath.IsAbs(p) {
		return p
	}
	return filepath.Join(c.Dir, p)
}

// languages are the compiler's flags by a source's extension.
var languages = map[string][]string{
	".cpp": {"-x", "c++", "-std=c++20", "-ffreestanding", "-nogpulib", "-O2", "-gline-tables-only", "-fno-discard-value-names"},
	".cl":  {"-x", "cl", "-cl-std=CL2.0", "-cl-kernel-arg-info", "-Xclang", "-finclude-default-header", "-nogpulib", "-O2", "-gline-tables-only"},
	".s":   {"-x", "assembler"},
}

// compile builds a source for gfx1151 in its own folder, so that the paths in
// line tables are relative to it.
func compile(source, out string, flags []string) (*hsaco.Object, error) {
	language, ok := languages[filepath.Ext(source)]
	if !ok {
		return nil, fmt.Errorf("%s: no .cpp, .cl or .s file", source)
	}
	if _, err := os.Stat(source); err != nil {
		return nil, err
	}
	for _, tool := range []string{"clang-22", "ld.lld-22"} {
		if _, err := exec.LookPath(tool); err != nil {
			return nil, fmt.Errorf("%s: %w", source, ErrNoCompiler)
		}
	}
	clang := append([]string{"clang-22", "-target", "amdgcn-amd-amdhsa", "-mcpu=gfx1151"}, language...)
	clang = append(append(clang, flags...), "-fdebug-compilation-dir=.", "-c", filepath.Base(source), "-o", out+".o")
	if language[1] == "assembler" {
		clang = append(append([]string{"clang-22", "-target", "amdgcn-amd-amdhsa", "-mcpu=gfx1151"}, language...), append(flags, "-c", filepath.Base(source), "-o", out+".o")...)
	}
	for _, command := range [][]string{clang, {"ld.lld-22", "-shared", out + ".o", "-o", out + ".hsaco"}} {
		run := exec.Command(command[0], command[1:]...)
		run.Dir = filepath.Dir(source)
		if text, err := run.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%s: %w: %s", strings.Join(command, " "), err, strings.TrimSpace(string(text)))
		}
	}
	b, err := os.ReadFile(out + ".hsaco")
	if err != nil {
		return nil, err
	}
	return hsaco.Parse(source, b)
}
