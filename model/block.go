package model

import (
	"fmt"
	"math"

	"github.com/holdfast-llm/holdfast/attn/kv"
	"github.com/holdfast-llm/holdfast/op"
)

// step carries what the layers of one Forward share.
type step struct {
	h      *Hyper
	g      *op.Graph
	c      *kv.Cache
	rotary *op.Rotary
	table  *op.Value
}

func newStep(h *Hyper, g *op.Graph, c *kv.Cache, r *op.Rotary) *step {
	return &step{h: h, g: g, c: c, rotary: r, table: g.RopeTable(r)}
}

func blk(i int, name string) string { return fmt.Sprintf("blk.%d.%s", i, name) }

// attend stores a layer's keys and values and attends its rotated queries.
func (s *step) attend(i int, q, k, v *op.Value) *op.Value {
	q = s.g.Rope(blk(i, "rope_q"), q, s.table, s.h.Heads, s.rotary)
	k = s.g.Rope(blk(i, "rope_k"), k, s.table, s.h.KVHeads, s.rotary)
	s.g.KVStore(blk(i, "kv_store"), k, v, s.c.K[i], s.c.V[i])
	scale := float32(1 / math.Sqrt(float64(s.h.HeadDim)))
	return s.g.Attention(blk(i, "attention"), q, s.c.K[i], s.c.V[i], s.h.Heads, scale)
}

// wanted drops, in the last layer, the rows whose logits nobody reads: from
// there on rows do not depend on each other.
func (s *step) wanted(i int, x, o *op.Value) (*op.Value, *op.Value) {
	if i != s.h.Layers-1 {
		return x, o
	}
	return s.g.SelectRows("select_x", x), s.g.SelectRows("select_o", o)
}

// FFN is the gated feed-forward of a dense layer.
type FFN struct {
	Norm *op.Value `gguf:"ffn_norm.weight" dims:"hidden"`
	Gate *op.Value `gguf:"ffn_gate.weight" dims:"hidden,ffn"`
	Up   *op.Value `gguf:"ffn_up.weight" dims:"hidden,ffn"`
	Down *op.Value `gguf:"ffn_down.weight" dims:"ffn,hidden"`
}

// forward is x + down(silu(gate(norm(x))) * up(norm(x))).
func (f *FFN) forward(s *step, i int, x *op.Value) *op.Value {
	y := s.g.RMSNorm(blk(i, "ffn_norm"), x, f.Norm, s.h.Eps)
	gate := s.g.MulMat(blk(i, "ffn_gate"), y, f.Gate, nil)
	up := s.g.MulMat(blk(i, "ffn_up"), y, f.Up, nil)
	y = s.g.SwiGLU(blk(i, "swiglu"), gate, up)
	return s.g.Add(blk(i, "ffn_add"), x, s.g.MulMat(blk(i, "ffn_down"), y, f.Down, nil))
}

// Head is the embedding at the bottom and the output at the top.
type Head struct {
	Embed      *op.Value `gguf:"token_embd.weight" dims:"hidden,vocab"`
	OutputNorm *op.Value `gguf:"output_norm.weight" dims:"hidden"`
	Output     *op.Value `gguf:"output.weight,alt=token_embd.weight" dims:"hidden,vocab"`
}

func (h *Head) embed(s *step) *op.Value { return s.g.GetRows("token_embd", h.Embed) }

func (h *Head) logits(s *step, x *op.Value) {
	x = s.g.RMSNorm("output_norm", x, h.OutputNorm, s.h.Eps)
	s.g.Logits = s.g.MulMat("output", x, h.Output, nil)
}
