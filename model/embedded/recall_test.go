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

func newRecaller(t *testing.T) recaller {
	t.Helper()
	e, err := engine.New(engine.Config{File: open(t)})
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
