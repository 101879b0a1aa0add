package reference

import (
	"math"
	"testing"

	"github.com/holdfast-llm/holdfast/gguf"
	"github.com/holdfast-llm/holdfast/internal/synth"
)

func open(t *testing.T, c synth.Config) *Model {
	t.Helper()
	f, err := gguf.Parse("synth", synth.Model(c))
	if err != nil {
		t.Fatal(err)
	}
	return New(f)
}

func TestRewindForgets(t *testing.T) {
	m := open(t, synth.Config{Layers: 2, FFN: 256, Vocab: 260})
	m.Forward(7)
	want := m.Forward(9)
	m.Forward(11)
	m.Rewind(1)
	for i, v := range m.Forward(9) {
		if v != want[i] {
			t.Fatalf("logit %d is %v after going back, %v before", i, v, want[i])
		}
	}
}

func TestRouterGapIsTheDistanceToAnotherChoice(t *testing.T) {
	m := &Model{RouterGap: math.Inf(1)}
	probs := []float64{1, 3, 0.5, 2} // as logits; 1 and 3 are chosen
	softmax(probs)
	m.noteGap(probs, map[int]float64{1: probs[1], 3: probs[3]})
	if math.Abs(m.RouterGap-1) > 1e-12 {
		t.Errorf("gap %v, want 2 - 1", m.RouterGap)
	}
	dense := open(t, synth.Config{Layers: 1, FFN: 256, Vocab: 260})
	dense.Forward(1)
	if !math.IsInf(dense.RouterGap, 1) {
		t.Errorf("a model without experts has a gap of %v", dense.RouterGap)
	}
}

// TestAttentionOfOnePositionIsItsValue checks the part that is easiest to get
// wrong in a way that still looks like a model: the first position attends
// only to itself, whatever its query and key.
func TestAttentionOfOnePositionIsItsValue(t *testing.T) {
	m := open(t, synth.Config{Arch: "qwen3", Layers: 1, FFN: 256, Vocab: 260})
	y := make([]float64, m.hidden)
	for i := range y {
		y[i] = math.Sin(float64(i))
	}
	got := m.attention(0, "blk.0.", y)
	v := matVec(m.weight("blk.0.attn_v.weight"), y)
	heads := make([]float64, 0, m.heads*m.headDim)
	for h := range m.heads {
		g := h / (m.heads / m.kvHeads)
		heads = append(heads, v[g*m.headDim:(g+1)*m.headDim]...)
	}
	want := matVec(m.weight("blk.0.attn_output.weight"), heads)
	for i := range want {
		if math.Abs(got[i]-want[i]) > 1e-12 {
			t.Fatalf("element %d is %v, want %v", i, got[i], want[i])
		}
	}
}

// TestRotationKeepsWhatItShould: the scaled dot product of rotated vectors
// depends on the distance of their positions alone.
func TestRotationKeepsWhatItShould(t *testing.T) {
	for _, c := range []synth.Config{
		{Arch: "llama"},
		{Arch: "qwen3"},
		{Arch: "llama", Rope: synth.Linear},
		{Arch: "llama", Rope: synth.Llama3},
	} {
		c.Layers, c.FFN, c.Vocab = 1, 256, 260
		m := open(t, c)
		at := func(pos int, phase float64) []float64 {
			x := make([]float64, m.headDim)
			for i := range x {
				x[i] = math.Sin(float64(i) + phase)
			}
			m.rotate(x, pos)
			return x
		}
		dot := func(a, b int) (sum float64) {
			x, y := at(a, 0), at(b, 1)
			for i := range x {
				sum += x[i] * y[i]
			}
			return sum
		}
		if a, b := dot(3, 10), dot(103, 110); math.Abs(a-b) > 1e-9 {
			t.Errorf("%s %s: product %v at positions 3 and 10, %v at 103 and 110", c.Arch, c.Rope, a, b)
		}
		if a, b := dot(3, 10), dot(3, 11); math.Abs(a-b) < 1e-6 {
			t.Errorf("%s %s: the product does not depend on the distance", c.Arch, c.Rope)
		}
	}
}
