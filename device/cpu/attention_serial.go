package cpu

import (
	"github.com/holdfast-llm/holdfast/attn"
	"github.com/holdfast-llm/holdfast/device"
	"github.com/holdfast-llm/holdfast/op"
)

// attentionTile is the largest number of query rows of one sequence that are
// attended together: each key row read serves all of them.
const attentionTile = 32

// matchSerial is the lane beneath the split ones: one pass over the keys, any
// depth, any head size, any number of query rows. A task is one tile of query
// rows and one KV head.
func (d *Device) matchSerial(o *op.Op, c *device.Compile) ([]device.Launch, *device.Decline) {
	a, refused := d.newAttend(o)
	if refused != nil {
		return nil, refused
	}
	out := o.Out[0]
	rows := min(attentionTile, c.Limits.Tokens)
	qFloats := rows * a.group * a.headDim
	scratch := qFloats + attn.StateFloats(a.group, a.vDim) + max(a.foldFloats(), a.kern.PrefillScratchFloats(rows, a.group))
	// Prefill knows neither windows nor masks: such rows go one by one.
	plain := o.Attr.Window == 0 && a.mask == nil
	return []device.Launch{launch(c, o.Name+"."+a.kern.Name, o.In, o.Out, func(mem func(*op.Value) []byte) kernel {
		queries, dst, mask := floats(mem(o.In[0])), floats(mem(out)), a.maskBytes(mem)
		return kernel{
			scratch: 4 * scratch,
			tasks:   func(b *batch) int { return len(b.tiles) * a.heads },
			run: func(w *worker, b *batch, task int) {
				t, h := &b.tiles[task/a.heads], task%a.heads
				s := floats(w.scratch)
				q, s := s[:qFloats], s[qFloats:]
				k, v := a.rows(t.slot, h)
				if t.rows > 1 && plain {
					for i := range t.rows {
						a.scale(q[i*a.group*a.headDim:], queries, t.row+i, h)
					}
					o := dst[t.row*out.Cols+h*a.group*a.vDim:]
					a.kern.Prefill(o, out.Cols, q, a.group*a.headDim, t.rows, a.group, k, v, t.pos, s)
				} else {
					for i := range t.rows {
						a.scale(q, queries, t.row+i, h)
						p := a.partialIn(s)
						p.reset()
						first, end := a.span(t.pos + i)
						a.fold(p, q, k[:end*a.kBytes], v, first, end, a.maskRow(mask, t.row+i), s[attn.StateFloats(a.group, a.vDim):])
						a.finish(dst[(t.row+i)*out.Cols+h*a.group*a.vDim:], p)
					}
				}
				for i := range t.rows {
					at := dst[(t.row+i)*out.Cols+h*a.group*a.vDim:]
					d.check(at[:a.group*a.vDim], a.queries(queries, t.row+i), o.Name, t.row+i)
				}
			},
		}
	})}, nil
}

// maskBytes is the memory of the mask, nil without one.
func (a *attend) maskBytes(mem func(*op.Value) []byte) []byte {
	if a.mask == nil {
		return nil
	}
	return mem(a.mask)
}

// finish writes the outputs of a group of heads, o/l. A row that attends
// nothing, whose sum is 0, gives zeros.
func (a *attend) finish(dst []float32, p partial) {
	copy(dst, p.o)
	for i, l := range p.l {
		if l == 0 {
			continue
		}
		inv := 1 / l
		for j := i * a.vDim; j < (i+1)*a.vDim; j++ {
			dst[j] *= inv
		}
	}
}
