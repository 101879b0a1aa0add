package engine_test

import (
	"context"
	"hash/fnv"
	"math"
	"sync"
	"testing"

	"github.com/holdfast-llm/holdfast/engine"
	"github.com/holdfast-llm/holdfast/gguf"
	"github.com/holdfast-llm/holdfast/internal/synth"
)

// models keeps the files that tests share: most of their time goes into
// quantising weights.
var models sync.Map // synth.Config -> func() madeModel

type madeModel struct {
	f      *gguf.File
	digest uint64 // FNV-1a of the file
}

func made(c synth.Config) madeModel {
	make, _ := models.LoadOrStore(c, sync.OnceValue(func() madeModel {
		b := synth.Model(c)
		h := fnv.New64a()
		h.Write(b)
		f, err := gguf.Parse("synth", b)
		if err != nil {
			panic(err)
		}
		return madeModel{f, h.Sum64()}
	}))
	return make.(func() madeModel)()
}

// model is the random model that c describes, the same file for the same c.
func model(tb testing.TB, c synth.Config) *gguf.File {
	tb.Helper()
	return made(c).f
}

// open starts an engine on f that ends with the test.
func open(tb testing.TB, f *gguf.File, c engine.Config) *engine.Engine {
	tb.Helper()
	c.File = f
	e, err := engine.New(c)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := e.Close(); err != nil {
			tb.Error(err)
		}
	})
	return e
}

// sequence starts a sequence of e.
func sequence(tb testing.TB, e *engine.Engine) *engine.Sequence {
	tb.Helper()
	s, err := e.NewSequence()
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// prefill appends tokens and returns a copy of the logits after the last.
func prefill(tb testing.TB, s *engine.Sequence, tokens ...int32) []float32 {
	tb.Helper()
	logits, err := s.Prefill(context.Background(), tokens)
	if err != nil {
		tb.Fatal(err)
	}
	return append([]float32(nil), logits...)
}

// decode appends tokens one by one and returns copies of the logits after
// each.
func decode(tb testing.TB, s *engine.Sequence, tokens ...int32) [][]float32 {
	tb.Helper()
	var all [][]float32
	for _, t := range tokens {
		logits, err := s.Decode(context.Background(), t)
		if err != nil {
			tb.Fatal(err)
		}
		all = append(all, append([]float32(nil), logits...))
	}
	return all
}

// rms is the root mean square of x.
func rms[T float32 | float64](x []T) float64 {
	sum := 0.0
	for _, v := range x {
		sum += float64(v) * float64(v)
	}
	return math.Sqrt(sum / float64(len(x)))
}

// distance is the root mean square of got - want over that of want.
func distance[A, B float32 | float64](got []A, want []B) float64 {
	sum := 0.0
	for i := range want {
		d := float64(got[i]) - float64(want[i])
		sum += d * d
	}
	return math.Sqrt(sum/float64(len(want))) / rms(want)
}

// best is the index of the largest logit, the first among equals.
func best(logits []float32) int32 {
	at := 0
	for i, v := range logits {
		if v > logits[at] {
			at = i
		}
	}
	return int32(at)
}

// text is n token ids that look like no pattern.
func text(n, vocab int) []int32 {
	ids := make([]int32, n)
	for i := range ids {
		ids[i] = int32((i*i*7 + i*37 + 11) % (vocab - 4))
	}
	return ids
}
