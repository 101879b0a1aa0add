package sample

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// Sampler picks tokens for one sequence. It is not safe for concurrent use.
type Sampler struct {
	p     Params
	vocab int
	rng   rand.PCG

	window  *window     // nil when nothing is penalised
	scratch []float32   // [vocab], the penalised logits; nil without window
	cand    []candidate // cap vocab (or top-k), reused by every call
	weight  []float64   // cap as cand
}

// candidate is a token that may still be picked.
type candidate struct {
	logit float32
	id    int32
}

// stream is the second half of the generator's seed. Any constant would do;
// changing it changes every seeded sequence.
const stream = 0x686f6c6466617374 // "holdfast"

// New returns a Sampler for rows of vocab logits. Buffers for the whole
// vocabulary are allocated here, so that no later call allocates.
func New(p Params, vocab int) (*Sampler, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if vocab < 1 || vocab > math.MaxInt32 {
		return nil, fmt.Errorf("sample: vocabulary of %d tokens: want 1 to %d", vocab, math.MaxInt32)
	}
	s := &Sampler{p: p, vocab: vocab}
	if p.penalises() {
		s.window = newWindow(p, vocab)
		s.scratch = make([]float32, vocab)
	}
	if p.Temperature > 0 {
		n := vocab
		if p.TopK > 0 {
			n = min(n, p.TopK)
		}
		s.cand = make([]candidate, 0, n)
		s.weight = make([]float64, 0, n)
	}
	s.rng.Seed(p.Seed, stream)
	return s, nil
}

// Accept tells the penalties that id now belongs to the sequence: each token
// that Sample returned and that is kept, and the prompt's if they shall count.
// An id outside the vocabulary is remembered and penalises nothing.
func (s *Sampler) Accept(id int32) {
	if s.window != nil {
		s.window.add(id)
	}
}

// Reset forgets the accepted tokens and restarts the generator from the seed.
func (s *Sampler) Reset() {
	if s.window != nil {
		s.window.reset()
	}
	s.rng.Seed(s.p.Seed, stream)
}

// Sample returns the id that follows, 0 to vocab-1. It does not accept it: see
// [Sampler.Accept]. The logits are not changed. It allocates nothing.
//
// It fails with the numbers if len(logits) is not the vocabulary, and with a
// *[LogitError] on NaN, on +Inf or when every logit is -Inf; the generator
// does not move then. A logit of -Inf is a token that is never picked.
func (s *Sampler) Sample(logits []float32) (int32, error) {
	if len(logits) != s.vocab {
		return 0, fmt.Errorf("sample: %d logits for a vocabulary of %d", len(logits), s.vocab)
	}
	if s.window != nil && len(s.window.ring) > 0 {
		copy(s.scratch, logits)
		s.window.apply(s.scratch)
		logits = s.scratch
	}
	best, err := argmax(logits)
	if err != nil {
		return 0, err
	}
	if s.p.Temperature == 0 {
		return best, nil
	}
	return s.draw(s.keep(logits, logits[best]), logits[best]), nil
}

// keep returns the candidates that top-k, top-p and min-p leave, at least one.
// Top-p needs them ordered; otherwise they come in the cheapest fixed order.
// maxLogit is the largest logit.
func (s *Sampler) keep(logits []float32, maxLogit float32) []candidate {
	nucleus := s.p.TopP > 0 && s.p.TopP < 1
	topK := s.p.TopK > 0 && s.p.TopK < len(logits)
	switch {
	case topK:
		s.cand = largest(s.cand, logits, s.p.TopK)
		if nucleus {
			total := 0.0
			for _, c := range s.cand {
				total += exp(float64(c.logit) - float64(maxLogit))
			}
			s.cand = cutTopP(s.cand, float64(s.p.TopP), total, maxLogit)
		}
	case nucleus:
		s.cand = s.nucleus(logits, maxLogit)
	default:
		// Far below min-p's edge no exponential is needed to tell; 1 is a
		// generous margin for rounding. Without min-p the floor is -Inf.
		floor := float64(maxLogit) + math.Log(float64(s.p.MinP)) - 1
		s.cand = s.cand[:0]
		for id, x := range logits {
			if float64(x) >= floor {
				s.cand = append(s.cand, candidate{x, int32(id)})
			}
		}
	}
	if s.p.MinP > 0 {
		s.cand = cutMinP(s.cand, float64(s.p.MinP), maxLogit)
	}
	return s.cand
}

// nucleusFirst is how many candidates top-p sorts at first when no top-k limits
// them. A peaked distribution ends within them; a flat one takes more rounds.
const nucleusFirst = 256

// nucleus is top-p over the whole vocabulary. It needs the total mass, but
// orders only as many candidates as it takes to reach P.
func (s *Sampler) nucleus(logits []float32, maxLogit float32) []candidate {
	total := mass(logits, maxLogit)
	for k := nucleusFirst; ; k *= 8 {
		k = min(k, len(logits))
		all := largest(s.cand, logits, k)
		kept := cutTopP(all, float64(s.p.TopP), total, maxLogit)
		// len(kept) < k also proves that the cut was inside what was ordered.
		if len(kept) < k || k == len(logits) {
			return kept
		}
	}
}

// cutTopP cuts ordered candidates after the one with which their probabilities
// reach p; total is the mass that counts as probability 1.
func cutTopP(cand []candidate, p, total float64, maxLogit float32) []candidate {
	sum := 0.0
	for i, c := range cand {
		sum += exp(float64(c.logit) - float64(maxLogit))
		if sum >= p*total {
			return cand[:i+1]
		}
	}
	return cand
}

// cutMinP keeps, in place and in order, the candidates at least p times as
// likely as the likeliest, whose logit is maxLogit.
func cutMinP(cand []candidate, p float64, maxLogit float32) []candidate {
	kept := cand[:0]
	for _, c := range cand {
		if exp(float64(c.logit)-float64(maxLogit)) >= p {
			kept = append(kept, c)
		}
	}
	return kept
}

// draw picks one of the candidates by its share of exp(logit / temperature).
func (s *Sampler) draw(cand []candidate, maxLogit float32) int32 {
	inv := 1 / float64(s.p.Temperature)
	weight, sum := s.weight[:0], 0.0
	for _, c := range cand {
		w := exp((float64(c.logit) - float64(maxLogit)) * inv)
		weight = append(weight, w)
		sum += w
	}
	// target < sum, even rounded: the uniform value is at most 1 - 2^-53. So
	// the walk, which repeats the sum above, always passes it, and on a token
	// whose weight is not zero.
	target, run, pick := s.uniform()*sum, 0.0, 0
	for i, w := range weight {
		run, pick = run+w, i
		if run > target {
			break
		}
	}
	return cand[pick].id
}

// uniform returns the next of the 2^53 evenly spaced values in [0, 1).
func (s *Sampler) uniform() float64 {
	return float64(s.rng.Uint64()>>11) * 0x1p-53
}
