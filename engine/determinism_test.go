package engine_test

import (
	"fmt"
	"hash/fnv"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/holdfast-llm/holdfast/device"
	"github.com/holdfast-llm/holdfast/engine"
	"github.com/holdfast-llm/holdfast/gguf"
	"github.com/holdfast-llm/holdfast/gguf/quant"
	"github.com/holdfast-llm/holdfast/internal/synth"
)

// depths reach each reducer of split attention.
var depths = []int{100, 600, 2100}

// lanes are ways of running attention: what is disabled for each.
var lanes = map[string][]string{
	"split":  nil,
	"serial": {"attention.decode_split"},
}

// at is a sequence of so many tokens and what a few more give.
func at(t *testing.T, cfg engine.Config, depth int) [][]float32 {
	t.Helper()
	cfg.Context = 2200
	s := sequence(t, open(t, small(t), cfg))
	got := [][]float32{prefill(t, s, text(depth, 260)...)}
	return append(got, decode(t, s, 3, 4, 5)...)
}

// TestNoThreadCountNorArenaSettingChangesABit runs each lane with itself.
func TestNoThreadCountNorArenaSettingChangesABit(t *testing.T) {
	configs := map[string]engine.Config{
		"1 thread":           {Threads: 1},
		"3 threads":          {Threads: 3},
		"serial":             {Threads: 2, Experiment: engine.Experiment{Serial: true}},
		"aligned to a page":  {Threads: 2, Experiment: engine.Experiment{Arena: device.Arena{Align: 4096}}},
		"after a prefix":     {Threads: 2, Experiment: engine.Experiment{Arena: device.Arena{Prefix: 2560}}},
		"without reuse":      {Threads: 2, Experiment: engine.Experiment{Arena: device.Arena{NoReuse: true}}},
		"guarded, poisoned":  {Threads: 2, Experiment: engine.Experiment{Arena: device.Arena{Guard: 100}, Poison: true}},
		"no fused operation": {Threads: 2, Disable: fusedForms},
	}
	for lane, disable := range lanes {
		for _, depth := range depths {
			want := at(t, engine.Config{Threads: 2, Disable: disable}, depth)
			for name, cfg := range configs {
				cfg.Disable = append(append([]string{}, cfg.Disable...), disable...)
				got := at(t, cfg, depth)
				for i := range want {
					same(t, fmt.Sprintf("%s, %s, depth %d, step %d", lane, name, depth, i), got[i], want[i])
				}
			}
		}
	}
}

// fusedForms are the registrations that run more than their operation.
var fusedForms = []string{
	"attention.decode_split.direct.next_q8", "attention.decode_split.cooperative.next_q8", "attention.decode_split.multipass.next_q8",
	"rms_norm.next_q8", "rms_norm.rope.kv_store", "rope.kv_store", "add.rms_norm.next_q8", "mul_mat.swiglu", "mul_mat_id.swiglu",
}

// Split and serial attention sum in another order: they agree as well as two
// right implementations can.
func TestSplitAndSerialAttentionAgree(t *testing.T) {
	f := model(t, synth.Config{Arch: "qwen3", Type: quant.F32, FFN: 256, Vocab: 260, Context: 512})
	for _, depth := range depths {
		var got [2][]float32
		for i, disable := range [][]string{nil, {"attention.decode_split"}} {
			s := sequence(t, open(t, f, engine.Config{Context: 2200, CacheK: "f32", CacheV: "f32", Disable: disable}))
			prefill(t, s, text(depth, 260)...)
			got[i] = decode(t, s, 3)[0]
		}
		if d, tol := distance(got[0], got[1]), onePosition*witnessTolerance(quant.F32, 2, "f32"); !(d <= tol) {
			t.Errorf("depth %d: distance %.3g, want at most %.3g", depth, d, tol)
		}
	}
}

// TestThreeHundredRepetitionsUnderLoadAreOneAnswer decodes the same token over
// and over while other goroutines take processors and memory bandwidth away.
func TestThreeHundredRepetitionsUnderLoadAreOneAnswer(t *testing.T) {
	repetitions := 300
	if testing.Short() {
		repetitions = 50
	}
	var stop atomic.Bool
	var load sync.WaitGroup
	for i := range runtime.GOMAXPROCS(0) {
		load.Go(func() {
			buf := make([]uint64, 4<<20)
			for at := i; !stop.Load(); at = (at + 8191) % len(buf) {
				buf[at]++
			}
		})
	}
	defer func() { stop.Store(true); load.Wait() }()
	for lane, disable := range lanes {
		s := sequence(t, open(t, small(t), engine.Config{Context: 2200, Threads: 3, Disable: disable}))
		prefill(t, s, text(2100, 260)...)
		answers := map[uint64]int{}
		for range repetitions {
			h := fnv.New64a()
			for _, x := range decode(t, s, 7)[0] {
				b := math.Float32bits(x)
				h.Write([]byte{byte(b), byte(b >> 8), byte(b >> 16), byte(b >> 24)})
			}
			answers[h.Sum64()]++
			s.Truncate(2100)
		}
		if len(answers) != 1 {
			t.Errorf("%s: %d distinct answers in %d repetitions: %v", lane, len(answers), repetitions, answers)
		}
	}
}

// Fused registrations compute what their parts do, in the same order.
func TestFusedOperationsChangeNoBit(t *testing.T) {
	for name, f := range map[string]*gguf.File{
		"qwen3 Q8_0":    small(t),
		"qwen3moe Q8_0": smallMoE(t),
		"llama Q4_K":    model(t, synth.Config{Type: quant.Q4_K, FFN: 256, Vocab: 260}),
		"qwen2 F16":     model(t, synth.Config{Arch: "qwen2", Type: quant.F16, FFN: 256, Vocab: 260}),
	} {
		var got [2][][]float32
		var ran [2]int
		for i, disable := range [][]string{nil, fusedForms} {
			e := open(t, f, engine.Config{Disable: disable, Sequences: 2})
			s := sequence(t, e)
			got[i] = append(decode(t, s, text(20, 260)...), prefill(t, s, 7, 8), prefill(t, s, text(10, 260)...))
			for _, l := range e.Record().Lanes {
				if slices.ContainsFunc(fusedForms, func(p string) bool { return strings.HasPrefix(l.Lane, p) }) && l.Lane != "rms_norm" {
					ran[i]++
				}
			}
		}
		if ran[0] < 3 || ran[1] != 0 {
			t.Errorf("%s: %d fused registrations ran, and %d that were disabled", name, ran[0], ran[1])
		}
		for i := range got[0] {
			same(t, fmt.Sprintf("%s, step %d", name, i), got[0][i], got[1][i])
		}
	}
}
