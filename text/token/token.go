// Package token turns text into token ids and back, with the vocabulary and
// rules that a GGUF file carries in its tokenizer.ggml.* keys.
//
// Three kinds of tokenizer are known, all as llama.cpp defines them:
//
//   - byte-level BPE (tokenizer.ggml.model "gpt2"): a pre-tokenizer
//     (tokenizer.ggml.pre) cuts the text into words, and ranked merges join a
//     word's bytes into tokens;
//   - BPE over characters with byte fallback ("gemma4"): the same merges over
//     whole lines of UTF-8, with spaces written as U+2581;
//   - SPM ("llama"): the pair whose joined token has the best score merges
//     first; what has no token falls back to bytes.
//
// The ids are those of llama.cpp for valid UTF-8. In invalid UTF-8, byte-level
// BPE keeps every byte (llama.cpp replaces each bad byte with U+FFFD), so
// decoding gives back what was encoded.
package token

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
)

// Metadata is what a Tokenizer is built from; *gguf.File satisfies it. Each
// method returns false when the key is absent or of another type.
type Metadata interface {
	String(key string) (string, bool)
	Strings(key string) ([]string, bool)
	Ints(key string) ([]int64, bool)
	Floats(key string) ([]float64, bool)
	Uint(key string) (uint64, bool)
	Bool(key string) (bool, bool)
}

// model is the kind of tokenizer: how a stretch of text becomes tokens.
type model uint8

const (
	bpeBytes model = iota // merges over bytes
	bpeRunes              // merges over UTF-8 characters, byte fallback
	spm                   // best-scored pairs over UTF-8 characters, byte fallback
)

// noToken stands where there is no token id.
const noToken int32 = -1

// Tokenizer encodes and decodes one vocabulary. Any number of goroutines may
// use it at once.
type Tokenizer struct {
	model  model
	pre    preTokenizer
	vocab  vocabulary
	kinds  []kind    // by id
	scores []float32 // by id; spm only
	merges mergeTable
	merged []atomic.Bool // by id: the word that reads so is known to merge into this token

	byteToken [256]int32 // the token that spells one byte, or noToken

	specials specialSet
	bos, eos int32
	unknown  int32
	eog      []int32 // sorted

	addBOS, addEOS, addSpacePrefix bool

	scratch sync.Pool // of *scratch
}

// New builds the tokenizer that md describes. It fails, naming the key and
// the number, when the vocabulary is missing or contradicts itself, and with
// an *UnsupportedError when the model or the pre-tokenizer is one that this
// package does not know. It keeps no reference to md's memory.
func New(md Metadata) (*Tokenizer, error) {
	t := &Tokenizer{bos: noToken, eos: noToken, unknown: noToken}
	name, ok := md.String("tokenizer.ggml.model")
	if !ok {
		return nil, fmt.Errorf("token: key %q is missing", "tokenizer.ggml.model")
	}
	var err error
	switch name {
	case "gpt2":
		t.model, t.bos, t.eos = bpeBytes, 11, 11
		pre, _ := md.String("tokenizer.ggml.pre")
		t.pre, err = preTokenizerNamed(pre)
	case "gemma4":
		t.model, t.pre = bpeRunes, preTokenizer{passes: []matcher{lines}, addBOS: true}
	case "llama":
		t.model, t.pre = spm, preTokenizer{addBOS: true}
		t.bos, t.eos, t.unknown = 1, 2, 0
		t.addSpacePrefix = true
	default:
		err = &UnsupportedError{Key: "tokenizer.ggml.model", Name: strings.Clone(name), Supported: []string{"gemma4", "gpt2", "llama"}}
	}
	if err != nil {
		return nil, err
	}
	if err := t.loadVocabulary(md); err != nil {
		return nil, err
	}
	if t.model != spm {
		t.merged = make([]atomic.Bool, t.Size())
		if err := t.loadMerges(md); err != nil {
			return nil, err
		}
	}
	t.findBytes()
	if err := t.loadSpecials(md); err != nil {
		return nil, err
	}
	if v, ok := md.Bool("tokenizer.ggml.add_space_prefix"); ok && t.model == spm {
		t.addSpacePrefix = v
	}
	t.scratch.New = func() any { return &scratch{seen: make([]bool, len(t.specials.tokens))} }
	return t, nil
}

// Size is the number of tokens; ids are 0 to Size()-1.
func (t *Tokenizer) Size() int { return len(t.kinds) }

// BOS is the token that begins a sequence, if there is one.
func (t *Tokenizer) BOS() (int32, bool) { return t.bos, t.bos != noToken }

// EOS is the token that ends a sequence, if there is one.
func (t *Tokenizer) EOS() (int32, bool) { return t.eos, t.eos != noToken }

// UnsupportedError reports a tokenizer model or pre-tokenizer that this
// package does not know, with the names that it does.
type UnsupportedError struct {
	Key       string // the metadata key
	Name      string // its value
	Supported []string
}

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("token: %s %q is not supported (supported: %s)", e.Key, e.Name, strings.Join(e.Supported, ", "))
}
