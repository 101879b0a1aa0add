package cpu

import (
	"github.com/holdfast-llm/holdfast/device"
	"github.com/holdfast-llm/holdfast/gguf/quant"
	"github.com/holdfast-llm/holdfast/op"
)

func (d *Device) matchGetRows(o *op.Op, c *device.Compile) ([]device.Launch, *device.Decline) {
	w, out := o.In[0], o.Out[0]
	if w.Type == quant.I32 || !w.Type.Known() {
		return decline(device.ReasonType, "%s is %s", w.Name, w.Type)
	}
	return []device.Launch{launch(c, o.Name, o.In, o.Out, func(mem func(*op.Value) []byte) kernel {
		table, dst, rowBytes := mem(w), floats(mem(out)), w.RowBytes()
		return kernel{tasks: count(out), run: func(_ *worker, b *batch, i int) {
			at := int(b.Tokens[i]) * rowBytes
			err := quant.Dequantize(w.Type, dst[i*w.Cols:(i+1)*w.Cols], table[at:at+rowBytes])
			if err != nil {
				panic(err)
			}
		}}
	})}, nil
}

func (d *Device) matchSelectRows(o *op.Op, c *device.Compile) ([]device.Launch, *device.Decline) {
	x, out := o.In[0], o.Out[0]
	return []device.Launch{launch(c, o.Name, o.In, o.Out, func(mem func(*op.Value) []byte) kernel {
		src, dst, k := floats(mem(x)), floats(mem(out)), x.Cols
		return kernel{tasks: count(out), run: func(_ *worker, b *batch, j int) {
			i := int(b.Output[j])
			copy(dst[j*k:(j+1)*k], src[i*k:(i+1)*k])
		}}
	})}, nil
}
