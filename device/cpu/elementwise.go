package cpu

import (
	"github.com/holdfast-llm/holdfast/device"
	"github.com/holdfast-llm/holdfast/op"
)

// elemPiece is how many elements of a row one task of an elementwise kernel
// takes: about half a microsecond of work.
const elemPiece = 2048

func (d *Device) matchRMSNorm(o *op.Op, c *device.Compile) ([]device.Launch, *device.Decline) {
	x, w, y := o.In[0], o.In[1], o.Out[0]
	group := w.Cols
	return []device.Launch{launch(c, o.Name, o.In, o.Out, func(mem func(*op.Value) []byte) kernel {
		src, gain, dst := floats(mem(x)), floats(mem(w)), floats(mem(y))
		p := cut(x.Cols, max(group, elemPiece/group*group))
		return kernel{
			tasks: func(b *batch) int { return y.Count(b.n, b.m) * p.perRow },
			run: func(_ *worker, _ *batch, task int) {
				row, lo, hi := p.at(task)
				for at := row*p.cols + lo; at < row*p.cols+hi; at += group {
					d.elem.RMSNorm(dst[at:at+group], src[at:at+group], gain, o.Attr.Eps)
				}
			},
		}
	})}, nil
}

func (d *Device) matchAdd(o *op.Op, c *device.Compile) ([]device.Launch, *device.Decline) {
	return d.binary(o, c, d.elem.Add)
}

func (d *Device) matchSwiGLU(o *op.Op, c *device.Compile) ([]device.Launch, *device.Decline) {
	return d.binary(o, c, d.elem.SwiGLU)
}

// binary is y = f(a, b), element by element.
func (d *Device) binary(o *op.Op, c *device.Compile, f func(y, a, b []float32)) ([]device.Launch, *device.Decline) {
	y := o.Out[0]
	return []device.Launch{launch(c, o.Name, o.In, o.Out, func(mem func(*op.Value) []byte) kernel {
		a, b, dst := floats(mem(o.In[0])), floats(mem(o.In[1])), floats(mem(y))
		p := cut(y.Cols, elemPiece)
		return kernel{
			tasks: func(b *batch) int { return y.Count(b.n, b.m) * p.perRow },
			run: func(_ *worker, _ *batch, task int) {
				row, lo, hi := p.at(task)
				lo, hi = row*p.cols+lo, row*p.cols+hi
				f(dst[lo:hi], a[lo:hi], b[lo:hi])
			},
		}
	})}, nil
}
