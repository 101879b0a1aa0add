package gfx11

import (
	"fmt"
	"math/bits"
	"testing"

	"github.com/holdfast-llm/holdfast/amd/emu"
	"github.com/holdfast-llm/holdfast/amd/emu/recorded"
	"github.com/holdfast-llm/holdfast/attn/kv"
	"github.com/holdfast-llm/holdfast/device"
	"github.com/holdfast-llm/holdfast/dispatch"
	"github.com/holdfast-llm/holdfast/gguf"
	"github.com/holdfast-llm/holdfast/gguf/quant"
	"github.com/holdfast-llm/holdfast/internal/synth"
	"github.com/holdfast-llm/holdfast/model"
	"github.com/holdfast-llm/holdfast/model/embedded"
)

// fence finds accesses outside of what a launch was given.
type fence struct {
	emu.NopObserver
	args     *emu.Buffer
	regions  []recorded.Region
	accesses int
	outside  []string // the first few
}

func (f *fence) DispatchBegin(l *emu.Launched) { f.args = l.Args }

func (f *fence) Access(a *emu.Access) {
	switch a.Space {
	case emu.Scalar:
		f.look(a, a.Addr[0], "scalar")
	case emu.Global:
		for m := a.Lanes; m != 0; m &= m - 1 {
			lane := bits.TrailingZeros64(m)
			f.look(a, a.Addr[lane], fmt.Sprintf("lane %d", lane))
		}
	}
}

func (f *fence) look(a *emu.Access, addr uint64, who string) {
	f.accesses++
	n := uint64(a.Bytes)
	inside := func(at, size uint64) bool { return addr >= at && addr-at <= size && n <= size-(addr-at) }
	if inside(f.args.Addr, uint64(len(f.args.Data))) && a.Kind == emu.Load {
		return
	}
	for _, r := range f.regions {
		if inside(r.Addr, r.Bytes) && (a.Kind == emu.Load || !r.ReadOnly) {
			return
		}
	}
	if len(f.outside) < 3 {
		f.outside = append(f.outside, fmt.Sprintf("%s of %d bytes at %#x (%s): %s", a.Kind, n, addr, who, a.Inst))
	}
}

// A launch reads and writes what its bindings give it, to the byte, and nothing
// else: what dispatch verifies, places and orders by is the truth. Caches count
// as written where a binding says so; the host's view is not looked at.
func TestEveryAccessIsWithinTheBindingsOfItsLaunch(t *testing.T) {
	t.Parallel()
	carried, err := gguf.Parse(embedded.Name, embedded.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	made := func(c synth.Config) *gguf.File {
		f, err := gguf.Parse("synth", synth.Model(c))
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	moe := made(synth.Config{Arch: "qwen3moe", Type: quant.Q8_0, Hidden: 192, FFN: 160, Heads: 6, ExpertFFN: 160, Layers: 1})
	odd := made(synth.Config{Arch: "qwen2", Type: quant.F16, Hidden: 240, FFN: 300, Heads: 5, KVHeads: 1, Layers: 1})
	for _, c := range []struct {
		name       string
		file       *gguf.File
		rows, keys int
		wave       int
		disable    []string
	}{
		{"the carried model", carried, 1, 256, 32, nil},
		{"the carried model's attention in one launch", carried, 1, 300, 64, []string{"attention.decode_split.coop", "mul_mat.swiglu"}},
		{"experts, several rows", moe, 3, 256, 32, nil},
		{"experts, nothing fused", moe, 2, 300, 32, []string{"mul_mat_id.swiglu", "swiglu.", "rms_norm.", "add.", "rope.", "attention.decode_split"}},
		{"odd sizes", odd, 3, 256, 64, nil},
	} {
		obs := &fence{}
		d := newDevice(t, Config{Wave: c.wave, Emulator: emu.Config{Observer: obs}})
		m, err := model.Open(c.file)
		if err != nil {
			t.Fatal(err)
		}
		cache, err := kv.New(m.CacheLayers(quant.F16, quant.F16), 2, c.keys)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { cache.Close() })
		p, err := dispatch.Compile(d, m.Graph(cache), device.Limits{Tokens: c.rows, Outputs: 1, Keys: c.keys}, dispatch.Options{Disable: c.disable})
		if err != nil {
			t.Fatal(err)
		}
		x, err := d.Load(p, device.LoadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { x.Close() })
		e := x.(*Executable)
		// In the second slot, the last rows of the context.
		b := &device.Batch{Output: []int32{int32(c.rows - 1)}}
		for i := range c.rows {
			b.Tokens = append(b.Tokens, int32(m.Hyper.Vocab-1-i))
			b.Pos = append(b.Pos, int32(c.keys-c.rows+i))
			b.Slot = append(b.Slot, 1)
		}
		e.begin(b)
		for i := range e.steps {
			obs.regions, obs.accesses, obs.outside = e.regions(&e.steps[i]), 0, nil
			if f := e.run(&e.steps[i], b); f != nil {
				t.Fatalf("%s: %v", c.name, f)
			}
			if obs.accesses == 0 {
				t.Errorf("%s: %s accessed nothing", c.name, e.steps[i].name)
			}
			for _, s := range obs.outside {
				t.Errorf("%s: %s: %s", c.name, e.steps[i].name, s)
			}
		}
	}
}
