package engine

import (
	"testing"

	"github.com/holdfast-llm/holdfast/gguf"
	"github.com/holdfast-llm/holdfast/gguf/quant"
	"github.com/holdfast-llm/holdfast/internal/synth"
)

// BenchmarkCompile is a new shape of step of a model of 28 layers: to choose,
// verify, place and load, and to close again.
func BenchmarkCompile(b *testing.B) {
	f, err := gguf.Parse("synth", synth.Model(synth.Config{Arch: "qwen3", Type: quant.Q8_0, Layers: 28, FFN: 256, Vocab: 260}))
	if err != nil {
		b.Fatal(err)
	}
	e, err := New(Config{File: f, Context: 4096})
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close()
	for range b.N {
		p, err := e.compile(class{tokens: 1, outputs: 1, keys: 4096}, false, nil)
		if err != nil {
			b.Fatal(err)
		}
		if err := p.exec.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
