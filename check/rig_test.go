package check

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-llm/holdfast/amd/emu"
	"github.com/holdfast-llm/holdfast/amd/hsaco"
)

// prelude is what the tests' kernels begin with.
const prelude = `
typedef unsigned u32; typedef int i32; typedef float f32; typedef unsigned char u8; typedef unsigned long long u64;
#define GLOBAL __attribute__((address_space(1)))
#define LDS __attribute__((address_space(3)))
#define SHARED [[clang::loader_uninitialized]] static LDS
#define KERNEL(n) extern "C" __attribute__((amdgpu_kernel, visibility("protected"), amdgpu_flat_work_group_size(n, n))) void
static inline u32 item() { return __builtin_amdgcn_workitem_id_x(); }
static inline u32 group() { return __builtin_amdgcn_workgroup_id_x(); }
static inline void barrier() { __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup"); __builtin_amdgcn_s_barrier(); __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup"); }
static inline void barrier_lds() { __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup", "local"); __builtin_amdgcn_s_barrier(); __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup", "local"); }
static inline void bare_barrier() { __builtin_amdgcn_s_barrier(); }
`

// compiled is the code object of a C++ source behind prelude, with line tables.
// Without clang 22 the test is skipped.
func compiled(t testing.TB, source string, flags ...string) *hsaco.Object {
	t.Helper()
	return built(t, "kernel.cpp", prelude+source, append([]string{"-x", "c++", "-std=c++20", "-ffreestanding", "-nogpulib", "-O2", "-gline-tables-only", "-fno-discard-value-names"}, flags...))
}

// assembled is the code object of assembly text, a whole file for llvm-mc.
func assembled(t testing.TB, source string, flags ...string) *hsaco.Object {
	t.Helper()
	return built(t, "kernel.s", source, append([]string{"-x", "assembler"}, flags...))
}

func built(t testing.TB, name, source string, flags []string) *hsaco.Object {
	t.Helper()
	for _, tool := range []string{"clang-22", "ld.lld-22"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("no %s: nothing to check", tool)
		}
	}
	dir := t.TempDir()
	src, obj, out := filepath.Join(dir, name), filepath.Join(dir, "kernel.o"), filepath.Join(dir, "kernel.hsaco")
	if err := os.WriteFile(src, []byte(source), 0o666); err != nil {
		t.Fatal(err)
	}
	args := append([]string{"-target", "amdgcn-amd-amdhsa", "-mcpu=gfx1151"}, flags...)
	for _, c := range [][]string{
		append(append([]string{"clang-22"}, args...), "-c", src, "-o", obj),
		{"ld.lld-22", "-shared", obj, "-o", out},
	} {
		if b, err := exec.Command(c[0], c[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", strings.Join(c, " "), err, b)
		}
	}
	o, err := hsaco.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// run is one checked dispatch of a kernel.
type run struct {
	object *hsaco.Object
	kernel string
	groups uint32 // along x
	items  uint32 // of a workgroup
	config emu.Config
	// args are buffers of so many bytes (an int), []byte contents, or what
	// emu.Kernel.Pack takes.
	args []any
}

// check runs r under tools and returns the report and what the device said.
func (r run) check(t testing.TB, tools ...Tool) (Report, error) {
	t.Helper()
	c, err := New(Options{Tools: tools})
	if err != nil {
		t.Fatal(err)
	}
	r.config.Observer = c
	d := newRig(t, r.object, r.kernel, r.config)
	var values []any
	for i, a := range r.args {
		var data []byte
		switch a := a.(type) {
		case int:
			data = make([]byte, a)
		case []byte:
			data = a
		default:
			values = append(values, a)
			continue
		}
		b, err := d.dev.Map(string(rune('a'+i)), data, emu.Placement{})
		if err != nil {
			t.Fatal(err)
		}
		values = append(values, b)
	}
	err = d.launch(r.groups, r.items, values...)
	return c.Report(), err
}

// rig is a device with a kernel, for tests that set up their own buffers.
type rig struct {
	t   testing.TB
	dev *emu.Device
	k   *emu.Kernel
}

func newRig(t testing.TB, o *hsaco.Object, kernel string, config emu.Config) *rig {
	t.Helper()
	dev, err := emu.New(config)
	if err != nil {
		t.Fatal(err)
	}
	m, err := dev.Load(o)
	if err != nil {
		t.Fatal(err)
	}
	k, err := m.Kernel(kernel)
	if err != nil {
		t.Fatal(err)
	}
	return &rig{t, dev, k}
}

// buffer is a buffer of zeros.
func (r *rig) buffer(name string, bytes int) *emu.Buffer {
	r.t.Helper()
	b, err := r.dev.Alloc(name, bytes, emu.Placement{})
	if err != nil {
		r.t.Fatal(err)
	}
	return b
}

// launch runs workgroups of so many work-items.
func (r *rig) launch(groups, items uint32, args ...any) error {
	r.t.Helper()
	grid, group := [3]uint32{groups * items, 1, 1}, [3]uint32{items, 1, 1}
	p, err := r.k.Pack(grid, group, args...)
	if err != nil {
		r.t.Fatal(err)
	}
	_, err = r.dev.Run(context.Background(), emu.Dispatch{Kernel: r.k, Grid: grid, Workgroup: group, Kernarg: p.Kernarg, DynamicLDS: p.DynamicLDS})
	return err
}

// kindsAre compares the kinds of what was found, each once, with those wanted.
func kindsAre(r Report, want []Kind) error {
	var got []Kind
	var texts []string
	for _, f := range r.Findings {
		texts = append(texts, f.String())
		if !slices.Contains(got, f.Kind) {
			got = append(got, f.Kind)
		}
	}
	slices.Sort(got)
	want = slices.Sorted(slices.Values(want))
	if !slices.Equal(got, want) {
		return fmt.Errorf("found %v, want %v\n%s", got, want, strings.Join(texts, "\n"))
	}
	return nil
}
