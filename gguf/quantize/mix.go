package quantize

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/holdfast-llm/holdfast/gguf"
	"github.com/holdfast-llm/holdfast/gguf/quant"
)

// Mix is a named choice of types for a model's tensors. FileType is its number
// in general.file_type (enum llama_ftype).
type Mix struct {
	Name     string
	FileType uint32
	Base     quant.Type // of most tensors
}

// The mixes that are spelt differently from their base type. A bare K-quant
// name is an alias of its medium mix, as in llama-quantize.
var mixes = []Mix{
	{"F32", 0, quant.F32},
	{"F16", 1, quant.F16},
	{"BF16", 32, quant.BF16},
	{"Q8_0", 7, quant.Q8_0},
	{"Q6_K", 18, quant.Q6_K},
	{"Q5_K_M", 17, quant.Q5_K},
	{"Q5_K_S", 16, quant.Q5_K},
	{"Q5_1", 9, quant.Q5_1},
	{"Q5_0", 8, quant.Q5_0},
	{"Q4_K_M", 15, quant.Q4_K},
	{"Q4_K_S", 14, quant.Q4_K},
	{"Q4_1", 3, quant.Q4_1},
	{"Q4_0", 2, quant.Q4_0},
	{"IQ4_NL", 25, quant.IQ4_NL},
	{"IQ4_XS", 30, quant.IQ4_XS},
	{"Q3_K_L", 13, quant.Q3_K},
	{"Q3_K_M", 12, quant.Q3_K},
	{"Q3_K_S", 11, quant.Q3_K},
	{"Q2_K", 10, quant.Q2_K},
}

var aliases = map[string]string{"Q5_K": "Q5_K_M", "Q4_K": "Q4_K_M", "Q3_K": "Q3_K_M"}

// Mixes lists every mix, from the largest files to the smallest.
func Mixes() []Mix { return slices.Clone(mixes) }

// Lookup finds a mix by its name or alias, in any case.
func Lookup(name string) (Mix, bool) {
	name = strings.ToUpper(name)
	if a, ok := aliases[name]; ok {
		name = a
	}
	i := slices.IndexFunc(mixes, func(m Mix) bool { return m.Name == name })
	if i < 0 {
		return Mix{}, false
	}
	return mixes[i], true
}

// Choice is what a plan does with one tensor.
type Choice struct {
	Tensor *gguf.Tensor
	Type   quant.Type // to be written
	// Wanted is the mix's type if the tensor's rows do not fill its blocks and
	// Type stands in for it; else equal to Type.
	Wanted quant.Type
}

// architectures whose tensors the mixes know.
var architectures = []string{"llama", "qwen2", "qwen3", "qwen3moe"}

// Plan chooses a type for every tensor of a model, in the order llama.cpp
// writes them: by layer, then by name. It follows llama.cpp's rules for the
// architectures it knows, so that the two write the same file, byte for byte.
// With pure, every tensor that is quantised at all gets the
// base type. An architecture it does not know is an error.
func Plan(f *gguf.File, m Mix, pure bool) ([]Choice, error) {
	r, err := newRules(f, m)
	if err != nil {
		return nil, err
	}
	tensors := make([]*gguf.Tensor, len(f.Tensors))
	for i := range f.Tensors {
		tensors[i] = &f.Tensors[i]
	}
	slices.SortFunc(tensors, func(a, b *gguf.Tensor) int {
		return cmp.Or(cmp.Compare(layerOf(a.Name), layerOf(b.Name)), strings.Compare(a.Name, b.Name))
	})
	for _, t := range tensors {
		switch categoryOf(t.Name) {
		case attnV:
			r.attnVs++
		case output:
			r.tied = false
		}
	}
	plan := make([]Choice, len(tensors))
	for i, t := range tensors {
		c := Choice{t, t.Type, t.Type}
		if quantizable(t) {
			c.Wanted = m.Base
			if isQuantized(m.Base) && !pure {
				if c.Wanted, err = r.choose(t); err != nil {
					return nil, err
				}
			}
			c.Type = fit(c.Wanted, t.Dims[0])
		}
		plan[i] = c
	}
	return plan, nil
}

func isQuantized(t quant.Type) bool { return t.BlockElems() > 1 }

// quantizable keeps what is small and matters much in its own type: vectors,
// norms, and the router of a mixture of experts.
func quantizable(t *gguf.Tensor) bool {
	dims := 1
	for i, d := range t.Dims {
		if d > 1 {
			dims = i + 1
		}
	}
	return dims > 1 && strings.HasSuffix(t.Name, "weight") &&
		!strings.Contains(t.Name, "_norm.weight") && !strings.Contains(t.Name, "ffn_gate_inp.weight")
}

// fit is the type that stands in for want where rows of n elements do not fill
// its blocks: one with blocks of 32 and a little more precision, or F16.
func fit(want quant.Type, n int) quant.Type {
	if n%want.BlockElems() == 0 {
		return want
	}
	got := want
	switch want {
	case quant.Q2_K, quant.Q3_K:
		got = quant.Q4_0
	case quant.IQ4_XS:
		got = quant.IQ4_NL
	case quant.Q4_K:
		got = quant.Q5_0
	case quant.Q5_K:
		got = quant.Q5_1
	case quant.Q6_K:
		got = quant.Q8_0
	}
	if n%got.BlockElems() != 0 {
		return quant.F16
	}
	return got
}

// category is the part a tensor plays, as far as the mixes care.
type category int

const (
	other category = iota
	output
	tokenEmbedding
	attnV // also a fused QKV
	attnK
	attnOutput
	ffnDown
)

func categoryOf(name string) category {
	has := func(s string) bool { return strings.Contains(name, s) }
	switch {
	case name == "output.weight":
		return output
	case name == "token_embd.weight":
		return tokenEmbedding
	case has("attn_qkv.weight"), has("attn_v.weight"):
		return attnV
	case has("attn_k.weight"):
		return attnK
	case has("attn_output.weight"):
		return attnOutput
	case has("ffn_down"):
		return ffnDown
	}
	return other
}

// layerOf is the number in "blk.N."; -1 for a tensor outside the layers.
func layerOf(name string) int {
	var n int
	if _, err := fmt.Sscanf(name, "blk.%d.", &n); err != nil {
		return -1
	}
	return n
}

// rules is what the choice for a tensor depends on: the model's shape, and how
// many tensors of its category came before it.
type rules struct {
	mix     Mix
	layers  int
	experts uint64
	gqa     uint64 // query heads for each KV head
	is70B   bool   // attn_v is eight times smaller than attn_q: worth more bits
	tied    bool   // token_embd is also the output projection
	attnVs  int    // tensors of category attnV

	nthV, nthDown int
}

func newRules(f *gguf.File, m Mix) (*rules, error) {
	arch, ok := f.String("general.architecture")
	if !ok {
		return nil, fmt.Errorf("quantize: %s: no general.architecture", f.Name)
	}
	if !slices.Contains(architectures, arch) {
		return nil, fmt.Errorf("quantize: %s: architecture %q is not supported (supported: %s)", f.Name, arch, strings.Join(architectures, " "))
	}
	number := func(key string) uint64 { v, _ := f.Uint(arch + "." + key); return v }
	layers := number("block_count")
	if layers < 1 || layers > gguf.MaxTensors {
		return nil, fmt.Errorf("quantize: %s: %s.block_count is %d", f.Name, arch, layers)
	}
	r := &rules{mix: m, layers: int(layers), experts: number("expert_count"), tied: true}
	heads, kvHeads := number("attention.head_count"), number("attention.head_count_kv")
	if kvHeads == 0 {
		kvHeads = heads // the key is optional
	}
	if kvHeads > 0 {
		r.gqa = heads / kvHeads
	}
	r.is70B = layers == 80 && (arch == "llama" && heads != kvHeads || arch == "qwen2")
	return r, nil
}

// moreBits picks the first and last eighth of n layers and every third between.
func moreBits(layer, n int) bool {
	return layer < n/8 || layer >= 7*n/8 || (layer-n/8)%3 == 2
}

// choose is the mix's type for a tensor, which must be asked for in the order
// of Plan.
func (r *rules) choose(t *gguf.Tensor) (quant.Type, error) {
	c := categoryOf(t.Name)
	if c == tokenEmbedding && r.tied {
		c = output
	}
	base := r.mix.Base
	switch c {
	case output:
		switch {
		case t.Dims[0]%base.BlockElems() != 0, base == quant.Q8_0:
			return quant.Q8_0, nil
		}
		return quant.Q6_K, nil
	case attnV:
		n := r.nthV
		r.nthV++
		return r.attnV(n), nil
	case attnK:
		if r.experts == 8 {
			return quant.Q8_0, nil
		}
	case ffnDown:
		n := r.nthDown
		r.nthDown++
		if r.experts > 1 {
			// Files have been seen whose experts are not in order.
			if n = layerOf(t.Name); n < 0 || n >= r.layers {
				return 0, fmt.Errorf("quantize: tensor %q: layer %d is not from 0 to %d", t.Name, n, r.layers-1)
			}
		}
		return r.ffnDown(n), nil
	case attnOutput:
		return r.attnOutput(), nil
	}
	return base, nil
}

func (r *rules) attnV(n int) quant.Type {
	t := r.mix.Base
	switch r.mix.Name {
	case "Q2_K":
		t = quant.Q3_K
		if r.gqa >= 4 {
			t = quant.Q4_K
		}
	case "Q3_K_M":
		t = quant.Q4_K
		if n < 2 {
			t = quant.Q5_K
		}
	case "Q3_K_L":
		t = quant.Q5_K
	case "IQ4_NL", "IQ4_XS":
		if r.gqa >= 4 {
			t = quant.Q5_K
		}
	case "Q4_K_M", "Q5_K_M":
		if moreBits(n, r.attnVs) {
			t = quant.Q6_K
		}
	case "Q4_K_S":
		if n < 4 {
			t = quant.Q5_K
		}
	}
	if r.is70B && (t == quant.Q3_K || t == quant.Q4_K) {
		t = quant.Q5_K
	}
	if r.experts == 8 {
		t = quant.Q8_0
	}
	return t
}

func (r *rules) ffnDown(n int) quant.Type {
	switch r.mix.Name {
	case "Q2_K":
		return quant.Q3_K
	case "Q3_K_M":
		if n < r.layers/16 {
			return quant.Q5_K
		}
		return quant.Q4_K
	case "Q3_K_L":
		return quant.Q5_K
	case "Q4_K_M", "Q5_K_M":
		if moreBits(n, r.layers) {
			return quant.Q6_K
		}
	case "Q4_K_S", "IQ4_NL", "IQ4_XS":
		if n < r.layers/8 {
			return quant.Q5_K
		}
	}
	return r.mix.Base
}

func (r *rules) attnOutput() quant.Type {
	if r.experts == 8 {
		switch r.mix.Name {
		case "Q2_K", "Q3_K_S", "Q3_K_M", "Q4_K_S", "Q4_K_M", "IQ4_NL", "IQ4_XS":
			return quant.Q5_K
		}
		return r.mix.Base
	}
	switch r.mix.Name {
	case "Q2_K":
		return quant.Q3_K
	case "Q3_K_M":
		return quant.Q4_K
	case "Q3_K_L":
		return quant.Q5_K
	}
	return r.mix.Base
}
