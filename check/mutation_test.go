package check

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-llm/holdfast/amd/emu"
	"github.com/holdfast-llm/holdfast/amd/emu/recorded"
	"github.com/holdfast-llm/holdfast/amd/hsaco"
	"github.com/holdfast-llm/holdfast/amd/isa"
)

var update = flag.Bool("update", false, "rewrite the golden files under testdata")

// TestEveryWaitBarrierAndInvalidateIsNeededOrExplained takes each instruction
// that orders memory out of each of our own clean kernels, one at a time, in the
// binary, and has the detectors look at the launches of the kernels' own tests.
// Each mutant is found, or testdata/mutants.txt says why it is harmless.
//
// It runs the tests of device/kernel to record their launches, and takes some
// minutes: HOLDFAST_LONG=1.
func TestEveryWaitBarrierAndInvalidateIsNeededOrExplained(t *testing.T) {
	if os.Getenv("HOLDFAST_LONG") == "" {
		t.Skip("HOLDFAST_LONG=1 mutates all kernels")
	}
	launches := recordings(t)
	var report strings.Builder
	report.WriteString("Each instruction that orders memory, taken out of each kernel in turn.\n")
	var total tallyOfMutants
	for _, kernel := range slices.Sorted(mapKeys(launches)) {
		m := mutants(t, kernel, launches[kernel])
		total.add(m.tally)
		fmt.Fprintf(&report, "\n%s: %s\n", kernel, &m.tally)
		for _, line := range m.harmless {
			report.WriteString("  " + line + "\n")
		}
		for _, line := range m.unexplained {
			t.Errorf("%s: %s", kernel, line)
		}
	}
	if total.found < 100 {
		t.Errorf("%d mutants are found: that cannot be all", total.found)
	}
	fmt.Fprintf(&report, "\nall: %s\n", &total)
	const golden = "testdata/mutants.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(report.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if report.String() != string(want) {
		t.Errorf("not as in %s (go test -update rewrites it):\n%s", golden, report.String())
	}
}

func mapKeys[K comparable, V any](m map[K]V) func(yield func(K) bool) {
	return func(yield func(K) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// recordings are launches of the tests of our kernels, by kernel.
func recordings(t *testing.T) map[string][]*recorded.Dispatch {
	t.Helper()
	dir := t.TempDir()
	run := exec.Command("go", "test", "-count=1", "./device/kernel")
	run.Dir = ".."
	run.Env = append(os.Environ(), "HOLDFAST_RECORD="+dir, "HOLDFAST_LONG=")
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	paths, err := filepath.Glob(filepath.Join(dir, "*", "dispatch.json"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("nothing was recorded: %v", err)
	}
	slices.Sort(paths)
	launches := map[string][]*recorded.Dispatch{}
	for _, path := range paths {
		d, err := recorded.Read(filepath.Dir(path))
		if err != nil {
			t.Fatal(err)
		}
		// Launches that are to go wrong, with counters that do not fit, show races.
		if r, err := look(d); err == nil && len(r.Findings) == 0 {
			launches[d.Kernel] = append(launches[d.Kernel], d)
		}
	}
	return launches
}

// look has all detectors look at a launch.
func look(d *recorded.Dispatch) (Report, error) {
	c, err := New(Options{})
	if err != nil {
		return Report{}, err
	}
	_, err = carryOut(d, emu.Config{Observer: c, Budget: 20_000_000})
	return c.Report(), err
}

// carryOut runs a launch and returns what it leaves in memory.
func carryOut(d *recorded.Dispatch, config emu.Config) ([]byte, error) {
	dev, err := emu.New(config)
	if err != nil {
		return nil, err
	}
	l, err := d.Load(dev)
	if err != nil {
		return nil, err
	}
	_, err = dev.Run(context.Background(), l.Dispatch)
	var left bytes.Buffer
	for _, b := range l.Buffers {
		left.Write(b.Data)
	}
	return left.Bytes(), err
}

// tallyOfMutants counts them by what became of them.
type tallyOfMutants struct{ all, found, harmless, unexplained int }

func (m *tallyOfMutants) add(o tallyOfMutants) {
	m.all += o.all
	m.found += o.found
	m.harmless += o.harmless
	m.unexplained += o.unexplained
}

func (m *tallyOfMutants) String() string {
	return fmt.Sprintf("%d taken out, %d found, %d harmless, %d unexplained", m.all, m.found, m.harmless, m.unexplained)
}

// mutantsOf is what became of a kernel's mutants.
type mutantsOf struct {
	tally                 tallyOfMutants
	harmless, unexplained []string
}

// orders is what instructions that order memory are called.
var orders = regexp.MustCompile(`^(s_waitcnt.*|s_barrier|buffer_gl[01]_inv)$`)

func mutants(t *testing.T, kernel string, launches []*recorded.Dispatch) (m mutantsOf) {
	t.Helper()
	o, err := hsaco.Parse(kernel, launches[0].Object)
	if err != nil {
		t.Fatal(err)
	}
	k, ok := o.Kernel(kernel)
	if !ok {
		t.Fatalf("no kernel %s", kernel)
	}
	sites := map[uint64]*ordering{}
	seen := &orderings{sites: sites}
	for _, d := range launches {
		if _, err := carryOut(d, emu.Config{Observer: seen}); err != nil {
			t.Fatal(err)
		}
	}
	for pc := k.Entry; pc < k.Entry+uint64(len(k.Code)); {
		in, err := isa.Decode(pc, k.Code[pc-k.Entry:], isa.Wave(k.Descriptor.WavefrontSize()))
		if err != nil {
			break // padding
		}
		if orders.MatchString(in.Op.Name) && in.Op.Name != "s_waitcnt_depctr" {
			m.try(kernel, &in, without(o, launches, &in), sites[pc])
		}
		pc += uint64(in.Size)
	}
	return m
}

// without are launches whose code object has s_nop in place of an instruction.
func without(o *hsaco.Object, launches []*recorded.Dispatch, in *isa.Inst) []*recorded.Dispatch {
	var object []byte
	for _, s := range o.Segments {
		if in.PC >= s.Vaddr && in.PC < s.Vaddr+uint64(len(s.Data)) {
			object = bytes.Clone(launches[0].Object)
			at := object[s.Offset+in.PC-s.Vaddr:]
			for i := 0; i < in.Size; i += 4 {
				copy(at[i:], []byte{0, 0, 0x80, 0xbf}) // s_nop 0
			}
		}
	}
	mutated := make([]*recorded.Dispatch, len(launches))
	for i, d := range launches {
		c := *d
		c.Object = object
		mutated[i] = &c
	}
	return mutated
}

// try has the detectors look at a mutant, and explains one that they do not find.
func (m *mutantsOf) try(kernel string, in *isa.Inst, launches []*recorded.Dispatch, s *ordering) {
	m.tally.all++
	if s != nil {
		for _, d := range launches {
			r, err := look(d)
			var f *emu.Fault
			if len(r.Findings) > 0 || errors.As(err, &f) {
				m.tally.found++
				return
			}
		}
	}
	text := fmt.Sprintf("%#x %s", in.PC, in)
	why := s.harmless(in)
	if why == "" {
		why = sameBytes(launches)
	}
	if why == "" {
		m.tally.unexplained++
		m.unexplained = append(m.unexplained, text+": not found, and no reason why it is harmless")
		return
	}
	m.tally.harmless++
	m.harmless = append(m.harmless, text+": "+why)
}

// sameBytes is the last witness: in relaxed memory, where wrong order shows as
// wrong values, no schedule changes a byte of what the launches leave.
func sameBytes(launches []*recorded.Dispatch) string {
	const seeds = 4
	for _, d := range launches {
		want, err := carryOut(d, emu.Config{})
		if err != nil {
			return ""
		}
		for seed := range uint64(seeds) {
			for _, timing := range []emu.Timing{{}, {LateLoads: true}, {LateLoads: true, EarlyLoads: 0.3, EarlyStores: 0.3}} {
				got, err := carryOut(d, emu.Config{Mode: emu.Relaxed, Seed: seed, Timing: timing, Schedule: emu.Schedule{Waves: emu.WaveOrder(seed % 4), Quantum: 7}})
				if err != nil || !bytes.Equal(got, want) {
					return ""
				}
			}
		}
	}
	return "no other wave depends on what it orders, and no schedule in relaxed memory changes a byte"
}

// ordering is what is known of an instruction that orders memory.
type ordering struct {
	runs    int
	waited  bool // for something that was under way
	several bool // waves in the workgroup
}

// harmless is why taking it out changes nothing, if that can be told from how it
// was run.
func (s *ordering) harmless(in *isa.Inst) string {
	wait := strings.HasPrefix(in.Op.Name, "s_waitcnt")
	switch {
	case s == nil:
		return "not reached by any launch of the kernel's tests"
	case wait && !s.waited:
		return "nothing is under way that it waits for"
	case !wait && !s.several:
		return "workgroups have one wave"
	}
	return ""
}

// orderings notes how instructions that order memory run.
type orderings struct {
	emu.NopObserver
	base  uint64
	sites map[uint64]*ordering
	waves map[emu.Wave]*tallyWave
	per   uint32
}

type tallyWave struct {
	tally
	issued uint32
}

func (o *orderings) DispatchBegin(l *emu.Launched) {
	o.base, o.waves = l.Kernel.Module.Base, map[emu.Wave]*tallyWave{}
	o.per = l.Workgroup[0] * l.Workgroup[1] * l.Workgroup[2]
}

func (o *orderings) Instruction(w emu.Wave, in *isa.Inst) {
	v := o.waves[w]
	if v == nil {
		v = &tallyWave{}
		o.waves[w] = v
	}
	if c := countersOf(in); c != 0 {
		v.issued++
		v.issue(c, v.issued)
	}
	if !orders.MatchString(in.Op.Name) {
		return
	}
	pc := w.PC() - o.base
	s := o.sites[pc]
	if s == nil {
		s = &ordering{}
		o.sites[pc] = s
	}
	s.runs++
	s.several = s.several || int(o.per) > w.Lanes()
}

func (o *orderings) Wait(w emu.Wave, n emu.Counters) {
	var done [classes]uint32
	o.waves[w].wait(n, &done)
	if done != [classes]uint32{} {
		o.sites[w.PC()-o.base].waited = true
	}
}
