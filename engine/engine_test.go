package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/holdfast-llm/holdfast/device"
	"github.com/holdfast-llm/holdfast/dispatch"
	"github.com/holdfast-llm/holdfast/engine"
	"github.com/holdfast-llm/holdfast/internal/synth"
)

func TestConfigOutOfRangeIsRefusedWithTheNumber(t *testing.T) {
	f := small(t)
	for _, c := range []struct {
		name string
		c    engine.Config
		want string
	}{
		{"no file", engine.Config{}, "engine: no model file"},
		{"negative context", engine.Config{File: f, Context: -1}, "engine: context -1, want 1 to"},
		{"context beyond the limit", engine.Config{File: f, Context: 1 << 29}, "engine: context 536870912, want 1 to 268435456"},
		{"negative batch", engine.Config{File: f, Batch: -2}, "engine: batch -2, want 1 to"},
		{"batch beyond the limit", engine.Config{File: f, Batch: 1 << 15}, "engine: batch 32768, want 1 to 16384"},
		{"negative sequences", engine.Config{File: f, Sequences: -3}, "engine: sequences -3, want 1 to"},
		{"sequences beyond the limit", engine.Config{File: f, Sequences: 1025}, "engine: sequences 1025, want 1 to 1024"},
		{"negative threads", engine.Config{File: f, Threads: -1}, "-1 threads: want 1 to 1024"},
		{"too many threads", engine.Config{File: f, Threads: 5000}, "5000 threads: want 1 to 1024"},
		{"unknown cache type", engine.Config{File: f, CacheK: "f12"}, `engine: cache type "f12": supported are f16, q8_0, bf16 and f32`},
		{"a type that is no cache type", engine.Config{File: f, CacheV: "q4_k"}, `engine: cache type "q4_k": supported are`},
		{"a cache type that the heads do not fit", engine.Config{
			File: model(t, synth.Config{Heads: 4, HeadDim: 16, FFN: 256, Vocab: 260}), CacheK: "q8_0", CacheV: "q8_0",
		}, "head size 16 is no multiple of Q8_0's block of 32"},
		{"a cache beyond the machine's memory", engine.Config{File: f, Context: 1 << 28, Sequences: 1024}, "the key-value cache needs"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, err := engine.New(c.c)
			if err == nil {
				e.Close()
				t.Fatalf("no error, want %q", c.want)
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %q, want %q", err, c.want)
			}
		})
	}
}

func TestDefaultsAreTheModelsContextAndOneSequence(t *testing.T) {
	for claimed, want := range map[int]int{512: 512, 100000: engine.DefaultContext} {
		e := open(t, model(t, synth.Config{Context: claimed, Layers: 1, FFN: 256, Vocab: 260}), engine.Config{})
		if e.Context() != want || e.Batch() != engine.DefaultBatch {
			t.Errorf("a model of %d positions has a context of %d and batches of %d, want %d and %d",
				claimed, e.Context(), e.Batch(), want, engine.DefaultBatch)
		}
		sequence(t, e)
		if _, err := e.NewSequence(); !errors.Is(err, engine.ErrSequences) {
			t.Errorf("a second sequence: %v", err)
		}
	}
}

// count is how often a lane was chosen.
func count(r engine.Record, lane string) int {
	for _, l := range r.Lanes {
		if l.Lane == lane {
			return l.Count
		}
	}
	return 0
}

// declined is how often a lane declined for a reason.
func declined(r engine.Record, lane string, why device.Reason) int {
	for _, d := range r.Declines {
		if d.Lane == lane && d.Reason == why {
			return d.Count
		}
	}
	return 0
}

func TestRecordCountsLanesAndDeclinesOfEveryStep(t *testing.T) {
	e := open(t, small(t), engine.Config{})
	if r := e.Record(); r.Steps != 0 || len(r.Lanes) != 0 || len(r.Declines) != 0 {
		t.Errorf("before any step: %+v", r)
	}
	s := sequence(t, e)
	prefill(t, s, text(20, 260)...)
	decode(t, s, 1, 2, 3)
	r := e.Record()
	if r.Steps != 4 {
		t.Errorf("%d steps, want 1 prefill and 3 tokens", r.Steps)
	}
	// Two layers of 7 matrices and the output. In a prefill those behind the
	// last attention (output projection, three of the feed-forward, logits) see
	// the one row that is wanted. Single rows run gate and up as one.
	const all, single, gateUp = 2*7 + 1, 5, 2
	for _, c := range []struct {
		what       string
		have, want int
	}{
		{"mul_mat.gemm chosen", count(r, "mul_mat.gemm"), all - single},
		{"mul_mat.vec chosen", count(r, "mul_mat.vec"), single - gateUp + 3*(all-2*gateUp)},
		{"mul_mat.swiglu chosen", count(r, "mul_mat.swiglu"), 1 + 3*2},
		{"mul_mat.gemm declined for its shape", declined(r, "mul_mat.gemm", device.ReasonShape), single - gateUp + 3*(all-2*gateUp)},
		{"rms_norm.rope.kv_store chosen", count(r, "rms_norm.rope.kv_store"), 4 * 2},
		{"get_rows chosen", count(r, "get_rows"), 4},
	} {
		if c.have != c.want {
			t.Errorf("%s %d times, want %d", c.what, c.have, c.want)
		}
	}
}

func TestADisabledLaneFallsBackAndIsRecorded(t *testing.T) {
	ids := text(40, 260)
	f := model(t, synth.Config{Arch: "qwen3", FFN: 256, Vocab: 260})
	config := engine.Config{CacheK: "f32", CacheV: "f32"}
	want := prefill(t, sequence(t, open(t, f, config)), ids...)
	config.Disable = []string{"", "mul_mat.gemm"}
	e := open(t, f, config)
	got := prefill(t, sequence(t, e), ids...)
	if d := distance(got, want); !(d <= 2*floatTolerance) {
		t.Errorf("logits are off by %.2g, want at most %.2g", d, 2*floatTolerance)
	}
	r := e.Record()
	if n := count(r, "mul_mat.gemm"); n != 0 {
		t.Errorf("mul_mat.gemm ran %d times", n)
	}
	// The last layer's gate and up are one operation of a single row.
	if n := declined(r, "mul_mat.gemm", device.ReasonDisabled); n != 13 {
		t.Errorf("mul_mat.gemm declined %d times for being disabled, want 13", n)
	}
}

func TestDisablingEveryLaneOfAnOperationNamesItAndThem(t *testing.T) {
	_, err := engine.New(engine.Config{File: small(t), Disable: []string{"mul_mat"}})
	var u *dispatch.UnsupportedError
	if !errors.As(err, &u) {
		t.Fatalf("error %v, want an UnsupportedError", err)
	}
	for _, want := range []string{"device cpu takes no mul_mat for blk.0.attn_q", "mul_mat.gemm: disabled (by prefix mul_mat)", "mul_mat.vec: disabled"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %q, want %q in it", err, want)
		}
	}
}

func TestTheExampleInThePackageDocRuns(t *testing.T) {
	f := small(t)
	e := open(t, f, engine.Config{})
	tok, err := e.Tokenizer()
	if err != nil {
		t.Fatal(err)
	}
	r, err := sequence(t, e).Generate(context.Background(), engine.Request{Prompt: tok.Encode("func main() {", true, true), MaxTokens: 64})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Tokens) == 0 && r.Reason != engine.StopEnd {
		t.Errorf("no tokens, reason %s", r.Reason)
	}
}
