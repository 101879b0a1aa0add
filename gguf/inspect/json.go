package inspect

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"reflect"

	"github.com/holdfast-llm/holdfast/gguf"
)

type fileJSON struct {
	File       string       `json:"file"`
	Version    uint32       `json:"version"`
	Bytes      int64        `json:"bytes"`
	Alignment  int          `json:"alignment"`
	DataOffset int64        `json:"data_offset"`
	Model      string       `json:"model"`
	Parameters int          `json:"parameters"`
	Tokenizer  *tokenizer   `json:"tokenizer,omitempty"`
	Metadata   []kvJSON     `json:"metadata"`
	Types      []totalJSON  `json:"types"`
	Tensors    []tensorJSON `json:"tensors"`
}

type kvJSON struct {
	Key      string `json:"key"`
	Type     string `json:"type"`
	Value    any    `json:"value"`
	Length   *int   `json:"length,omitempty"`   // of an array
	Abridged bool   `json:"abridged,omitempty"` // value is only the start
}

type totalJSON struct {
	Type       string `json:"type"`
	Supported  bool   `json:"supported"`
	Tensors    int    `json:"tensors"`
	Parameters int    `json:"parameters"`
	Bytes      *int64 `json:"bytes"` // null if unknown
}

type tensorJSON struct {
	Name      string `json:"name"`
	Type      string `json:"type"`
	Supported bool   `json:"supported"`
	Dims      []int  `json:"dims"`
	Offset    int64  `json:"offset"`
	Bytes     *int64 `json:"bytes"` // null if unknown
}

// JSON prints a file as one JSON object. Numbers that JSON cannot say (NaN and
// the infinities) become strings; bytes that are not UTF-8 become U+FFFD. The
// error is w's.
func JSON(w io.Writer, f *gguf.File, o Options) error {
	out := fileJSON{
		File: f.Name, Version: f.Version, Bytes: f.Size(), Alignment: f.Alignment, DataOffset: f.DataOffset(),
		Model: Description(f), Tokenizer: tokenizerOf(f),
		Metadata: []kvJSON{}, Types: []totalJSON{}, Tensors: []tensorJSON{},
	}
	out.Parameters, _ = Size(f)
	for _, kv := range f.KV {
		j := kvJSON{Key: kv.Key, Type: typeName(kv.Value)}
		if r := reflect.ValueOf(kv.Value); r.Kind() == reflect.Slice {
			n := r.Len()
			j.Length, j.Type = &n, r.Type().Elem().String()
		}
		j.Value, j.Abridged = abridged(kv.Value, o)
		j.Value = jsonValue(j.Value)
		if s, ok := kv.Value.(string); ok && !o.All && len(s) > stringShown {
			j.Value, j.Abridged = s[:stringShown], true
		}
		out.Metadata = append(out.Metadata, j)
	}
	for _, t := range Totals(f) {
		out.Types = append(out.Types, totalJSON{gguf.TypeName(t.Type), t.Type.Known(), t.Tensors, t.Elements, known(t.Bytes, t.Type.Known())})
	}
	for i := range f.Tensors {
		t := &f.Tensors[i]
		out.Tensors = append(out.Tensors, tensorJSON{
			t.Name, gguf.TypeName(t.Type), t.Type.Known(), t.Dims, t.Offset, known(int64(len(t.Data)), t.Type.Known()),
		})
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(out)
}

func known(n int64, ok bool) *int64 {
	if !ok {
		return nil
	}
	return &n
}

// jsonValue is v in a form that encoding/json prints as meant: arrays of bytes
// as arrays, and NaN and infinities as strings.
func jsonValue(v any) any {
	switch v := v.(type) {
	case []uint8:
		return jsonArray(v)
	case []float32:
		return jsonArray(v)
	case []float64:
		return jsonArray(v)
	case float32:
		return jsonFloat(float64(v), v)
	case float64:
		return jsonFloat(v, v)
	case uint8:
		return int(v)
	}
	return v
}

func jsonArray[T any](v []T) []any {
	out := make([]any, len(v))
	for i, x := range v {
		out[i] = jsonValue(x)
	}
	return out
}

// jsonFloat keeps v's own width, so that a float32 prints with its few digits.
func jsonFloat(f float64, v any) any {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return fmt.Sprint(f)
	}
	return v
}
