package model

import (
	"github.com/holdfast-llm/holdfast/attn/kv"
	"github.com/holdfast-llm/holdfast/op"
)

// Qwen3MoE is Qwen 3 with a mixture of experts in every layer.
type Qwen3MoE struct {
	Head   `gguf:""`
	Layers []Qwen3MoELayer `gguf:"blk"`
}

// Qwen3MoELayer is one layer of Qwen3MoE.
type Qwen3MoELayer struct {
	Qwen3Attention `gguf:""`
	Norm           *op.Value `gguf:"ffn_norm.weight" dims:"hidden"`
	Router         *op.Value `gguf:"ffn_gate_inp.weight" dims:"hidden,experts"`
	Gate           *op.Value `gguf:"ffn_gate_exps.weight" dims:"hidden,expert_ffn,experts"`
	Up             *op.Value `gguf:"ffn_up_exps.weight" dims:"hidden,expert_ffn,experts"`
	Down           *op.Value `gguf:"ffn_down_exps.weight" dims:"expert_ffn,hidden,experts"`
}

func (m *Qwen3MoE) forward(h *Hyper, g *op.Graph, c *kv.Cache) {
	s := newStep(h, g, c, h.rotary(nil, false))
	x := m.embed(s)
	for i := range m.Layers {
		l := &m.Layers[i]
		x = l.Qwen3Attention.forward(s, i, x)
		y := g.RMSNorm(blk(i, "ffn_norm"), x, l.Norm, h.Eps)
		ids, weights := g.MoERoute(blk(i, "moe_route"), g.MulMat(blk(i, "ffn_gate_inp"), y, l.Router, nil), h.ExpertsUsed, true, h.ExpertScale)
		gate := g.MulMatID(blk(i, "ffn_gate_exps"), y, l.Gate, ids)
		up := g.MulMatID(blk(i, "ffn_up_exps"), y, l.Up, ids)
		y = g.SwiGLU(blk(i, "swiglu"), gate, up)
		y = g.MulMatID(blk(i, "ffn_down_exps"), y, l.Down, ids)
		x = g.Add(blk(i, "ffn_add"), x, g.MoESum(blk(i, "moe_sum"), y, weights))
	}
	m.logits(s, x)
}
