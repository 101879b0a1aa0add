package cpu

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-llm/holdfast/device"
	"github.com/holdfast-llm/holdfast/dispatch"
	"github.com/holdfast-llm/holdfast/gguf/quant"
	"github.com/holdfast-llm/holdfast/op"
)

// program is an attention of 500 keys and its projection.
func (r *rig) load(t testing.TB, d *Device, opt dispatch.Options, o device.LoadOptions) (*device.Program, device.Executable, *op.Value) {
	t.Helper()
	g, out := r.graph()
	p, err := dispatch.Compile(d, g, device.Limits{Tokens: 1, Outputs: 1, Keys: 500}, opt)
	if err != nil {
		t.Fatal(err)
	}
	e, err := d.Load(p, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return p, e, out
}

func smallRig(t testing.TB) *rig {
	return (&rig{heads: 4, kvHeads: 2, headDim: 64, typ: quant.F16, lens: []int{500}}).fill(t, 11)
}

func TestDebugHooksChangeNoBits(t *testing.T) {
	r, d := smallRig(t), testDevice(t, 2)
	_, e, out := r.load(t, d, dispatch.Options{}, device.LoadOptions{})
	if err := e.Run(r.batch()); err != nil {
		t.Fatal(err)
	}
	want := slices.Clone(floats(e.Output(out)))
	for _, c := range []struct {
		name string
		opt  dispatch.Options
		load device.LoadOptions
	}{
		{"guard", dispatch.Options{Arena: device.Arena{Guard: 64}}, device.LoadOptions{}},
		{"poison", dispatch.Options{}, device.LoadOptions{Poison: true}},
		{"serial", dispatch.Options{Serial: true}, device.LoadOptions{}},
		{"all", dispatch.Options{Serial: true, Arena: device.Arena{Guard: 100, Prefix: 2560, Align: 4096, NoReuse: true}}, device.LoadOptions{Poison: true, Watch: func(*device.Watched) {}}},
	} {
		_, e, out := r.load(t, d, c.opt, c.load)
		for range 3 {
			if err := e.Run(r.batch()); err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			if i := differ(want, floats(e.Output(out))); i >= 0 {
				t.Errorf("%s: output %d differs", c.name, i)
			}
		}
	}
}

func TestInjectedFaultsAreFaultsOfTheirKindAndTheNextRunIsWell(t *testing.T) {
	r := smallRig(t)
	for _, threads := range []int{1, 3} {
		for _, lane := range []string{"attention.decode_split.cooperative", "mul_mat"} {
			for _, kind := range []device.FaultKind{device.FaultMemory, device.FaultPanic, device.FaultNaN, device.FaultCanary} {
				t.Run(fmt.Sprintf("%d threads, %s in %s", threads, kind, lane), func(t *testing.T) {
					d := testDevice(t, threads)
					p, e, out := r.load(t, d, dispatch.Options{Arena: device.Arena{Guard: 64}}, device.LoadOptions{
						Inject: []device.Injection{{Lane: lane, Step: 1, Kind: kind}},
					})
					if err := e.Run(r.batch()); err != nil {
						t.Fatalf("the step before: %v", err)
					}
					want := slices.Clone(floats(e.Output(out)))
					err := e.Run(r.batch())
					var f *device.Fault
					switch {
					case kind == device.FaultNaN && lane == "mul_mat":
						// Its result is not looked at: nothing finds it here.
						if err != nil {
							t.Errorf("error %v", err)
						}
					case !errors.As(err, &f):
						t.Fatalf("error %v, want a fault", err)
					case f.Kind != kind || f.Op < 0 || !strings.HasPrefix(p.Decisions[f.Op].Chosen, lane):
						t.Errorf("fault of kind %q in decision %d: %v", f.Kind, f.Op, f)
					}
					if err := e.Run(r.batch()); err != nil {
						t.Fatalf("the step after: %v", err)
					}
					if i := differ(want, floats(e.Output(out))); i >= 0 {
						t.Errorf("after the fault output %d differs", i)
					}
				})
			}
		}
	}
}

func TestABrokenCanaryNamesItsNeighbours(t *testing.T) {
	r, d := smallRig(t), testDevice(t, 2)
	_, e, _ := r.load(t, d, dispatch.Options{Serial: true, Arena: device.Arena{Guard: 16}}, device.LoadOptions{
		Inject: []device.Injection{{Lane: "attention", Step: 0, Kind: device.FaultCanary}},
	})
	err := e.Run(r.batch())
	for _, want := range []string{"byte 1 after attention.partial", "was 0xa5", "the start of the arena before", "the end of the arena after", "attention.produce"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v does not say %q", err, want)
		}
	}
}

func TestInjectionsThatCannotBeRaisedAreErrors(t *testing.T) {
	r, d := smallRig(t), testDevice(t, 1)
	g, _ := r.graph()
	p, err := dispatch.Compile(d, g, device.Limits{Tokens: 1, Outputs: 1, Keys: 500}, dispatch.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range []device.FaultKind{device.FaultCanary, "odd"} {
		if _, err := d.Load(p, device.LoadOptions{Inject: []device.Injection{{Lane: "attention", Kind: k}}}); err == nil {
			t.Errorf("kind %q was loaded", k)
		}
	}
}

func TestWatchSeesEveryLaunchWithWhatItWrote(t *testing.T) {
	r, d := smallRig(t), testDevice(t, 2)
	var got []string
	var p *device.Program
	p, e, _ := r.load(t, d, dispatch.Options{Serial: true}, device.LoadOptions{Watch: func(w *device.Watched) {
		for _, m := range w.Written {
			got = append(got, fmt.Sprintf("%s: %s", p.Launches[w.Launch].Kernel, m.Value.Name))
		}
	}})
	for range 2 {
		got = nil
		if err := e.Run(r.batch()); err != nil {
			t.Fatal(err)
		}
	}
	for i, want := range []string{"attention.produce", "attention.reduce.pack", "attention.reduce.pack", "project."} {
		if i >= len(got) || !strings.HasPrefix(got[i], want) {
			t.Fatalf("watched %q, want number %d to be of %s", got, i, want)
		}
	}
}

func TestResidency(t *testing.T) {
	r, d := smallRig(t), testDevice(t, 1)
	g, _ := r.graph()
	p, err := dispatch.Compile(d, g, device.Limits{Tokens: 1, Outputs: 1, Keys: 500}, dispatch.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Load(p, device.LoadOptions{Residency: device.NonMigratable}); err == nil || !strings.Contains(err.Error(), "non-migratable") {
		t.Errorf("non-migratable: error %v", err)
	}
	e, err := d.Load(p, device.LoadOptions{Residency: device.Pinned})
	if err != nil {
		if !strings.Contains(err.Error(), "pinned arena: mmap: lock") {
			t.Errorf("pinned: error %v", err)
		}
		return
	}
	if err := e.Run(r.batch()); err != nil {
		t.Error(err)
	}
	e.Close()
}

func TestBatchesThatDoNotFitTheProgramAreErrors(t *testing.T) {
	r, d := smallRig(t), testDevice(t, 1)
	_, e, _ := r.load(t, d, dispatch.Options{}, device.LoadOptions{})
	for _, c := range []struct {
		name   string
		change func(b *device.Batch)
	}{
		{"no tokens", func(b *device.Batch) { b.Tokens = nil }},
		{"a position for no token", func(b *device.Batch) { b.Pos = append(b.Pos, 0) }},
		{"a position beyond the program's keys", func(b *device.Batch) { b.Pos[0] = 500 }},
		{"a position beyond the cache", func(b *device.Batch) { b.Pos[0] = math.MaxInt32 }},
		{"a negative position", func(b *device.Batch) { b.Pos[0] = -1 }},
		{"a slot that is not there", func(b *device.Batch) { b.Slot[0] = 1 }},
		{"an output row that is not there", func(b *device.Batch) { b.Output[0] = 1 }},
	} {
		b := r.batch()
		c.change(b)
		var f *device.Fault
		if err := e.Run(b); err == nil || errors.As(err, &f) {
			t.Errorf("%s: error %v, want one that is no fault", c.name, err)
		}
	}
}

func TestRunAllocatesNothing(t *testing.T) {
	r, d := smallRig(t), testDevice(t, 2)
	_, e, _ := r.load(t, d, dispatch.Options{}, device.LoadOptions{})
	b := r.batch()
	if n := testing.AllocsPerRun(10, func() {
		if err := e.Run(b); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations a run", n)
	}
}
