package model

import (
	"github.com/holdfast-llm/holdfast/attn/kv"
	"github.com/holdfast-llm/holdfast/op"
)

// Qwen3 is the dense Qwen 3: each query and key head is normalised before it
// is rotated, and there are no biases.
type Qwen3 struct {
	Head   `gguf:""`
	Layers []Qwen3Layer `gguf:"blk"`
}

// Qwen3Layer is one layer of Qwen3.
type Qwen3Layer struct {
	Qwen3Attention `gguf:""`
	FFN            `gguf:""`
}

// Qwen3Attention is the attention of dense and mixture-of-experts layers.
type Qwen3Attention struct {
	AttnNorm *op.Value `gguf:"attn_norm.weight" dims:"hidden"`
	Q        *op.Value `gguf:"attn_q.weight" dims:"hidden,q"`
	K        *op.Value `gguf:"attn_k.weight" dims:"hidden,k"`
	V        *op.Value `gguf:"attn_v.weight" dims:"hidden,v"`
	QNorm    *op.Value `gguf:"attn_q_norm.weight" dims:"head"`
	KNorm    *op.Value `gguf:"attn_k_norm.weight" dims:"head"`
	O        *op.Value `gguf:"attn_output.weight" dims:"o,hidden"`
}

// forward is x + attention(norm(x)), for the rows still wanted.
func (a *Qwen3Attention) forward(s *step, i int, x *op.Value) *op.Value {
	g, eps := s.g, s.h.Eps
	y := g.RMSNorm(blk(i, "attn_norm"), x, a.AttnNorm, eps)
	q := g.MulMat(blk(i, "attn_q"), y, a.Q, nil)
	k := g.MulMat(blk(i, "attn_k"), y, a.K, nil)
	v := g.MulMat(blk(i, "attn_v"), y, a.V, nil)
	q = g.RMSNorm(blk(i, "attn_q_norm"), q, a.QNorm, eps)
	k = g.RMSNorm(blk(i, "attn_k_norm"), k, a.KNorm, eps)
	o := s.attend(i, q, k, v)
	x, o = s.wanted(i, x, o)
	return g.Add(blk(i, "attn_add"), x, g.MulMat(blk(i, "attn_output"), o, a.O, nil))
}

func (m *Qwen3) forward(h *Hyper, g *op.Graph, c *kv.Cache) {
	s := newStep(h, g, c, h.rotary(nil, false))
	x := m.embed(s)
	for i := range m.Layers {
		x = m.Layers[i].Qwen3Attention.forward(s, i, x)
		x = m.Layers[i].FFN.forward(s, i, x)
	}
	m.logits(s, x)
}
