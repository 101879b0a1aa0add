package model

import (
	"fmt"
	"sort"
	"strings"

	"github.com/holdfast-llm/holdfast/attn/kv"
	"github.com/holdfast-llm/holdfast/gguf"
	"github.com/holdfast-llm/holdfast/gguf/quant"
	"github.com/holdfast-llm/holdfast/op"
)

// Model is a model file bound to an architecture.
type Model struct {
	Hyper *Hyper
	arch  architecture
}

// architecture is what each of the structs in this package does.
type architecture interface {
	// forward appends one step's operations to g, reading and writing c, and
	// sets g.Logits.
	forward(h *Hyper, g *op.Graph, c *kv.Cache)
}

// architectures are the supported values of general.architecture.
var architectures = map[string]func() architecture{
	"llama":    func() architecture { return new(Llama) },
	"qwen2":    func() architecture { return new(Qwen2) },
	"qwen3":    func() architecture { return new(Qwen3) },
	"qwen3moe": func() architecture { return new(Qwen3MoE) },
}

// Architectures lists what Open supports, sorted.
func Architectures() []string {
	names := make([]string, 0, len(architectures))
	for n := range architectures {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}

// Open reads the hyperparameters and binds every tensor of f. The model's
// weights are f's memory: f must stay open as long as the model is used.
//
// Errors name the key or the tensor: an architecture or type that is not
// supported, a missing or misshapen tensor, a tensor the architecture does not
// know (running without it would give wrong answers).
func Open(f *gguf.File) (*Model, error) {
	name, ok := f.String("general.architecture")
	if !ok {
		return nil, fmt.Errorf("model: no general.architecture in the file")
	}
	build, ok := architectures[name]
	if !ok {
		return nil, fmt.Errorf("model: architecture %q is not supported; supported are %s", name, strings.Join(Architectures(), ", "))
	}
	h, err := readHyper(f, name)
	if err != nil {
		return nil, err
	}
	a := build()
	if err := bind(f, h, a); err != nil {
		return nil, err
	}
	return &Model{Hyper: h, arch: a}, nil
}

// Graph is one step of the model over the cache c.
func (m *Model) Graph(c *kv.Cache) *op.Graph {
	g := &op.Graph{}
	m.arch.forward(m.Hyper, g, c)
	g.Logits.Role = op.Output
	return g
}

// CacheLayers is the geometry of the model's key-value cache.
func (m *Model) CacheLayers(typeK, typeV quant.Type) []kv.Layer {
	ls := make([]kv.Layer, m.Hyper.Layers)
	for i := range ls {
		ls[i] = kv.Layer{
			Heads: m.Hyper.KVHeads, KeyDim: m.Hyper.HeadDim, ValueDim: m.Hyper.ValueDim,
			TypeK: typeK, TypeV: typeV, NamePrefix: fmt.Sprintf("blk.%d", i),
		}
	}
	return ls
}
