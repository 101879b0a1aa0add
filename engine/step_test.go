package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/holdfast-llm/holdfast/engine"
	"github.com/holdfast-llm/holdfast/gguf"
	"github.com/holdfast-llm/holdfast/gguf/quant"
	"github.com/holdfast-llm/holdfast/internal/synth"
)

// TestSequencesInOneStepAreAsIfAlone decodes several sequences of different
// lengths together. Two rows run on the kernels of a single token and give the
// same bits; more run on the matrix-matrix kernels, which sum in another
// order and may round activations in other blocks.
func TestSequencesInOneStepAreAsIfAlone(t *testing.T) {
	for _, m := range []struct {
		name   string
		f      *gguf.File
		t      quant.Type
		layers int
	}{
		{"qwen3 Q8_0", small(t), quant.Q8_0, 2},
		{"qwen3moe Q8_0", smallMoE(t), quant.Q8_0, 1},
		{"llama Q4_K", model(t, synth.Config{Type: quant.Q4_K, FFN: 256, Vocab: 260}), quant.Q4_K, 2},
		{"qwen2 F16", model(t, synth.Config{Arch: "qwen2", Type: quant.F16, FFN: 256, Vocab: 260}), quant.F16, 2},
	} {
		for _, n := range []int{2, 8, 13} {
			t.Run(fmt.Sprintf("%s, %d sequences", m.name, n), func(t *testing.T) {
				e := open(t, m.f, engine.Config{Sequences: n + 1, Context: 64, CacheK: "f32", CacheV: "f32"})
				alone := sequence(t, e)
				items := make([]engine.Item, n)
				var want [][]float32
				for i := range items {
					// Prompts of one token each and steps from there, so that
					// what is compared is the step and not the prefill.
					prompt := text(3+2*i, 260)
					s := sequence(t, e)
					decode(t, s, prompt...)
					items[i] = engine.Item{Sequence: s, Tokens: []int32{int32(40 + i)}}
					alone.Truncate(0)
					decode(t, alone, prompt...)
					want = append(want, decode(t, alone, int32(40+i))[0])
				}
				if err := e.Step(context.Background(), items); err != nil {
					t.Fatal(err)
				}
				// Both sides are off by the witness's tolerance.
				tol := 2 * onePosition * witnessTolerance(m.t, m.layers, "f32")
				for i, it := range items {
					got := it.Sequence.Logits()
					if it.Sequence.Len() != 4+2*i {
						t.Errorf("sequence %d has %d tokens, want %d", i, it.Sequence.Len(), 4+2*i)
					}
					if n <= 2 {
						same(t, fmt.Sprintf("sequence %d", i), got, want[i])
					} else if d := distance(got, want[i]); !(d <= tol) {
						t.Errorf("sequence %d: logits are off by %.2g, want at most %.2g", i, d, tol)
					}
					if a, b := best(got), best(want[i]); a != b && float64(want[i][b]-want[i][a]) > tol*rms(want[i]) {
						t.Errorf("sequence %d: best token %d, alone it is %d", i, a, b)
					}
				}
			})
		}
	}
}

func TestAStepMixesPromptsAndTokens(t *testing.T) {
	f := model(t, synth.Config{Arch: "qwen3", FFN: 256, Vocab: 260})
	e := open(t, f, engine.Config{Sequences: 4, Context: 64, CacheK: "f32", CacheV: "f32"})
	ids := text(50, 260)
	a, b, c, alone := sequence(t, e), sequence(t, e), sequence(t, e), sequence(t, e)
	decode(t, a, ids[:10]...)
	before := append([]float32(nil), c.Logits()...)
	err := e.Step(context.Background(), []engine.Item{
		{Sequence: a, Tokens: ids[10:11]},
		{Sequence: b, Tokens: ids[:33]},
		{Sequence: c, Tokens: ids[5:12], NoLogits: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, it := range []struct {
		s   *engine.Sequence
		ids []int32
	}{{a, ids[:11]}, {b, ids[:33]}} {
		alone.Truncate(0)
		all := decode(t, alone, it.ids...)
		if d := distance(it.s.Logits(), all[len(all)-1]); !(d <= 2*floatTolerance) {
			t.Errorf("sequence %d: logits are off by %.2g, want at most %.2g", i, d, 2*floatTolerance)
		}
	}
	same(t, "logits nobody asked for", c.Logits(), before)
	if c.Len() != 7 {
		t.Errorf("a sequence without logits has %d tokens, want 7", c.Len())
	}
	alone.Truncate(0)
	if d := distance(decode(t, c, 9)[0], decode(t, alone, append(ids[5:12:12], 9)...)[7]); !(d <= 2*floatTolerance) {
		t.Errorf("the sequence without logits goes on %.2g off", d)
	}
}

func TestAnItemThatDoesNotFitLeavesEverySequenceAsItWas(t *testing.T) {
	e := open(t, small(t), engine.Config{Sequences: 3, Context: 20, Batch: 12})
	other := sequence(t, open(t, small(t), engine.Config{}))
	a, b, closed := sequence(t, e), sequence(t, e), sequence(t, e)
	closed.Close()
	prefill(t, a, text(10, 260)...)
	prefill(t, b, text(5, 260)...)
	ok := engine.Item{Sequence: a, Tokens: []int32{1}}
	for _, c := range []struct {
		name string
		item engine.Item
		want string
	}{
		{"no room", engine.Item{Sequence: b, Tokens: make([]int32, 16)}, "engine: 5 tokens and 16 more do not fit the context of 20"},
		{"larger than the batch", engine.Item{Sequence: b, Tokens: make([]int32, 12), NoLogits: true}, "more than 12 tokens"},
		{"a bad token", engine.Item{Sequence: b, Tokens: []int32{300}}, "token 300"},
		{"the same sequence twice", engine.Item{Sequence: a, Tokens: []int32{2}}, "items 0 and 1 are the same sequence"},
		{"another engine's sequence", engine.Item{Sequence: other, Tokens: []int32{1}}, "item 1: sequence of another engine"},
		{"a closed sequence", engine.Item{Sequence: closed, Tokens: []int32{1}}, "closed"},
		{"no sequence", engine.Item{Tokens: []int32{1}}, "item 1: no sequence"},
		{"no tokens", engine.Item{Sequence: b}, "item 1: no tokens"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := e.Step(context.Background(), []engine.Item{ok, c.item})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
			if a.Len() != 10 || b.Len() != 5 {
				t.Errorf("lengths %d and %d, want 10 and 5", a.Len(), b.Len())
			}
		})
	}
}
