package token

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// metadata is a Metadata in a map whose keys lack the prefix tokenizer.ggml.
type metadata map[string]any

func get[T any](m metadata, key string) (T, bool) {
	v, ok := m[strings.TrimPrefix(key, "tokenizer.ggml.")].(T)
	return v, ok
}

func (m metadata) String(key string) (string, bool)    { return get[string](m, key) }
func (m metadata) Strings(key string) ([]string, bool) { return get[[]string](m, key) }
func (m metadata) Ints(key string) ([]int64, bool)     { return get[[]int64](m, key) }
func (m metadata) Floats(key string) ([]float64, bool) { return get[[]float64](m, key) }
func (m metadata) Uint(key string) (uint64, bool)      { return get[uint64](m, key) }
func (m metadata) Bool(key string) (bool, bool)        { return get[bool](m, key) }

// with returns m with some keys set.
func (m metadata) with(keys metadata) metadata {
	m = maps.Clone(m)
	maps.Copy(m, keys)
	return m
}

// byteLevel is a vocabulary of byte-level BPE: tokens 0 to 255 are the bytes,
// the next ones what the merges make, and the last ones control tokens.
func byteLevel(pre string, merges, controls []string) metadata {
	var tokens []string
	for _, r := range byteRunes {
		tokens = append(tokens, string(r))
	}
	for _, m := range merges {
		if made := strings.Replace(m, " ", "", 1); !slices.Contains(tokens, made) {
			tokens = append(tokens, made)
		}
	}
	types := slices.Repeat([]int64{int64(normal)}, len(tokens))
	for _, c := range controls {
		tokens, types = append(tokens, c), append(types, int64(control))
	}
	return metadata{"model": "gpt2", "pre": pre, "tokens": tokens, "token_type": types, "merges": merges}
}

// scored is a vocabulary of spm: tokens 0 to 2 are <unk>, <s> and </s>, the
// next 256 the bytes, and the rest pieces, each with its score after a space.
func scored(pieces ...string) metadata {
	tokens, types := []string{"<unk>", "<s>", "</s>"}, []int64{2, 3, 3}
	for b := range 256 {
		tokens, types = append(tokens, fmt.Sprintf("<0x%02X>", b)), append(types, int64(singleByte))
	}
	scores := make([]float64, len(tokens))
	for _, p := range pieces {
		var text string
		var score float64
		if _, err := fmt.Sscan(p, &text, &score); err != nil {
			panic(err)
		}
		tokens, types, scores = append(tokens, text), append(types, int64(normal)), append(scores, score)
	}
	return metadata{"model": "llama", "tokens": tokens, "token_type": types, "scores": scores, "unknown_token_id": uint64(0)}
}

func mustNew(t testing.TB, md Metadata) *Tokenizer {
	t.Helper()
	tok, err := New(md)
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

// spell writes the tokens of ids as they stand in the vocabulary.
func spell(tok *Tokenizer, ids []int32) string {
	var parts []string
	for _, id := range ids {
		parts = append(parts, string(tok.vocab.text(id)))
	}
	return strings.Join(parts, "|")
}

// decode is the bytes of ids, special tokens included.
func decode(tok *Tokenizer, ids []int32) string {
	var b []byte
	for _, id := range ids {
		b = tok.Append(b, id, true)
	}
	return string(b)
}
