package gfx11

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/holdfast-llm/holdfast/amd/emu"
	"github.com/holdfast-llm/holdfast/device"
	"github.com/holdfast-llm/holdfast/device/kernel"
	"github.com/holdfast-llm/holdfast/dispatch"
	"github.com/holdfast-llm/holdfast/gguf/quant"
	"github.com/holdfast-llm/holdfast/op"
)

// small is an attention of 300 keys and its projection.
func small() trial { return heads{4, 2, 64, 64, 0, 1, 300}.trial(Config{}) }

func output(e device.Executable, p *device.Program) []byte {
	return bytes.Clone(e.Output(p.Output))
}

func TestWhatIsWatchedOrMovedHasTheSameBits(t *testing.T) {
	t.Parallel()
	c := small()
	d := newDevice(t, Config{})
	p, e, _ := c.load(t, d, dispatch.Options{}, device.LoadOptions{})
	if err := e.Run(c.batch()); err != nil {
		t.Fatal(err)
	}
	want := output(e, p)
	for name, x := range map[string]struct {
		config Config
		opt    dispatch.Options
		load   device.LoadOptions
	}{
		"guard":     {Config{}, dispatch.Options{Arena: device.Arena{Guard: 64}}, device.LoadOptions{}},
		"poison":    {Config{}, dispatch.Options{}, device.LoadOptions{Poison: true}},
		"placement": {Config{}, dispatch.Options{Serial: true, Arena: device.Arena{Guard: 100, Prefix: 2560, Align: 4096, NoReuse: true}}, device.LoadOptions{Watch: func(*device.Watched) {}, Base: 0x7f12_3456_0000}},
		"residency": {Config{}, dispatch.Options{}, device.LoadOptions{Residency: device.NonMigratable}},
		"pressure":  {Config{Emulator: emu.Config{Seed: 5, Schedule: emu.Schedule{Quantum: 50}, Pressure: &emu.Pressure{Evict: 0.01, Migrate: 0.05}}}, dispatch.Options{}, device.LoadOptions{}},
		"workers":   {Config{Emulator: emu.Config{Workers: 3}}, dispatch.Options{}, device.LoadOptions{}},
		"relaxed":   {Config{Emulator: emu.Config{Mode: emu.Relaxed, Seed: 3, Poison: true, Schedule: emu.Schedule{Waves: emu.Random, Groups: emu.Shuffled}}}, dispatch.Options{}, device.LoadOptions{}},
	} {
		p, e, _ := c.load(t, newDevice(t, x.config), x.opt, x.load)
		for range 2 {
			if err := e.Run(c.batch()); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if !bytes.Equal(output(e, p), want) {
				t.Errorf("%s: other bits", name)
			}
		}
	}
}

func TestTheArenaIsWhereItIsWanted(t *testing.T) {
	const base = 0x1234_5678_0000
	c, d := small(), newDevice(t, Config{})
	p, e, values := c.load(t, d, dispatch.Options{Arena: device.Arena{Align: 256}}, device.LoadOptions{Base: base, Residency: device.Pinned})
	for _, at := range p.Places {
		if addr, ok := e.(*Executable).Address(at.Value); !ok || addr != base+uint64(at.Offset) {
			t.Errorf("%s is at %#x, want %#x", at.Value.Name, addr, base+at.Offset)
		}
	}
	if b := e.Buffer(); b.Align < 1<<16 || b.Residency != device.Pinned || b.Usage != "arena" {
		t.Errorf("the arena is %v", b)
	}
	if b := d.Emulator().Space().Find(base, 1); b == nil || b.Name != "arena 0" || b.Residency != device.Pinned {
		t.Errorf("at the base is %v", b)
	}
	w := values[2]
	if addr, ok := e.(*Executable).Address(w); !ok {
		t.Errorf("%s has no address", w.Name)
	} else if b := d.Emulator().Space().Find(addr, uint64(len(w.Data))); b == nil || b.Name != w.Name || !b.ReadOnly {
		t.Errorf("%s is in %v", w.Name, b)
	}
	for want, o := range map[string]device.LoadOptions{
		"arena at 0x123456780040, want a multiple of 256": {Base: base + 64},
		"overlap buffer \"arena 0\"":                      {Base: base + 0x100},
		"blk.0.cache_k is mapped as pinned already":       {},
		"end past the address space":                      {Base: 1 << 50},
	} {
		if _, err := d.Load(p, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

func TestProgramsShareWeights(t *testing.T) {
	c, d := small(), newDevice(t, Config{})
	p, values, err := c.compile(t, d, dispatch.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var es []*Executable
	for range 2 {
		e, err := d.Load(p, device.LoadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		es = append(es, e.(*Executable))
	}
	a, _ := es[0].Address(values[2])
	b, _ := es[1].Address(values[2])
	if a != b || a == 0 {
		t.Errorf("one weight is at %#x and %#x", a, b)
	}
	if err := es[0].Close(); err != nil {
		t.Fatal(err)
	}
	if err := es[1].Run(c.batch()); err != nil {
		t.Errorf("after the other is closed: %v", err)
	}
	if err := es[1].Close(); err != nil {
		t.Fatal(err)
	}
	for use, h := range d.memory.by {
		if use != Code && (h.bytes != 0 || h.buffers != 0) {
			t.Errorf("after both are closed: %s", d.memory.holders())
		}
	}
}

func TestInjectedFaultsAreFaultsOfTheirKindAndTheNextRunIsWell(t *testing.T) {
	t.Parallel()
	for _, lane := range []string{"attention.decode_split.cooperative", "mul_mat"} {
		for _, kind := range []device.FaultKind{device.FaultMemory, device.FaultPanic, device.FaultNaN, device.FaultCanary} {
			t.Run(fmt.Sprintf("%s in %s", kind, lane), func(t *testing.T) {
				c := small()
				p, e, _ := c.load(t, newDevice(t, Config{}), dispatch.Options{Arena: device.Arena{Guard: 64}}, device.LoadOptions{
					Inject: []device.Injection{{Lane: lane, Step: 1, Kind: kind}},
				})
				if err := e.Run(c.batch()); err != nil {
					t.Fatalf("the step before: %v", err)
				}
				want := output(e, p)
				var f *device.Fault
				switch err := e.Run(c.batch()); {
				case !errors.As(err, &f):
					t.Fatalf("error %v, want a fault", err)
				case f.Kind == device.FaultNaN && f.Op < 0 && kind == f.Kind && lane == "mul_mat":
					// Found in the output: whose it is nobody says.
				case f.Kind != kind || f.Op < 0 || !strings.HasPrefix(p.Decisions[f.Op].Chosen, lane):
					t.Errorf("fault of kind %q in decision %d: %v", f.Kind, f.Op, f)
				}
				if f.Device != "gfx11" || f.Launch == "" {
					t.Errorf("the fault does not say where: %v", f)
				}
				if err := e.Run(c.batch()); err != nil {
					t.Fatalf("the step after: %v", err)
				}
				if !bytes.Equal(output(e, p), want) {
					t.Error("the step after has other bits")
				}
			})
		}
	}
}

// A kernel that reads where nothing is mapped faults as on a GPU: the error has
// the kernel, the instruction, the lane and the address.
func TestAMemoryFaultSaysWhereItHappened(t *testing.T) {
	c := small()
	_, e, _ := c.load(t, newDevice(t, Config{}), dispatch.Options{}, device.LoadOptions{
		Inject: []device.Injection{{Lane: "mul_mat", Step: 0, Kind: device.FaultMemory}},
	})
	err := e.Run(c.batch())
	for _, want := range []string{"gfx11: fault in project.matvec_q8_0", "global_load", "0x1"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v does not say %q", err, want)
		}
	}
	var f *emu.Fault
	if !errors.As(err, &f) || f.Kernel != "matvec_q8_0" || !f.HasAddr {
		t.Errorf("fault %+v", f)
	}
}

func TestBatchesThatDoNotFitAreRefused(t *testing.T) {
	c := small()
	_, e, _ := c.load(t, newDevice(t, Config{}), dispatch.Options{}, device.LoadOptions{})
	b := c.batch()
	b.Pos[0] = 300
	if err := e.Run(b); err == nil || !strings.Contains(err.Error(), "row 0 at position 300") {
		t.Errorf("error %v", err)
	}
}

func TestANaNInTheRouterIsAFaultOfNobody(t *testing.T) {
	const hidden, experts = 64, 4
	c := trial{rows: 2, build: func(b *builder) []*op.Value {
		router := b.weight("w.router", quant.F32, 1, experts, hidden)
		x := b.input("x", 2, hidden)
		ids, weights := b.MoERoute("route", b.MulMat("router", x, router, nil), 2, true, 0)
		y := b.MulMatID("up", x, b.weight("w.up", quant.F32, experts, 8, hidden), ids)
		for i := range router.Data[:4] {
			router.Data[2*4*hidden+i] = 0xff // of expert 2
		}
		return []*op.Value{ids, b.MoESum("sum", y, weights)}
	}}
	_, e, values := c.load(t, newDevice(t, Config{}), dispatch.Options{}, device.LoadOptions{})
	err := e.Run(c.batch())
	var f *device.Fault
	if !errors.As(err, &f) || f.Kind != device.FaultNaN || f.Op != -1 || !strings.Contains(err.Error(), "row 0: moe: router logit of expert 2 is NaN") {
		t.Errorf("error %v", err)
	}
	for _, id := range ints(e.Output(values[0])) {
		if id < 0 || id >= experts {
			t.Errorf("expert %d was published", id)
		}
	}
}

func TestALaunchIsCountedToTheInstruction(t *testing.T) {
	c := small()
	_, e, _ := c.load(t, newDevice(t, Config{}), dispatch.Options{}, device.LoadOptions{})
	var before []LaunchStats
	for run := 1; run <= 2; run++ {
		if err := e.Run(c.batch()); err != nil {
			t.Fatal(err)
		}
		stats := e.(*Executable).Stats()
		for i, s := range stats {
			if s.Runs != run || s.Instructions == 0 || s.LaneInstructions < s.Instructions || s.Launch == "" || s.Lane == "" {
				t.Errorf("launch %d: %+v", i, s)
			}
			if run == 2 && s.Instructions != 2*before[i].Instructions {
				t.Errorf("%s ran %d instructions in two runs, %d in the first", s.Kernel, s.Instructions, before[i].Instructions)
			}
		}
		before = stats
	}
}

func TestDeviceMemoryThatRunsOutNamesWhoHasIt(t *testing.T) {
	c := small()
	_, _, values := c.load(t, newDevice(t, Config{}), dispatch.Options{}, device.LoadOptions{})
	weight := int64(len(values[2].Data))
	d := newDevice(t, Config{Memory: 160_000})
	p, _, err := c.compile(t, d, dispatch.Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = d.Load(p, device.LoadOptions{})
	var none *MemoryError
	if !errors.As(err, &none) {
		t.Fatalf("error %v, want a *MemoryError", err)
	}
	if none.Limit != 160_000 || none.Used+none.Bytes <= none.Limit || none.Name == "" || !strings.Contains(none.Holders, "caches ") {
		t.Errorf("%+v", none)
	}
	if none.Name == "w" && none.Bytes != weight {
		t.Errorf("%d bytes asked for, the weight has %d", none.Bytes, weight)
	}
	for use, h := range d.memory.by {
		if use != Code && h.buffers != 0 {
			t.Errorf("the refused program left %s", d.memory.holders())
		}
	}
}

func TestCodeObjectsThatAreMissingOrBrokenAreNamed(t *testing.T) {
	good, err := kernel.Object("matvec_q8_0", 32)
	if err != nil {
		t.Fatal(err)
	}
	other, err := kernel.Object("norm", 32)
	if err != nil {
		t.Fatal(err)
	}
	flipped := bytes.Clone(good)
	flipped[4] ^= 0xff // of the ELF's identification
	for name, x := range map[string]struct {
		object []byte
		err    error
		want   string
	}{
		"missing":          {nil, errors.New("not there"), "gfx11: code object matvec_q8_0 for wave32: not there"},
		"empty":            {nil, nil, "gfx11: code object matvec_q8_0 for wave32: "},
		"cut off":          {good[:len(good)/2], nil, "gfx11: code object matvec_q8_0 for wave32: "},
		"broken":           {flipped, nil, "gfx11: code object matvec_q8_0 for wave32: "},
		"of other kernels": {other, nil, "gfx11: code object matvec_q8_0 for wave32: "},
	} {
		d := newDevice(t, Config{Objects: func(source string, wave int) ([]byte, error) {
			if source == "matvec_q8_0" {
				return x.object, x.err
			}
			return kernel.Object(source, wave)
		}})
		p, _, err := small().compile(t, d, dispatch.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := d.Load(p, device.LoadOptions{}); err == nil || !strings.HasPrefix(err.Error(), x.want) {
			t.Errorf("%s: error %v, want %q", name, err, x.want)
		} else {
			t.Log(err)
		}
	}
}

func TestConfigurationsThatMeanNothingAreErrors(t *testing.T) {
	for want, c := range map[string]Config{
		"gfx11: waves of 16, want 32 or 64": {Wave: 16},
		"gfx11: -1 bytes of memory":         {Memory: -1},
		"gfx11: emu: -1 workers":            {Emulator: emu.Config{Workers: -1}},
	} {
		if _, err := New(c); err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

// A counter that is not 0 when a fused launch begins is an error that says
// which.
func TestWrongCompletionCountersAreNamed(t *testing.T) {
	a := &attend{kvHeads: 4}
	word := func(n byte) []byte { return []byte{n, 0, 0, 0} }
	for want, x := range map[string]struct{ counters, status []byte }{
		"": {make([]byte, 32), word(0)},
		"completion counter of row 1, KV head 2 was not 0 when the launch began: merged nothing": {make([]byte, 32), word(7)},
		"completion counter of row 0, KV head 1 is 3 after the launch, want 0":                   {append(make([]byte, 4), word(3)...), word(0)},
	} {
		switch f := a.completed(x.counters, x.status); {
		case want == "" && f != nil, want != "" && (f == nil || f.err.Error() != want):
			t.Errorf("%v, want %q", f, want)
		}
	}
}
