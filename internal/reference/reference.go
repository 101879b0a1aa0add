// Package reference computes a model's logits in float64 with plain loops, to
// be read in one sitting and to be compared with. It shares nothing with the
// engine but the file reader and the dequantiser: it reads its own keys, has
// its own shapes, and knows no device, no cache layout and no batching.
//
// Everything is a slice of float64; shapes are in comments.
package reference

import (
	"fmt"
	"math"

	"github.com/holdfast-llm/holdfast/gguf"
	"github.com/holdfast-llm/holdfast/gguf/quant"
)

// Model is a llama, qwen2, qwen3 or qwen3moe model.
type Model struct {
	f                            *gguf.File
	arch                         string
	layers, hidden, ffn          int
	heads, kvHeads, headDim      int
	experts, expertsUsed, expFFN int
	eps                          float64
	weights                      map[string][]float64
	keys, values                 [][][]float64 // [layer][position][kvHeads*headDim]

	// RouterGap is, of the last Forward, the smallest difference between the
	// router logits of an expert that was chosen and one that was not: with
	// errors above it another expert is chosen. Infinite without experts.
	RouterGap float64
}

// New reads a model; it panics on a file that is not one, being for tests.
func New(f *gguf.File) *Model {
	m := &Model{f: f, weights: map[string][]float64{}}
	m.arch, _ = f.String("general.architecture")
	m.layers = m.count("block_count", 0)
	m.hidden = m.count("embedding_length", 0)
	m.ffn = m.count("feed_forward_length", 0)
	m.heads = m.count("attention.head_count", 0)
	m.kvHeads = m.count("attention.head_count_kv", m.heads)
	m.headDim = m.count("attention.key_length", m.hidden/m.heads)
	m.experts = m.count("expert_count", 0)
	m.expertsUsed = m.count("expert_used_count", 0)
	m.expFFN = m.count("expert_feed_forward_length", 0)
	m.eps = m.float("attention.layer_norm_rms_epsilon", 0)
	m.keys = make([][][]float64, m.layers)
	m.values = make([][][]float64, m.layers)
	return m
}

func (m *Model) count(key string, fallback int) int {
	if v, ok := m.f.Uint(m.arch + "." + key); ok {
		return int(v)
	}
	return fallback
}

func (m *Model) float(key string, fallback float64) float64 {
	if v, ok := m.f.Float(m.arch + "." + key); ok {
		return v
	}
	return fallback
}

// weight is a whole tensor, dequantised, or nil if the file has none.
func (m *Model) weight(name string) []float64 {
	if w, ok := m.weights[name]; ok {
		return w
	}
	var w []float64
	if t, ok := m.f.Tensor(name); ok {
		x := make([]float32, t.Elements())
		if err := quant.Dequantize(t.Type, x, t.Data); err != nil {
			panic(err)
		}
		w = make([]float64, len(x))
		for i, v := range x {
			w[i] = float64(v)
		}
	}
	m.weights[name] = w
	return w
}

// Rewind forgets all positions from n on.
func (m *Model) Rewind(n int) {
	for l := range m.layers {
		m.keys[l], m.values[l] = m.keys[l][:n], m.values[l][:n]
	}
}

// Forward appends one token and returns the logits after it, [vocabulary].
func (m *Model) Forward(token int32) []float64 {
	m.RouterGap = math.Inf(1)
	embd := m.weight("token_embd.weight") // [vocab][hidden]
	x := append([]float64{}, embd[int(token)*m.hidden:(int(token)+1)*m.hidden]...)
	for l := range m.layers {
		p := fmt.Sprintf("blk.%d.", l)
		add(x, m.attention(l, p, rmsNorm(x, m.weight(p+"attn_norm.weight"), m.eps)))
		y := rmsNorm(x, m.weight(p+"ffn_norm.weight"), m.eps)
		if m.experts > 0 {
			add(x, m.mixture(p, y))
		} else {
			add(x, gated(y, m.weight(p+"ffn_gate.weight"), m.weight(p+"ffn_up.weight"), m.weight(p+"ffn_down.weight")))
		}
	}
	output := m.weight("output.weight")
	if output == nil {
		output = embd
	}
	return matVec(output, rmsNorm(x, m.weight("output_norm.weight"), m.eps))
}

// attention attends a normalised row to everything before it and itself.
func (m *Model) attention(l int, p string, y []float64) []float64 {
	project := func(name string) []float64 {
		out := matVec(m.weight(p+name+".weight"), y)
		if b := m.weight(p + name + ".bias"); b != nil {
			add(out, b)
		}
		return out
	}
	q, k, v := project("attn_q"), project("attn_k"), project("attn_v")
	pos := len(m.keys[l])
	for _, part := range []struct {
		x    []float64
		norm string
	}{{q, "attn_q_norm.weight"}, {k, "attn_k_norm.weight"}} {
		for at := 0; at < len(part.x); at += m.headDim {
			head := part.x[at : at+m.headDim]
			if w := m.weight(p + part.norm); w != nil {
				copy(head, rmsNorm(head, w, m.eps))
			}
			m.rotate(head, pos)
		}
	}
	m.keys[l] = append(m.keys[l], k)
	m.values[l] = append(m.values[l], v)

	out := make([]float64, m.heads*m.headDim)
	for h := range m.heads {
		kvAt := h / (m.heads / m.kvHeads) * m.headDim
		scores := make([]float64, pos+1)
		for t := range scores {
			for i := range m.headDim {
				scores[t] += q[h*m.headDim+i] * m.keys[l][t][kvAt+i]
			}
			scores[t] /= math.Sqrt(float64(m.headDim))
		}
		softmax(scores)
		for t, s := range scores {
			for i := range m.headDim {
				out[h*m.headDim+i] += s * m.values[l][t][kvAt+i]
			}
		}
	}
	o := matVec(m.weight(p+"attn_output.weight"), out)
	if b := m.weight(p + "attn_output.bias"); b != nil {
		add(o, b)
	}
	return o
}

// rotate applies the rotary embedding of a position to one head.
func (m *Model) rotate(x []float64, pos int) {
	dims := m.count("rope.dimension_count", m.headDim)
	base := m.float("rope.freq_base", 10000)
	factor := m.float("rope.scaling.factor", 1)
	kind, _ := m.f.String(m.arch + ".rope.scaling.type")
	freqs := m.weight("rope_freqs.weight")
	magnitude := 1.0
	if kind == "yarn" {
		magnitude = m.float("rope.scaling.attn_factor", 1) * (1 + 0.1*math.Log(factor))
	}
	for i := range dims / 2 {
		angle := math.Pow(base, -2*float64(i)/float64(dims))
		if freqs != nil {
			angle /= freqs[i]
		}
		switch kind {
		case "linear":
			angle /= factor
		case "yarn":
			angle = yarn(angle, i, dims, base, factor, m.float("rope.scaling.original_context_length", 0))
		}
		cos, sin := math.Cos(angle*float64(pos))*magnitude, math.Sin(angle*float64(pos))*magnitude
		a, b := i, i+dims/2
		if m.arch == "llama" {
			a, b = 2*i, 2*i+1
		}
		x[a], x[b] = x[a]*cos-x[b]*sin, x[a]*sin+x[b]*cos
	}
}

// yarn blends the angle of pair i between stretched (long wavelengths) and as
// it was (short ones), with the paper's 32 and 1 turns as the bounds.
func yarn(angle float64, i, dims int, base, factor, context float64) float64 {
	dim := func(turns float64) float64 {
		return float64(dims) * math.Log(context/(turns*2*math.Pi)) / (2 * math.Log(base))
	}
	low, high := math.Max(0, math.Floor(dim(32))), math.Min(float64(dims-1), math.Ceil(dim(1)))
	ramp := (float64(i) - low) / math.Max(0.001, high-low)
	ramp = math.Min(1, math.Max(0, ramp))
	return angle/factor*ramp + angle*(1-ramp)
}

// mixture is the weighted sum of the chosen experts.
func (m *Model) mixture(p string, y []float64) []float64 {
	probs := matVec(m.weight(p+"ffn_gate_inp.weight"), y)
	softmax(probs)
	chosen := map[int]float64{}
	total := 0.0
	for range m.expertsUsed {
		best := -1
		for e, v := range probs {
			if _, taken := chosen[e]; !taken && (best < 0 || v > probs[best]) {
				best = e
			}
		}
		chosen[best] = probs[best]
		total += probs[best]
	}
	m.noteGap(probs, chosen)
	out := make([]float64, m.hidden)
	size := m.hidden * m.expFFN
	for e, weight := range chosen {
		slice := func(name string) []float64 { return m.weight(p + name)[e*size : (e+1)*size] }
		for i, v := range gated(y, slice("ffn_gate_exps.weight"), slice("ffn_up_exps.weight"), slice("ffn_down_exps.weight")) {
			out[i] += weight / total * v
		}
	}
	return out
}

// noteGap lowers RouterGap to that of a token's probabilities: the logarithm
// of their ratio is the difference of the logits.
func (m *Model) noteGap(probs []float64, chosen map[int]float64) {
	least, most := math.Inf(1), 0.0
	for e, p := range probs {
		if _, in := chosen[e]; in {
			least = math.Min(least, p)
		} else {
			most = math.Max(most, p)
		}
	}
	m.RouterGap = math.Min(m.RouterGap, math.Log(least/most))
}

// gated is down(silu(gate(y)) * up(y)).
func gated(y, gate, up, down []float64) []float64 {
	g, u := matVec(gate, y), matVec(up, y)
	for i := range g {
		g[i] = g[i] / (1 + math.Exp(-g[i])) * u[i]
	}
	return matVec(down, g)
}

// matVec is W x for W [rows][len(x)].
func matVec(w, x []float64) []float64 {
	out := make([]float64, len(w)/len(x))
	for r := range out {
		row := w[r*len(x) : (r+1)*len(x)]
		sum := 0.0
		for i, v := range x {
			sum += row[i] * v
		}
		out[r] = sum
	}
	return out
}

func rmsNorm(x, w []float64, eps float64) []float64 {
	sum := 0.0
	for _, v := range x {
		sum += v * v
	}
	scale := 1 / math.Sqrt(sum/float64(len(x))+eps)
	out := make([]float64, len(x))
	for i := range x {
		out[i] = x[i] * scale * w[i]
	}
	return out
}

func softmax(x []float64) {
	peak := math.Inf(-1)
	for _, v := range x {
		peak = math.Max(peak, v)
	}
	sum := 0.0
	for i, v := range x {
		x[i] = math.Exp(v - peak)
		sum += x[i]
	}
	for i := range x {
		x[i] /= sum
	}
}

func add(x, y []float64) {
	for i := range x {
		x[i] += y[i]
	}
}
