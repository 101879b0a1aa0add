package model

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-llm/holdfast/gguf"
	"github.com/holdfast-llm/holdfast/gguf/quant"
	"github.com/holdfast-llm/holdfast/internal/synth"
)

// draft is a file under change.
type draft struct {
	kvs     []gguf.KV
	tensors []gguf.TensorSource
}

// set replaces or adds a key.
func (d *draft) set(key string, v any) {
	d.remove(key)
	d.kvs = append(d.kvs, gguf.KV{Key: key, Value: v})
}

func (d *draft) remove(key string) {
	d.kvs = slices.DeleteFunc(d.kvs, func(kv gguf.KV) bool { return kv.Key == key })
}

func (d *draft) tensor(name string) *gguf.TensorSource {
	for i := range d.tensors {
		if d.tensors[i].Name == name {
			return &d.tensors[i]
		}
	}
	panic("no tensor " + name)
}

func (d *draft) drop(name string) {
	d.tensors = slices.DeleteFunc(d.tensors, func(t gguf.TensorSource) bool { return t.Name == name })
}

// zeros replaces a tensor, or adds it.
func (d *draft) zeros(name string, t quant.Type, dims ...int) {
	n := t.RowBytes(dims[0])
	for _, x := range dims[1:] {
		n *= x
	}
	d.drop(name)
	d.tensors = append(d.tensors, gguf.FromBytes(name, t, make([]byte, n), dims...))
}

// changed is the file of c after a change.
func changed(t *testing.T, c synth.Config, change func(d *draft)) *gguf.File {
	t.Helper()
	if c.FFN == 0 {
		c.FFN = 256
	}
	c.Layers, c.Vocab = 2, 260
	f, err := gguf.Parse("synth", synth.Model(c))
	if err != nil {
		t.Fatal(err)
	}
	d := &draft{kvs: slices.Clone(f.KV)}
	for _, x := range f.Tensors {
		d.tensors = append(d.tensors, gguf.FromBytes(x.Name, x.Type, x.Data, x.Dims...))
	}
	change(d)
	var b bytes.Buffer
	if err := gguf.Write(&b, d.kvs, d.tensors); err != nil {
		t.Fatal(err)
	}
	if f, err = gguf.Parse("changed", b.Bytes()); err != nil {
		t.Fatal(err)
	}
	return f
}

func TestEveryArchitectureOpens(t *testing.T) {
	if want := []string{"llama", "qwen2", "qwen3", "qwen3moe"}; !slices.Equal(Architectures(), want) {
		t.Errorf("architectures %v, want %v", Architectures(), want)
	}
	for _, arch := range Architectures() {
		m, err := Open(changed(t, synth.Config{Arch: arch}, func(*draft) {}))
		if err != nil {
			t.Errorf("%s: %v", arch, err)
			continue
		}
		h := m.Hyper
		if h.Arch != arch || h.Layers != 2 || h.Context != 1024 || h.Hidden != 256 || h.FFN != 256 || h.Heads != 4 ||
			h.KVHeads != 2 || h.HeadDim != 64 || h.ValueDim != 64 || h.Vocab != 260 || h.Eps != 1e-6 || h.RopeDims != 64 || h.RopeBase != 10000 {
			t.Errorf("%s: %+v", arch, *h)
		}
		if moe := arch == "qwen3moe"; moe != (h.Experts == 8 && h.ExpertsUsed == 2 && h.ExpertFFN == 256) {
			t.Errorf("%s: experts %d, %d, %d", arch, h.Experts, h.ExpertsUsed, h.ExpertFFN)
		}
		layers := m.CacheLayers(quant.Q8_0, quant.F16)
		if l := layers[1]; len(layers) != 2 || l.Heads != 2 || l.KeyDim != 64 || l.ValueDim != 64 || l.TypeK != quant.Q8_0 || l.TypeV != quant.F16 || l.NamePrefix != "blk.1" {
			t.Errorf("%s: cache layers %+v", arch, layers)
		}
	}
}

func TestAbsentKeysHaveTheirDefaults(t *testing.T) {
	f := changed(t, synth.Config{Arch: "llama", KVHeads: 4}, func(d *draft) {
		for _, key := range []string{
			"attention.head_count_kv", "attention.key_length", "attention.value_length", "rope.dimension_count", "rope.freq_base", "vocab_size",
		} {
			d.remove("llama." + key)
		}
	})
	m, err := Open(f)
	if err != nil {
		t.Fatal(err)
	}
	h := m.Hyper
	if h.KVHeads != 4 || h.HeadDim != 64 || h.ValueDim != 64 || h.RopeDims != 64 || h.RopeBase != 10000 || h.RopeScale != (RopeScale{Factor: 1}) || h.Vocab != 260 {
		t.Errorf("%+v", *h)
	}
}

func TestAValuePerLayerIsAcceptedIfAllAreTheSame(t *testing.T) {
	for name, v := range map[string]any{"int32": []int32{2, 2}, "uint32": []uint32{2, 2}, "int64": []int64{2, 2}} {
		m, err := Open(changed(t, synth.Config{}, func(d *draft) { d.set("llama.attention.head_count_kv", v) }))
		if err != nil || m.Hyper.KVHeads != 2 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWhatCannotRunIsRefusedByName(t *testing.T) {
	dense, moe := synth.Config{}, synth.Config{Arch: "qwen3moe"}
	set := func(key string, v any) func(*draft) { return func(d *draft) { d.set(key, v) } }
	remove := func(key string) func(*draft) { return func(d *draft) { d.remove(key) } }
	for _, c := range []struct {
		name   string
		c      synth.Config
		change func(*draft)
		want   string
	}{
		{"no architecture", dense, remove("general.architecture"), "no general.architecture in the file"},
		{"an architecture that is a number", dense, set("general.architecture", uint32(3)), "no general.architecture in the file"},
		{"an unsupported architecture", dense, set("general.architecture", "mamba"), `architecture "mamba" is not supported; supported are llama, qwen2, qwen3, qwen3moe`},
		{"an architecture whose keys are missing", dense, set("general.architecture", "qwen2"), "no qwen2.block_count in the file"},

		{"no block count", dense, remove("llama.block_count"), "no llama.block_count in the file"},
		{"no context length", dense, remove("llama.context_length"), "no llama.context_length in the file"},
		{"no embedding length", dense, remove("llama.embedding_length"), "no llama.embedding_length in the file"},
		{"no head count", dense, remove("llama.attention.head_count"), "no llama.attention.head_count in the file"},
		{"no feed-forward length", dense, remove("llama.feed_forward_length"), "no llama.feed_forward_length in the file"},
		{"no epsilon", dense, remove("llama.attention.layer_norm_rms_epsilon"), "no llama.attention.layer_norm_rms_epsilon in the file"},
		{"no experts", moe, remove("qwen3moe.expert_count"), "no qwen3moe.expert_count in the file"},
		{"no count of experts used", moe, remove("qwen3moe.expert_used_count"), "no qwen3moe.expert_used_count in the file"},

		{"no layers", dense, set("llama.block_count", uint32(0)), "llama.block_count is 0, want 1 to 4096"},
		{"2^64-1 layers", dense, set("llama.block_count", uint64(math.MaxUint64)), "llama.block_count is 18446744073709551615, want 1 to"},
		{"more layers than there are", dense, set("llama.block_count", uint32(3)), `no tensor "blk.2.attn_norm.weight" in the file`},
		{"fewer layers than there are", dense, set("llama.block_count", uint32(1)), "tensors are not part of architecture llama"},
		{"0 heads", dense, set("llama.attention.head_count", uint32(0)), "llama.attention.head_count is 0, want 1 to 4096"},
		{"0 KV heads", dense, set("llama.attention.head_count_kv", uint32(0)), "llama.attention.head_count_kv is 0, want 1 to"},
		{"heads that are no multiple of KV heads", dense, set("llama.attention.head_count_kv", uint32(3)), "4 query heads are no multiple of 3 KV heads"},
		{"more KV heads than heads", dense, set("llama.attention.head_count_kv", uint32(8)), "4 query heads are no multiple of 8 KV heads"},
		{"a negative width", dense, set("llama.embedding_length", int32(-256)), "no llama.embedding_length in the file"},
		{"an enormous width", dense, set("llama.embedding_length", uint32(1<<31)), "llama.embedding_length is 2147483648, want 1 to 1048576"},
		{"a width of another model", dense, set("llama.embedding_length", uint32(512)), `tensor "token_embd.weight" is [256 260], want [512 260] (hidden,vocab)`},
		{"a head size of another model", dense, set("llama.attention.key_length", uint32(32)), "64 rotated elements of a head of 32"},
		{"a value size of another model", dense, set("llama.attention.value_length", uint32(32)), `tensor "blk.0.attn_v.weight" is [256 128], want [256 64] (hidden,v)`},
		{"an odd number of rotated elements", dense, set("llama.rope.dimension_count", uint32(63)), "63 rotated elements of a head of 64: want an even number"},
		{"more rotated elements than a head has", dense, set("llama.rope.dimension_count", uint32(66)), "66 rotated elements of a head of 64"},
		{"no context", dense, set("llama.context_length", uint32(0)), "llama.context_length is 0, want 1 to"},
		{"a negative epsilon", dense, set("llama.attention.layer_norm_rms_epsilon", float32(-1)), "llama.attention.layer_norm_rms_epsilon is -1"},
		{"a NaN epsilon", dense, set("llama.attention.layer_norm_rms_epsilon", float32(math.NaN())), "layer_norm_rms_epsilon is NaN"},
		{"an infinite rope base", dense, set("llama.rope.freq_base", float32(math.Inf(1))), "llama.rope.freq_base is +Inf"},
		{"a rope base of 0", dense, set("llama.rope.freq_base", float32(0)), "rope.freq_base is 0"},
		{"a NaN rope factor", dense, set("llama.rope.scaling.factor", float32(math.NaN())), "llama.rope.scaling.factor is NaN"},
		{"an unknown rope scaling", dense, set("llama.rope.scaling.type", "longrope"), `rope scaling "longrope" is not supported; supported are none, linear, yarn`},
		{"yarn over no context", dense, func(d *draft) {
			d.set("llama.rope.scaling.type", "yarn")
			d.set("llama.rope.scaling.original_context_length", uint32(0))
		}, "llama.rope.scaling.original_context_length is 0, want 1 to"},
		{"values per layer that differ", dense, set("llama.attention.head_count_kv", []int32{2, 4}), "llama.attention.head_count_kv differs between layers (2 in layer 0, 4 in layer 1): not supported"},
		{"an empty list of values", dense, set("llama.feed_forward_length", []int32{}), "llama.feed_forward_length is an empty array"},
		{"negative values per layer", dense, set("llama.feed_forward_length", []int32{-5, -5}), "llama.feed_forward_length is -5, want 1 to"},
		{"more experts used than there are", moe, set("qwen3moe.expert_used_count", uint32(9)), "9 experts used of 8"},
		{"no experts used", moe, set("qwen3moe.expert_used_count", uint32(0)), "qwen3moe.expert_used_count is 0, want 1 to"},
		{"a million experts", moe, set("qwen3moe.expert_count", uint32(1_000_000)), "qwen3moe.expert_count is 1000000, want 1 to 4096"},
		{"experts of another model", moe, set("qwen3moe.expert_count", uint32(16)), `tensor "blk.0.ffn_gate_inp.weight" is [256 8], want [256 16] (hidden,experts)`},
		{"experts in a dense architecture", synth.Config{Experts: 4}, func(*draft) {}, `no tensor "blk.0.ffn_gate.weight" in the file`},

		{"no embeddings", dense, func(d *draft) { d.drop("token_embd.weight") }, "no two-dimensional token_embd.weight in the file"},
		{"embeddings of one dimension", dense, func(d *draft) { d.zeros("token_embd.weight", quant.F32, 260) }, "no two-dimensional token_embd.weight"},
		{"a missing norm", dense, func(d *draft) { d.drop("blk.1.ffn_norm.weight") }, `no tensor "blk.1.ffn_norm.weight" in the file`},
		{"a missing matrix", dense, func(d *draft) { d.drop("blk.1.ffn_down.weight") }, `no tensor "blk.1.ffn_down.weight" in the file`},
		{"missing experts", moe, func(d *draft) { d.drop("blk.1.ffn_up_exps.weight") }, `no tensor "blk.1.ffn_up_exps.weight" in the file`},
		{"an extra tensor", dense, func(d *draft) { d.zeros("blk.0.attn_sinks", quant.F32, 4) }, `1 tensors are not part of architecture llama as supported here, the first is "blk.0.attn_sinks"`},
		{"a bias where the architecture has none", synth.Config{Arch: "qwen3"}, func(d *draft) { d.zeros("blk.0.attn_q.bias", quant.F32, 256) }, `the first is "blk.0.attn_q.bias"`},
		{"a transposed matrix", synth.Config{FFN: 512}, func(d *draft) { d.zeros("blk.0.ffn_up.weight", quant.F32, 512, 256) }, `tensor "blk.0.ffn_up.weight" is [512 256], want [256 512] (hidden,ffn)`},
		{"a matrix in three dimensions", dense, func(d *draft) { d.zeros("blk.0.attn_k.weight", quant.F32, 256, 64, 2) }, `tensor "blk.0.attn_k.weight" is [256 64 2], want [256 128] (hidden,k)`},
		{"a bias of another length", synth.Config{Arch: "qwen2"}, func(d *draft) { d.zeros("blk.1.attn_k.bias", quant.F32, 64) }, `tensor "blk.1.attn_k.bias" is [64], want [128] (k)`},
		{"a norm that is not F32", dense, func(d *draft) { d.zeros("blk.0.attn_norm.weight", quant.F16, 256) }, `tensor "blk.0.attn_norm.weight" is F16, want F32`},
		{"a matrix of integers", dense, func(d *draft) { d.zeros("blk.0.attn_q.weight", quant.I32, 256, 256) }, `tensor "blk.0.attn_q.weight" is I32; supported weight types are [F32`},
		{"rope factors of another length", synth.Config{Rope: synth.Llama3}, func(d *draft) { d.zeros("rope_freqs.weight", quant.F32, 16) }, `tensor "rope_freqs.weight" is [16], want [32] (rot)`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Open(changed(t, c.c, c.change))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

// TestATypeThatIsNotKnownIsRefusedWithTheList patches a type number that only
// newer files have: gguf reads such files, and leaves the tensor without data.
func TestATypeThatIsNotKnownIsRefusedWithTheList(t *testing.T) {
	f := changed(t, synth.Config{}, func(*draft) {})
	x, _ := f.Tensor("blk.1.attn_output.weight")
	x.Type, x.Data = 16, nil // IQ2_XXS
	_, err := Open(f)
	for _, want := range []string{"blk.1.attn_output.weight", "is not supported", "Q4_K", "IQ4_XS"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q in it", err, want)
		}
	}
}

func TestTrailingDimensionsOfOneDoNotCount(t *testing.T) {
	f := changed(t, synth.Config{}, func(d *draft) {
		x := d.tensor("blk.0.attn_q.weight")
		x.Dims = append(x.Dims, 1, 1)
	})
	if _, err := Open(f); err != nil {
		t.Error(err)
	}
}
