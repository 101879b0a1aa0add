// Package inspect describes a GGUF file, as text for people and as JSON for
// scripts. It reads metadata and the tensor table, never the tensors.
package inspect

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/holdfast-llm/holdfast/gguf"
	"github.com/holdfast-llm/holdfast/gguf/quant"
)

// Options chooses how much is printed.
type Options struct {
	Tensors bool // list every tensor (JSON always does)
	All     bool // do not abridge long strings and arrays
}

const (
	stringShown = 64 // bytes of a string
	arrayShown  = 6  // elements of an array
)

// Total is what a file holds of one tensor type.
type Total struct {
	Type     quant.Type
	Tensors  int
	Elements int
	Bytes    int64 // 0 if the type is not supported, its size being unknown
}

// Totals sums a file's tensors by type, the most elements first.
func Totals(f *gguf.File) []Total {
	var totals []Total
	for i := range f.Tensors {
		t := &f.Tensors[i]
		at := slices.IndexFunc(totals, func(x Total) bool { return x.Type == t.Type })
		if at < 0 {
			at = len(totals)
			totals = append(totals, Total{Type: t.Type})
		}
		totals[at].Tensors++
		totals[at].Elements += t.Elements()
		totals[at].Bytes += int64(len(t.Data))
	}
	slices.SortStableFunc(totals, func(a, b Total) int { return b.Elements - a.Elements })
	return totals
}

// Size is the number of elements and bytes of all tensors together.
func Size(f *gguf.File) (elements int, bytes int64) {
	for _, t := range Totals(f) {
		elements += t.Elements
		bytes += t.Bytes
	}
	return elements, bytes
}

// tokenizer is the part of the metadata that tokenizers are made from.
type tokenizer struct {
	Model        string           `json:"model"`
	Pre          string           `json:"pre,omitempty"`
	Tokens       int              `json:"tokens"`
	Merges       int              `json:"merges"`
	Special      map[string]int64 `json:"special"` // by name: bos, eos, ...
	ChatTemplate int              `json:"chat_template_bytes"`
}

// specials are the keys of special tokens, in the order they are printed.
var specials = []string{"bos", "eos", "eot", "eom", "unknown", "padding", "separator"}

// tokenizerOf is nil if the file has none.
func tokenizerOf(f *gguf.File) *tokenizer {
	const prefix = "tokenizer.ggml."
	model, ok := f.String(prefix + "model")
	if !ok {
		return nil
	}
	t := &tokenizer{Model: model, Special: map[string]int64{}}
	t.Pre, _ = f.String(prefix + "pre")
	tokens, _ := f.Strings(prefix + "tokens")
	merges, _ := f.Strings(prefix + "merges")
	t.Tokens, t.Merges = len(tokens), len(merges)
	for _, name := range specials {
		if id, ok := f.Int(prefix + name + "_token_id"); ok {
			t.Special[name] = id
		}
	}
	template, _ := f.String("tokenizer.chat_template")
	t.ChatTemplate = len(template)
	return t
}

// token is the text of a token, if the vocabulary has it.
func token(f *gguf.File, id int64) (string, bool) {
	tokens, _ := f.Strings("tokenizer.ggml.tokens")
	if id < 0 || id >= int64(len(tokens)) {
		return "", false
	}
	return strings.Clone(tokens[id]), true
}

// typeName is a metadata value's type as the format calls it: "uint32",
// "string[151936]".
func typeName(v any) string {
	r := reflect.ValueOf(v)
	if r.Kind() == reflect.Slice {
		return fmt.Sprintf("%s[%d]", r.Type().Elem(), r.Len())
	}
	return r.Type().String()
}

// abridged is v, or the start of it if it is a long array; and whether it is.
func abridged(v any, o Options) (any, bool) {
	r := reflect.ValueOf(v)
	if o.All || r.Kind() != reflect.Slice || r.Len() <= arrayShown {
		return v, false
	}
	return r.Slice(0, arrayShown).Interface(), true
}
