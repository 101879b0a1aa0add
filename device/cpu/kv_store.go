package cpu

import (
	"github.com/holdfast-llm/holdfast/attn/kv"
	"github.com/holdfast-llm/holdfast/device"
	"github.com/holdfast-llm/holdfast/gguf/quant"
	"github.com/holdfast-llm/holdfast/op"
)

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
