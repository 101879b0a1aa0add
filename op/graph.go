package op

import (
	"fmt"

	"github.com/holdfast-llm/holdfast/gguf/quant"
)

// Graph is the operations of one step, in an order that respects their
// dependencies. The builder methods append an operation and return its
// result; they panic on shapes that do not fit, which is a mistake in the
// model's Forward: package model checks the file's shapes beforehand.
type Graph struct {
	Ops    []*Op
	Logits *Value // [m][vocabulary], set by the model
}

// New returns a transient of cols float32 a row.
func (g *Graph) New(name string, cols int, per Rows) *Value {
	return &Value{Name: name, Role: Transient, Type: quant.F32, Per: per, Cols: cols, Height: 1, Experts: 1}
}

func (g *Graph) append(k Kind, name string, in, out []*Value, a Attr) {
	g.Ops = append(g.Ops, &Op{Kind: k, Name: name, In: in, Out: out, Attr: a})
}

func want(cond bool, name, format string, args ...any) {
	if !cond {
		panic("op: " + name + ": " + fmt.Sprintf(format, args...))
	}
}

// GetRows looks up the batch's tokens in an embedding matrix.
func (g *Graph) GetRows(name string, w *Value) *Value {
	out := g.New(name, w.Cols, PerToken)
	g.append(GetRows, name, []*Value{w}, []*Value{out}, Attr{})
	return out
}

// SelectRows keeps only the rows whose logits are wanted.
func (g *Graph) SelectRows(name string, x *Value) *Value {
	out := g.New(name, x.Cols, PerOutput)
	g.append(SelectRows, name, []*Value{x}, []*Value{out}, Attr{})
	return out
}

// RMSNorm normalises groups of w.Cols elements of x.
func (g *Graph) RMSNorm(name string, x, w *Value, eps float32) *Value {
	want(x.Cols%w.Cols == 0, name, "row of %d, weight of %d", x.Cols, w.Cols)
	out := g.New(name, x.Cols, x.Per)
	g.append(RMSNorm, name, []*Value{x, w}, []*Value{out}, Attr{Eps: eps})
	return out
}

// MulMat multiplies rows of x by a weight matrix; bias may be nil.
func (g *Graph) MulMat(name string, x, w, bias *Value) *Value {
	want(x.Cols == w.Cols, name, "row of %d, matrix of %d x %d", x.Cols, w.Height, w.Cols)
	out := g.New(name, w.Height, x.Per)
	in := []*Value{x, w}
	if bias != nil {
		want(bias.Cols == w.Height, name, "bias of %d, matrix of %d x %d", bias.Cols, w.Height, w.Cols)
		in = append(in, bias)
	}
	g.append(MulMat, name, in, []*Value{out}, Attr{})
	return out
}

// RopeTable computes the batch's rotations, shared by all layers.
func (g *Graph) RopeTable(r *Rotary) *Value {
	out := g.New("rope_table", 2*len(r.InvFreq), PerToken)
	g.append(RopeTable, "rope_table", nil, []*Value{out}, Attr{Rotary: r})
	return out
}

// Rope rotates heads of x in place and returns x.
func (g *Graph) Rope(name string, x, table *Value, heads int, r *Rotary) *Value {
	want(x.Cols%heads == 0 && x.Cols/heads >= 2*len(r.InvFreq), name, "row of %d, %d heads, %d rotated", x.Cols, heads, 2*len(r.InvFreq))
	g.append(Rope, name, []*Value{x, table}, []*Value{x}, Attr{Heads: heads, HeadDim: x.Cols / heads, Rotary: r})
	return x
}

// KVStore writes the batch's keys and values to a layer's caches.
func (g *Graph) KVStore(name string, k, v, kc, vc *Value) {
	want(k.Cols == kc.Cache.Heads*kc.Cache.HeadDim, name, "keys of %d, cache of %d x %d", k.Cols, kc.Cache.Heads, kc.Cache.HeadDim)
	want(v.Cols == vc.Cache.Heads*vc.Cache.HeadDim, name, "values of %d, cache of %d x %d", v.Cols, vc.Cache.Heads, vc.Cache.HeadDim)
	g.append(KVStore, name, []*Value{k, v}, []*Value{kc, vc},
		Attr{KVHeads: kc.Cache.Heads, HeadDim: kc.Cache.HeadDim, VDim: vc.Cache.HeadDim})
}

// Attention attends q's heads to a layer's caches.
func (g *Graph) Attention(name string, q, kc, vc *Value, heads int, scale float32) *Value {
	hd := kc.Cache.HeadDim
	want(q.Cols == heads*hd && heads%kc.Cache.Heads == 0, name, "queries of %d, %d heads of %d over %d", q.Cols, heads, hd, kc.Cache.Heads)
	out := g.New(name, heads*vc.Cache.HeadDim, q.Per)
	g.append(Attention, name, []*Value{q, kc, vc}, []*Value{out},
		Attr{Heads: heads, KVHeads: kc.Cache.Heads, HeadDim: hd, VDim: vc.Cache.HeadDim, Scale: scale})
	return out
}

// Add adds b to a in place and returns a.
func (g *Graph) Add(name string, a, b *Value) *Value {
	want(a.Cols == b.Cols && a.Per == b.Per, name, "rows of %d and %d", a.Cols, b.Cols)
	g.append(Add, name, []*Value{a, b}, []*Value{a}, Attr{})
	return a
}

// SwiGLU is silu(gate) * up.
func (g *Graph) SwiGLU(name string, gate, up *Value) *Value {
	want(gate.Cols == up.Cols, name, "rows of %d and %d", gate.Cols, up.Cols)
	out := g.New(name, gate.Cols, gate.Per)
	g.append(SwiGLU, name, []*Value{gate, up}, []*Value{out}, Attr{})
	return out
}

// MoERoute chooses used of logits.Cols experts for each row and returns their
// ids and weights, [n][used] each.
func (g *Graph) MoERoute(name string, logits *Value, used int, renorm bool, scale float32) (ids, weights *Value) {
	ids = g.New(name+".ids", used, logits.Per)
	ids.Type = quant.I32
	weights = g.New(name+".weights", used, logits.Per)
	g.append(MoERoute, name, []*Value{logits}, []*Value{ids, weights},
		Attr{Experts: logits.Cols, Used: used, RenormTopK: renorm, ExpertsScale: scale})
	return ids, weights
}

// MulMatID multiplies each row by the matrices of its chosen experts. x is
// [n][w.Cols], shared by the row's experts, or [n][used][w.Cols].
func (g *Graph) MulMatID(name string, x, w, ids *Value) *Value {
	used := ids.Cols
	want(x.Cols == w.Cols || x.Cols == used*w.Cols, name, "row of %d, %d experts of %d x %d", x.Cols, used, w.Height, w.Cols)
	out := g.New(name, used*w.Height, x.Per)
	g.append(MulMatID, name, []*Value{x, w, ids}, []*Value{out}, Attr{Experts: w.Experts, Used: used})
	return out
}

// MoESum adds the experts' results, each times its weight.
func (g *Graph) MoESum(name string, x, weights *Value) *Value {
	out := g.New(name, x.Cols/weights.Cols, x.Per)
	g.append(MoESum, name, []*Value{x, weights}, []*Value{out}, Attr{Used: weights.Cols})
	return out
}
