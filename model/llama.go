package model

import (
	"github.com/holdfast-llm/holdfast/attn/kv"
	"github.com/holdfast-llm/holdfast/op"
)

// Llama is Llama 2 and 3 and the models that share their architecture:
// interleaved rotary pairs, optional frequency factors (llama3), optional
// attention biases.
type Llama struct {
	Head   `gguf:""`
	Layers []LlamaLayer `gguf:"blk"`
	// RopeFreqs divides each pair's frequency.
	RopeFreqs *op.Value `gguf:"rope_freqs.weight,optional" dims:"rot"`
}

// LlamaLayer is one layer of Llama.
type LlamaLayer struct {
	AttnNorm *op.Value `gguf:"attn_norm.weight" dims:"hidden"`
	Q        *op.Value `gguf:"attn_q.weight" dims:"hidden,q"`
	K        *op.Value `gguf:"attn_k.weight" dims:"hidden,k"`
	V        *op.Value `gguf:"attn_v.weight" dims:"hidden,v"`
	QBias    *op.Value `gguf:"attn_q.bias,optional" dims:"q"`
	KBias    *op.Value `gguf:"attn_k.bias,optional" dims:"k"`
	VBias    *op.Value `gguf:"attn_v.bias,optional" dims:"v"`
	O        *op.Value `gguf:"attn_output.weight" dims:"o,hidden"`
	OBias    *op.Value `gguf:"attn_output.bias,optional" dims:"hidden"`
	FFN      `gguf:""`
}

func (m *Llama) forward(h *Hyper, g *op.Graph, c *kv.Cache) {
	s := newStep(h, g, c, h.rotary(m.RopeFreqs, true))
	x := m.embed(s)
	for i := range m.Layers {
		l := &m.Layers[i]
		y := g.RMSNorm(blk(i, "attn_norm"), x, l.AttnNorm, h.Eps)
		q := g.MulMat(blk(i, "attn_q"), y, l.Q, l.QBias)
		k := g.MulMat(blk(i, "attn_k"), y, l.K, l.KBias)
		v := g.MulMat(blk(i, "attn_v"), y, l.V, l.VBias)
		o := s.attend(i, q, k, v)
		x, o = s.wanted(i, x, o)
		x = g.Add(blk(i, "attn_add"), x, g.MulMat(blk(i, "attn_output"), o, l.O, l.OBias))
		x = l.FFN.forward(s, i, x)
	}
	m.logits(s, x)
}
