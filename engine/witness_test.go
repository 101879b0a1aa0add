package engine_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/holdfast-llm/holdfast/engine"
	"github.com/holdfast-llm/holdfast/gguf"
	"github.com/holdfast-llm/holdfast/gguf/quant"
	"github.com/holdfast-llm/holdfast/internal/reference"
	"github.com/holdfast-llm/holdfast/internal/synth"
)

// How far the engine's logits may be from the float64 reference, as the root
// mean square (rms) of the difference over that of the logits.
//
// Float weights (F32, F16, BF16) are exact and products are summed in float32,
// whose relative rounding error is at most 2^-24. Sums of 256 to 512 terms in
// 8 or more partial sums, some twenty roundings deep, and a dozen operations in
// a row leave less than 100 * 2^-24:
const floatTolerance = 100.0 / (1 << 24) // 6e-6

// Quantised weights are exact too (the reference has the same ones), but the
// other factor is rounded to int8 in blocks of 32 or 256 elements with step
// amax/127. Rounding error is uniform over a step, its rms step/sqrt(12). The
// largest of 32 (256) normal deviates is 2.4 (3.1) of their rms, which gives a
// relative error of
//
//	e = 2.4/127/sqrt(12) = 0.55 %    (blocks of 256: 0.7 %)
//
// A product with random weights keeps the relative error. On the way of a layer
// lie four products in a row (queries/keys/values, attention output, gate/up,
// down), and one at the end; their errors are independent and add in squares:
// e*sqrt(4*layers+1). Three things multiply an error that comes in: a score of
// deviation 2.2 turns the errors of query and key into 2.2*sqrt(2) that much of
// each weight, of which softmax leaves the part that is not common to all
// (about half at the few keys that share most of the weight); a SwiGLU's
// factors both carry it, with slopes above one, 1.5 together; and its output has
// a larger amax, 1.4 times. One divides: each branch is a part of the sum that
// goes on. Taken together they are at most 2:
func quantisedTolerance(t quant.Type, layers int) float64 {
	e := 2.4 / 127 / math.Sqrt(12)
	if t.BlockElems() == 256 {
		e = 3.1 / 127 / math.Sqrt(12)
	}
	return 2 * e * math.Sqrt(float64(4*layers+1))
}

// A cache rounds keys and values, twice a layer, with the same factor of 2:
// half a unit in the last place of F16 and BF16, steps of amax/127 of 32
// elements for Q8_0.
func cacheTolerance(cache string, layers int) float64 {
	e := map[string]float64{"f32": 0, "f16": 1.0 / (1 << 12), "bf16": 1.0 / (1 << 9), "q8_0": 2.4 / 127 / math.Sqrt(12)}[cache]
	return 2 * e * math.Sqrt(float64(2*layers))
}

// All this holds for the mean over positions. At one position it may be more,
// where attention is nearly undecided between two keys: onePosition times.
const onePosition = 3

func witnessTolerance(t quant.Type, layers int, cache string) float64 {
	tol := math.Hypot(floatTolerance, cacheTolerance(cache, layers))
	if isFloat(t) {
		return tol
	}
	return math.Hypot(tol, quantisedTolerance(t, layers))
}

func isFloat(t quant.Type) bool { return t == quant.F32 || t == quant.F16 || t == quant.BF16 }

// A witness case is a model, a cache type, and how many tokens to run.
type witness struct {
	name   string
	c      synth.Config
	cache  string
	tokens int
}

func witnesses() []witness {
	small := func(c synth.Config) synth.Config {
		if c.FFN == 0 {
			c.FFN = 256
		}
		c.Vocab = 260
		if c.Arch == "qwen3moe" {
			c.Experts, c.ExpertFFN = 6, 256
		}
		return c
	}
	var ws []witness
	add := func(cache string, tokens int, c synth.Config, format string, args ...any) {
		ws = append(ws, witness{fmt.Sprintf(format, args...), small(c), cache, tokens})
	}
	types := []quant.Type{quant.F32, quant.Q8_0, quant.Q4_K}
	if testing.Short() {
		types = types[1:2]
	}
	for _, t := range types {
		for _, a := range synth.Arches() {
			add("f32", 20, synth.Config{Arch: a, Type: t}, "%s of %v", a, t)
		}
		add("f32", 20, synth.Config{Type: t, Tied: true}, "tied llama of %v", t)
		add("f32", 20, synth.Config{Arch: "qwen3", Type: t, Tied: true}, "tied qwen3 of %v", t)
	}
	for i, t := range quant.Supported() {
		if testing.Short() && i%4 != 0 {
			continue
		}
		add("f32", 20, synth.Config{Arch: "qwen3", Type: t}, "every matrix %v", t)
		add("f32", 20, synth.Config{Arch: "qwen3moe", Type: t, Layers: 1}, "every expert %v", t)
	}
	if testing.Short() {
		return ws
	}
	// Twice as far as the context of 64 that is stretched.
	for _, s := range []synth.Scaling{synth.Linear, synth.YaRN, synth.Llama3} {
		add("f32", 130, synth.Config{Rope: s}, "llama with %s rope", s)
	}
	add("f32", 130, synth.Config{Arch: "qwen2", Rope: synth.YaRN}, "qwen2 with yarn rope")
	add("f32", 130, synth.Config{Arch: "qwen3", Rope: synth.YaRN, RopeBase: 1e6}, "qwen3 with yarn rope of base 1e6")
	for _, cache := range []string{"f16", "bf16", "q8_0"} {
		add(cache, 40, synth.Config{Arch: "qwen3"}, "cache of %s", cache)
		add(cache, 40, synth.Config{Arch: "llama", Type: quant.Q8_0}, "cache of %s, weights Q8_0", cache)
	}
	for _, g := range []struct{ heads, kv, dim int }{{4, 4, 64}, {4, 1, 64}, {6, 2, 32}, {8, 2, 128}, {3, 1, 80}, {5, 1, 96}, {2, 1, 256}, {32, 1, 16}} {
		add("f32", 36, synth.Config{Arch: "qwen3", Layers: 1, Heads: g.heads, KVHeads: g.kv, HeadDim: g.dim},
			"%d heads of %d over %d", g.heads, g.dim, g.kv)
	}
	add("f32", 12, synth.Config{Arch: "llama", Layers: 1, Hidden: 160, FFN: 416, Heads: 5, KVHeads: 5, Type: quant.Q5_1}, "rows of 5 and 13 blocks")
	return ws
}

// settled are token ids for which the reference's routers do not hesitate
// between experts by less than gap, where an error that is allowed could change
// the choice and with it everything; and the reference's logits after each.
func settled(m *reference.Model, n, vocab int, gap float64) (ids []int32, logits [][]float64) {
	for next := int32(11); len(ids) < n; next = (next*5 + 7) % int32(vocab-4) {
		x := m.Forward(next)
		if m.RouterGap < gap {
			m.Rewind(len(ids))
			continue
		}
		ids, logits = append(ids, next), append(logits, x)
	}
	return ids, logits
}

// TestLogitsAgreeWithTheFloat64Reference runs every architecture, every tensor
// type, every rope scaling and every cache type token by token, and once more
// in one prefill whose last rows go through the matrix-matrix kernels.
func TestLogitsAgreeWithTheFloat64Reference(t *testing.T) {
	for _, w := range witnesses() {
		t.Run(w.name, func(t *testing.T) {
			f := model(t, w.c)
			layers := max(w.c.Layers, 1)
			if w.c.Layers == 0 {
				layers = 2
			}
			tol := witnessTolerance(w.c.Type, layers, w.cache)
			// Router logits have a deviation of 1.5 and inherit the error of
			// their input; a difference of two must be off by 3 deviations.
			ids, want := settled(reference.New(f), w.tokens, w.c.Vocab, 3*1.5*math.Sqrt2*tol)
			checkWitness(t, f, w, ids, want, tol)
		})
	}
}

func checkWitness(t *testing.T, f *gguf.File, w witness, ids []int32, want [][]float64, tol float64) {
	e := open(t, f, engine.Config{CacheK: w.cache, CacheV: w.cache, Context: len(ids), Sequences: 2})
	got := decode(t, sequence(t, e), ids...)
	square, worst := 0.0, 0.0
	for i := range want {
		d := distance(got[i], want[i])
		if !(d <= onePosition*tol) {
			t.Errorf("token by token, position %d: logits are off by %.2g, want at most %d * %.2g", i, d, onePosition, tol)
		}
		square += d * d / float64(len(want))
		worst = max(worst, d)
	}
	if d := math.Sqrt(square); !(d <= tol) {
		t.Errorf("token by token: logits are off by %.2g, want at most %.2g", d, tol)
	}
	// In two prefills, both of more rows than the matrix-vector kernels take.
	s, half := sequence(t, e), len(ids)/2
	var batched float64
	for _, upTo := range []int{half, len(ids)} {
		logits := prefill(t, s, ids[s.Len():upTo]...)
		batched = max(batched, distance(logits, want[upTo-1]))
	}
	if !(batched <= onePosition*tol) {
		t.Errorf("in one batch: logits are off by %.2g, want at most %d * %.2g", batched, onePosition, tol)
	}
	t.Logf("off by %.2g (worst position %.2g, batched %.2g), tolerance %.2g", math.Sqrt(square), worst, batched, tol)
}

// TestTheEmbeddedModelAgreesWithTheFloat64Reference runs trained weights, whose
// activations are less even than random ones.
func TestTheEmbeddedModelAgreesWithTheFloat64Reference(t *testing.T) {
	f := embeddedFile(t)
	ids := embeddedPrompt(t, open(t, f, engine.Config{}))
	m := reference.New(f)
	var want [][]float64
	for _, id := range ids {
		want = append(want, m.Forward(id))
	}
	checkWitness(t, f, witness{cache: "f16"}, ids, want, witnessTolerance(quant.Q8_0, 8, "f16"))
}
