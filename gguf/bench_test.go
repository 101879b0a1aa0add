package gguf

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/holdfast-llm/holdfast/gguf/quant"
)

// BenchmarkOpenVocabulary opens a file with the metadata of Qwen3: 151,936
// tokens, as many merges and token types, and 311 tensors.
func BenchmarkOpenVocabulary(b *testing.B) {
	const n = 151_936
	tokens, types := make([]string, n), make([]int32, n)
	for i := range tokens {
		tokens[i] = fmt.Sprint("token", i)
	}
	var tensors []TensorSource
	for i := range 311 {
		tensors = append(tensors, FromBytes(fmt.Sprintf("blk.%d.weight", i), quant.Q8_0, make([]byte, 34), 32))
	}
	path := filepath.Join(b.TempDir(), "vocab.gguf")
	file := encode(b, []KV{
		{"tokenizer.ggml.tokens", tokens}, {"tokenizer.ggml.merges", tokens}, {"tokenizer.ggml.token_type", types},
	}, tensors)
	if err := os.WriteFile(path, file, 0o600); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		f, err := Open(path)
		if err != nil {
			b.Fatal(err)
		}
		f.Close()
	}
}
