package synth

import (
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"math/rand/v2"

	"github.com/holdfast-llm/holdfast/gguf"
	"github.com/holdfast-llm/holdfast/gguf/quant"
)

// tensor is a tensor to be filled with normal deviates.
type tensor struct {
	name string
	typ  quant.Type
	dims []int
	mean float64
	std  float64
	data []float32 // instead of deviates
}

// tensors lists a model's tensors under llama.cpp's names. Standard deviations
// are chosen so that, with unit inputs (a norm's output), queries, keys, values,
// gates and router logits come out at about 1 to 2.
func tensors(c Config) []tensor {
	var ts []tensor
	matrix := func(name string, gain float64, dims ...int) {
		ts = append(ts, tensor{name: name, typ: c.Type, dims: dims, std: gain / math.Sqrt(float64(dims[0]))})
	}
	vector := func(name string, n int, mean, std float64) {
		ts = append(ts, tensor{name: name, typ: quant.F32, dims: []int{n}, mean: mean, std: std})
	}
	norm := func(name string, n int) { vector(name, n, 1, 0.1) }

	// Embeddings double as the output matrix where tied, so they have the
	// deviation that gives logits of 2. What attention and feed-forward add is
	// larger than they are: tied, a model would else repeat its last token.
	const logits = 2
	embedding := logits / math.Sqrt(float64(c.Hidden))
	added := 4 * embedding

	matrix("token_embd.weight", logits, c.Hidden, c.Vocab)
	if !c.Tied {
		matrix("output.weight", logits, c.Hidden, c.Vocab)
	}
	norm("output_norm.weight", c.Hidden)
	if c.Rope == Llama3 {
		factors := ropeFactors(c)
		ts = append(ts, tensor{name: "rope_freqs.weight", typ: quant.F32, dims: []int{len(factors)}, data: factors})
	}
	q, kv := c.Heads*c.HeadDim, c.KVHeads*c.HeadDim
	for i := range c.Layers {
		p := fmt.Sprintf("blk.%d.", i)
		norm(p+"attn_norm.weight", c.Hidden)
		matrix(p+"attn_q.weight", 1.5, c.Hidden, q)
		matrix(p+"attn_k.weight", 1.5, c.Hidden, kv)
		matrix(p+"attn_v.weight", 1, c.Hidden, kv)
		matrix(p+"attn_output.weight", 1.5*added, q, c.Hidden)
		switch c.Arch {
		case "qwen2":
			vector(p+"attn_q.bias", q, 0, 0.5)
			vector(p+"attn_k.bias", kv, 0, 0.5)
			vector(p+"attn_v.bias", kv, 0, 0.2)
		case "qwen3", "qwen3moe":
			vector(p+"attn_q_norm.weight", c.HeadDim, 1.5, 0.1)
			vector(p+"attn_k_norm.weight", c.HeadDim, 1.5, 0.1)
		}
		norm(p+"ffn_norm.weight", c.Hidden)
		if c.Experts == 0 {
			matrix(p+"ffn_gate.weight", 1.5, c.Hidden, c.FFN)
			matrix(p+"ffn_up.weight", 1, c.Hidden, c.FFN)
			matrix(p+"ffn_down.weight", added, c.FFN, c.Hidden)
			continue
		}
		router := 1.5 / math.Sqrt(float64(c.Hidden))
		ts = append(ts, tensor{name: p + "ffn_gate_inp.weight", typ: quant.F32, dims: []int{c.Hidden, c.Experts}, std: router})
		matrix(p+"ffn_gate_exps.weight", 1.5, c.Hidden, c.ExpertFFN, c.Experts)
		matrix(p+"ffn_up_exps.weight", 1, c.Hidden, c.ExpertFFN, c.Experts)
		matrix(p+"ffn_down_exps.weight", added, c.ExpertFFN, c.Hidden, c.Experts)
	}
	return ts
}

// sources are the tensors for gguf.Write.
func sources(c Config) []gguf.TensorSource {
	var out []gguf.TensorSource
	for _, t := range tensors(c) {
		out = append(out, gguf.TensorSource{Name: t.name, Dims: t.dims, Type: t.typ, WriteData: func(w io.Writer) error {
			return t.write(w, c.Seed)
		}})
	}
	return out
}

// deviate is a nearly normal deviate, the sum of four uniform ones: within 3.5
// standard deviations, and the same bits on every architecture.
func deviate(gen *rand.PCG) float64 {
	const sqrt3 = 1.7320508075688772
	v := gen.Uint64()
	sum := int(v&0xffff) + int(v>>16&0xffff) + int(v>>32&0xffff) + int(v>>48)
	return float64(sum-2*0xffff) * sqrt3 / (1 << 16)
}

// write quantises the tensor row by row. Its deviates depend on the seed and its
// name alone, so that models that differ in one thing share all other weights.
func (t tensor) write(w io.Writer, seed uint64) error {
	h := fnv.New64a()
	io.WriteString(h, t.name)
	gen := rand.NewPCG(seed, h.Sum64())
	row := make([]float32, t.dims[0])
	b := make([]byte, t.typ.RowBytes(len(row)))
	rows := 1
	for _, d := range t.dims[1:] {
		rows *= d
	}
	for range rows {
		for i := range row {
			row[i] = float32(t.mean + float64(t.std*deviate(gen)))
		}
		if t.data != nil {
			copy(row, t.data)
		}
		if err := quant.Quantize(t.typ, b, row); err != nil {
			return err
		}
		if _, err := w.Write(b); err != nil {
			return err
		}
	}
	return nil
}
