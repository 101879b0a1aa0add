package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-llm/holdfast/sample"
)

// Request is a text to be continued.
type Request struct {
	Prompt    []int32       // tokens to append first; at least one
	MaxTokens int           // tokens to generate; 0 means until the context is full
	Sample    sample.Params // the zero value is greedy
	Stop      []string      // strings that end the text; they are not part of it
	IgnoreEnd bool          // go on after an end-of-generation token
	Special   bool          // write control tokens as text
	Logprobs  int           // alternatives to report for each token; 0: none, nor the token's own

	// OnToken, if set, sees each piece of text as soon as it is certain: whole
	// runes, and no part of a stop string. It runs between steps.
	OnToken func(Token)
}

// Token is one generated token.
type Token struct {
	ID      int32
	Text    string // what it added to the text; empty while runes or stop strings are incomplete
	Logprob float32
	Top     []sample.TokenLogprob // the likeliest, with Request.Logprobs
}

// StopReason is why a generation ended.
type StopReason string

// The reasons.
const (
	StopEnd       StopReason = "end"     // an end-of-generation token
	StopWord      StopReason = "word"    // a stop string
	StopLimit     StopReason = "limit"   // Request.MaxTokens
	StopContext   StopReason = "context" // the context is full
	StopCancelled StopReason = "cancelled"
)

// Result is a finished generation.
type Result struct {
	Text    string
	Tokens  []Token
	Reason  StopReason
	Timings Timings
}

// Timings are the durations of a generation.
type Timings struct {
	PromptTokens int
	Prompt       time.Duration
	DecodeTokens int // tokens that took a decode step: all but the first
	Decode       time.Duration
}

// PromptRate is prompt tokens per second, 0 if there were none.
func (t Timings) PromptRate() float64 { return rate(t.PromptTokens, t.Prompt) }

// DecodeRate is decoded tokens per second, 0 if there were none.
func (t Timings) DecodeRate() float64 { return rate(t.DecodeTokens, t.Decode) }

func rate(n int, d time.Duration) float64 {
	if d <= 0 {
		return 0
	}
	return float64(n) / d.Seconds()
}

// Generate appends the prompt and continues it. When ctx ends, the result so
// far is returned with StopCancelled together with ctx's error; with any
// other error the result holds what was generated before it.
func (s *Sequence) Generate(ctx context.Context, r Request) (*Result, error) {
	tok, err := s.e.Tokenizer()
	if err != nil {
		return nil, err
	}
	if r.MaxTokens < 0 || r.Logprobs < 0 || r.Logprobs > s.e.model.Hyper.Vocab {
		return nil, fmt.Errorf("engine: %d tokens with %d logprobs of a vocabulary of %d", r.MaxTokens, r.Logprobs, s.e.model.Hyper.Vocab)
	}
	sampler, err := sample.New(r.Sample, s.e.model.Hyper.Vocab)
	if err != nil {
		return nil, err
	}
	for _, t := range r.Prompt {
		sampler.Accept(t)
	}
	stream := tok.NewStream()
	stream.Special = r.Special
	g := &generation{s: s, r: &r, stop: stopper{stops: r.Stop}, stream: stream, end: tok.IsEOG, res: &Result{}}
	return g.res, g.run(ctx, sampler)
}

// stream turns token ids into text; text/token has it.
type stream interface {
	Push(id int32) string
	Flush() string
}

// generation is one Generate under way.
type generation struct {
	s      *Sequence
	r      *Request
	stop   stopper
	stream stream
	end    func(id int32) bool
	res    *Result
}

func (g *generation) run(ctx context.Context, sampler *sample.Sampler) error {
	start := time.Now()
	before := g.s.Len()
	logits, err := g.s.Prefill(ctx, g.r.Prompt)
	g.res.Timings.Prompt = time.Since(start)
	g.res.Timings.PromptTokens = g.s.Len() - before
	if err != nil {
		return g.fail(err)
	}
	start = time.Now()
	defer func() { g.res.Timings.Decode = time.Since(start) }()
	for {
		id, err := sampler.Sample(logits)
		if err != nil {
			return g.fail(err)
		}
		if g.end(id) && !g.r.IgnoreEnd {
			g.finish(StopEnd)
			return nil
		}
		sampler.Accept(id)
		stopped, err := g.emit(id, logits)
		switch {
		case err != nil:
			return g.fail(err)
		case stopped:
			g.res.Reason = StopWord
			return nil
		case g.r.MaxTokens > 0 && len(g.res.Tokens) >= g.r.MaxTokens:
			g.finish(StopLimit)
			return nil
		}
		logits, err = g.s.Decode(ctx, id)
		var full *ContextError
		if errors.As(err, &full) {
			g.finish(StopContext)
			return nil
		}
		if err != nil {
			return g.fail(err)
		}
		g.res.Timings.DecodeTokens++
	}
}

// emit records a token and hands its text on; it reports a stop string.
func (g *generation) emit(id int32, logits []float32) (stopped bool, err error) {
	t := Token{ID: id}
	if g.r.Logprobs > 0 {
		own, top, err := sample.Logprobs(logits, id, g.r.Logprobs)
		if err != nil {
			return false, err
		}
		t.Logprob, t.Top = own.Logprob, top
	}
	t.Text, stopped = g.stop.push(g.stream.Push(id))
	g.add(t)
	return stopped, nil
}

func (g *generation) add(t Token) {
	g.res.Text += t.Text
	g.res.Tokens = append(g.res.Tokens, t)
	if g.r.OnToken != nil {
		g.r.OnToken(t)
	}
}

// finish hands on the text that was held back for a rune or a stop string
// that never came.
func (g *generation) finish(why StopReason) {
	g.res.Reason = why
	rest, stopped := g.stop.push(g.stream.Flush())
	if !stopped {
		rest += g.stop.flush()
	} else {
		g.res.Reason = StopWord
	}
	if rest == "" {
		return
	}
	g.res.Text += rest
	if n := len(g.res.Tokens); n > 0 {
		g.res.Tokens[n-1].Text += rest
	}
	if g.r.OnToken != nil {
		g.r.OnToken(Token{ID: -1, Text: rest})
	}
}

// fail ends a generation that ctx or an error cut short.
func (g *generation) fail(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		g.finish(StopCancelled)
	}
	return err
}
