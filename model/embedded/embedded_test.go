package embedded_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-llm/holdfast/gguf"
	"github.com/holdfast-llm/holdfast/gguf/quant"
	"github.com/holdfast-llm/holdfast/model/embedded"
	"github.com/holdfast-llm/holdfast/text/token"
)

// maxBytes is what the repository allows the model.
const maxBytes = 8_000_000

func open(t *testing.T) *gguf.File {
	t.Helper()
	f, err := gguf.Parse(embedded.Name, embedded.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestFileIsSmall(t *testing.T) {
	if n := len(embedded.Bytes()); n > maxBytes {
		t.Errorf("%s is %d bytes, want at most %d", embedded.Name, n, maxBytes)
	}
}

func TestMetadataStatesTheShape(t *testing.T) {
	f := open(t)
	for key, want := range map[string]uint64{
		"qwen3.block_count":             8,
		"qwen3.context_length":          4096,
		"qwen3.embedding_length":        256,
		"qwen3.feed_forward_length":     576,
		"qwen3.attention.head_count":    8,
		"qwen3.attention.head_count_kv": 2,
		"qwen3.attention.key_length":    64,
		"qwen3.attention.value_length":  64,
		"general.file_type":             7, // mostly Q8_0
	} {
		if got, ok := f.Uint(key); !ok || got != want {
			t.Errorf("%s is %d (present: %t), want %d", key, got, ok, want)
		}
	}
	for key, want := range map[string]string{
		"general.architecture": "qwen3",
		"general.name":         "Holdfast 7M",
		"general.license":      "apache-2.0",
		"tokenizer.ggml.model": "gpt2",
		"tokenizer.ggml.pre":   "qwen2",
	} {
		if got, _ := f.String(key); got != want {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}
}

func TestEveryTensorIsThereInItsShapeAndType(t *testing.T) {
	f := open(t)
	perLayer := []struct {
		name string
		typ  quant.Type
		dims []int
	}{
		{"attn_norm", quant.F32, []int{256}},
		{"attn_q", quant.Q8_0, []int{256, 512}},
		{"attn_k", quant.Q8_0, []int{256, 128}},
		{"attn_v", quant.Q8_0, []int{256, 128}},
		{"attn_q_norm", quant.F32, []int{64}},
		{"attn_k_norm", quant.F32, []int{64}},
		{"attn_output", quant.Q8_0, []int{512, 256}},
		{"ffn_norm", quant.F32, []int{256}},
		{"ffn_gate", quant.Q8_0, []int{256, 576}},
		{"ffn_up", quant.Q8_0, []int{256, 576}},
		{"ffn_down", quant.Q8_0, []int{576, 256}},
	}
	check := func(name string, typ quant.Type, dims []int) {
		tensor, ok := f.Tensor(name)
		if !ok {
			t.Errorf("no tensor %q", name)
			return
		}
		if tensor.Type != typ || !slices.Equal(tensor.Dims, dims) {
			t.Errorf("%s is %s %v, want %s %v", name, tensor.Type, tensor.Dims, typ, dims)
		}
	}
	check("token_embd.weight", quant.Q8_0, []int{256, 4096})
	check("output_norm.weight", quant.F32, []int{256})
	for _, layer := range []string{"0", "1", "2", "3", "4", "5", "6", "7"} {
		for _, p := range perLayer {
			check("blk."+layer+"."+p.name+".weight", p.typ, p.dims)
		}
	}
	elements := 0
	for _, tensor := range f.Tensors {
		elements += tensor.Elements()
	}
	if want := 7_214_336; elements != want || len(f.Tensors) != 2+8*len(perLayer) {
		t.Errorf("%d parameters in %d tensors, want %d in %d", elements, len(f.Tensors), want, 2+8*len(perLayer))
	}
}

func tokenizer(t *testing.T) *token.Tokenizer {
	t.Helper()
	tok, err := token.New(open(t))
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

// The ids are those that the trainer's own tokeniser and llama.cpp give.
func TestTokenizerCutsTextAsInTraining(t *testing.T) {
	tok := tokenizer(t)
	for text, want := range map[string][]int32{
		"func (s *Server) ": {359, 335, 83, 339, 1302, 9, 221},
		"key k17 = v93\n":   {649, 698, 17, 23, 298, 371, 25, 19, 199},
		"k17 -> v93":        {75, 17, 23, 566, 30, 371, 25, 19},
	} {
		if got := tok.Encode(text, true, false); !slices.Equal(got, want) {
			t.Errorf("%q is %v, want %v", text, got, want)
		}
	}
	if eos, ok := tok.EOS(); !ok || eos != 0 || !tok.IsEOG(0) {
		t.Errorf("EOS is %d (present: %t), want 0", eos, ok)
	}
}

func TestRecallPromptKeepsItsDistance(t *testing.T) {
	tok := tokenizer(t)
	count := func(s string) int { return len(tok.Encode(s, false, false)) }
	for _, distance := range []int{24, 100, 1000, 2113, 3000, 3900, embedded.MaxRecallDistance} {
		for seed := range uint64(8) {
			prompt, answer, err := embedded.RecallPrompt(seed, distance, count)
			if err != nil {
				t.Fatal(err)
			}
			line, _, _ := strings.Cut(prompt, "\n")
			if got := count(prompt) - count(line+"\n"); got != distance {
				t.Errorf("seed %d: the key stands %d tokens back, want %d", seed, got, distance)
			}
			if n := count(prompt + answer); n > 4096 {
				t.Errorf("seed %d, distance %d: %d tokens do not fit into the context", seed, distance, n)
			}
			question := prompt[strings.LastIndex(prompt, "\n")+1:]
			key := strings.TrimSuffix(question, " ->")
			if want := "key " + key + " =" + strings.TrimSuffix(answer, "\n"); line != want {
				t.Errorf("seed %d: the prompt starts with %q, want %q", seed, line, want)
			}
			if n := strings.Count(prompt, "key "+key+" = "); n != 1 {
				t.Errorf("seed %d: %s is defined %d times, want once", seed, key, n)
			}
		}
	}
}

func TestRecallPromptRefusesDistancesOutsideTheContext(t *testing.T) {
	for _, distance := range []int{-1, 0, 23, embedded.MaxRecallDistance + 1, 1 << 40} {
		if _, _, err := embedded.RecallPrompt(1, distance, func(s string) int { return len(s) }); err == nil {
			t.Errorf("distance %d: no error", distance)
		}
	}
}
