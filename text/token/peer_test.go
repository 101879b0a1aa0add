package token

import (
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/holdfast-llm/holdfast/gguf"
)

// llamaCpp is the folder of llama.cpp's vocabularies. Without it the tests
// against llama.cpp are skipped; see testdata/README.
func llamaCpp(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("HOLDFAST_LLAMACPP")
	if dir == "" {
		t.Skip("SKIPPED: set HOLDFAST_LLAMACPP to a folder of llama.cpp's source to compare with its vocabularies")
	}
	return filepath.Join(dir, "models")
}

// openVocabulary returns the metadata of llama.cpp's vocabulary name.
func openVocabulary(t testing.TB, name string) *gguf.File {
	t.Helper()
	f, err := gguf.Open(filepath.Join(llamaCpp(t), "ggml-vocab-"+name+".gguf"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// refusedModels are llama.cpp's vocabularies of models that are refused by
// name: bert-bge is WordPiece, nomic-bert-moe Unigram. Both belong to encoders,
// which generate no text.
var refusedModels = map[string]string{"bert-bge": "bert", "nomic-bert-moe": "t5"}

// TestLlamaCppVocabularies checks every vocabulary that llama.cpp ships: those
// with answers must give them, the others must load, or be refused by name.
func TestLlamaCppVocabularies(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(llamaCpp(t), "ggml-vocab-*.gguf"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no vocabularies in %s: %v", llamaCpp(t), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(file), "ggml-vocab-"), ".gguf")
		t.Run(name, func(t *testing.T) {
			tok, err := New(openVocabulary(t, name))
			if model, ok := refusedModels[name]; ok {
				var unsupported *UnsupportedError
				if !errors.As(err, &unsupported) || unsupported.Name != model {
					t.Fatalf("error %v, want model %q refused", err, model)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			texts, answers := readAnswers(t, file)
			for i, text := range texts {
				if got, want := tok.Encode(text, false, false), parseIDs(t, answers[i]); !slices.Equal(got, want) {
					t.Errorf("%q:\n got %v\nwant %v", text, got, want)
				}
			}
		})
	}
}

// readAnswers reads the texts and the ids that llama.cpp ships beside a
// vocabulary; there are none beside some.
func readAnswers(t *testing.T, file string) (texts, answers []string) {
	t.Helper()
	inputs, err := os.ReadFile(file + ".inp")
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		t.Fatal(err)
	}
	const separator = "\n__ggml_vocab_test__\n"
	texts = strings.Split(strings.TrimSuffix(string(inputs), separator), separator)
	answers = readLines(t, file+".out")
	if len(texts) != len(answers) {
		t.Fatalf("%d texts, %d answers", len(texts), len(answers))
	}
	return texts, answers
}

// withPre is a Metadata with another pre-tokenizer.
type withPre struct {
	Metadata
	pre string
}

func (w withPre) String(key string) (string, bool) {
	if key == "tokenizer.ggml.pre" {
		return w.pre, true
	}
	return w.Metadata.String(key)
}

// TestLlamaCppIDs compares with the ids that llama.cpp gave for the texts of
// testdata/texts.txt.
func TestLlamaCppIDs(t *testing.T) {
	llamaCpp(t)
	texts := readLines(t, "testdata/texts.txt")
	files, err := filepath.Glob("testdata/*.ids")
	if err != nil || len(files) == 0 {
		t.Fatalf("no testdata/*.ids: %v", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".ids")
		t.Run(name, func(t *testing.T) {
			vocabulary, pre, other := strings.Cut(name, "+")
			var md Metadata = openVocabulary(t, vocabulary)
			if other {
				md = withPre{md, pre}
			}
			tok, err := New(md)
			if err != nil {
				t.Fatal(err)
			}
			lines := readLines(t, file)
			if len(lines) != len(texts) {
				t.Fatalf("%d lines for %d texts", len(lines), len(texts))
			}
			for i, quoted := range texts {
				text, err := strconv.Unquote(quoted)
				if err != nil {
					t.Fatalf("texts.txt:%d: %v", i+1, err)
				}
				if tok.model != spm {
					text = replaceInvalid(text)
				}
				plain, special, both := strings.Cut(lines[i], "\t")
				want := parseIDs(t, plain)
				if got := tok.Encode(text, false, false); !slices.Equal(got, want) {
					t.Errorf("texts.txt:%d: %s:\n got %v\nwant %v", i+1, quoted, got, want)
				}
				if both {
					want = parseIDs(t, special)
				} else if tok.addBOS {
					want = append([]int32{tok.bos}, want...)
				}
				if got := tok.Encode(text, true, true); !slices.Equal(got, want) {
					t.Errorf("texts.txt:%d: %s with special tokens:\n got %v\nwant %v", i+1, quoted, got, want)
				}
			}
		})
	}
}

// replaceInvalid replaces every byte that is part of no character with U+FFFD,
// as llama.cpp does before BPE. Encode itself keeps such bytes.
func replaceInvalid(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}

// TestLlamaCppTokens compares what llama.cpp makes of whole vocabularies: the
// special tokens, which tokens end generation, and a hash (FNV-1a) of every
// token's text, each followed by 0xFF, without special tokens and then with.
func TestLlamaCppTokens(t *testing.T) {
	for _, want := range readLines(t, "testdata/vocabularies.txt") {
		name, _, _ := strings.Cut(want, " ")
		t.Run(name, func(t *testing.T) {
			tok, err := New(openVocabulary(t, name))
			if err != nil {
				t.Fatal(err)
			}
			var eog []string
			for id := range int32(tok.Size()) {
				if tok.IsEOG(id) {
					eog = append(eog, fmt.Sprint(id))
				}
			}
			pieces := fnv.New64a()
			for _, special := range []bool{false, true} {
				for id := range int32(tok.Size()) {
					pieces.Write(append(tok.Append(nil, id, special), 0xFF))
				}
			}
			got := fmt.Sprintf("%s bos=%d eos=%d add_bos=%v add_eos=%v eog=%s pieces=%016x",
				name, tok.bos, tok.eos, tok.addBOS, tok.addEOS, strings.Join(eog, ","), pieces.Sum64())
			if got != want {
				t.Errorf("\n got %s\nwant %s", got, want)
			}
		})
	}
}

func readLines(t testing.TB, file string) []string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
}

func parseIDs(t testing.TB, s string) []int32 {
	t.Helper()
	var ids []int32
	for _, f := range strings.Fields(s) {
		id, err := strconv.ParseInt(f, 10, 32)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, int32(id))
	}
	return ids
}
