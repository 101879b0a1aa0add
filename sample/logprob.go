package sample

import (
	"fmt"
	"math"
)

// TokenLogprob is a token with the natural logarithm of its probability.
type TokenLogprob struct {
	ID      int32
	Logprob float32 // -Inf for a token whose logit is -Inf
}

// Logprobs returns the log-softmax of logits at id, and the top most likely
// tokens, likeliest first and the lower id of equals. It describes the model's
// own distribution, before penalties, truncation and temperature. Sums are in
// float64.
//
// It fails if id is not in 0..len(logits)-1 or top not in 0..len(logits), and
// like [Sampler.Sample] with a *[LogitError].
func Logprobs(logits []float32, id int32, top int) (TokenLogprob, []TokenLogprob, error) {
	if id < 0 || int(id) >= len(logits) {
		return TokenLogprob{}, nil, fmt.Errorf("sample: logprob of token %d among %d logits", id, len(logits))
	}
	if top < 0 || top > len(logits) {
		return TokenLogprob{}, nil, fmt.Errorf("sample: top %d logprobs of %d logits", top, len(logits))
	}
	best, err := argmax(logits)
	if err != nil {
		return TokenLogprob{}, nil, err
	}
	// The mass is 1 or more, as the largest logit adds 1. Subtracting the maximum
	// first keeps small logarithms exact beside a large maximum.
	logSum := math.Log(mass(logits, logits[best]))
	of := func(id int32) TokenLogprob {
		return TokenLogprob{ID: id, Logprob: float32(float64(logits[id]) - float64(logits[best]) - logSum)}
	}
	if top == 0 {
		return of(id), nil, nil
	}
	list := make([]TokenLogprob, 0, top)
	for _, c := range largest(make([]candidate, 0, top), logits, top) {
		list = append(list, of(c.id))
	}
	return of(id), list, nil
}
