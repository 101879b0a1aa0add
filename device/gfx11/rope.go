package gfx11

import (
	"encoding/binary"
	"math"

	"github.com/holdfast-llm/holdfast/device"
	"github.com/holdfast-llm/holdfast/device/kernel"
	"github.com/holdfast-llm/holdfast/gguf/quant"
	"github.com/holdfast-llm/holdfast/op"
)

func ropeTable(c *device.Compile, o *op.Op) ([]device.Launch, *device.Decline) {
	out, r := o.Out[0], o.Attr.Rotary
	var data []byte
	for _, f := range r.InvFreq {
		data = binary.LittleEndian.AppendUint64(data, math.Float64bits(f))
	}
	freq := &op.Value{Name: o.Name + ".frequencies"}
	return []device.Launch{launch(c, o, o.In, o.Out, command{
		rows: out,
		own:  []own{{freq, len(data), data}},
		launch: func(at addresses, rows int) kernel.Launch {
			return kernel.RopeTable{
				InvFreq: at(freq), Pos: at(batchPos), Table: at(out), Half: uint32(len(r.InvFreq)), Magnitude: r.Magnitude,
			}.Launch(rows)
		},
	})}, nil
}

func rope(c *device.Compile, o *op.Op) ([]device.Launch, *device.Decline) {
	x, table, a := o.In[0], o.In[1], o.Attr
	return []device.Launch{launch(c, o, o.In, o.Out, command{
		rows: x,
		launch: func(at addresses, rows int) kernel.Launch {
			return kernel.Rope{
				X: at(x), Table: at(table), Heads: uint32(a.Heads), HeadDim: uint32(a.HeadDim),
				Half: uint32(len(a.Rotary.InvFreq)), Interleaved: flag(a.Rotary.Interleaved),
			}.Launch(rows)
		},
	})}, nil
}

func kvStore(c *device.Compile, o *op.Op) ([]device.Launch, *device.Decline) {
	if refused := halves(o.Out[0], o.Out[1]); refused != nil {
		return nil, refused
	}
	k, v, kc, vc, a := o.In[0], o.In[1], o.Out[0], o.Out[1], o.Attr
	return []device.Launch{launch(c, o, o.In, o.Out, command{
		rows: k,
		launch: func(at addresses, rows int) kernel.Launch {
			return kernel.KVStore{
				K: at(k), V: at(v), KCache: at(kc), VCache: at(vc), Pos: at(batchPos), Slot: at(batchSlot),
				KVHeads: uint32(a.KVHeads), HeadDim: uint32(a.HeadDim), VDim: uint32(a.VDim), Context: uint32(kc.Cache.Context),
			}.Launch(rows)
		},
	})}, nil
}

// ropeStore is the rotation of keys and their store with the values.
func ropeStore(s *device.Site) (*device.Match, *device.Decline) {
	r := s.Op()
	if len(s.Ops) < 2 || s.Ops[1].Kind != op.KVStore || s.Ops[1].In[0] != r.Out[0] {
		return nil, no(device.ReasonFusion, "%s is not followed by the store of what it rotates", r.Name)
	}
	store := s.Ops[1]
	if refused := halves(store.Out[0], store.Out[1]); refused != nil {
		return nil, refused
	}
	k, table, v, kc, vc, a := r.In[0], r.In[1], store.In[1], store.Out[0], store.Out[1], store.Attr
	l := launch(s.Compile, store, []*op.Value{k, table, v}, store.Out, command{
		rows: k,
		launch: func(at addresses, rows int) kernel.Launch {
			return kernel.RopeKVStore{
				K: at(k), V: at(v), Table: at(table), KCache: at(kc), VCache: at(vc), Pos: at(batchPos), Slot: at(batchSlot),
				KVHeads: uint32(a.KVHeads), HeadDim: uint32(a.HeadDim), VDim: uint32(a.VDim), Context: uint32(kc.Cache.Context),
				Half: uint32(len(r.Attr.Rotary.InvFreq)), Interleaved: flag(r.Attr.Rotary.Interleaved),
			}.Launch(rows)
		},
	})
	return &device.Match{Launches: []device.Launch{l}, Covers: 2}, nil
}

// halves declines caches that are not of F16.
func halves(k, v *op.Value) *device.Decline {
	if k.Type != quant.F16 || v.Type != quant.F16 {
		return no(device.ReasonType, "caches are %s and %s, want F16", k.Type, v.Type)
	}
	return nil
}

func flag(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}
