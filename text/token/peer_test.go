package token

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/holdfast-llm/holdfast/gguf"
)

// metadata is a Metadata in a map.
type metadata map[string]any

func get[T any](m metadata, key string) (T, bool) { v, ok := m[key].(T); return v, ok }

func (m metadata) String(key string) (string, bool)    { return get[string](m, key) }
func (m metadata) Strings(key string) ([]string, bool) { return get[[]string](m, key) }
func (m metadata) Ints(key string) ([]int64, bool)     { return get[[]int64](m, key) }
func (m metadata) Floats(key string) ([]float64, bool) { return get[[]float64](m, key) }
func (m metadata) Uint(key string) (uint64, bool)      { return get[uint64](m, key) }
func (m metadata) Bool(key string) (bool, bool)        { return get[bool](m, key) }

// open returns the metadata of a GGUF file.
func open(t testing.TB, path string) *gguf.File {
	f, err := gguf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

const separator = "\n__ggml_vocab_test__\n"

func llamaCpp(t testing.TB) string {
	dir := os.Getenv("HOLDFAST_LLAMACPP")
	if dir == "" {
		t.Skip("HOLDFAST_LLAMACPP is not set: llama.cpp's vocabularies are not tested")
	}
	return dir
}

// unsupported are llama.cpp's vocabularies of models that are refused by name:
// bert-bge is WordPiece, nomic-bert-moe Unigram. Both belong to encoders, which
// generate no text.
var unsupported = map[string]string{"bert-bge": "bert", "nomic-bert-moe": "t5"}

func TestLlamaCppVocabularies(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(llamaCpp(t), "models", "ggml-vocab-*.gguf"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no vocabularies: %v", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(file), "ggml-vocab-"), ".gguf")
		t.Run(name, func(t *testing.T) {
			tok, err := New(open(t, file))
			if model, refused := unsupported[name]; refused {
				var unsupported *UnsupportedError
				if !errors.As(err, &unsupported) || unsupported.Name != model {
					t.Fatalf("error %v, want model %q refused", err, model)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			inp, err := os.ReadFile(file + ".inp")
			if err != nil {
				t.Skip(err)
			}
			out, _ := os.ReadFile(file + ".out")
			texts := strings.Split(strings.TrimSuffix(string(inp), separator), separator)
			lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
			if len(texts) != len(lines) {
				t.Fatalf("%d texts, %d answers", len(texts), len(lines))
			}
			for i, text := range texts {
				var want []int32
				for _, f := range strings.Fields(lines[i]) {
					n, _ := strconv.Atoi(f)
					want = append(want, int32(n))
				}
				if got := tok.Encode(text, false, false); !slices.Equal(got, want) {
					t.Errorf("%q:\n got %v\nwant %v", text, got, want)
				}
			}
		})
	}
}

func BenchmarkNew(b *testing.B) {
	md := open(b, filepath.Join(llamaCpp(b), "models", "ggml-vocab-qwen2.gguf"))
	for b.Loop() {
		if _, err := New(md); err != nil {
			b.Fatal(err)
		}
	}
}
