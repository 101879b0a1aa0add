package token

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

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

// TestLlamaCppGoldens compares with ids that llama.cpp gave for the texts of
// testdata/texts.txt: see testdata/README.
func TestLlamaCppGoldens(t *testing.T) {
	models := filepath.Join(llamaCpp(t), "models")
	texts := readLines(t, "testdata/texts.txt")
	files, _ := filepath.Glob("testdata/*.ids")
	if len(files) == 0 {
		t.Fatal("no testdata/*.ids")
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".ids")
		t.Run(name, func(t *testing.T) {
			vocabulary, pre, other := strings.Cut(name, "+")
			var md Metadata = open(t, filepath.Join(models, "ggml-vocab-"+vocabulary+".gguf"))
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
					t.Fatalf("line %d: %v", i+1, err)
				}
				if tok.model != spm {
					text = replaceInvalid(text)
				}
				first, second, both := strings.Cut(lines[i], "\t")
				want := parseIDs(t, first)
				if got := tok.Encode(text, false, false); !slices.Equal(got, want) {
					t.Errorf("line %d: %s\n got %v\nwant %v", i+1, quoted, got, want)
				}
				if both {
					want = parseIDs(t, second)
				} else if tok.addBOS {
					want = append([]int32{tok.bos}, want...)
				}
				if got := tok.Encode(text, true, true); !slices.Equal(got, want) {
					t.Errorf("line %d: %s with special tokens\n got %v\nwant %v", i+1, quoted, got, want)
				}
			}
		})
	}
}

// replaceInvalid replaces every byte that is not part of a character with
// U+FFFD, as llama.cpp does before byte-level BPE; Encode itself keeps them.
func replaceInvalid(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}

func readLines(t *testing.T, file string) []string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
}

func parseIDs(t *testing.T, s string) []int32 {
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
