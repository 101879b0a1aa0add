package model

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/holdfast-llm/holdfast/gguf/quant"
	"github.com/holdfast-llm/holdfast/internal/synth"
	"github.com/holdfast-llm/holdfast/op"
)

// near is equality but for the rounding of a few float64 operations.
func near(a, b float64) bool { return math.Abs(a-b) <= 1e-12*math.Max(math.Abs(a), math.Abs(b)) }

func TestAnglesFollowTheirFormulas(t *testing.T) {
	const dims, base = 64, 10000.0
	plain := func(i int) float64 { return math.Pow(base, -float64(i)/32) }
	factors := &op.Value{Type: quant.F32}
	for i := range dims / 2 {
		factors.Data = binary.LittleEndian.AppendUint32(factors.Data, math.Float32bits(1+float32(i)/8))
	}
	for _, c := range []struct {
		name    string
		scale   RopeScale
		factors *op.Value
		want    func(i int) float64
	}{
		{"unscaled", RopeScale{Factor: 1}, nil, plain},
		{"a factor without a type that stretches", RopeScale{Factor: 4}, nil, plain},
		{"linear by 4", RopeScale{Type: "linear", Factor: 4}, nil, func(i int) float64 { return plain(i) / 4 }},
		{"llama3 factors", RopeScale{Factor: 1}, factors, func(i int) float64 { return plain(i) / (1 + float64(i)/8) }},
		{"llama3 factors and linear by 2", RopeScale{Type: "linear", Factor: 2}, factors, func(i int) float64 { return plain(i) / (1 + float64(i)/8) / 2 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := &Hyper{HeadDim: dims, RopeDims: dims, RopeBase: base, RopeScale: c.scale}
			r := h.rotary(c.factors, true)
			if len(r.InvFreq) != dims/2 || r.Magnitude != 1 || !r.Interleaved {
				t.Fatalf("%d angles, magnitude %v, interleaved %v", len(r.InvFreq), r.Magnitude, r.Interleaved)
			}
			for i, f := range r.InvFreq {
				if !near(f, c.want(i)) {
					t.Errorf("pair %d turns %v a position, want %v", i, f, c.want(i))
				}
			}
		})
	}
}

// TestYaRNKeepsShortWavesAndStretchesLongOnes checks YaRN by what it is for:
// pairs that turn 32 times or more in the original context stay, those that turn
// less than once are stretched by the whole factor, and between the two the
// share falls in equal steps from pair to pair.
func TestYaRNKeepsShortWavesAndStretchesLongOnes(t *testing.T) {
	const dims, base, context, factor = 128, 1e6, 32768, 4.0
	h := &Hyper{HeadDim: dims, RopeDims: dims, RopeBase: base, RopeScale: RopeScale{
		Type: "yarn", Factor: factor, OriginalContext: context, AttnFactor: 1, BetaFast: 32, BetaSlow: 1,
	}}
	r := h.rotary(nil, false)
	if want := 1 + 0.1*math.Log(4); !near(r.Magnitude, want) {
		t.Errorf("magnitude %v, want %v", r.Magnitude, want)
	}
	var kept, stretched, between int
	var shares []float64
	for i, f := range r.InvFreq {
		plain := math.Pow(base, -2*float64(i)/dims)
		turns := context * plain / (2 * math.Pi)
		share := (plain - f) / (plain - plain/factor) // 0: as it was, 1: stretched
		switch {
		case turns > 32:
			kept++
			if !near(f, plain) {
				t.Errorf("pair %d turns %.1f times and is changed by %v", i, turns, f/plain)
			}
		// The bound is rounded up to a whole pair.
		case context*math.Pow(base, -2*float64(i-1)/dims)/(2*math.Pi) < 1:
			stretched++
			if !near(f, plain/factor) {
				t.Errorf("pair %d turns %.2f times and is stretched by %v", i, turns, plain/f)
			}
		default:
			between++
			shares = append(shares, share)
		}
	}
	if kept < 20 || stretched < 10 || between < 10 {
		t.Errorf("%d pairs kept, %d stretched, %d between: the test shows little", kept, stretched, between)
	}
	step := shares[2] - shares[1]
	for i := 2; i+1 < len(shares); i++ {
		if d := shares[i+1] - shares[i]; math.Abs(d-step) > 1e-9 && shares[i+1] < 1 {
			t.Errorf("the share stretched rises by %v from pair to pair, then by %v", step, d)
		}
	}
}

func TestScalingIsReadFromTheKeysInUse(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(d *draft)
		want   RopeScale
	}{
		{"none", func(d *draft) {
			d.set("llama.rope.scaling.type", "none")
			d.set("llama.rope.scaling.factor", float32(8))
		}, RopeScale{Factor: 1}},
		{"linear", func(d *draft) {
			d.set("llama.rope.scaling.type", "linear")
			d.set("llama.rope.scaling.factor", float32(8))
		}, RopeScale{Type: "linear", Factor: 8}},
		{"the older key", func(d *draft) { d.set("llama.rope.scale_linear", float32(2)) }, RopeScale{Type: "linear", Factor: 2}},
		{"a factor of 0 is none", func(d *draft) { d.set("llama.rope.scaling.factor", float32(0)) }, RopeScale{Factor: 1}},
		{"yarn with its defaults", func(d *draft) {
			d.set("llama.rope.scaling.type", "yarn")
			d.set("llama.rope.scaling.factor", float32(4))
		}, RopeScale{Type: "yarn", Factor: 4, OriginalContext: 1024, AttnFactor: 1, BetaFast: 32, BetaSlow: 1}},
		{"yarn with all keys", func(d *draft) {
			d.set("llama.rope.scaling.type", "yarn")
			d.set("llama.rope.scaling.factor", float32(4))
			d.set("llama.rope.scaling.original_context_length", uint32(256))
			d.set("llama.rope.scaling.attn_factor", float32(0.5))
			d.set("llama.rope.scaling.yarn_beta_fast", float32(16))
			d.set("llama.rope.scaling.yarn_beta_slow", float32(2))
		}, RopeScale{Type: "yarn", Factor: 4, OriginalContext: 256, AttnFactor: 0.5, BetaFast: 16, BetaSlow: 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := Open(changed(t, synth.Config{}, c.change))
			if err != nil {
				t.Fatal(err)
			}
			if m.Hyper.RopeScale != c.want {
				t.Errorf("%+v, want %+v", m.Hyper.RopeScale, c.want)
			}
		})
	}
}
