package progen

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Results is what a program leaves: the work-items' outputs, their memory and
// the shared accumulators.
type Results struct {
	Out    []uint64 // [Groups * Items][Outputs]
	Memory []uint32 // [Groups * Items][MemoryWords]
	Shared []uint64 // [Shared]
}

// NewResults is what a program starts with: outputs of zero, the rest from
// the input.
func NewResults(in []uint32) *Results {
	r := &Results{
		Out:    make([]uint64, Groups*Items*Outputs),
		Memory: make([]uint32, Groups*Items*MemoryWords),
		Shared: make([]uint64, Shared),
	}
	for i := range r.Memory {
		r.Memory[i] = in[i%len(in)]
	}
	for i := range r.Shared {
		if i != FloatShared {
			r.Shared[i] = uint64(in[i])
		}
	}
	return r
}

// Diff is the first difference between the results of the host and those of
// the device, or "".
func Diff(host, device *Results) string {
	for i, want := range host.Out {
		if got := device.Out[i]; got != want {
			return fmt.Sprintf("work-item %d, out[%d]: %#x on the host, %#x on the device", i/Outputs, i%Outputs, want, got)
		}
	}
	for i, want := range host.Memory {
		if got := device.Memory[i]; got != want {
			return fmt.Sprintf("work-item %d, memory word %d: %#x on the host, %#x on the device", i/MemoryWords, i%MemoryWords, want, got)
		}
	}
	for i, want := range host.Shared {
		if got := device.Shared[i]; got != want {
			return fmt.Sprintf("accumulator %d: %#x on the host, %#x on the device", i, want, got)
		}
	}
	return ""
}

// language are the flags that both sides share: no fused operations but
// explicit ones, integers wrap, memory has no types.
var language = []string{"-x", "c++", "-std=c++20", "-w", "-ffp-contract=off", "-fwrapv", "-fno-strict-aliasing", "-fno-math-errno"}

// Variant is one way to compile for the device.
type Variant struct {
	Name string
	Wave int // lanes
	O    string
}

// Variants are those that a program is tried in.
var Variants = []Variant{{"w32.O2", 32, "-O2"}, {"w64.O2", 64, "-O2"}, {"w32.O0", 32, "-O0"}, {"w64.O0", 64, "-O0"}}

func clang(args ...string) error {
	return command("clang-22", args...)
}

func command(name string, args ...string) error {
	cmd := exec.Command(name, args...)
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("progen: %s: %w\n%s", name, err, text[:min(len(text), 4000)])
	}
	return nil
}

// flags are the compiler's.
func (v Variant) flags() []string {
	args := append([]string{"-target", "amdgcn-amd-amdhsa", "-mcpu=gfx1151", "-ffreestanding", "-nogpulib", v.O}, language...)
	if v.Wave == 64 {
		args = append(args, "-mwavefrontsize64", "-DWAVE64=1")
	}
	return args
}

// Compile makes a gfx1151 code object of a source file and returns its bytes.
func (v Variant) Compile(source string, flags ...string) ([]byte, error) {
	object := source + "." + v.Name
	args := append(v.flags(), flags...)
	if err := clang(append(args, "-c", source, "-o", object+".o")...); err != nil {
		return nil, err
	}
	if err := command("ld.lld-22", "-shared", object+".o", "-o", object+".hsaco"); err != nil {
		return nil, err
	}
	return os.ReadFile(object + ".hsaco")
}

// CompileHost makes the witness of a source file and returns its path. It is
// not optimised: the plainest reading of the source. Flags come last.
func CompileHost(source string, flags ...string) (string, error) {
	out := source + ".host"
	args := append([]string{"-O0", "-march=x86-64-v3", "-Xclang", "-ffloat16-excess-precision=none"}, language...)
	args = append(args, source, "-o", out, "-lm")
	return out, clang(append(args, flags...)...)
}

// RunHost runs a witness for waves of so many lanes and returns the results of
// each program.
func RunHost(path string, wave int, programs []*Program) ([]*Results, error) {
	var stdin, stdout, stderr bytes.Buffer
	for _, p := range programs {
		write(&stdin, p.Input())
	}
	cmd := exec.Command(path, fmt.Sprint(wave))
	cmd.Stdin, cmd.Stdout, cmd.Stderr = &stdin, &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("progen: the host's program: %w\n%s", err, &stderr)
	}
	if stderr.Len() > 0 {
		return nil, fmt.Errorf("progen: the host's program complains: %s", &stderr)
	}
	var all []*Results
	for _, p := range programs {
		r := NewResults(p.Input())
		for _, part := range []any{r.Out, r.Memory, r.Shared} {
			if err := binary.Read(&stdout, binary.LittleEndian, part); err != nil {
				return nil, fmt.Errorf("progen: the host's results: %w", err)
			}
		}
		all = append(all, r)
	}
	return all, nil
}

func write(b *bytes.Buffer, words []uint32) {
	for _, w := range words {
		b.Write(binary.LittleEndian.AppendUint32(nil, w))
	}
}

// Write puts the source of the programs into dir and returns its path.
func Write(dir, name string, programs []*Program) (string, error) {
	path := filepath.Join(dir, name+".cpp")
	return path, os.WriteFile(path, []byte(Source(programs)), 0o644)
}
