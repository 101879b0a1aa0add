package emu_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/holdfast-llm/holdfast/amd/emu"
	"github.com/holdfast-llm/holdfast/amd/hsaco"
)

// compile makes a linked code object of a source in testdata, which nobody
// changes.
func compile(t testing.TB, source, flags string) *hsaco.Object {
	t.Helper()
	return parse(t, build(t, source, flags))
}

func parse(t testing.TB, file []byte) *hsaco.Object {
	t.Helper()
	o, err := hsaco.Parse("o.hsaco", file)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// built are the files of build and buildText, by source and flags.
var built = struct {
	sync.Mutex
	files map[string][]byte
}{files: map[string][]byte{}}

// build is the file of compile. Nobody changes it.
func build(t testing.TB, source, flags string) []byte {
	t.Helper()
	return once(source+" "+flags, func() []byte { return buildFile(t, filepath.Join("testdata", source), flags) })
}

// buildText is build of a source that is not in testdata.
func buildText(t testing.TB, text, flags string) []byte {
	t.Helper()
	return once(text+" "+flags, func() []byte {
		source := filepath.Join(t.TempDir(), "source.cpp")
		if err := os.WriteFile(source, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return buildFile(t, source, flags+" -Itestdata")
	})
}

// once builds what has not been built.
func once(key string, f func() []byte) []byte {
	built.Lock()
	file, ok := built.files[key]
	built.Unlock()
	if !ok {
		file = f()
		built.Lock()
		built.files[key] = file
		built.Unlock()
	}
	return file
}

func buildFile(t testing.TB, source, flags string) []byte {
	t.Helper()
	needClang(t)
	dir := t.TempDir()
	object, linked := filepath.Join(dir, "o"), filepath.Join(dir, "o.hsaco")
	args := append(strings.Fields("-target amdgcn-amd-amdhsa -mcpu=gfx1151 -x c++ -std=c++20 -ffreestanding -nogpulib -ffp-contract=off"), strings.Fields(flags)...)
	tool(t, "clang-22", append(args, "-c", source, "-o", object)...)
	tool(t, "ld.lld-22", "-shared", object, "-o", linked)
	file, err := os.ReadFile(linked)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// witness compiles a source in testdata for the host and returns its path.
func witness(t testing.TB, source, flags string) string {
	t.Helper()
	needClang(t)
	out := filepath.Join(t.TempDir(), "host")
	args := append(strings.Fields("-x c++ -std=c++20 -O1 -march=x86-64-v3 -Xclang -ffloat16-excess-precision=none -ffp-contract=off"), strings.Fields(flags)...)
	tool(t, "clang-22", append(args, filepath.Join("testdata", source), "-o", out, "-lm")...)
	return out
}

func tool(t testing.TB, name string, args ...string) {
	t.Helper()
	if text, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, text)
	}
}

// ask runs a host program with the arrays in on its standard input and reads
// the arrays out from its standard output.
func ask(t testing.TB, program string, in []any, out ...any) {
	t.Helper()
	var stdin []byte
	for _, a := range in {
		stdin = appendBinary(t, stdin, a)
	}
	cmd := exec.Command(program)
	cmd.Stdin, cmd.Stderr = strings.NewReader(string(stdin)), os.Stderr
	stdout, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range out {
		n, err := binary.Decode(stdout, binary.LittleEndian, a)
		if err != nil {
			t.Fatal(err)
		}
		stdout = stdout[n:]
	}
}

func appendBinary(t testing.TB, b []byte, a any) []byte {
	t.Helper()
	b, err := binary.Append(b, binary.LittleEndian, a)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// launch runs a kernel on a device of its own. Arguments that are slices become
// buffers, whose contents come back in them; others are passed by value.
func launch(o *hsaco.Object, kernel string, c emu.Config, grid, workgroup [3]uint32, args ...any) (*emu.Report, error) {
	dev, err := emu.New(c)
	if err != nil {
		return nil, err
	}
	m, err := dev.Load(o)
	if err != nil {
		return nil, err
	}
	k, err := m.Kernel(kernel)
	if err != nil {
		return nil, err
	}
	kernarg := make([]byte, k.KernargBytes())
	buffers := make([]*emu.Buffer, len(args))
	for i, a := range args {
		if i >= len(k.Meta.Args) {
			return nil, fmt.Errorf("%s takes %d arguments, not %d", kernel, len(k.Meta.Args), len(args))
		}
		at := kernarg[k.Meta.Args[i].Offset:]
		data, err := binary.Append(nil, binary.LittleEndian, a)
		if err != nil {
			return nil, err
		}
		if k.Meta.Args[i].ValueKind == "global_buffer" {
			if buffers[i], err = dev.Map(k.Meta.Args[i].Name, data, emu.Placement{}); err != nil {
				return nil, err
			}
			binary.LittleEndian.PutUint64(at, buffers[i].Addr)
		} else {
			copy(at, data)
		}
	}
	report, err := dev.Run(context.Background(), emu.Dispatch{Kernel: k, Grid: grid, Workgroup: workgroup, Kernarg: kernarg})
	for i, b := range buffers {
		if b != nil {
			if _, err := binary.Decode(b.Data, binary.LittleEndian, args[i]); err != nil {
				return report, err
			}
		}
	}
	return report, err
}
