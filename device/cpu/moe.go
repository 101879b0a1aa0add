package cpu

import (
	"fmt"
	"math"

	"github.com/holdfast-llm/holdfast/device"
	"github.com/holdfast-llm/holdfast/device/cpu/simd"
	"github.com/holdfast-llm/holdfast/op"
)

func (d *Device) matchMoERoute(o *op.Op, c *device.Compile) ([]device.Launch, *device.Decline) {
	a, logits, ids, weights := o.Attr, o.In[0], o.Out[0], o.Out[1]
	return []device.Launch{launch(c, o.Name, o.In, o.Out, func(mem func(*op.Value) []byte) kernel {
		in, idv, wv := floats(mem(logits)), ints(mem(ids)), floats(mem(weights))
		return kernel{tasks: count(ids), run: func(_ *worker, b *batch, i int) {
			err := route(idv[i*a.Used:(i+1)*a.Used], wv[i*a.Used:(i+1)*a.Used], in[i*a.Experts:(i+1)*a.Experts], a.RenormTopK, a.ExpertsScale)
			if err != nil {
				panic(fmt.Errorf("row %d: %w", i, err))
			}
		}}
	})}, nil
}

// route picks the len(ids) experts with the highest logits, the lower id
// first among equals, and weights them by the softmax over all experts;
// renorm makes the chosen weights sum to 1. A NaN logit is an error: it would
// compare as neither above nor below anything, and no id would be right.
func route(ids []int32, weights, logits []float32, renorm bool, scale float32) error {
	peak := float32(math.Inf(-1))
	for e, v := range logits {
		if v != v {
			return &notFinite{what: fmt.Sprintf("moe: router logit of expert %d", e), value: v, inherited: true}
		}
		peak = max(peak, v)
	}
	if math.IsInf(float64(peak), 0) {
		return &notFinite{what: "moe: highest router logit", value: peak, inherited: true}
	}
	sum := 0.0
	for _, v := range logits {
		sum += math.Exp(float64(v - peak))
	}
	// Insertion into a sorted list: later experts go in only if strictly
	// higher, so ties keep the lower id.
	n := 0
	for e, v := range logits {
		at := n
		for at > 0 && v > logits[ids[at-1]] {
			at--
		}
		if at == len(ids) {
			continue
		}
		n = min(n+1, len(ids))
		copy(ids[at+1:n], ids[at:n-1])
		ids[at] = int32(e)
	}
	total := 0.0
	for u, e := range ids {
		p := math.Exp(float64(logits[e]-peak)) / sum
		weights[u] = float32(p)
		total += p
	}
	if renorm {
		for u := range weights {
			weights[u] = float32(float64(weights[u]) / total)
		}
	}
	if scale != 0 && scale != 1 {
		for u := range weights {
			weights[u] *= scale
		}
	}
	return nil
}

func (d *Device) matchMoESum(o *op.Op, c *device.Compile) ([]device.Launch, *device.Decline) {
	x, weights, y, used := o.In[0], o.In[1], o.Out[0], o.Attr.Used
	return []device.Launch{launch(c, o.Name, o.In, o.Out, func(mem func(*op.Value) []byte) kernel {
		src, wv, dst := floats(mem(x)), floats(mem(weights)), floats(mem(y))
		p := cut(y.Cols, elemPiece)
		return kernel{
			tasks: func(b *batch) int { return y.Count(b.n, b.m) * p.perRow },
			run: func(_ *worker, _ *batch, task int) {
				row, lo, hi := p.at(task)
				out := dst[row*y.Cols+lo : row*y.Cols+hi]
				clear(out)
				for u := range used {
					d.elem.AXPY(out, wv[row*used+u], src[(row*used+u)*y.Cols+lo:][:hi-lo])
				}
			},
		}
	})}, nil
}

// mulMatID offers, for large batches, one matrix-matrix product for each
// expert over the rows that chose it, and a matrix-vector product for each
// (row, expert) pair for anything.
func (d *Device) mulMatID() []device.Registration {
	return []device.Registration{
		fused("mul_mat_id.swiglu", 2, d.matchGateUpID),
		single("mul_mat_id.gemm", 1, d.matchGemmID),
		single("mul_mat_id.vec", 0, d.matchMatVecID),
	}
}

// expert is the bytes of one matrix of a stack.
func expert(w *op.Value, weights []byte, id int32) []byte {
	if id < 0 || int(id) >= w.Experts {
		panic(fmt.Errorf("moe: expert %d of %d", id, w.Experts))
	}
	size := int64(w.Height) * int64(w.RowBytes())
	return weights[int64(id)*size : int64(id+1)*size]
}

func (d *Device) matchMatVecID(o *op.Op, c *device.Compile) ([]device.Launch, *device.Decline) {
	x, w, ids, y, used := o.In[0], o.In[1], o.In[2], o.Out[0], o.Attr.Used
	kern, ok := simd.MatVecFor(d.level, w.Type)
	if !ok {
		return decline(device.ReasonType, "%s is %s", w.Name, w.Type)
	}
	per := x.Cols / w.Cols // 1: x is shared by the row's experts; used: each has its own
	pack, ls := d.packRows(o, x, w.Cols, per, &kern, c)
	return append(ls, launch(c, o.Name+"."+kern.Name, []*op.Value{pack, w, ids}, o.Out, func(mem func(*op.Value) []byte) kernel {
		acts, weights, idv, dst := mem(pack), mem(w), ints(mem(ids)), floats(mem(y))
		rowBytes, actBytes := w.RowBytes(), kern.ActBytes(w.Cols)
		p := cut(w.Height, chunkRows(rowBytes))
		return kernel{
			tasks: func(b *batch) int { return y.Count(b.n, b.m) * used * p.perRow },
			run: func(_ *worker, _ *batch, task int) {
				pair, lo, hi := p.at(task)
				act := pair
				if per == 1 {
					act = pair / used
				}
				m := expert(w, weights, idv[pair])
				kern.Dot(dst[pair*w.Height+lo:pair*w.Height+hi], m[lo*rowBytes:hi*rowBytes], acts[act*actBytes:(act+1)*actBytes], w.Cols)
			},
		}
	})), nil
}

// groups lists the (row, expert) pairs of a batch by expert: the pairs of
// expert e are order[start[e]:start[e+1]], in ascending order.
type groups struct {
	start []int32 // [Experts+1]
	order []int32 // [n*Used]
}

func groupsIn(b []byte, experts int) groups {
	v := ints(b)
	return groups{v[:experts+1], v[experts+1:]}
}

func (g *groups) fill(ids []int32, experts int) {
	clear(g.start)
	for _, e := range ids {
		if e < 0 || int(e) >= experts {
			panic(fmt.Errorf("moe: expert %d of %d", e, experts))
		}
		g.start[e+1]++
	}
	for e := range experts {
		g.start[e+1] += g.start[e]
	}
	// Placing each pair moves its expert's start to the end of its range, so
	// afterwards every start is one expert late: shift them back.
	for pair, e := range ids {
		g.order[g.start[e]] = int32(pair)
		g.start[e]++
	}
	copy(g.start[1:], g.start[:experts])
	g.start[0] = 0
}

func (d *Device) matchGemmID(o *op.Op, c *device.Compile) ([]device.Launch, *device.Decline) {
	x, w, ids, y, used := o.In[0], o.In[1], o.In[2], o.Out[0], o.Attr.Used
	if c.Rows(y) < gemmRows {
		return decline(device.ReasonShape, "up to %d rows, better from %d", c.Rows(y), gemmRows)
	}
	kern, ok := simd.GemmFor(d.level, w.Type)
	if !ok {
		return decline(device.ReasonType, "%s is %s", w.Name, w.Type)
	}
	pairs, k := c.Rows(y)*used, w.Cols
	var ls []device.Launch

	byExpert, fresh := c.Derived(ids, "groups", 4*(w.Experts+1+pairs))
	if fresh {
		ls = append(ls, launch(c, o.Name+".groups", []*op.Value{ids}, []*op.Value{byExpert}, func(mem func(*op.Value) []byte) kernel {
			idv, g := ints(mem(ids)), groupsIn(mem(byExpert), w.Experts)
			return kernel{tasks: func(*batch) int { return 1 }, run: func(_ *worker, b *batch, _ int) {
				g.fill(idv[:y.Count(b.n, b.m)*used], w.Experts)
			}}
		}))
	}

	// The rows of an expert are gathered into its own packed matrix, at the
	// place where the packed rows of the experts before it end.
	per := x.Cols / k
	packBytes := func(n int) int { return (kern.ActBytes(k, n) + 63) &^ 63 }
	perRow := packBytes(kern.RowTile) // no expert's packed rows take more than this for each
	pack, fresh := c.Derived(x, kern.ActID+".by_expert", pairs*perRow)
	if fresh {
		ls = append(ls, launch(c, o.Name+".pack", []*op.Value{x, byExpert}, []*op.Value{pack}, func(mem func(*op.Value) []byte) kernel {
			src, dst, g := floats(mem(x)), mem(pack), groupsIn(mem(byExpert), w.Experts)
			return kernel{
				scratch: 4 * k * c.Rows(y), // a token chooses an expert once
				tasks:   func(*batch) int { return w.Experts },
				run: func(wk *worker, _ *batch, e int) {
					lo, hi := int(g.start[e]), int(g.start[e+1])
					gatherPack(&kern, dst[lo*perRow:hi*perRow], src, k, g.order[lo:hi], used/per, floats(wk.scratch))
				},
			}
		}))
	}

	return append(ls, launch(c, o.Name+"."+kern.Name, []*op.Value{pack, w, byExpert}, o.Out, func(mem func(*op.Value) []byte) kernel {
		acts, weights, dst, g := mem(pack), mem(w), floats(mem(y)), groupsIn(mem(byExpert), w.Experts)
		rowBytes, p := w.RowBytes(), cut(w.Height, kern.Panel)
		outBytes := 4 * c.Rows(y) * kern.Panel // a token chooses an expert once
		return kernel{
			scratch: outBytes + kern.Scratch(k),
			tasks:   func(*batch) int { return w.Experts * p.perRow },
			run: func(wk *worker, _ *batch, task int) {
				e, lo, hi := p.at(task)
				order := g.order[g.start[e]:g.start[e+1]]
				if len(order) == 0 {
					return
				}
				out, n := floats(wk.scratch[:outBytes]), hi-lo
				kern.Run(out, n, expert(w, weights, int32(e))[lo*rowBytes:hi*rowBytes], k, n,
					acts[int(g.start[e])*perRow:], len(order), wk.scratch[outBytes:])
				for i, pair := range order {
					copy(dst[int(pair)*w.Height+lo:][:n], out[i*n:(i+1)*n])
				}
			},
		}
	})), nil
}

// gatherPack packs the rows of x that pairs name; share consecutive pairs
// read the same row. buf holds len(pairs) rows of k.
func gatherPack(kern *simd.Gemm, dst []byte, x []float32, k int, pairs []int32, share int, buf []float32) {
	n := len(pairs)
	for i, pair := range pairs {
		row := int(pair) / share
		copy(buf[i*k:(i+1)*k], x[row*k:(row+1)*k])
	}
	if n > 0 {
		kern.PackRows(dst, buf, k, k, n, 0, n)
	}
}
