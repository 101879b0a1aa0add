package cpu

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/holdfast-llm/holdfast/attn/kv"
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

// A program for two rows that runs one shows that one, and of caches the row it
// stored.
func TestWatchShowsTheRowsOfTheBatchAndNoOthers(t *testing.T) {
	d := testDevice(t, 2)
	const dim, heads, context = 32, 2, 9
	c, err := kv.New([]kv.Layer{{Heads: heads, KeyDim: dim, ValueDim: dim, TypeK: quant.F32, TypeV: quant.F32, NamePrefix: "blk.0"}}, 2, context)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	embd, proj := f32Value("embd", 10, heads*dim), f32Value("proj", 8, heads*dim)
	for i := range floats(embd.Data) {
		floats(embd.Data)[i] = float32(i)
	}
	g := &op.Graph{}
	x := g.GetRows("embed", embd)
	g.KVStore("store", x, x, c.K[0], c.V[0])
	g.Logits = g.MulMat("project", x, proj, nil)
	g.Logits.Role = op.Output
	// Two rows still run on the kernels of one: their packs are by rows.
	p, err := dispatch.Compile(d, g, device.Limits{Tokens: 2, Outputs: 2}, dispatch.Options{Serial: true})
	if err != nil {
		t.Fatal(err)
	}
	sizes := map[string]int{}
	var keys []float32
	e, err := d.Load(p, device.LoadOptions{Watch: func(w *device.Watched) {
		for _, m := range w.Written {
			name := m.Value.Name
			if m.RowBytes == 0 || len(m.Data)%m.RowBytes != 0 {
				t.Errorf("%s: %d bytes in rows of %d", name, len(m.Data), m.RowBytes)
				continue
			}
			sizes[name] = len(m.Data) / m.RowBytes
			if m.Value == c.K[0] {
				keys = slices.Clone(floats(m.Data))
			}
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	b := &device.Batch{Tokens: []int32{7}, Pos: []int32{4}, Slot: []int32{1}, Output: []int32{0}}
	if err := e.Run(b); err != nil {
		t.Fatal(err)
	}
	if len(sizes) != 5 { // embed, its pack, keys, values, project
		t.Errorf("written: %v", sizes)
	}
	for name, rows := range sizes {
		if rows != 1 {
			t.Errorf("%d rows of %s, want 1", rows, name)
		}
	}
	if want := floats(embd.Data)[7*heads*dim:][:heads*dim]; !slices.Equal(keys, want) {
		t.Errorf("keys %v, want %v", keys, want)
	}
}

func TestResidencyOfTheArena(t *testing.T) {
	r, d := smallRig(t), testDevice(t, 1)
	g, _ := r.graph()
	p, err := dispatch.Compile(d, g, device.Limits{Tokens: 1, Outputs: 1, Keys: 500}, dispatch.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Load(p, device.LoadOptions{Residency: device.NonMigratable}); err == nil || !strings.Contains(err.Error(), "non-migratable arena") {
		t.Errorf("non-migratable: error %v", err)
	}
	for _, res := range []device.Residency{device.Pageable, device.Pinned} {
		e, err := d.Load(p, device.LoadOptions{Residency: res})
		if err != nil {
			if res == device.Pageable || !strings.Contains(err.Error(), "pinned arena of") {
				t.Errorf("%s: error %v", res, err)
			}
			continue
		}
		if b := e.Buffer(); b.Residency != res || b.Usage != "arena" || b.Align < device.ArenaAlign {
			t.Errorf("asked for %s, got %s", res, b)
		}
		if err := e.Run(r.batch()); err != nil {
			t.Error(err)
		}
		e.Close()
	}
}

// The alignment that a program was placed with holds for addresses, not only
// for offsets.
func TestTransientsAreAlignedInMemory(t *testing.T) {
	r, d := smallRig(t), testDevice(t, 1)
	for _, align := range []int{64, 4096, 1 << 16, 1 << 21} {
		p, e, _ := r.load(t, d, dispatch.Options{Arena: device.Arena{Align: align, Guard: 8}}, device.LoadOptions{})
		for _, at := range p.Places {
			if addr := uintptr(unsafe.Pointer(unsafe.SliceData(e.Output(at.Value)))); addr%uintptr(align) != 0 {
				t.Errorf("%s at %#x, want a multiple of %d", at.Value.Name, addr, align)
			}
		}
	}
}

func TestTheArenaLiesWhereItIsAsked(t *testing.T) {
	r, d := smallRig(t), testDevice(t, 1)
	const base = 0x5c0000000000
	p, e, _ := r.load(t, d, dispatch.Options{}, device.LoadOptions{Base: base})
	at := p.Places[0]
	if addr := uintptr(unsafe.Pointer(unsafe.SliceData(e.Output(at.Value)))); addr != base+uintptr(at.Offset) {
		t.Errorf("%s at %#x, want %#x", at.Value.Name, addr, base+uintptr(at.Offset))
	}
	if err := e.Run(r.batch()); err != nil {
		t.Error(err)
	}
	if _, err := d.Load(p, device.LoadOptions{Base: base}); err == nil || !strings.Contains(err.Error(), "at 0x5c0000000000") {
		t.Errorf("an address that is taken: error %v", err)
	}
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
		{"a negative output row", func(b *device.Batch) { b.Output[0] = -1 }},
	} {
		b := r.batch()
		c.change(b)
		var f *device.Fault
		if err := e.Run(b); err == nil || errors.As(err, &f) {
			t.Errorf("%s: error %v, want one that is no fault", c.name, err)
		}
	}
}

// Workers may fault at the same time: what one run leaves must not be found by
// the next.
func TestAFaultOfEveryWorkerIsForgottenAfterItsRun(t *testing.T) {
	r, d := smallRig(t), testDevice(t, 3)
	_, e, _ := r.load(t, d, dispatch.Options{}, device.LoadOptions{})
	x := e.(*executable)
	ran := x.steps[0].run
	for range 50 {
		x.steps[0].run = func(*worker, *batch, int) { panic("all of them") }
		var f *device.Fault
		if err := e.Run(r.batch()); !errors.As(err, &f) || f.Kind != device.FaultPanic {
			t.Fatalf("error %v", err)
		}
		x.steps[0].run = ran
		if err := e.Run(r.batch()); err != nil {
			t.Fatalf("the run after: %v", err)
		}
	}
}

// A fault of every kind in turn, on one device, with other programs on it.
func TestTheDeviceSurvivesAnyNumberOfFaults(t *testing.T) {
	n := 200
	if testing.Short() {
		n = 40
	}
	r, d := smallRig(t), testDevice(t, 3)
	var inject []device.Injection
	for step := 1; step < 2*n; step += 2 { // runs of the first program
		kind := []device.FaultKind{device.FaultMemory, device.FaultPanic, device.FaultCanary, device.FaultNaN}[step/2%4]
		inject = append(inject, device.Injection{Lane: "attention", Step: step, Kind: kind})
	}
	_, e, out := r.load(t, d, dispatch.Options{Arena: device.Arena{Guard: 32}}, device.LoadOptions{Inject: inject})
	_, other, otherOut := r.load(t, d, dispatch.Options{}, device.LoadOptions{})
	if err := e.Run(r.batch()); err != nil {
		t.Fatal(err)
	}
	want := slices.Clone(floats(e.Output(out)))
	for i := range n {
		var f *device.Fault
		if err := e.Run(r.batch()); !errors.As(err, &f) || f.Kind != inject[i].Kind {
			t.Fatalf("run %d: error %v, want a fault of kind %s", i, err, inject[i].Kind)
		}
		if err := other.Run(r.batch()); err != nil {
			t.Fatalf("run %d of the other program: %v", i, err)
		}
		if at := differ(want, floats(other.Output(otherOut))); at >= 0 {
			t.Fatalf("run %d of the other program: output %d differs", i, at)
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
