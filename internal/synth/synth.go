// Package synth builds small GGUF models with random weights for tests: every
// architecture, tensor type and rope scaling that the engine runs, in memory,
// from a seed. Their text is noise, but an even noise: activations stay near one
// and logits have a standard deviation of about two, so that the order of the
// best tokens is decided by more than rounding.
package synth

import (
	"bytes"
	"fmt"
	"io"
	"math"

	"github.com/holdfast-llm/holdfast/gguf"
	"github.com/holdfast-llm/holdfast/gguf/quant"
)

// Config describes a model. Zero fields have the defaults named beside them.
type Config struct {
	Arch string     // "llama", "qwen2", "qwen3" or "qwen3moe"; "llama"
	Type quant.Type // of every matrix and expert; F32. Vectors and the router are F32 always

	Layers  int // 2
	Hidden  int // 256
	FFN     int // 512
	Heads   int // 4
	KVHeads int // 2
	HeadDim int // Hidden/Heads; qwen2 can have no other
	Context int // 1024, the context_length that the file claims
	Vocab   int // 512

	Experts     int // 0, but 8 for qwen3moe; llama with experts is Mixtral
	ExpertsUsed int // 2
	ExpertFFN   int // 256; llama's experts have FFN

	Tied      bool      // no output matrix: the embedding serves
	Tokenizer Tokenizer // Bytes
	RopeBase  float32   // 10000
	Rope      Scaling   // Unscaled
	// RopeFactor is how much Rope stretches positions: 4.
	RopeFactor float32
	// RopeContext is the context that YaRN and Llama3 stretch: 64, so that short
	// tests already see positions beyond it.
	RopeContext int

	Seed uint64
}

// Scaling is a way of stretching rope to longer contexts.
type Scaling string

// The ways of scaling. Llama3 has its factors in the tensor rope_freqs.weight,
// the others are metadata.
const (
	Unscaled Scaling = ""
	Linear   Scaling = "linear"
	YaRN     Scaling = "yarn"
	Llama3   Scaling = "llama3"
)

// Model returns the bytes of the GGUF file that c describes, the same for the
// same c. It panics on what cannot be such a model, such as a row length that is
// not whole blocks of c.Type.
func Model(c Config) []byte {
	var b bytes.Buffer
	if err := Write(&b, c); err != nil {
		panic(fmt.Sprintf("synth: %v", err))
	}
	return b.Bytes()
}

// Write writes what Model returns, for models too large to be held in memory.
func Write(w io.Writer, c Config) error {
	c = c.withDefaults()
	if err := c.check(); err != nil {
		return err
	}
	return gguf.Write(w, metadata(c), sources(c))
}

// Arches are the architectures that Model builds.
func Arches() []string { return []string{"llama", "qwen2", "qwen3", "qwen3moe"} }

func (c Config) withDefaults() Config {
	set := func(v *int, to int) {
		if *v == 0 {
			*v = to
		}
	}
	if c.Arch == "" {
		c.Arch = "llama"
	}
	set(&c.Layers, 2)
	set(&c.Hidden, 256)
	set(&c.FFN, 512)
	set(&c.Heads, 4)
	set(&c.KVHeads, 2)
	set(&c.HeadDim, c.Hidden/c.Heads)
	set(&c.Context, 1024)
	set(&c.Vocab, 512)
	if c.Arch == "qwen3moe" {
		set(&c.Experts, 8)
		set(&c.ExpertFFN, 256)
	} else {
		c.ExpertFFN = c.FFN
	}
	set(&c.ExpertsUsed, 2)
	if c.Tokenizer == "" {
		c.Tokenizer = Bytes
	}
	if c.RopeBase == 0 {
		c.RopeBase = 10000
	}
	if c.RopeFactor == 0 {
		c.RopeFactor = 4
	}
	set(&c.RopeContext, 64)
	return c
}

// check returns an error for what llama.cpp would refuse to load.
func (c Config) check() error {
	switch c.Arch {
	case "llama", "qwen2", "qwen3", "qwen3moe":
	default:
		return fmt.Errorf("no architecture %q", c.Arch)
	}
	switch c.Rope {
	case Unscaled, Linear, YaRN:
	case Llama3:
		if c.Arch != "llama" {
			return fmt.Errorf("%s cannot have llama3 rope factors", c.Arch)
		}
	default:
		return fmt.Errorf("no rope scaling %q", c.Rope)
	}
	if c.Heads%c.KVHeads != 0 {
		return fmt.Errorf("%d heads cannot share %d key heads", c.Heads, c.KVHeads)
	}
	if c.HeadDim%2 != 0 {
		return fmt.Errorf("rope needs an even head size, not %d", c.HeadDim)
	}
	if c.Arch == "qwen2" && c.Heads*c.HeadDim != c.Hidden {
		return fmt.Errorf("qwen2 needs %d heads of %d to fill %d", c.Heads, c.HeadDim, c.Hidden)
	}
	if c.Experts > 0 && (c.Arch == "qwen2" || c.Arch == "qwen3") {
		return fmt.Errorf("%s has no experts", c.Arch)
	}
	if c.Experts > 0 && c.ExpertsUsed > c.Experts {
		return fmt.Errorf("%d of %d experts cannot be used", c.ExpertsUsed, c.Experts)
	}
	return c.checkVocab()
}

// metadata is the file's key-value list.
func metadata(c Config) []gguf.KV {
	var kvs []gguf.KV
	add := func(key string, v any) { kvs = append(kvs, gguf.KV{Key: key, Value: v}) }
	own := func(key string, v any) { add(c.Arch+"."+key, v) }
	add("general.architecture", c.Arch)
	add("general.name", "synth")
	own("block_count", uint32(c.Layers))
	own("context_length", uint32(c.Context))
	own("embedding_length", uint32(c.Hidden))
	own("feed_forward_length", uint32(c.FFN))
	own("attention.head_count", uint32(c.Heads))
	own("attention.head_count_kv", uint32(c.KVHeads))
	own("attention.key_length", uint32(c.HeadDim))
	own("attention.value_length", uint32(c.HeadDim))
	own("attention.layer_norm_rms_epsilon", float32(1e-6))
	own("rope.dimension_count", uint32(c.HeadDim))
	own("rope.freq_base", c.RopeBase)
	switch c.Rope {
	case Linear:
		own("rope.scaling.type", "linear")
		own("rope.scaling.factor", c.RopeFactor)
	case YaRN:
		own("rope.scaling.type", "yarn")
		own("rope.scaling.factor", c.RopeFactor)
		own("rope.scaling.original_context_length", uint32(c.RopeContext))
	}
	if c.Experts > 0 {
		own("expert_count", uint32(c.Experts))
		own("expert_used_count", uint32(c.ExpertsUsed))
	}
	if c.Arch == "qwen3moe" {
		own("expert_feed_forward_length", uint32(c.ExpertFFN))
	}
	own("vocab_size", uint32(c.Vocab))
	return append(kvs, vocabulary(c)...)
}

// ropeFactors are the divisors of rope's frequencies in Llama 3.1's scaling:
// wavelengths under a quarter of the original context keep theirs, those above
// it are stretched by the whole factor, and those between by a part of it.
func ropeFactors(c Config) []float32 {
	const low, high = 1, 4
	factors := make([]float32, c.HeadDim/2)
	for i := range factors {
		frequency := math.Pow(float64(c.RopeBase), -2*float64(i)/float64(c.HeadDim))
		turns := float64(c.RopeContext) * frequency / (2 * math.Pi)
		keep := min(1, max(0, (turns-low)/(high-low)))
		factors[i] = float32(1 / (keep + (1-keep)/float64(c.RopeFactor)))
	}
	return factors
}
