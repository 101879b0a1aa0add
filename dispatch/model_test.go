package dispatch_test

import (
	"testing"

	"github.com/holdfast-llm/holdfast/attn/kv"
	"github.com/holdfast-llm/holdfast/device"
	"github.com/holdfast-llm/holdfast/device/cpu"
	"github.com/holdfast-llm/holdfast/dispatch"
	"github.com/holdfast-llm/holdfast/gguf"
	"github.com/holdfast-llm/holdfast/gguf/quant"
	"github.com/holdfast-llm/holdfast/internal/synth"
	"github.com/holdfast-llm/holdfast/model"
	"github.com/holdfast-llm/holdfast/op"
)

// deep is a step of a model as deep as Qwen3-0.6B: 28 layers. Its width is
// nothing to the time of compiling.
func deep(tb testing.TB) *op.Graph {
	tb.Helper()
	f, err := gguf.Parse("deep", synth.Model(synth.Config{Arch: "qwen3", Type: quant.Q4_K, Layers: 28, Heads: 16, KVHeads: 8, HeadDim: 16}))
	if err != nil {
		tb.Fatal(err)
	}
	m, err := model.Open(f)
	if err != nil {
		tb.Fatal(err)
	}
	c, err := kv.New(m.CacheLayers(quant.F16, quant.F16), 1, 4096)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { c.Close() })
	return m.Graph(c)
}

func TestEveryTransientHasANameOfItsOwn(t *testing.T) {
	g := deep(t)
	d, err := cpu.New(cpu.Config{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for _, l := range []device.Limits{{Tokens: 1, Outputs: 1, Keys: 256}, {Tokens: 64, Outputs: 1}} {
		for _, disable := range [][]string{nil, {"add.rms_norm", "rms_norm.next", "mul_mat.swiglu", "attention.decode_split"}} {
			p, err := dispatch.Compile(d, g, l, dispatch.Options{Disable: disable})
			if err != nil {
				t.Fatal(err)
			}
			seen := map[string]bool{}
			for _, at := range p.Places {
				if name := at.Value.Name; name == "" || seen[name] {
					t.Errorf("up to %d tokens: two transients are called %q", l.Tokens, name)
				} else {
					seen[name] = true
				}
			}
		}
	}
}

// BenchmarkCompile chooses, verifies and places; BenchmarkLoad binds.
func BenchmarkCompile(b *testing.B) {
	g := deep(b)
	d, err := cpu.New(cpu.Config{Threads: 2})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { d.Close() })
	for _, c := range []struct {
		name string
		l    device.Limits
		opt  dispatch.Options
	}{
		{"decode", device.Limits{Tokens: 1, Outputs: 1, Keys: 4096}, dispatch.Options{}},
		{"prompt", device.Limits{Tokens: 512, Outputs: 1}, dispatch.Options{}},
		{"decode without reuse", device.Limits{Tokens: 1, Outputs: 1, Keys: 4096}, dispatch.Options{Arena: device.Arena{NoReuse: true}}},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := dispatch.Compile(d, g, c.l, c.opt); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkLoad(b *testing.B) {
	g := deep(b)
	d, err := cpu.New(cpu.Config{Threads: 2})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { d.Close() })
	p, err := dispatch.Compile(d, g, device.Limits{Tokens: 1, Outputs: 1, Keys: 4096}, dispatch.Options{})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		e, err := d.Load(p, device.LoadOptions{})
		if err != nil {
			b.Fatal(err)
		}
		if err := e.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
