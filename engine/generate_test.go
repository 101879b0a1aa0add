package engine_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/holdfast-llm/holdfast/engine"
	"github.com/holdfast-llm/holdfast/gguf"
	"github.com/holdfast-llm/holdfast/internal/synth"
	"github.com/holdfast-llm/holdfast/sample"
)

// generate runs a request on a new sequence and checks what holds for all:
// the streamed pieces and the tokens' texts make up the result's text, which
// is whole runes.
func generate(t *testing.T, e *engine.Engine, r engine.Request) *engine.Result {
	t.Helper()
	res, err := generateOn(t, sequence(t, e), context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func generateOn(t *testing.T, s *engine.Sequence, ctx context.Context, r engine.Request) (*engine.Result, error) {
	t.Helper()
	defer s.Close()
	var streamed strings.Builder
	also := r.OnToken
	r.OnToken = func(tok engine.Token) {
		if !utf8.ValidString(tok.Text) {
			t.Errorf("token %d: %q is not whole runes", tok.ID, tok.Text)
		}
		streamed.WriteString(tok.Text)
		if also != nil {
			also(tok)
		}
	}
	res, err := s.Generate(ctx, r)
	if res == nil {
		return nil, err
	}
	tokens := ""
	for _, tok := range res.Tokens {
		tokens += tok.Text
	}
	if streamed.String() != res.Text || tokens != res.Text {
		t.Errorf("the text is %q, streamed %q, of tokens %q", res.Text, streamed.String(), tokens)
	}
	return res, err
}

func ids(ts []engine.Token) (out []int32) {
	for _, t := range ts {
		out = append(out, t.ID)
	}
	return out
}

// prompt is one after which the model writes on and on, its greedy text
// letters and bytes.
var prompt = []int32{72, 101, 108, 108, 111}

func TestGreedyGenerationIsTheBestTokenAgainAndAgain(t *testing.T) {
	e := open(t, small(t), engine.Config{Sequences: 2})
	r := generate(t, e, engine.Request{Prompt: prompt, MaxTokens: 30, IgnoreEnd: true})
	if len(r.Tokens) != 30 || r.Reason != engine.StopLimit {
		t.Fatalf("%d tokens, reason %s", len(r.Tokens), r.Reason)
	}
	if tm := r.Timings; tm.PromptTokens != 5 || tm.DecodeTokens != 29 || tm.PromptRate() <= 0 || tm.DecodeRate() <= 0 {
		t.Errorf("timings %+v", tm)
	}
	s := sequence(t, e)
	next := best(prefill(t, s, prompt...))
	for i, tok := range r.Tokens {
		if tok.ID != next {
			t.Fatalf("token %d is %d, want %d", i, tok.ID, next)
		}
		next = best(decode(t, s, tok.ID)[0])
	}
	again := generate(t, e, engine.Request{Prompt: prompt, MaxTokens: 30, IgnoreEnd: true})
	if again.Text != r.Text || !slices.Equal(ids(again.Tokens), ids(r.Tokens)) {
		t.Error("the same request gives another text")
	}
}

// TestEveryStopStringCutsWhereItFirstStands takes every part of the text of up
// to four runes as stop string in turn: inside a token, over tokens, overlapping
// itself, at the very end.
func TestEveryStopStringCutsWhereItFirstStands(t *testing.T) {
	e := open(t, small(t), engine.Config{})
	free := generate(t, e, engine.Request{Prompt: prompt, MaxTokens: 24, IgnoreEnd: true})
	runes := []rune(free.Text)
	if len(runes) < 20 {
		t.Fatalf("a text of %d runes shows little: %q", len(runes), free.Text)
	}
	seen := map[string]bool{}
	longest := 4
	if testing.Short() {
		longest = 2
	}
	for n := 1; n <= longest; n++ {
		for i := 0; i+n <= len(runes); i++ {
			stop := string(runes[i : i+n])
			if seen[stop] {
				continue
			}
			seen[stop] = true
			r := generate(t, e, engine.Request{Prompt: prompt, MaxTokens: 24, IgnoreEnd: true, Stop: []string{"never there", stop}})
			want := free.Text[:strings.Index(free.Text, stop)]
			if r.Text != want || r.Reason != engine.StopWord {
				t.Errorf("stop string %q: %q (%s), want %q", stop, r.Text, r.Reason, want)
			}
			if n := len(r.Tokens); !slices.Equal(ids(r.Tokens), ids(free.Tokens)[:n]) {
				t.Errorf("stop string %q: tokens %v, want the first of %v", stop, ids(r.Tokens), ids(free.Tokens))
			}
		}
	}
	if r := generate(t, e, engine.Request{Prompt: prompt, MaxTokens: 24, IgnoreEnd: true, Stop: []string{free.Text + "more"}}); r.Text != free.Text || r.Reason != engine.StopLimit {
		t.Errorf("a stop string that is never complete: %q (%s), want the whole text", r.Text, r.Reason)
	}
}

func TestAFullContextEndsTheText(t *testing.T) {
	e := open(t, small(t), engine.Config{Context: 16})
	r := generate(t, e, engine.Request{Prompt: prompt, IgnoreEnd: true})
	// 16 positions hold the prompt and 11 tokens; the twelfth comes from the
	// logits of the last and has no position of its own.
	if r.Reason != engine.StopContext || len(r.Tokens) != 12 {
		t.Errorf("%d tokens, reason %s; want 12 and %s", len(r.Tokens), r.Reason, engine.StopContext)
	}
	_, err := generateOn(t, sequence(t, e), context.Background(), engine.Request{Prompt: text(17, 260)})
	var full *engine.ContextError
	if !errors.As(err, &full) || full.Add != 17 {
		t.Errorf("a prompt longer than the context: %v", err)
	}
}

func TestImpossibleRequestsAreRefused(t *testing.T) {
	e := open(t, small(t), engine.Config{})
	for name, r := range map[string]engine.Request{
		"no prompt":                        {},
		"a negative number of tokens":      {Prompt: prompt, MaxTokens: -1},
		"negative logprobs":                {Prompt: prompt, Logprobs: -1},
		"more logprobs than tokens":        {Prompt: prompt, Logprobs: 261},
		"a negative temperature":           {Prompt: prompt, Sample: sample.Params{Temperature: -1}},
		"a prompt of unknown tokens":       {Prompt: []int32{260}},
		"the same with a repeat penalty":   {Prompt: []int32{-5}, Sample: sample.Params{RepeatPenalty: 1.1, RepeatLastN: 64}},
		"a NaN among the sampler's values": {Prompt: prompt, Sample: sample.Params{TopP: float32(math.NaN()), Temperature: 1}},
	} {
		if _, err := generateOn(t, sequence(t, e), context.Background(), r); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestTheEndTokenEndsTheText makes the end token the best after the prompt by
// copying its row of the output matrix over the end token's.
func TestTheEndTokenEndsTheText(t *testing.T) {
	f, err := gguf.Parse("synth", synth.Model(synth.Config{Arch: "qwen3", FFN: 256, Vocab: 260, Layers: 1}))
	if err != nil {
		t.Fatal(err)
	}
	e := open(t, f, engine.Config{})
	const end = 259 // <|im_end|>
	free := generate(t, e, engine.Request{Prompt: prompt, MaxTokens: 8, IgnoreEnd: true})
	third := free.Tokens[2].ID
	out, _ := f.Tensor("output.weight")
	n := out.Type.RowBytes(out.Dims[0])
	row := func(id int32) []byte { return out.Data[int(id)*n : int(id+1)*n] }
	copy(row(end), row(third))
	clear(row(third)) // a logit of zero: the end token is best in its place

	r := generate(t, e, engine.Request{Prompt: prompt, MaxTokens: 8})
	if r.Reason != engine.StopEnd || !slices.Equal(ids(r.Tokens), ids(free.Tokens)[:2]) {
		t.Errorf("tokens %v (%s), want %v and the end", ids(r.Tokens), r.Reason, ids(free.Tokens)[:2])
	}
	r = generate(t, e, engine.Request{Prompt: prompt, MaxTokens: 8, IgnoreEnd: true})
	if len(r.Tokens) != 8 || r.Tokens[2].ID != end || r.Tokens[2].Text != "" {
		t.Errorf("ignoring the end: %+v", r.Tokens)
	}
	r = generate(t, e, engine.Request{Prompt: prompt, MaxTokens: 3, IgnoreEnd: true, Special: true})
	if !strings.HasSuffix(r.Text, "<|im_end|>") {
		t.Errorf("with control tokens as text: %q", r.Text)
	}
}

func TestLogprobsAreThoseOfTheLogits(t *testing.T) {
	e := open(t, small(t), engine.Config{Sequences: 2})
	r := generate(t, e, engine.Request{
		Prompt: prompt, MaxTokens: 6, IgnoreEnd: true, Logprobs: 4,
		Sample: sample.Params{Temperature: 1, Seed: 3},
	})
	s := sequence(t, e)
	logits := prefill(t, s, prompt...)
	for i, tok := range r.Tokens {
		own, top, err := sample.Logprobs(logits, tok.ID, 4)
		if err != nil {
			t.Fatal(err)
		}
		if tok.Logprob != own.Logprob || !slices.Equal(tok.Top, top) || len(top) != 4 {
			t.Errorf("token %d: %v of %v, want %v of %v", i, tok.Logprob, tok.Top, own.Logprob, top)
		}
		logits = decode(t, s, tok.ID)[0]
	}
	r = generate(t, e, engine.Request{Prompt: prompt, MaxTokens: 2, IgnoreEnd: true})
	if r.Tokens[0].Top != nil || r.Tokens[0].Logprob != 0 {
		t.Errorf("logprobs that nobody asked for: %+v", r.Tokens[0])
	}
}

func TestTheSeedDecidesTheTextWhateverTheThreads(t *testing.T) {
	texts := map[uint64]string{}
	for threads := 1; threads <= 3; threads++ {
		e := open(t, small(t), engine.Config{Threads: threads})
		for seed := range uint64(3) {
			r := generate(t, e, engine.Request{
				Prompt: prompt, MaxTokens: 20, IgnoreEnd: true,
				Sample: sample.Params{Temperature: 0.9, TopK: 40, TopP: 0.95, MinP: 0.02, RepeatPenalty: 1.1, RepeatLastN: 16, Seed: seed},
			})
			if want, ok := texts[seed]; ok && r.Text != want {
				t.Errorf("seed %d on %d threads: %q, want %q", seed, threads, r.Text, want)
			}
			texts[seed] = r.Text
		}
	}
	if texts[0] == texts[1] && texts[1] == texts[2] {
		t.Error("three seeds give the same text")
	}
}

func TestCancellingReturnsTheTextSoFar(t *testing.T) {
	e := open(t, small(t), engine.Config{})
	free := generate(t, e, engine.Request{Prompt: prompt, MaxTokens: 40, IgnoreEnd: true})
	ctx, cancel := context.WithCancel(context.Background())
	n := 0
	s := sequence(t, e)
	r, err := generateOn(t, s, ctx, engine.Request{
		Prompt: prompt, MaxTokens: 40, IgnoreEnd: true,
		// Never complete, so that text is held back when ctx ends.
		Stop: []string{free.Text + "more"},
		OnToken: func(tok engine.Token) {
			if n++; n == 7 {
				cancel()
			}
		},
	})
	if !errors.Is(err, context.Canceled) || r.Reason != engine.StopCancelled {
		t.Fatalf("error %v, reason %s", err, r.Reason)
	}
	if len(r.Tokens) != 7 || !strings.HasPrefix(free.Text, strings.TrimRight(r.Text, "\uFFFD")) || r.Text == "" {
		t.Errorf("%d tokens %q, want 7 of %q", len(r.Tokens), r.Text, free.Text)
	}
	if r.Timings.PromptTokens != 5 || r.Timings.DecodeTokens != 6 {
		t.Errorf("timings %+v, want 5 and 6 tokens", r.Timings)
	}

	r, err = generateOn(t, sequence(t, e), &countdown{context.Background(), 0}, engine.Request{Prompt: prompt})
	if !errors.Is(err, context.Canceled) || r.Reason != engine.StopCancelled || len(r.Tokens) != 0 {
		t.Errorf("cancelled before the prompt: %v, %s, %d tokens", err, r.Reason, len(r.Tokens))
	}
}
