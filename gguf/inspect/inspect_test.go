package inspect

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/holdfast-llm/holdfast/gguf"
	"github.com/holdfast-llm/holdfast/gguf/quant"
	"github.com/holdfast-llm/holdfast/internal/golden"
)

// build writes a file and reads it back. A tensor named "foreign" gets a type
// that quant does not know.
func build(t *testing.T, kvs []gguf.KV, tensors ...gguf.TensorSource) *gguf.File {
	t.Helper()
	var b bytes.Buffer
	if err := gguf.Write(&b, kvs, tensors); err != nil {
		t.Fatal(err)
	}
	file := b.Bytes()
	if i := bytes.Index(file, []byte("foreign\x01\x00\x00\x00")); i >= 0 {
		file[i+len("foreign")+4+8] = 16 // IQ2_XXS
	}
	f, err := gguf.Parse("sample.gguf", file)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func tensor(name string, typ quant.Type, dims ...int) gguf.TensorSource {
	n := typ.RowBytes(dims[0])
	for _, d := range dims[1:] {
		n *= d
	}
	return gguf.FromBytes(name, typ, make([]byte, n), dims...)
}

// sample has what is awkward to print: control characters, long values, NaN,
// bytes that are not UTF-8, empty arrays, a type that is not supported.
func sample(t *testing.T) *gguf.File {
	tokens := []string{"a", "\x1b[31m", "\xff", "é", "<s>", "</s>", "f", "g"}
	return build(t, []gguf.KV{
		{Key: "general.architecture", Value: "llama"},
		{Key: "general.name", Value: "bell \a and\ttab"},
		{Key: "odd \n key", Value: uint8(7)},
		{Key: "llama.block_count", Value: uint32(32)},
		{Key: "description", Value: strings.Repeat("long ", 40)},
		{Key: "not.a.number", Value: float32(math.NaN())},
		{Key: "infinite", Value: []float64{math.Inf(1), -0.5}},
		{Key: "bytes", Value: []uint8{1, 2, 3}},
		{Key: "bools", Value: []bool{true, false}},
		{Key: "none", Value: []string{}},
		{Key: "largest", Value: uint64(math.MaxUint64)},
		{Key: "numbers", Value: []int32{1, 2, 3, 4, 5, 6, 7, 8}},
		{Key: "tokenizer.ggml.model", Value: "llama"},
		{Key: "tokenizer.ggml.tokens", Value: tokens},
		{Key: "tokenizer.ggml.bos_token_id", Value: uint32(4)},
		{Key: "tokenizer.ggml.eos_token_id", Value: int32(5)},
		{Key: "tokenizer.ggml.padding_token_id", Value: int32(-1)},
		{Key: "tokenizer.chat_template", Value: "{{ messages }}"},
	},
		tensor("token_embd.weight", quant.Q4_K, 256, 8), tensor("blk.0.attn_q.weight", quant.Q6_K, 256, 4),
		tensor("output_norm.weight", quant.F32, 256), tensor("foreign", quant.F32, 256))
}

func TestText(t *testing.T) {
	for name, o := range map[string]Options{"text.txt": {}, "text_all.txt": {Tensors: true, All: true}} {
		var b bytes.Buffer
		if err := Text(&b, sample(t), o); err != nil {
			t.Fatal(err)
		}
		for _, r := range b.String() {
			if r < ' ' && r != '\n' {
				t.Errorf("%s holds the control character %q", name, r)
			}
		}
		golden.Check(t, name, b.String())
	}
}

func TestJSON(t *testing.T) {
	for name, o := range map[string]Options{"sample.json": {}, "sample_all.json": {All: true}} {
		var b bytes.Buffer
		if err := JSON(&b, sample(t), o); err != nil {
			t.Fatal(err)
		}
		if !json.Valid(b.Bytes()) {
			t.Errorf("%s is not JSON", name)
		}
		golden.Check(t, name, b.String())
	}
	var b bytes.Buffer
	if err := JSON(&b, build(t, nil), Options{}); err != nil || !strings.Contains(b.String(), `"tensors": []`) {
		t.Errorf("an empty file: %v\n%s", err, b.String())
	}
}

func TestTotals(t *testing.T) {
	f := sample(t)
	got := fmt.Sprint(Totals(f))
	if want := "[{Q4_K 1 2048 1152} {Q6_K 1 1024 840} {F32 1 256 1024} {type(16) 1 256 0}]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if n, bytes := Size(f); n != 2048+1024+256+256 || bytes != 1152+840+1024 {
		t.Errorf("%d elements, %d bytes", n, bytes)
	}
}

// TestDescription has published models' numbers; the size classes are those
// that llama.cpp prints for them.
func TestDescription(t *testing.T) {
	type keys map[string]uint32
	for _, c := range []struct {
		arch string
		keys keys
		want string
	}{
		{"llama", keys{"block_count": 16}, "llama 1B"},
		{"llama", keys{"block_count": 32, "vocab_size": 32000}, "llama 7B"},
		{"llama", keys{"block_count": 32, "vocab_size": 128256}, "llama 8B"},
		{"llama", keys{"block_count": 32, "vocab_size": 49152}, "llama 3B"},
		{"llama", keys{"block_count": 80, "attention.head_count": 64, "attention.head_count_kv": 8}, "llama 70B"},
		{"llama", keys{"block_count": 80, "attention.head_count": 64, "attention.head_count_kv": 64}, "llama 65B"},
		{"llama", keys{"block_count": 32, "expert_count": 8}, "llama 8x7B"},
		{"llama", keys{"block_count": 5}, "llama ?B"},
		{"qwen2", keys{"block_count": 24, "embedding_length": 896}, "qwen2 1B"},
		{"qwen2", keys{"block_count": 28, "embedding_length": 1536}, "qwen2 1.5B"},
		{"qwen2", keys{"block_count": 28, "embedding_length": 3584}, "qwen2 7B"},
		{"qwen2", keys{"block_count": 64}, "qwen2 32B"},
		{"qwen3", keys{"block_count": 28, "embedding_length": 1024}, "qwen3 0.6B"},
		{"qwen3", keys{"block_count": 28, "embedding_length": 2048}, "qwen3 1.7B"},
		{"qwen3", keys{"block_count": 36, "embedding_length": 2560}, "qwen3 4B"},
		{"qwen3moe", keys{"block_count": 48}, "qwen3moe 30B.A3B"},
		{"gemma", keys{"block_count": 18}, "gemma ?B"},
	} {
		kvs := []gguf.KV{{Key: "general.architecture", Value: c.arch}, {Key: "general.file_type", Value: uint32(15)}}
		for k, v := range c.keys {
			kvs = append(kvs, gguf.KV{Key: c.arch + "." + k, Value: v})
		}
		if got := Description(build(t, kvs)); got != c.want+" Q4_K - Medium" {
			t.Errorf("%s %v: %q, want %q", c.arch, c.keys, got, c.want)
		}
	}
}

func TestFileTypeIsGuessedFromTheTensors(t *testing.T) {
	arch := gguf.KV{Key: "general.architecture", Value: "qwen3"}
	norm := tensor("n", quant.F32, 256, 64)
	for _, c := range []struct {
		tensors []gguf.TensorSource
		want    string
	}{
		{nil, "(guessed) all F32"},
		{[]gguf.TensorSource{norm}, "(guessed) all F32"},
		{[]gguf.TensorSource{norm, tensor("a", quant.Q8_0, 32), tensor("b", quant.Q8_0, 32), tensor("c", quant.Q6_K, 256)}, "(guessed) Q8_0"},
		{[]gguf.TensorSource{norm, tensor("a", quant.Q4_K, 256)}, "(guessed) Q4_K - Medium"},
		{[]gguf.TensorSource{tensor("foreign", quant.F32, 256)}, "(guessed) IQ2_XXS"},
	} {
		if got := Description(build(t, []gguf.KV{arch}, c.tensors...)); got != "qwen3 ?B "+c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	if got := Description(build(t, []gguf.KV{arch, {Key: "general.file_type", Value: uint32(999)}})); got != "qwen3 ?B file type 999" {
		t.Errorf("an unknown number: %q", got)
	}
	if got := Description(build(t, nil)); got != "no model" {
		t.Errorf("no architecture: %q", got)
	}
}
