package device_test

import (
	"strings"
	"testing"

	"github.com/holdfast-llm/holdfast/device"
	"github.com/holdfast-llm/holdfast/gguf/quant"
	"github.com/holdfast-llm/holdfast/op"
)

func TestRowsOfABatchThatAreNotInOrderAreErrors(t *testing.T) {
	w := &op.Value{Name: "embd", Role: op.Weight, Type: quant.F32, Cols: 8, Height: 10, Experts: 1, Data: make([]byte, 320)}
	c := &op.Value{Name: "cache", Role: op.Cache, Cache: op.CacheShape{Slots: 3, Context: 20, Heads: 1, HeadDim: 8}}
	takes := device.TakesOf(&device.Program{
		Limits:    device.Limits{Tokens: 4, Outputs: 4, Keys: 16},
		Decisions: []device.Decision{{Kind: op.GetRows}, {Kind: op.Attention}},
		Launches:  []device.Launch{{Bindings: []device.Binding{{Value: w}}}, {Op: 1, Bindings: []device.Binding{{Value: c}}}},
	})
	for _, c := range []struct {
		name              string
		tokens, pos, slot []int32
		want              string // "": accepted
	}{
		{"rows of three sequences", []int32{0, 9, 1, 1}, []int32{3, 4, 0, 15}, []int32{2, 2, 0, 1}, ""},
		{"positions left out", []int32{1, 1}, []int32{3, 8}, []int32{0, 0}, ""},
		{"a token past the vocabulary", []int32{1, 10}, []int32{0, 1}, []int32{0, 0}, "row 1: token 10 of a vocabulary of 10"},
		{"a negative token", []int32{-1}, []int32{0}, []int32{0}, "row 0: token -1"},
		{"a position twice", []int32{1, 1}, []int32{3, 3}, []int32{1, 1}, "row 1 at position 3 of slot 1, after position 3"},
		{"positions backwards", []int32{1, 1}, []int32{3, 2}, []int32{1, 1}, "after position 3"},
		{"a slot that comes back", []int32{1, 1, 1}, []int32{3, 0, 4}, []int32{1, 0, 1}, "row 2 in slot 1: the slot's rows are not together"},
		{"a position past the keys", []int32{1}, []int32{16}, []int32{1}, "the program takes 16"},
		{"a slot past the last", []int32{1}, []int32{0}, []int32{3}, "in slot 3: the cache has 3"},
	} {
		for range 2 { // accepting leaves nothing behind
			err := takes.Accept(&device.Batch{Tokens: c.tokens, Pos: c.pos, Slot: c.slot})
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: error %v, want %q", c.name, err, c.want)
			}
		}
	}
}
