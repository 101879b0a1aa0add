package cpu

import (
	"math"

	"github.com/holdfast-llm/holdfast/device"
	"github.com/holdfast-llm/holdfast/op"
)

// matchRopeTable computes cos and sin in float64, once per token: at position
// 40,000 an angle in float32 would be off by 0.002 radians.
func (d *Device) matchRopeTable(o *op.Op, c *device.Compile) ([]device.Launch, *device.Decline) {
	out, r := o.Out[0], o.Attr.Rotary
	return []device.Launch{launch(c, o.Name, o.In, o.Out, func(mem func(*op.Value) []byte) kernel {
		table, half := floats(mem(out)), len(r.InvFreq)
		return kernel{tasks: count(out), run: func(_ *worker, b *batch, i int) {
			row := table[i*2*half : (i+1)*2*half]
			for j, f := range r.InvFreq {
				sin, cos := math.Sincos(float64(b.Pos[i]) * f)
				row[j] = float32(cos * r.Magnitude)
				row[half+j] = float32(sin * r.Magnitude)
			}
		}}
	})}, nil
}

func (d *Device) matchRope(o *op.Op, c *device.Compile) ([]device.Launch, *device.Decline) {
	x, table, a := o.In[0], o.In[1], o.Attr
	rotate := d.rotation(o)
	return []device.Launch{launch(c, o.Name, o.In, o.Out, func(mem func(*op.Value) []byte) kernel {
		v, t, half := floats(mem(x)), floats(mem(table)), len(a.Rotary.InvFreq)
		return kernel{tasks: count(x), run: func(_ *worker, _ *batch, i int) {
			cos, sin := t[i*2*half:i*2*half+half], t[i*2*half+half:(i+1)*2*half]
			for h := range a.Heads {
				at := i*x.Cols + h*a.HeadDim
				rotate(v[at:at+a.HeadDim], cos, sin)
			}
		}}
	})}, nil
}

// rotation is the kernel of an operation's pairs.
func (d *Device) rotation(o *op.Op) func(x, cos, sin []float32) {
	if o.Attr.Rotary.Interleaved {
		return d.elem.RopeNorm
	}
	return d.elem.RopeNeox
}
