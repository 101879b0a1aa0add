package gfx11_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-llm/holdfast/amd/emu"
	"github.com/holdfast-llm/holdfast/device"
	"github.com/holdfast-llm/holdfast/device/gfx11"
	"github.com/holdfast-llm/holdfast/dispatch"
	"github.com/holdfast-llm/holdfast/engine"
	"github.com/holdfast-llm/holdfast/gguf"
	"github.com/holdfast-llm/holdfast/gguf/quant"
	"github.com/holdfast-llm/holdfast/internal/synth"
	"github.com/holdfast-llm/holdfast/model/embedded"
)

func parse(t testing.TB, name string, b []byte) *gguf.File {
	t.Helper()
	f, err := gguf.Parse(name, b)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func carried(t testing.TB) *gguf.File { return parse(t, embedded.Name, embedded.Bytes()) }

// open starts an engine on f that ends with the test.
func open(t testing.TB, f *gguf.File, c engine.Config) *engine.Engine {
	t.Helper()
	c.File, c.NoMemoryCheck = f, true
	c.Context, c.Batch = 128, 32 // small: memory takes its time
	e, err := engine.New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// greedy appends n likeliest tokens to a prompt and returns them with the
// logits that each was chosen from.
func greedy(t testing.TB, e *engine.Engine, prompt []int32, n int) (tokens []int32, logits [][]float32) {
	t.Helper()
	s, err := e.NewSequence()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	l, err := s.Prefill(context.Background(), prompt)
	for {
		if err != nil {
			t.Fatal(err)
		}
		logits = append(logits, slices.Clone(l))
		best := int32(0)
		for i, v := range l {
			if v > l[best] {
				best = int32(i)
			}
		}
		if tokens = append(tokens, best); len(tokens) == n {
			return tokens, logits
		}
		l, err = s.Decode(context.Background(), best)
	}
}

// distance is the root mean square of got - want over that of want.
func distance(got, want []float32) float64 {
	d, w := 0.0, 0.0
	for i := range want {
		x, y := float64(got[i]), float64(want[i])
		d, w = d+(x-y)*(x-y), w+y*y
	}
	return math.Sqrt(d / w)
}

// tolerance is how far the logits of two devices may be apart, of models whose
// products take activations in 8 bits. Each rounds a vector with a relative
// error of 2.4/127/sqrt(12): uniform within a step, which is the largest of 32
// normal elements over 127. A layer has four products in a row and the output
// one more; errors add in squares, and what follows doubles them at most (package
// engine's tests derive it). Two devices have the root of two times that.
func tolerance(layers int) float64 {
	return math.Sqrt2 * 2 * 2.4 / 127 / math.Sqrt(12) * math.Sqrt(float64(4*layers+1))
}

func TestTheCarriedModelSaysWhatTheCPUSays(t *testing.T) {
	t.Parallel()
	f := carried(t)
	host := open(t, f, engine.Config{})
	tok, err := host.Tokenizer()
	if err != nil {
		t.Fatal(err)
	}
	prompt := tok.Encode("func (", true, true)
	want, wantLogits := greedy(t, host, prompt, 8)
	relaxed := func(seed uint64, waves emu.WaveOrder, wave int) gfx11.Config {
		return gfx11.Config{Wave: wave, Emulator: emu.Config{Mode: emu.Relaxed, Seed: seed, Poison: true, Schedule: emu.Schedule{Waves: waves}}}
	}
	for name, c := range map[string]struct {
		engine.Config
		tokens int
	}{
		"wave32":                   {engine.Config{}, 8},
		"wave64":                   {engine.Config{GFX11: gfx11.Config{Wave: 64}}, 8},
		"one launch for attention": {engine.Config{Disable: []string{"attention.decode_split.direct"}}, 4},
		"serial attention":         {engine.Config{Disable: []string{"attention.decode_split"}}, 4},
		"nothing fused":            {engine.Config{Disable: []string{"rms_norm.", "add.", "swiglu.", "rope.", "mul_mat.swiglu"}}, 4},
		"relaxed memory, seed 1":   {engine.Config{GFX11: relaxed(1, emu.InOrder, 32)}, 2},
		"relaxed memory, seed 2":   {engine.Config{GFX11: relaxed(2, emu.Random, 64)}, 2},
		"relaxed memory, seed 3":   {engine.Config{GFX11: relaxed(3, emu.ReverseAfterBarriers, 32), Disable: []string{"attention.decode_split.direct"}}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if testing.Short() && c.GFX11.Emulator.Mode == emu.Relaxed {
				t.Skip("relaxed memory is slow")
			}
			c.Device = "gfx11"
			e := open(t, f, c.Config)
			got, logits := greedy(t, e, prompt, c.tokens)
			if !slices.Equal(got, want[:c.tokens]) {
				t.Errorf("tokens %v, the CPU's are %v", got, want[:c.tokens])
			}
			worst := 0.0
			for i := range logits {
				worst = max(worst, distance(logits[i], wantLogits[i]))
			}
			t.Logf("logits are %.4f apart, at most %.4f is allowed", worst, tolerance(8))
			if !(worst <= tolerance(8)) {
				t.Errorf("logits are %.4f apart, want at most %.4f", worst, tolerance(8))
			}
			if r := e.Record(); r.Faulted != 0 {
				t.Errorf("faults: %+v", r.Faults)
			}
		})
	}
}

// Every architecture and type that the kernels take runs as on the CPU, with
// several sequences in a step.
func TestRandomModelsGiveTheCPUsLogits(t *testing.T) {
	t.Parallel()
	for _, c := range []synth.Config{
		{Arch: "llama", Type: quant.Q8_0, Rope: synth.Llama3},
		{Arch: "qwen2", Type: quant.Q4_K},
		{Arch: "qwen3", Type: quant.F16, Tied: true},
		{Arch: "qwen3", Type: quant.Q6_K, HeadDim: 128},
		// Every expert: a router that hesitates between two would choose
		// otherwise for an error within the tolerance.
		{Arch: "qwen3moe", Type: quant.Q4_K, ExpertsUsed: 8},
		{Arch: "qwen3moe", Type: quant.F32},
	} {
		t.Run(fmt.Sprintf("%s of %s", c.Arch, c.Type), func(t *testing.T) {
			t.Parallel()
			f := parse(t, "synth", synth.Model(c))
			var all [2][]float32
			for i, name := range []string{"cpu", "gfx11"} {
				e := open(t, f, engine.Config{Device: name, Sequences: 2})
				var items []engine.Item
				for k := range 2 {
					s, err := e.NewSequence()
					if err != nil {
						t.Fatal(err)
					}
					tokens := make([]int32, 5+15*k) // 25 rows: serial attention
					for j := range tokens {
						tokens[j] = int32((j*37 + 11*k + 3) % 500)
					}
					items = append(items, engine.Item{Sequence: s, Tokens: tokens})
				}
				if err := e.Step(context.Background(), items); err != nil {
					t.Fatal(err)
				}
				for k := range items {
					items[k].Tokens = []int32{int32(7 + k)}
				}
				if err := e.Step(context.Background(), items); err != nil {
					t.Fatal(err)
				}
				for k := range items {
					all[i] = append(all[i], items[k].Sequence.Logits()...)
				}
			}
			tol := tolerance(2)
			if c.Type == quant.F16 || c.Type == quant.F32 {
				// Attention rounds queries and probabilities to F16, relative
				// 2^-12 each, twice in each of two layers.
				tol = 2 * math.Sqrt(4) / (1 << 12)
			}
			d := distance(all[1], all[0])
			t.Logf("logits are %.2g apart, at most %.2g is allowed", d, tol)
			if !(d <= tol) {
				t.Errorf("logits are %.4g apart, want at most %.4g", d, tol)
			}
		})
	}
}

// What a sequence gets does not depend on who else is in the step: to the bit,
// on both kinds of lanes.
func TestASequenceHasTheSameBitsAloneAndInCompany(t *testing.T) {
	t.Parallel()
	f := parse(t, "synth", synth.Model(synth.Config{Arch: "qwen3moe", Type: quant.Q8_0}))
	for _, disable := range []string{"none", "attention.decode_split"} {
		var logits [][]float32
		for _, company := range []int{1, 3} {
			e := open(t, f, engine.Config{Device: "gfx11", Sequences: 3, Disable: []string{disable}})
			var items []engine.Item
			for k := range company {
				s, err := e.NewSequence()
				if err != nil {
					t.Fatal(err)
				}
				items = append(items, engine.Item{Sequence: s, Tokens: []int32{int32(3 + 100*k), 250, 17, 9}[:4-k]})
			}
			for range 2 {
				if err := e.Step(context.Background(), items); err != nil {
					t.Fatal(err)
				}
			}
			logits = append(logits, slices.Clone(items[0].Sequence.Logits()))
		}
		if !slices.Equal(logits[0], logits[1]) {
			t.Errorf("without %s: logits are %.2g apart", disable, distance(logits[1], logits[0]))
		}
	}
}

func TestAModelOfAnotherTypeIsRefusedByName(t *testing.T) {
	f := parse(t, "synth", synth.Model(synth.Config{Arch: "qwen3", Type: quant.Q5_K}))
	_, err := engine.New(engine.Config{File: f, Device: "gfx11", NoMemoryCheck: true})
	var none *dispatch.UnsupportedError
	if !errors.As(err, &none) || none.Device != "gfx11" || none.Op.Name != "token_embd" || !strings.Contains(err.Error(), "get_rows: type (token_embd.weight is Q5_K)") {
		t.Errorf("error %v", err)
	}
	_, err = engine.New(engine.Config{File: carried(t), Device: "gfx11", CacheV: "q8_0", NoMemoryCheck: true})
	if !errors.As(err, &none) || none.Op.Name != "blk.0.kv_store" && none.Op.Name != "blk.0.rope_k" || !strings.Contains(err.Error(), "caches are F16 and Q8_0") {
		t.Errorf("error %v", err)
	}
}

func TestDeviceMemoryTooSmallForTheModelIsAnErrorWithTheHolders(t *testing.T) {
	_, err := engine.New(engine.Config{File: carried(t), Device: "gfx11", NoMemoryCheck: true, GFX11: gfx11.Config{Memory: 2 << 20}}) // less than the first cache needs
	var none *gfx11.MemoryError
	if !errors.As(err, &none) || none.Use != gfx11.Caches || none.Bytes != 1<<20 || !strings.Contains(err.Error(), "weights ") {
		t.Errorf("error %v", err)
	}
}

// A lane that faults is put in quarantine and the step runs again on the next:
// the request does not see it.
func TestAFaultOfALaneIsSurvived(t *testing.T) {
	t.Parallel()
	f := carried(t)
	prompt := []int32{1, 5, 9}
	want, _ := greedy(t, open(t, f, engine.Config{Device: "gfx11"}), prompt, 3)
	for _, kind := range []device.FaultKind{device.FaultMemory, device.FaultPanic, device.FaultNaN} {
		e := open(t, f, engine.Config{Device: "gfx11", Experiment: engine.Experiment{
			Inject: []device.Injection{{Lane: "attention.decode_split.direct.next_q8", Step: 2, Kind: kind}},
		}})
		got, _ := greedy(t, e, prompt, 3)
		if !slices.Equal(got, want) {
			t.Errorf("%s: tokens %v, want %v", kind, got, want)
		}
		r := e.Record()
		if r.Faulted != 1 || len(r.Faults) != 1 || r.Faults[0].Kind != kind {
			t.Errorf("%s: faults %+v", kind, r.Faults)
			continue
		}
		if kind != device.FaultNaN && (r.Faults[0].Lane != "attention.decode_split.direct.next_q8" || r.Faults[0].Then != "quarantined") {
			t.Errorf("%s: %+v", kind, r.Faults[0])
		}
	}
}

// A driver that moves pages leaves those of the model's file where they are.
func TestAMappedFileIsReadUnderPressure(t *testing.T) {
	path := filepath.Join(t.TempDir(), "model.gguf")
	if err := os.WriteFile(path, synth.Model(synth.Config{Arch: "qwen3", Type: quant.Q8_0, Layers: 1}), 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := gguf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() }) // after the engines
	prompt := []int32{1, 2, 3}
	want, _ := greedy(t, open(t, f, engine.Config{Device: "gfx11"}), prompt, 2)
	got, _ := greedy(t, open(t, f, engine.Config{Device: "gfx11", GFX11: gfx11.Config{Emulator: emu.Config{
		Seed: 1, Schedule: emu.Schedule{Quantum: 200}, Pressure: &emu.Pressure{Evict: 0.001, Migrate: 0.02},
	}}}), prompt, 2)
	if !slices.Equal(got, want) {
		t.Errorf("tokens %v, want %v", got, want)
	}
}

func TestAFileThatShrinksWhileMappedIsAFaultAndNotACrash(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("other systems refuse to shrink a mapped file, or zero its pages")
	}
	path := filepath.Join(t.TempDir(), "model.gguf")
	if err := os.WriteFile(path, synth.Model(synth.Config{Arch: "qwen3", Type: quant.Q8_0}), 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := gguf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	e := open(t, f, engine.Config{Device: "gfx11"})
	s, err := e.NewSequence()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Prefill(context.Background(), []int32{1, 2, 3}); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, f.DataOffset()); err != nil {
		t.Fatal(err)
	}
	_, err = s.Decode(context.Background(), 1)
	var fault *device.Fault
	if !errors.As(err, &fault) || fault.Device != "gfx11" || fault.Kind != device.FaultMemory {
		t.Errorf("error %v, want a *device.Fault", err)
	}
	if s.Len() != 3 {
		t.Errorf("%d tokens after a step that failed, want 3", s.Len())
	}
}
