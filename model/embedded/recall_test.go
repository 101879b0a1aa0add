package embedded_test

import (
	"context"
	"strings"
	"testing"

	"github.com/holdfast-llm/holdfast/engine"
	"github.com/holdfast-llm/holdfast/model/embedded"
)

// A recaller asks the embedded model, greedily.
type recaller struct {
	e     *engine.Engine
	count func(string) int
	ids   func(string) []int32
}

func newRecaller(t *testing.T, disable ...string) recaller {
	t.Helper()
	return recallerOn(t, engine.Config{Disable: disable})
}

func recallerOn(t *testing.T, cfg engine.Config) recaller {
	t.Helper()
	cfg.File = open(t)
	e, err := engine.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	tok := tokenizer(t)
	return recaller{
		e:     e,
		count: func(s string) int { return len(tok.Encode(s, false, false)) },
		ids:   func(s string) []int32 { return tok.Encode(s, true, false) },
	}
}

// continuation is the n tokens that the model writes after prompt.
func (r recaller) continuation(t *testing.T, prompt string, n int) string {
	t.Helper()
	s, err := r.e.NewSequence()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	result, err := s.Generate(context.Background(), engine.Request{Prompt: r.ids(prompt), MaxTokens: n, IgnoreEnd: true})
	if err != nil {
		t.Fatal(err)
	}
	return result.Text
}

func TestModelRecallsAValueFromAnyDepth(t *testing.T) {
	r := newRecaller(t)
	distances := []int{100, 1000, 2113, 3000, 3900}
	if testing.Short() {
		distances = distances[:3]
	}
	for _, distance := range distances {
		prompt, answer, err := embedded.RecallPrompt(1, distance, r.count)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.continuation(t, prompt, r.count(answer)); got != answer {
			t.Errorf("%d tokens back: the model says %q, want %q", distance, got, answer)
		}
	}
}

// TestEveryLaneRecalls asks at each depth of split attention, on each of its
// lanes. The last tokens of the prompt are decoded one by one, so that the lane
// and not the prompt's finds the value.
func TestEveryLaneRecalls(t *testing.T) {
	distances := map[int]string{180: "direct", 1000: "cooperative", 3000: "multipass"}
	if testing.Short() {
		delete(distances, 3000)
	}
	for distance, reducer := range distances {
		split := "attention.decode_split." + reducer
		for lane, disable := range map[string][]string{
			split + ".next_q8":   nil,
			split:                {split + ".next_q8"},
			"attention.serial":   {"attention.decode_split"},
			"attention.portable": {"attention.decode_split", "attention.serial"},
		} {
			r := newRecaller(t, disable...)
			prompt, answer, err := embedded.RecallPrompt(2, distance, r.count)
			if err != nil {
				t.Fatal(err)
			}
			if got := r.stepwise(t, prompt, 12, r.count(answer)); got != answer {
				t.Errorf("%d tokens back, %s: the model says %q, want %q", distance, lane, got, answer)
			}
			if !r.ran(lane) {
				t.Errorf("%d tokens back: %s did not run", distance, lane)
			}
		}
	}
}

// On the software GPU, too, split and serial attention find the value: the
// prompt runs on the processor, which hands the cache over, and the last tokens
// on the device.
func TestTheSoftwareGPURecalls(t *testing.T) {
	distances := map[int]string{100: "direct", 2113: "multipass", 3000: "multipass"}
	if testing.Short() {
		distances = map[int]string{100: "direct"}
	}
	for distance, reducer := range distances {
		split := "attention.decode_split." + reducer
		for lane, disable := range map[string][]string{
			split + ".next_q8": nil,
			"attention.serial": {"attention.decode_split"},
		} {
			r := recallerOn(t, engine.Config{Device: "gfx11", PrefillDevice: "cpu", Disable: disable, Strict: true})
			prompt, answer, err := embedded.RecallPrompt(3, distance, r.count)
			if err != nil {
				t.Fatal(err)
			}
			if got := r.stepwise(t, prompt, 2, r.count(answer)); got != answer {
				t.Errorf("%d tokens back, %s: the model says %q, want %q", distance, lane, got, answer)
			}
			if !r.ran(lane) {
				t.Errorf("%d tokens back: %s did not run", distance, lane)
			}
		}
	}
}

// stepwise is continuation with the last tokens of the prompt one at a time.
func (r recaller) stepwise(t *testing.T, prompt string, last, n int) string {
	t.Helper()
	ctx := context.Background()
	s, err := r.e.NewSequence()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ids := r.ids(prompt)
	if _, err := s.Prefill(ctx, ids[:len(ids)-last]); err != nil {
		t.Fatal(err)
	}
	for _, id := range ids[len(ids)-last : len(ids)-1] {
		if _, err := s.Decode(ctx, id); err != nil {
			t.Fatal(err)
		}
	}
	result, err := s.Generate(ctx, engine.Request{Prompt: ids[len(ids)-1:], MaxTokens: n, IgnoreEnd: true})
	if err != nil {
		t.Fatal(err)
	}
	return result.Text
}

// ran says whether a lane was chosen in any step.
func (r recaller) ran(lane string) bool {
	for _, l := range r.e.Record().Lanes {
		if l.Lane == lane {
			return true
		}
	}
	return false
}

// Without its definition a key has no value to recall: the answers above come
// from the prompt.
func TestModelCannotGuessTheValue(t *testing.T) {
	r := newRecaller(t)
	for seed := range uint64(4) {
		prompt, answer, err := embedded.RecallPrompt(seed, 100, r.count)
		if err != nil {
			t.Fatal(err)
		}
		_, prompt, _ = strings.Cut(prompt, "\n")
		if got := r.continuation(t, prompt, r.count(answer)); got == answer {
			t.Errorf("seed %d: the model says %q of a key that the prompt does not define", seed, got)
		}
	}
}

func TestModelContinuesGo(t *testing.T) {
	r := newRecaller(t)
	for prompt, want := range map[string]string{
		"if err != nil {\n\treturn ": "err\n}\n",
		"package main\n\nimport (\n": "\t\"fmt\"\n",
	} {
		if got := r.continuation(t, prompt, 40); !strings.Contains(got, want) {
			t.Errorf("after %q the model writes %q, want %q in it", prompt, got, want)
		}
	}
}
