package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/holdfast-llm/holdfast/engine"
	"github.com/holdfast-llm/holdfast/gguf"
	"github.com/holdfast-llm/holdfast/gguf/quant"
	"github.com/holdfast-llm/holdfast/internal/synth"
)

// small is a model that most tests of behaviour use.
func small(tb testing.TB) *gguf.File {
	tb.Helper()
	return model(tb, synth.Config{Arch: "qwen3", Type: quant.Q8_0, FFN: 256, Vocab: 260, Context: 512})
}

func smallMoE(tb testing.TB) *gguf.File {
	tb.Helper()
	return model(tb, synth.Config{Arch: "qwen3moe", Type: quant.Q8_0, Layers: 1, Experts: 6, Vocab: 260})
}

// same fails unless a and b are equal bit for bit.
func same(tb testing.TB, what string, a, b []float32) {
	tb.Helper()
	if slices.Equal(a, b) {
		return
	}
	for i := range a {
		if a[i] != b[i] {
			tb.Errorf("%s: logit %d is %v, want %v (the same bits)", what, i, a[i], b[i])
			return
		}
	}
}

func TestAFullContextIsAnErrorWithNumbersAndTheSequenceGoesOn(t *testing.T) {
	e := open(t, small(t), engine.Config{Context: 20, Batch: 8})
	s := sequence(t, e)
	ids := text(20, 260)
	for _, c := range []struct {
		name string
		add  func() error
		want engine.ContextError
	}{
		{"a prompt longer than the context", func() error {
			_, err := s.Prefill(context.Background(), text(21, 260))
			return err
		}, engine.ContextError{Have: 0, Add: 21, Context: 20}},
		{"a prompt that no longer fits", func() error {
			prefill(t, s, ids[:15]...)
			_, err := s.Prefill(context.Background(), ids[:6])
			return err
		}, engine.ContextError{Have: 15, Add: 6, Context: 20}},
		{"one token too many", func() error {
			decode(t, s, ids[15:]...)
			_, err := s.Decode(context.Background(), 1)
			return err
		}, engine.ContextError{Have: 20, Add: 1, Context: 20}},
		{"in a step", func() error {
			return e.Step(context.Background(), []engine.Item{{Sequence: s, Tokens: []int32{1}}})
		}, engine.ContextError{Have: 20, Add: 1, Context: 20}},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := c.add()
			var full *engine.ContextError
			if !errors.As(err, &full) || *full != c.want {
				t.Fatalf("error %v, want %v", err, &c.want)
			}
			if s.Len() != c.want.Have {
				t.Errorf("%d tokens afterwards, want %d", s.Len(), c.want.Have)
			}
		})
	}
	full := slices.Clone(s.Logits())
	s.Truncate(19)
	same(t, "the last token again", decode(t, s, ids[19])[0], full)
	if got := (&engine.ContextError{Have: 15, Add: 6, Context: 20}).Error(); got != "engine: 15 tokens and 6 more do not fit the context of 20" {
		t.Error(got)
	}
}

func TestTokensOutsideTheVocabularyAreRefusedBeforeAnythingRuns(t *testing.T) {
	e := open(t, small(t), engine.Config{Batch: 4})
	s := sequence(t, e)
	for _, id := range []int32{-1, 260, 1 << 30} {
		ids := append(text(9, 260), id)
		for name, run := range map[string]func() error{
			"decode":  func() error { _, err := s.Decode(context.Background(), id); return err },
			"prefill": func() error { _, err := s.Prefill(context.Background(), ids); return err },
			"step": func() error {
				return e.Step(context.Background(), []engine.Item{{Sequence: s, Tokens: ids[6:]}})
			},
		} {
			want := fmt.Sprintf("token %d of a vocabulary of 260", id)
			if err := run(); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: error %v, want %s", name, err, want)
			}
			if s.Len() != 0 {
				t.Errorf("%s: the sequence has %d tokens after an error, want 0", name, s.Len())
			}
		}
	}
	if steps := e.Record().Steps; steps != 0 {
		t.Errorf("%d steps ran", steps)
	}
}

func TestNoTokensAreAnError(t *testing.T) {
	e := open(t, small(t), engine.Config{})
	s := sequence(t, e)
	if _, err := s.Prefill(context.Background(), nil); err == nil {
		t.Error("a prefill of nothing succeeds")
	}
	if err := e.Step(context.Background(), nil); err == nil {
		t.Error("a step of nothing succeeds")
	}
	if err := e.Step(context.Background(), []engine.Item{{Sequence: s}}); err == nil {
		t.Error("a step of a sequence without tokens succeeds")
	}
}

func TestTruncateAndDecodeAgainGivesTheSameLogits(t *testing.T) {
	for _, cache := range []string{"f16", "q8_0", "bf16", "f32"} {
		t.Run(cache, func(t *testing.T) {
			s := sequence(t, open(t, small(t), engine.Config{CacheK: cache, CacheV: cache}))
			ids := text(80, 260)
			prefill(t, s, ids[:70]...)
			want := decode(t, s, ids[70:]...)
			for _, n := range []int{79, 75, 70} {
				s.Truncate(n)
				if s.Len() != n {
					t.Fatalf("%d tokens after Truncate(%d)", s.Len(), n)
				}
				for i, logits := range decode(t, s, ids[n:]...) {
					same(t, fmt.Sprintf("position %d after Truncate(%d)", n+i, n), logits, want[n+i-70])
				}
			}
			s.Truncate(1000)
			if s.Len() != 80 {
				t.Errorf("Truncate beyond the end leaves %d tokens, want 80", s.Len())
			}
			s.Truncate(-3)
			if s.Len() != 0 {
				t.Errorf("Truncate(-3) leaves %d tokens", s.Len())
			}
			prefill(t, s, ids[:70]...)
			same(t, "from the start", decode(t, s, ids[70])[0], want[0])
		})
	}
}

func TestAForkGoesItsOwnWay(t *testing.T) {
	e := open(t, small(t), engine.Config{Sequences: 3})
	s := sequence(t, e)
	ids := text(40, 260)
	prefill(t, s, ids[:30]...)
	f, err := s.Fork()
	if err != nil {
		t.Fatal(err)
	}
	if f.Len() != 30 {
		t.Fatalf("the fork has %d tokens, want 30", f.Len())
	}
	same(t, "logits of the fork", f.Logits(), s.Logits())
	decode(t, f, 7, 8, 9) // must not be seen by s
	got := decode(t, s, ids[30:]...)
	alone := sequence(t, e)
	prefill(t, alone, ids[:30]...)
	for i, logits := range decode(t, alone, ids[30:]...) {
		same(t, fmt.Sprintf("position %d of the original", 30+i), got[i], logits)
	}
	alone.Truncate(30)
	want := decode(t, alone, 7, 8, 9)
	f.Truncate(30)
	for i, logits := range decode(t, f, 7, 8, 9) {
		same(t, fmt.Sprintf("position %d of the fork", 30+i), logits, want[i])
	}
}

func TestSlotsAreCountedAndGivenBack(t *testing.T) {
	e := open(t, small(t), engine.Config{Sequences: 2})
	a, b := sequence(t, e), sequence(t, e)
	if _, err := e.NewSequence(); !errors.Is(err, engine.ErrSequences) || !strings.Contains(err.Error(), ": 2") {
		t.Errorf("a third sequence of two: %v", err)
	}
	if _, err := a.Fork(); !errors.Is(err, engine.ErrSequences) {
		t.Errorf("a fork without a slot: %v", err)
	}
	b.Close()
	b.Close() // a second time gives nothing back
	c := sequence(t, e)
	if _, err := e.NewSequence(); !errors.Is(err, engine.ErrSequences) {
		t.Errorf("closing twice freed two slots: %v", err)
	}
	if _, err := b.Decode(context.Background(), 1); !errors.Is(err, engine.ErrClosed) {
		t.Errorf("decode on a closed sequence: %v", err)
	}
	c.Close()
	if _, err := b.Fork(); !errors.Is(err, engine.ErrClosed) {
		t.Errorf("fork of a closed sequence: %v", err)
	}
	sequence(t, e).Close() // the failed fork kept no slot
}

func TestAClosedEngineRefusesEverything(t *testing.T) {
	e, err := engine.New(engine.Config{File: small(t)})
	if err != nil {
		t.Fatal(err)
	}
	s := sequence(t, e)
	prefill(t, s, 1, 2, 3)
	for range 2 {
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for name, run := range map[string]func() error{
		"NewSequence": func() error { _, err := e.NewSequence(); return err },
		"Decode":      func() error { _, err := s.Decode(context.Background(), 1); return err },
		"Prefill":     func() error { _, err := s.Prefill(context.Background(), []int32{1}); return err },
		"Fork":        func() error { _, err := s.Fork(); return err },
		"Step": func() error {
			return e.Step(context.Background(), []engine.Item{{Sequence: s, Tokens: []int32{1}}})
		},
		"Generate": func() error {
			_, err := s.Generate(context.Background(), engine.Request{Prompt: []int32{1}})
			return err
		},
	} {
		if err := run(); !errors.Is(err, engine.ErrClosed) {
			t.Errorf("%s after Close: %v", name, err)
		}
	}
	s.Close()
	s.Truncate(0)
	if n := s.Len(); n != 0 {
		t.Errorf("length %d", n)
	}
}

func TestTheNumberOfThreadsDoesNotChangeABit(t *testing.T) {
	for name, f := range map[string]*gguf.File{
		"qwen3 Q8_0":    small(t),
		"qwen3moe Q8_0": smallMoE(t),
		"llama Q4_K":    model(t, synth.Config{Type: quant.Q4_K, FFN: 256, Vocab: 260}),
		"qwen2 F16":     model(t, synth.Config{Arch: "qwen2", Type: quant.F16, FFN: 256, Vocab: 260}),
	} {
		t.Run(name, func(t *testing.T) {
			ids := text(50, 260)
			var want [][]float32
			for threads := 1; threads <= 3; threads++ {
				s := sequence(t, open(t, f, engine.Config{Threads: threads}))
				got := [][]float32{prefill(t, s, ids[:42]...)}
				got = append(got, decode(t, s, ids[42:]...)...)
				for i := range want {
					same(t, fmt.Sprintf("%d threads, step %d", threads, i), got[i], want[i])
				}
				want = got
			}
		})
	}
}

// countdown is a context that ends after a number of questions.
type countdown struct {
	context.Context
	left int
}

func (c *countdown) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

func TestACancelledPrefillKeepsWhatItHas(t *testing.T) {
	e := open(t, small(t), engine.Config{Batch: 16})
	s := sequence(t, e)
	ids := text(60, 260)
	_, err := s.Prefill(&countdown{context.Background(), 2}, ids)
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
	if s.Len() != 32 {
		t.Fatalf("%d tokens after two batches of 16", s.Len())
	}
	got := prefill(t, s, ids[32:]...)
	s.Truncate(0)
	same(t, "resumed", got, prefill(t, s, ids...))

	gone, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := s.Decode(gone, 1); !errors.Is(err, context.Canceled) || s.Len() != 60 {
		t.Errorf("decode with a cancelled context: %v, %d tokens", err, s.Len())
	}
	if err := e.Step(gone, []engine.Item{{Sequence: s, Tokens: []int32{1}}}); !errors.Is(err, context.Canceled) || s.Len() != 60 {
		t.Errorf("step with a cancelled context: %v, %d tokens", err, s.Len())
	}
}

func TestTwoGoroutinesWithASequenceEach(t *testing.T) {
	e := open(t, small(t), engine.Config{Sequences: 2})
	ids := [][]int32{text(40, 260), text(60, 260)[20:]}
	var want [2][][]float32
	for i := range want {
		s := sequence(t, e)
		prefill(t, s, ids[i][:20]...)
		want[i] = decode(t, s, ids[i][20:]...)
		s.Close()
	}
	var got [2][][]float32
	var wg sync.WaitGroup
	for i := range got {
		s := sequence(t, e)
		wg.Go(func() {
			prefill(t, s, ids[i][:20]...)
			got[i] = decode(t, s, ids[i][20:]...)
		})
	}
	wg.Wait()
	for i := range got {
		for k := range got[i] {
			same(t, fmt.Sprintf("sequence %d, step %d", i, k), got[i][k], want[i][k])
		}
	}
}

func TestDecodeAndStepAllocateNothing(t *testing.T) {
	for name, f := range map[string]*gguf.File{"dense": small(t), "experts": smallMoE(t)} {
		t.Run(name, func(t *testing.T) {
			e := open(t, f, engine.Config{Sequences: 4, Context: 500})
			ctx := context.Background()
			s := sequence(t, e)
			prefill(t, s, text(20, 260)...)
			if n := testing.AllocsPerRun(100, func() {
				if _, err := s.Decode(ctx, 5); err != nil {
					t.Fatal(err)
				}
			}); n != 0 {
				t.Errorf("Decode allocates %v times", n)
			}
			items := []engine.Item{{Sequence: s, Tokens: []int32{1}}}
			for i := range 3 {
				items = append(items, engine.Item{Sequence: sequence(t, e), Tokens: []int32{int32(i), 2, 3}})
			}
			// Few enough to stay in one class of depths: a new one is compiled.
			if n := testing.AllocsPerRun(40, func() {
				if err := e.Step(ctx, items); err != nil {
					t.Fatal(err)
				}
			}); n != 0 {
				t.Errorf("Step allocates %v times", n)
			}
		})
	}
}
