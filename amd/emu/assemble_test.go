package emu

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/holdfast-llm/holdfast/amd/hsaco"
)

// assembled are the objects of assemble, by source.
var assembled = struct {
	sync.Mutex
	objects map[string]*hsaco.Object
}{objects: map[string]*hsaco.Object{}}

// assemble makes a linked code object with one kernel, k, of instructions and
// directives of its descriptor without their prefix: "wavefront_size32 0".
// Nobody changes it.
func assemble(t testing.TB, code string, directives ...string) *hsaco.Object {
	t.Helper()
	key := code + "\x00" + strings.Join(directives, "\x00")
	assembled.Lock()
	o := assembled.objects[key]
	assembled.Unlock()
	if o == nil {
		o = assembleAnew(t, code, directives)
		assembled.Lock()
		assembled.objects[key] = o
		assembled.Unlock()
	}
	return o
}

func assembleAnew(t testing.TB, code string, directives []string) *hsaco.Object {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, ".amdgcn_target \"amdgcn-amd-amdhsa--gfx1151\"\n.text\n.p2align 8\n.globl k\n.type k,@function\nk:\n%s\n.Lend:\n.size k, .Lend-k\n", code)
	b.WriteString(".rodata\n.p2align 6\n.amdhsa_kernel k\n")
	set := map[string]string{"next_free_vgpr": "8", "next_free_sgpr": "32"}
	for _, d := range directives {
		name, value, _ := strings.Cut(d, " ")
		set[name] = value
	}
	for name, value := range set {
		fmt.Fprintf(&b, ".amdhsa_%s %s\n", name, value)
	}
	b.WriteString(".end_amdhsa_kernel\n")
	dir := t.TempDir()
	object, linked := filepath.Join(dir, "k.o"), filepath.Join(dir, "k.hsaco")
	command(t, b.String(), "llvm-mc-22", "-triple=amdgcn-amd-amdhsa", "-mcpu=gfx1151", "-filetype=obj", "-o", object)
	command(t, "", "ld.lld-22", "-shared", object, "-o", linked)
	file, err := os.ReadFile(linked)
	if err != nil {
		t.Fatal(err)
	}
	o, err := hsaco.Parse("k.hsaco", file)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// command runs a tool of LLVM, or skips the test where there is none.
func command(t testing.TB, stdin, name string, args ...string) {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		t.Skipf("NOT TESTED: no %s; install clang-22, lld-22 and llvm-22", name)
	}
	cmd := exec.Command(name, args...)
	cmd.Stdin = strings.NewReader(stdin)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s %s: %v\n%s\n%s", name, strings.Join(args, " "), err, &stderr, stdin)
	}
}

// kernelOn loads an object on a new device and gives its kernel k.
func kernelOn(t testing.TB, c Config, o *hsaco.Object) (*Device, *Kernel) {
	t.Helper()
	d, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	m, err := d.Load(o)
	if err != nil {
		t.Fatal(err)
	}
	k, err := m.Kernel("k")
	if err != nil {
		t.Fatal(err)
	}
	return d, k
}

// runOn runs kernel k of an object.
func runOn(t testing.TB, c Config, o *hsaco.Object, l Dispatch) (*Report, error) {
	t.Helper()
	d, k := kernelOn(t, c, o)
	l.Kernel = k
	if len(l.Kernarg) == 0 {
		l.Kernarg = make([]byte, k.KernargBytes())
	}
	return d.Run(context.Background(), l)
}

// watcher calls functions that are not nil.
type watcher struct {
	NopObserver
	begin, end, barrier func(w Wave)
	passed              func(group [3]uint32, n uint64, waves []Wave)
	dispatched          func(l *Launched)
}

func (o *watcher) DispatchBegin(l *Launched) {
	if o.dispatched != nil {
		o.dispatched(l)
	}
}

func (o *watcher) WaveBegin(w Wave) {
	if o.begin != nil {
		o.begin(w)
	}
}

func (o *watcher) WaveEnd(w Wave) {
	if o.end != nil {
		o.end(w)
	}
}

func (o *watcher) Barrier(w Wave) {
	if o.barrier != nil {
		o.barrier(w)
	}
}

func (o *watcher) BarrierPassed(group [3]uint32, n uint64, waves []Wave) {
	if o.passed != nil {
		o.passed(group, n, waves)
	}
}
