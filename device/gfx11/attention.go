package gfx11

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/holdfast-llm/holdfast/attn"
	"github.com/holdfast-llm/holdfast/device"
	"github.com/holdfast-llm/holdfast/device/kernel"
	"github.com/holdfast-llm/holdfast/gguf/quant"
	"github.com/holdfast-llm/holdfast/op"
)

const (
	// splitRows is the largest number of query rows that the split lanes take.
	splitRows = 16
	// maxWorkspace is the most that partial states may take, in bytes.
	maxWorkspace = 1 << 30
)

// What the attention kernels take.
const (
	maxGroup   = 64  // query heads of a KV head
	headUnit   = 16  // elements: head sizes are multiples
	maxHeadDim = 576 // elements
)

// attention offers, for up to splitRows query rows, the split lanes, each also
// in a form that packs its result for the projection behind it: two launches
// for each range of depths, and beneath them one launch whose last workgroup
// merges. The serial lane is under them all.
func attention() []device.Registration {
	var rs []device.Registration
	for _, r := range []attn.Reducer{attn.Direct, attn.Cooperative, attn.Multipass} {
		name := "attention.decode_split." + r.String()
		rs = append(rs, fused(name+".next_q8", 4, twoLaunches(r, true)), fused(name, 3, twoLaunches(r, false)))
	}
	return append(rs,
		fused("attention.decode_split.fused.next_q8", 2, oneLaunch(true)),
		fused("attention.decode_split.fused", 1, oneLaunch(false)),
		single("attention.serial", 0, serial))
}

// attend is an attention operation as its kernels see it.
type attend struct {
	op             *op.Op
	q, kc, vc      *op.Value
	mask           *op.Value // nil: none
	out            *op.Value
	kvHeads, group int
	headDim, vDim  int
	keys           int // that a row attends at most
	plan           attn.Plan
	states         *op.Value // of the split lanes
}

// newAttend declines what the kernels do not take.
func newAttend(c *device.Compile, o *op.Op) (*attend, *device.Decline) {
	a := &attend{
		op: o, q: o.In[0], kc: o.In[1], vc: o.In[2], out: o.Out[0],
		kvHeads: o.Attr.KVHeads, group: o.Attr.Heads / o.Attr.KVHeads, headDim: o.Attr.HeadDim, vDim: o.Attr.VDim,
	}
	a.keys = c.Limits.Keys
	if a.keys == 0 {
		a.keys = a.kc.Cache.Context
	}
	if refused := halves(a.kc, a.vc); refused != nil {
		return nil, refused
	}
	if a.group > maxGroup {
		return nil, no(device.ReasonShape, "%d query heads of a KV head, takes %d", a.group, maxGroup)
	}
	for _, d := range []int{a.headDim, a.vDim} {
		if d%headUnit != 0 || d > maxHeadDim {
			return nil, no(device.ReasonShape, "heads of %d and %d, takes multiples of %d up to %d", a.headDim, a.vDim, headUnit, maxHeadDim)
		}
	}
	if len(o.In) > 3 {
		a.mask = o.In[3]
		switch {
		case a.mask.Type != quant.F16 && a.mask.Type != quant.F32:
			return nil, no(device.ReasonType, "mask of %s, want F16 or F32", a.mask.Type)
		case a.mask.Cols < a.keys:
			return nil, no(device.ReasonShape, "mask of %d keys, %d may be attended", a.mask.Cols, a.keys)
		}
	}
	return a, nil
}

// newSplit is newAttend with a plan and room for its partial states.
func newSplit(c *device.Compile, o *op.Op) (*attend, *device.Decline) {
	if c.Limits.Tokens > splitRows {
		return nil, no(device.ReasonShape, "up to %d rows, takes %d", c.Limits.Tokens, splitRows)
	}
	a, refused := newAttend(c, o)
	if refused != nil {
		return nil, refused
	}
	a.plan = attn.NewPlan(attn.Shape{
		Rows: c.Limits.Tokens, Heads: o.Attr.Heads, KVHeads: a.kvHeads, VDim: a.vDim, Keys: a.keys, Window: o.Attr.Window,
	})
	if bytes := 4 * a.plan.Floats; bytes > maxWorkspace {
		return nil, no(device.ReasonMemory, "partial states of %d bytes, allowed are %d", bytes, maxWorkspace)
	}
	a.states = c.Temp(o.Name+".partial", 4*a.plan.Floats)
	a.states.Cols = a.plan.Floats // float32
	return a, nil
}

// produce is the arguments of the kernel that leaves partial states.
func (a *attend) produce(at addresses) kernel.AttentionProduce {
	k := kernel.AttentionProduce{
		Q: at(a.q), K: at(a.kc), V: at(a.vc), Pos: at(batchPos), Slot: at(batchSlot), States: at(a.states),
		KVHeads: uint32(a.kvHeads), Group: uint32(a.group), HeadDim: uint32(a.headDim), VDim: uint32(a.vDim),
		Context: uint32(a.kc.Cache.Context), Window: uint32(a.op.Attr.Window), Splits: uint32(a.plan.Splits),
		Scale: a.op.Attr.Scale,
	}
	if a.mask != nil {
		k.Mask, k.MaskKeys, k.MaskF32 = at(a.mask), uint32(a.mask.Cols), flag(a.mask.Type == quant.F32)
	}
	return k
}

// twoLaunches runs attention for a range of depths as two launches: the first
// leaves partial states, the second merges them. With next, the second also
// packs the finished rows for the product behind it.
func twoLaunches(r attn.Reducer, next bool) func(*device.Site) (*device.Match, *device.Decline) {
	return func(s *device.Site) (*device.Match, *device.Decline) {
		a, refused := newSplit(s.Compile, s.Op())
		if refused != nil {
			return nil, refused
		}
		if want := attn.ReducerFor(a.keys); want != r {
			return nil, no(device.ReasonShape, "%d blocks of %d keys are for %s", attn.Blocks(a.keys), attn.BlockKeys, want)
		}
		var packed *op.Value
		if next {
			if packed, refused = nextPack(s, a.out, 1); refused != nil {
				return nil, refused
			}
		}
		return &device.Match{
			Launches: []device.Launch{
				launch(s.Compile, a.op, a.op.In, []*op.Value{a.states}, command{
					rows: a.q,
					launch: func(at addresses, rows int) kernel.Launch {
						k := a.produce(at)
						if l, ok := k.LaunchTile(rows); ok {
							return l
						}
						return k.Launch(rows)
					},
				}),
				a.reduce(s.Compile, packed),
			},
			Covers: 1, Splits: a.plan.Splits,
		}, nil
	}
}

// reduce merges each row's states. packed may be nil.
func (a *attend) reduce(c *device.Compile, packed *op.Value) device.Launch {
	writes := []*op.Value{a.out}
	if packed != nil {
		writes = append(writes, packed)
	}
	return launch(c, a.op, []*op.Value{a.states, a.q}, writes, command{
		rows: a.q,
		launch: func(at addresses, rows int) kernel.Launch {
			k := kernel.AttentionReduce{
				States: at(a.states), Pos: at(batchPos), Out: at(a.out),
				KVHeads: uint32(a.kvHeads), Group: uint32(a.group), VDim: uint32(a.vDim),
				Window: uint32(a.op.Attr.Window), Splits: uint32(a.plan.Splits),
			}
			if packed == nil {
				return k.Launch(rows, a.keys)
			}
			return kernel.AttentionReduceQ8{
				States: k.States, Pos: k.Pos, Out: k.Out, Q8: at(packed),
				KVHeads: k.KVHeads, Group: k.Group, VDim: k.VDim, Window: k.Window, Splits: k.Splits,
			}.Launch(rows, a.keys)
		},
		check: a.check,
	})
}

// serial is attention in one pass over the keys.
func serial(c *device.Compile, o *op.Op) ([]device.Launch, *device.Decline) {
	a, refused := newAttend(c, o)
	if refused != nil {
		return nil, refused
	}
	return []device.Launch{launch(c, o, o.In, o.Out, command{
		rows: a.q,
		launch: func(at addresses, rows int) kernel.Launch {
			k := kernel.AttentionSerial{
				Q: at(a.q), K: at(a.kc), V: at(a.vc), Pos: at(batchPos), Slot: at(batchSlot), Out: at(a.out),
				KVHeads: uint32(a.kvHeads), Group: uint32(a.group), HeadDim: uint32(a.headDim), VDim: uint32(a.vDim),
				Context: uint32(a.kc.Cache.Context), Window: uint32(o.Attr.Window), Scale: o.Attr.Scale,
			}
			if a.mask != nil {
				k.Mask, k.MaskKeys, k.MaskF32 = at(a.mask), uint32(a.mask.Cols), flag(a.mask.Type == quant.F32)
			}
			return k.Launch(rows)
		},
		check: a.check,
	})}, nil
}

// check finds a result that is no number: the fault that a wrong key, value or
// partial state ends as is named here, not layers later. If the row's queries
// are no numbers either, the fault is not attention's.
func (a *attend) check(bytes func(*op.Value) []byte, rows int) *finding {
	for row := range rows {
		i, x := nonFinite(rowOf(bytes(a.out), row, a.out.Cols))
		if i < 0 {
			continue
		}
		q, _ := nonFinite(rowOf(bytes(a.q), row, a.q.Cols))
		return &finding{kind: device.FaultNaN, inherited: q >= 0, err: fmt.Errorf("%s row %d, element %d is %v", a.op.Name, row, i, x)}
	}
	return nil
}

// rowOf is a row of n floats.
func rowOf(b []byte, row, n int) []byte { return b[4*row*n : 4*(row+1)*n] }

// nonFinite is the first of floats that is no number; -1 if all are.
func nonFinite(b []byte) (int, float32) {
	for i := 0; 4*i < len(b); i++ {
		bits := binary.LittleEndian.Uint32(b[4*i:])
		if bits>>23&0xff == 0xff {
			return i, math.Float32frombits(bits)
		}
	}
	return -1, 0
}
