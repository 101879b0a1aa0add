package cpu

import (
	"math"

	"github.com/holdfast-llm/holdfast/attn/kv"
	"github.com/holdfast-llm/holdfast/device"
	"github.com/holdfast-llm/holdfast/device/cpu/simd"
	"github.com/holdfast-llm/holdfast/gguf/quant"
	"github.com/holdfast-llm/holdfast/op"
)

// attentionTile is the largest number of query rows of one sequence that are
// attended together: each key row read serves all of them.
const attentionTile = 32

func (d *Device) matchKVStore(o *op.Op, c *device.Compile) ([]device.Launch, *device.Decline) {
	a := o.Attr
	storeK, okK := d.encode(o.Out[0].Type)
	storeV, okV := d.encode(o.Out[1].Type)
	if !okK || !okV {
		return decline(device.ReasonType, "caches are %s and %s", o.Out[0].Type, o.Out[1].Type)
	}
	return []device.Launch{launch(c, o.Name, o.In, o.Out, func(mem func(*op.Value) []byte) kernel {
		k, v, n := floats(mem(o.In[0])), floats(mem(o.In[1])), o.In[0].Count
		return kernel{tasks: func(b *batch) int { return n(b.n, b.m) }, run: func(_ *worker, b *batch, i int) {
			slot, pos := int(b.Slot[i]), int(b.Pos[i])
			for h := range a.KVHeads {
				storeK(cacheRow(o.Out[0], slot, h, pos), k[(i*a.KVHeads+h)*a.HeadDim:][:a.HeadDim])
				storeV(cacheRow(o.Out[1], slot, h, pos), v[(i*a.KVHeads+h)*a.VDim:][:a.VDim])
			}
		}}
	})}, nil
}

// cacheRow is one position of one head.
func cacheRow(c *op.Value, slot, head, pos int) []byte {
	n := c.Type.RowBytes(c.Cache.HeadDim)
	return kv.Rows(c, slot, head)[pos*n : (pos+1)*n]
}

// encode is the function that writes a row of a cache of type t.
func (d *Device) encode(t quant.Type) (func(dst []byte, x []float32), bool) {
	switch t {
	case quant.F16:
		return func(dst []byte, x []float32) { d.elem.ToF16(halves(dst), x) }, true
	case quant.BF16:
		return func(dst []byte, x []float32) { d.elem.ToBF16(halves(dst), x) }, true
	case quant.Q8_0:
		return d.elem.ToQ8_0, true
	case quant.F32:
		return func(dst []byte, x []float32) { copy(floats(dst), x) }, true
	}
	return nil, false
}

// matchAttention is the lane beneath all others: one pass over the keys, any
// depth, any head size, any number of query rows. A task is one tile of query
// rows and one KV head.
func (d *Device) matchAttention(o *op.Op, c *device.Compile) ([]device.Launch, *device.Decline) {
	a, q, kc, vc, out := o.Attr, o.In[0], o.In[1], o.In[2], o.Out[0]
	kern, ok := simd.AttentionFor(d.level, kc.Type, vc.Type, a.HeadDim, a.VDim)
	if !ok {
		return decline(device.ReasonType, "keys of %s in heads of %d, values of %s in heads of %d", kc.Type, a.HeadDim, vc.Type, a.VDim)
	}
	group := a.Heads / a.KVHeads
	rows := min(attentionTile, c.Limits.Tokens)
	qFloats := rows * group * a.HeadDim
	scratch := qFloats + 2*group + max(kern.ScratchFloats(group), kern.PrefillScratchFloats(rows, group))
	return []device.Launch{launch(c, o.Name+"."+kern.Name, o.In, o.Out, func(mem func(*op.Value) []byte) kernel {
		queries, dst := floats(mem(q)), floats(mem(out))
		return kernel{
			scratch: 4 * scratch,
			tasks:   func(b *batch) int { return len(b.tiles) * a.KVHeads },
			run: func(w *worker, b *batch, task int) {
				t, h := &b.tiles[task/a.KVHeads], task%a.KVHeads
				s := floats(w.scratch)
				scaled, s := s[:qFloats], s[qFloats:]
				for i := range t.rows {
					src := queries[(t.row+i)*q.Cols+h*group*a.HeadDim:][:group*a.HeadDim]
					for j, v := range src {
						scaled[i*group*a.HeadDim+j] = v * a.Scale
					}
				}
				k, v := kv.Rows(kc, t.slot, h), kv.Rows(vc, t.slot, h)
				o := dst[t.row*out.Cols+h*group*a.VDim:]
				if t.rows > 1 {
					kern.Prefill(o, out.Cols, scaled, group*a.HeadDim, t.rows, group, k, v, t.pos, s)
					return
				}
				attendRow(&kern, o[:group*a.VDim], scaled, group, k, v, t.pos+1, s)
			},
		}
	})}, nil
}

// attendRow attends one query row of g heads to n keys. scratch holds the
// heads' running maximum and sum, then the kernel's own.
func attendRow(kern *simd.Attention, out, q []float32, g int, k, v []byte, n int, scratch []float32) {
	m, l, rest := scratch[:g], scratch[g:2*g], scratch[2*g:]
	for i := range m {
		m[i], l[i] = float32(math.Inf(-1)), 0
	}
	clear(out)
	kern.Accumulate(out, m, l, q, g, k, v, n, nil, rest)
	dim := len(out) / g
	for i := range g {
		inv := 1 / l[i] // the row's own key is never masked, so l > 0
		for j := i * dim; j < (i+1)*dim; j++ {
			out[j] *= inv
		}
	}
}
