package synth

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-llm/holdfast/gguf"
	"github.com/holdfast-llm/holdfast/gguf/quant"
)

// parse builds and reads back a model.
func parse(t *testing.T, c Config) *gguf.File {
	t.Helper()
	f, err := gguf.Parse("synth", Model(c))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestEveryArchitectureHasItsTensors(t *testing.T) {
	common := "output_norm token_embd blk.1.attn_norm blk.1.attn_q blk.1.attn_k blk.1.attn_v blk.1.attn_output blk.1.ffn_norm"
	dense, experts := " blk.1.ffn_gate blk.1.ffn_up blk.1.ffn_down", " blk.1.ffn_gate_inp blk.1.ffn_gate_exps blk.1.ffn_up_exps blk.1.ffn_down_exps"
	for _, c := range []struct {
		name   string
		config Config
		want   string
		not    string
	}{
		{"llama", Config{}, "output" + dense, "rope_freqs"},
		{"llama tied", Config{Tied: true}, dense, "output"},
		{"llama 3.1", Config{Rope: Llama3}, "rope_freqs", "blk.1.attn_q_norm"},
		{"mixtral", Config{Experts: 4}, experts, "blk.1.ffn_gate"},
		{"qwen2", Config{Arch: "qwen2"}, "output" + dense, "blk.1.attn_q_norm"},
		{"qwen3", Config{Arch: "qwen3"}, "blk.1.attn_q_norm blk.1.attn_k_norm" + dense, "blk.1.ffn_gate_inp"},
		{"qwen3moe", Config{Arch: "qwen3moe"}, "blk.1.attn_q_norm blk.1.attn_k_norm" + experts, "blk.1.ffn_gate"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := parse(t, c.config)
			for _, name := range strings.Fields(common + " " + c.want) {
				if _, ok := f.Tensor(name + ".weight"); !ok {
					t.Errorf("no %s.weight", name)
				}
			}
			if _, ok := f.Tensor(c.not + ".weight"); ok {
				t.Errorf("%s.weight is there", c.not)
			}
			if _, ok := f.Tensor("blk.0.attn_k.bias"); ok != (c.config.Arch == "qwen2") {
				t.Errorf("biases: %v", ok)
			}
		})
	}
}

func TestMatricesHaveTheTypeAskedFor(t *testing.T) {
	for _, typ := range quant.Supported() {
		f := parse(t, Config{Arch: "qwen3moe", Type: typ, Layers: 1, Experts: 2, Vocab: 260})
		for _, tensor := range f.Tensors {
			want := quant.F32
			if len(tensor.Dims) > 1 && !strings.Contains(tensor.Name, "gate_inp") {
				want = typ
			}
			if tensor.Type != want {
				t.Errorf("%v: %s is %v", typ, tensor.Name, tensor.Type)
			}
			row := make([]float32, tensor.Dims[0])
			if err := quant.Dequantize(tensor.Type, row, tensor.Data[:tensor.Type.RowBytes(len(row))]); err != nil {
				t.Fatal(err)
			}
			var sum float64
			for _, v := range row {
				sum += float64(v) * float64(v)
			}
			if rms := math.Sqrt(sum / float64(len(row))); !(rms > 0.01 && rms < 3) {
				t.Errorf("%v: the first row of %s has a root mean square of %v", typ, tensor.Name, rms)
			}
		}
	}
}

func TestModelsDependOnTheirSeedAlone(t *testing.T) {
	a, b := Model(Config{Seed: 1}), Model(Config{Seed: 1})
	if !bytes.Equal(a, b) {
		t.Error("two models of one seed differ")
	}
	if bytes.Equal(a, Model(Config{Seed: 2})) {
		t.Error("models of two seeds are equal")
	}
}

func TestRopeScalingIsWhereLoadersLookForIt(t *testing.T) {
	f := parse(t, Config{Rope: YaRN})
	kind, _ := f.String("llama.rope.scaling.type")
	factor, _ := f.Float("llama.rope.scaling.factor")
	context, _ := f.Uint("llama.rope.scaling.original_context_length")
	if kind != "yarn" || factor != 4 || context != 64 {
		t.Errorf("yarn: type %q, factor %v, context %d", kind, factor, context)
	}
	f = parse(t, Config{Rope: Llama3})
	if _, ok := f.String("llama.rope.scaling.type"); ok {
		t.Error("llama3 has a scaling type")
	}
	freqs, _ := f.Tensor("rope_freqs.weight")
	row := make([]float32, 32)
	if err := quant.Dequantize(quant.F32, row, freqs.Data); err != nil {
		t.Fatal(err)
	}
	if row[0] != 1 || row[31] != 4 || !slices.IsSorted(row) {
		t.Errorf("rope factors do not rise from 1 to 4: %v", row)
	}
}

func TestVocabulariesHaveEachTokenOnceAndEveryMergesResult(t *testing.T) {
	for _, c := range []Config{
		{Vocab: 260},
		{Vocab: 512, Arch: "qwen3"},
		{Vocab: 30000},
		{Vocab: 356, Tokenizer: Pieces},
		{Vocab: 1000, Tokenizer: Pieces},
		{Vocab: 30000, Tokenizer: Pieces},
	} {
		t.Run(fmt.Sprintf("%s %d", c.Tokenizer, c.Vocab), func(t *testing.T) {
			c = c.withDefaults()
			if err := c.check(); err != nil {
				t.Fatal(err)
			}
			values := map[string]any{}
			for _, kv := range vocabulary(c) {
				values[kv.Key] = kv.Value
			}
			texts := values["tokenizer.ggml.tokens"].([]string)
			seen := map[string]bool{}
			for _, s := range texts {
				if seen[s] {
					t.Errorf("token %q occurs twice", s)
				}
				seen[s] = true
			}
			if len(texts) != c.Vocab {
				t.Errorf("%d tokens for %d", len(texts), c.Vocab)
			}
			if c.Tokenizer == Pieces {
				return
			}
			for _, m := range values["tokenizer.ggml.merges"].([]string) {
				left, right, _ := strings.Cut(m, " ")
				for _, s := range []string{left, right, left + right} {
					if !seen[s] {
						t.Errorf("merge %q: no token %q", m, s)
					}
				}
			}
		})
	}
}

func TestImpossibleModelsPanicWithTheReason(t *testing.T) {
	for _, c := range []struct {
		config Config
		want   string
	}{
		{Config{Arch: "gpt9"}, `no architecture "gpt9"`},
		{Config{Arch: "qwen2", HeadDim: 32}, "qwen2 needs 4 heads of 32 to fill 256"},
		{Config{Heads: 4, KVHeads: 3}, "4 heads cannot share 3 key heads"},
		{Config{Arch: "qwen3", Rope: Llama3}, "qwen3 cannot have llama3 rope factors"},
		{Config{Arch: "qwen3", Experts: 2}, "qwen3 has no experts"},
		{Config{Experts: 2, ExpertsUsed: 3}, "3 of 2 experts cannot be used"},
		{Config{Vocab: 100}, "a gpt2 vocabulary has at least 260 tokens, not 100"},
		{Config{Type: quant.Q4_K, Hidden: 128}, "token_embd.weight"},
	} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.Contains(got, c.want) {
					t.Errorf("%+v: %s, want %s", c.config, got, c.want)
				}
			}()
			Model(c.config)
		}()
	}
}
