package cpu

import (
	"github.com/holdfast-llm/holdfast/device"
	"github.com/holdfast-llm/holdfast/device/cpu/simd"
	"github.com/holdfast-llm/holdfast/op"
)

const (
	// gemmRows is the batch from which a matrix-matrix kernel beats a
	// matrix-vector kernel that runs row after row on weights in cache.
	gemmRows = 3
	// chunkBytes is how much of a weight matrix one matrix-vector task reads:
	// small enough to share evenly and to stay in L2 for a few rows, large
	// enough that starting a kernel does not show (32 KiB cost 5 %).
	chunkBytes = 64 << 10
)

// mulMat offers the matrix-matrix kernel for large batches and the
// matrix-vector kernel for anything.
func (d *Device) mulMat() []device.Registration {
	return []device.Registration{
		fused("mul_mat.swiglu", 2, d.matchGateUp),
		single("mul_mat.gemm", 1, d.matchGemm),
		single("mul_mat.vec", 0, d.matchMatVec),
	}
}

// chunkRows is how many weight rows of rowBytes a matrix-vector task takes.
func chunkRows(rowBytes int) int { return max(8, chunkBytes/rowBytes&^7) }

func (d *Device) matchMatVec(o *op.Op, c *device.Compile) ([]device.Launch, *device.Decline) {
	x, w, y := o.In[0], o.In[1], o.Out[0]
	kern, ok := simd.MatVecFor(d.level, w.Type)
	if !ok {
		return decline(device.ReasonType, "%s is %s", w.Name, w.Type)
	}
	pack, ls := d.packRows(o, x, x.Cols, 1, &kern, c)
	reads := append([]*op.Value{pack}, o.In[1:]...)
	return append(ls, launch(c, o.Name+"."+kern.Name, reads, o.Out, func(mem func(*op.Value) []byte) kernel {
		acts, weights, dst, bias := mem(pack), mem(w), floats(mem(y)), biasOf(o, mem)
		rowBytes, actBytes := w.RowBytes(), kern.ActBytes(w.Cols)
		p := cut(w.Height, chunkRows(rowBytes))
		return kernel{
			tasks: func(b *batch) int { return p.perRow },
			run: func(_ *worker, b *batch, task int) {
				_, lo, hi := p.at(task)
				for i := range y.Count(b.n, b.m) {
					out := dst[i*w.Height+lo : i*w.Height+hi]
					kern.Dot(out, weights[lo*rowBytes:hi*rowBytes], acts[i*actBytes:(i+1)*actBytes], w.Cols)
					if bias != nil {
						d.elem.Add(out, out, bias[lo:hi])
					}
				}
			},
		}
	})), nil
}

func biasOf(o *op.Op, mem func(*op.Value) []byte) []float32 {
	if len(o.In) < 3 {
		return nil
	}
	return floats(mem(o.In[2]))
}

// packRows returns x in the form that kern wants its activations, with the
// launch that makes it unless another matrix already needed it. A row of x
// holds per vectors of k elements.
func (d *Device) packRows(o *op.Op, x *op.Value, k, per int, kern *simd.MatVec, c *device.Compile) (*op.Value, []device.Launch) {
	size := kern.ActBytes(k)
	pack, fresh := c.DerivedRows(x, kern.ActID, per*size)
	if !fresh {
		return pack, nil
	}
	return pack, []device.Launch{launch(c, o.Name+".pack", []*op.Value{x}, []*op.Value{pack}, func(mem func(*op.Value) []byte) kernel {
		src, dst := floats(mem(x)), mem(pack)
		return kernel{
			tasks: func(b *batch) int { return x.Count(b.n, b.m) * per },
			run: func(_ *worker, _ *batch, i int) {
				kern.Pack(dst[i*size:(i+1)*size], src[i*k:(i+1)*k])
			},
		}
	})}
}

func (d *Device) matchGemm(o *op.Op, c *device.Compile) ([]device.Launch, *device.Decline) {
	x, w, y := o.In[0], o.In[1], o.Out[0]
	if c.Rows(y) < gemmRows {
		return decline(device.ReasonShape, "up to %d rows, better from %d", c.Rows(y), gemmRows)
	}
	kern, ok := simd.GemmFor(d.level, w.Type)
	if !ok {
		return decline(device.ReasonType, "%s is %s", w.Name, w.Type)
	}
	pack, fresh := c.Derived(x, kern.ActID, kern.ActBytes(w.Cols, c.Rows(x)))
	var ls []device.Launch
	if fresh {
		ls = append(ls, launch(c, o.Name+".pack", []*op.Value{x}, []*op.Value{pack}, func(mem func(*op.Value) []byte) kernel {
			src, dst, rows := floats(mem(x)), mem(pack), packTile(kern.RowTile)
			return kernel{
				tasks: func(b *batch) int { return (x.Count(b.n, b.m) + rows - 1) / rows },
				run: func(_ *worker, b *batch, task int) {
					n := x.Count(b.n, b.m)
					kern.PackRows(dst, src, w.Cols, w.Cols, n, task*rows, min((task+1)*rows, n))
				},
			}
		}))
	}
	reads := append([]*op.Value{pack}, o.In[1:]...)
	return append(ls, launch(c, o.Name+"."+kern.Name, reads, o.Out, func(mem func(*op.Value) []byte) kernel {
		acts, weights, dst, bias := mem(pack), mem(w), floats(mem(y)), biasOf(o, mem)
		rowBytes, p := w.RowBytes(), cut(w.Height, kern.Panel)
		return kernel{
			scratch: kern.Scratch(w.Cols),
			tasks:   func(b *batch) int { return p.perRow },
			run: func(wk *worker, b *batch, task int) {
				_, lo, hi := p.at(task)
				n := y.Count(b.n, b.m)
				if n == 0 {
					return
				}
				kern.Run(dst[lo:], w.Height, weights[lo*rowBytes:hi*rowBytes], w.Cols, hi-lo, acts, n, wk.scratch)
				if bias == nil {
					return
				}
				for i := range n {
					out := dst[i*w.Height+lo : i*w.Height+hi]
					d.elem.Add(out, out, bias[lo:hi])
				}
			},
		}
	})), nil
}

// packTile is the number of rows that one packing task takes: a multiple of
// the kernel's tile, about 16.
func packTile(tile int) int { return (16 + tile - 1) / tile * tile }
