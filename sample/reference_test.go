package sample

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// reference is the whole chain in the plainest form: every step sorts or scans
// everything, in float64, with nothing kept between calls but the history.
type reference struct {
	p       Params
	history []int32
	rng     *rand.PCG
}

type refToken struct {
	id int32
	x  float64 // logit
}

func (r *reference) sample(logits []float32) int32 {
	toks := make([]refToken, len(logits))
	for i, x := range logits {
		toks[i] = refToken{int32(i), float64(r.penalised(int32(i), x))}
	}
	slices.SortStableFunc(toks, func(a, b refToken) int {
		switch {
		case a.x > b.x:
			return -1
		case a.x < b.x:
			return 1
		}
		return int(a.id - b.id)
	})
	if r.p.Temperature == 0 {
		return toks[0].id
	}
	if r.p.TopK > 0 {
		toks = toks[:min(r.p.TopK, len(toks))]
	}
	if r.p.TopP > 0 && r.p.TopP < 1 {
		// Not divided by the total: rows of equal logits meet P exactly.
		weights, total := weigh(toks, 1)
		sum := 0.0
		for i, w := range weights {
			if sum += w; sum >= float64(r.p.TopP)*total {
				toks = toks[:i+1]
				break
			}
		}
	}
	if r.p.MinP > 0 {
		weights, _ := weigh(toks, 1)
		n := 0
		for n < len(toks) && weights[n] >= float64(r.p.MinP)*weights[0] {
			n++
		}
		toks = toks[:n]
	}
	// With neither top-k nor top-p the draw walks in the order of ids.
	if (r.p.TopK == 0 || r.p.TopK >= len(logits)) && (r.p.TopP == 0 || r.p.TopP == 1) {
		slices.SortFunc(toks, func(a, b refToken) int { return int(a.id - b.id) })
	}
	u := float64(r.rng.Uint64()>>11) / (1 << 53)
	weights, total := weigh(toks, float64(r.p.Temperature))
	sum := 0.0
	for i, w := range weights {
		if sum += w / total; sum > u {
			return toks[i].id
		}
	}
	return toks[len(toks)-1].id
}

// penalised is llama.cpp's rule, with the count taken anew from the history.
func (r *reference) penalised(id int32, x float32) float32 {
	last := r.history[max(0, len(r.history)-r.p.RepeatLastN):]
	n := 0
	for _, h := range last {
		if h == id {
			n++
		}
	}
	if n == 0 {
		return x
	}
	repeat := r.p.RepeatPenalty
	if repeat == 0 {
		repeat = 1
	}
	if x > 0 {
		x /= repeat
	} else {
		x *= repeat
	}
	fall := float32(n) * r.p.FrequencyPenalty
	return x - (fall + r.p.PresencePenalty)
}

// weigh returns exp(logit / temperature) of each, over that of the largest, and
// the total.
func weigh(toks []refToken, temperature float64) ([]float64, float64) {
	top := math.Inf(-1)
	for _, t := range toks {
		top = max(top, t.x)
	}
	weights, total := make([]float64, len(toks)), 0.0
	for i, t := range toks {
		weights[i] = math.Exp((t.x - top) / temperature)
		total += weights[i]
	}
	return weights, total
}

// TestAgreesWithReference runs random parameters over random rows, with ties
// and masked tokens. The two sum in different orders, so that a draw within
// about 1e-13 of an edge could differ; with these seeds none is.
func TestAgreesWithReference(t *testing.T) {
	r := rand.New(rand.NewPCG(20261130, 1))
	pick := func(off float32, choices ...float32) float32 {
		if r.IntN(2) == 0 {
			return off
		}
		return choices[r.IntN(len(choices))]
	}
	for trial := range 1500 {
		vocab := 1 + r.IntN(1000)
		p := Params{
			Temperature:      pick(0, 0.05, 0.8, 1, 3),
			TopK:             int(pick(0, 1, 2, 40, 300, 2000)),
			TopP:             pick(0, 0.1, 0.5, 0.95, 0.999, 1),
			MinP:             pick(0, 0.01, 0.05, 0.5, 1),
			RepeatPenalty:    pick(0, 0.7, 1, 1.1, 2),
			FrequencyPenalty: pick(0, -0.5, 0.3),
			PresencePenalty:  pick(0, -0.5, 0.3),
			RepeatLastN:      int(pick(0, 1, 7, 64)),
			Seed:             r.Uint64(),
		}
		s, err := New(p, vocab)
		if err != nil {
			t.Fatal(err)
		}
		ref := &reference{p: p, rng: rand.NewPCG(p.Seed, stream)}
		spread := pick(1, 0, 0.01, 10)
		for step := range 12 {
			logits := randomLogits(r, vocab, spread)
			got, err := s.Sample(logits)
			if err != nil {
				t.Fatal(err)
			}
			if want := ref.sample(logits); got != want {
				t.Fatalf("trial %d step %d vocab %d spread %v %+v: id %d, want %d", trial, step, vocab, spread, p, got, want)
			}
			s.Accept(got)
			ref.history = append(ref.history, got)
		}
	}
}

// randomLogits draws a normal row; every eighth value repeats an earlier one
// and a few are masked, never all.
func randomLogits(r *rand.Rand, vocab int, spread float32) []float32 {
	logits := make([]float32, vocab)
	for i := range logits {
		switch {
		case i > 0 && r.IntN(8) == 0:
			logits[i] = logits[r.IntN(i)]
		case i > 0 && r.IntN(30) == 0:
			logits[i] = float32(math.Inf(-1))
		default:
			logits[i] = spread * float32(r.NormFloat64())
		}
	}
	return logits
}
