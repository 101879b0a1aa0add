package model

import (
	"fmt"
	"reflect"
	"slices"
	"sort"
	"strings"

	"github.com/holdfast-llm/holdfast/gguf"
	"github.com/holdfast-llm/holdfast/gguf/quant"
	"github.com/holdfast-llm/holdfast/op"
)

// A field of an architecture's struct is bound to the tensor its tag names:
//
//	Q    *op.Value `gguf:"attn_q.weight" dims:"hidden,q"`
//	QB   *op.Value `gguf:"attn_q.bias,optional" dims:"q"`
//	Out  *op.Value `gguf:"output.weight,alt=token_embd.weight" dims:"hidden,vocab"`
//	Layers []Layer `gguf:"blk"`
//
// dims are in ggml's order, row length first, by the names that
// Hyper.dimensions gives. An optional tensor that is not there leaves nil.
type binder struct {
	f    *gguf.File
	dims map[string]int
	used map[string]bool
}

func (h *Hyper) dimensions() map[string]int {
	return map[string]int{
		"hidden": h.Hidden, "ffn": h.FFN, "vocab": h.Vocab, "head": h.HeadDim,
		"q": h.Heads * h.HeadDim, "k": h.KVHeads * h.HeadDim, "v": h.KVHeads * h.ValueDim, "o": h.Heads * h.ValueDim,
		"rot": h.RopeDims / 2, "experts": h.Experts, "expert_ffn": h.ExpertFFN,
	}
}

// bind fills the struct that a points to and refuses tensors nobody asked for.
func bind(f *gguf.File, h *Hyper, a architecture) error {
	b := &binder{f: f, dims: h.dimensions(), used: map[string]bool{}}
	if err := b.fields(reflect.ValueOf(a).Elem(), "", h.Layers); err != nil {
		return err
	}
	var extra []string
	for i := range f.Tensors {
		if n := f.Tensors[i].Name; !b.used[n] {
			extra = append(extra, n)
		}
	}
	if len(extra) == 0 {
		return nil
	}
	sort.Strings(extra)
	return fmt.Errorf("model: %d tensors are not part of architecture %s as supported here, the first is %q", len(extra), h.Arch, extra[0])
}

func (b *binder) fields(v reflect.Value, prefix string, layers int) error {
	t := v.Type()
	for i := range t.NumField() {
		tag, ok := t.Field(i).Tag.Lookup("gguf")
		if !ok {
			continue
		}
		field := v.Field(i)
		switch field.Kind() {
		case reflect.Slice: // layers
			field.Set(reflect.MakeSlice(field.Type(), layers, layers))
			for l := range layers {
				if err := b.fields(field.Index(l), fmt.Sprintf("%s%s.%d.", prefix, tag, l), 0); err != nil {
					return err
				}
			}
		case reflect.Struct: // a group of tensors shared between architectures
			if err := b.fields(field, prefix, layers); err != nil {
				return err
			}
		default:
			val, err := b.tensor(prefix, tag, t.Field(i).Tag.Get("dims"))
			if err != nil {
				return err
			}
			if val != nil {
				field.Set(reflect.ValueOf(val))
			}
		}
	}
	return nil
}

func (b *binder) tensor(prefix, tag, dims string) (*op.Value, error) {
	name, option, _ := strings.Cut(tag, ",")
	name = prefix + name
	t, ok := b.f.Tensor(name)
	if !ok {
		alt, hasAlt := strings.CutPrefix(option, "alt=")
		switch {
		case option == "optional":
			return nil, nil
		case hasAlt:
			name = prefix + alt
			t, ok = b.f.Tensor(name)
		}
		if !ok {
			return nil, fmt.Errorf("model: no tensor %q in the file", name)
		}
	}
	b.used[name] = true
	var want []int
	for _, d := range strings.Split(dims, ",") {
		n, ok := b.dims[d]
		if !ok {
			panic("model: dims tag names " + d)
		}
		want = append(want, n)
	}
	if !sameDims(t.Dims, want) {
		return nil, fmt.Errorf("model: tensor %q is %v, want %v (%s)", name, t.Dims, want, dims)
	}
	if len(want) == 1 && t.Type != quant.F32 {
		return nil, fmt.Errorf("model: tensor %q is %s, want F32", name, t.Type)
	}
	data, err := t.Bytes()
	if err != nil {
		return nil, err
	}
	if !slices.Contains(quant.Supported(), t.Type) {
		return nil, fmt.Errorf("model: tensor %q is %s; supported weight types are %v", name, t.Type, quant.Supported())
	}
	v := &op.Value{Name: name, Role: op.Weight, Type: t.Type, Cols: want[0], Height: 1, Experts: 1, Data: data}
	if len(want) > 1 {
		v.Height = want[1]
	}
	if len(want) > 2 {
		v.Experts = want[2]
	}
	return v, nil
}

// sameDims compares dimensions; trailing ones of the file do not count.
func sameDims(have, want []int) bool {
	for len(have) > len(want) && have[len(have)-1] == 1 {
		have = have[:len(have)-1]
	}
	if len(have) != len(want) {
		return false
	}
	for i := range have {
		if have[i] != want[i] {
			return false
		}
	}
	return true
}
