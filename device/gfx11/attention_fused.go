package gfx11

import (
	"encoding/binary"
	"fmt"

	"github.com/holdfast-llm/holdfast/device"
	"github.com/holdfast-llm/holdfast/device/kernel"
	"github.com/holdfast-llm/holdfast/op"
)

// q8Group is the elements that are packed together.
const q8Group = 128

// oneLaunch runs attention as one launch: of each row and KV head the workgroup
// that leaves its partial state last, as a completion counter says, merges them
// all. With next, it also packs what it has merged.
func oneLaunch(next bool) func(*device.Site) (*device.Match, *device.Decline) {
	return func(s *device.Site) (*device.Match, *device.Decline) {
		a, refused := newSplit(s.Compile, s.Op())
		if refused != nil {
			return nil, refused
		}
		writes := []*op.Value{a.states, a.out}
		var packed *op.Value
		if next {
			if n := a.group * a.vDim; n%q8Group != 0 {
				return nil, no(device.ReasonShape, "a KV head's results are %d elements, want a multiple of %d", n, q8Group)
			}
			if packed, refused = nextPack(s, a.out, 1); refused != nil {
				return nil, refused
			}
			writes = append(writes, packed)
		}
		counters, status := &op.Value{Name: a.op.Name + ".counters"}, &op.Value{Name: a.op.Name + ".status"}
		l := launch(s.Compile, a.op, a.op.In, writes, command{
			rows: a.q,
			own:  []own{{value: counters, bytes: 4 * s.Rows(a.q) * a.kvHeads}, {value: status, bytes: 4}},
			launch: func(at addresses, rows int) kernel.Launch {
				return a.fused(at, counters, status, packed, rows)
			},
			check: func(bytes func(*op.Value) []byte, rows int) *finding {
				if f := a.completed(bytes(counters), bytes(status)); f != nil {
					return f
				}
				return a.check(bytes, rows)
			},
		})
		return &device.Match{Launches: []device.Launch{l}, Covers: 1, Splits: a.plan.Splits}, nil
	}
}

// fused is the launch, on matrix units where there is a kernel for the heads.
// packed may be nil.
func (a *attend) fused(at addresses, counters, status, packed *op.Value, rows int) kernel.Launch {
	p := a.produce(at)
	k := kernel.AttentionFused{
		Q: p.Q, K: p.K, V: p.V, Mask: p.Mask, Pos: p.Pos, Slot: p.Slot, States: p.States,
		Counters: at(counters), Status: at(status), Out: at(a.out),
		KVHeads: p.KVHeads, Group: p.Group, HeadDim: p.HeadDim, VDim: p.VDim,
		Context: p.Context, Window: p.Window, Splits: p.Splits, MaskKeys: p.MaskKeys, MaskF32: p.MaskF32, Scale: p.Scale,
	}
	if packed == nil {
		if l, ok := k.LaunchTile(rows); ok {
			return l
		}
		return k.Launch(rows)
	}
	q := kernel.AttentionFusedQ8{
		Q: k.Q, K: k.K, V: k.V, Mask: k.Mask, Pos: k.Pos, Slot: k.Slot, States: k.States,
		Counters: k.Counters, Status: k.Status, Out: k.Out, Q8: at(packed),
		KVHeads: k.KVHeads, Group: k.Group, HeadDim: k.HeadDim, VDim: k.VDim,
		Context: k.Context, Window: k.Window, Splits: k.Splits, MaskKeys: k.MaskKeys, MaskF32: k.MaskF32, Scale: k.Scale,
	}
	if l, ok := q.LaunchTile(rows); ok {
		return l
	}
	return q.Launch(rows)
}

// completed finds a completion counter that was wrong.
func (a *attend) completed(counters, status []byte) *finding {
	wrong := func(i int, format string, args ...any) *finding {
		return &finding{kind: device.FaultPanic, err: fmt.Errorf("completion counter of row %d, KV head %d "+format, append([]any{i / a.kvHeads, i % a.kvHeads}, args...)...)}
	}
	if s := binary.LittleEndian.Uint32(status); s != 0 {
		return wrong(int(s)-1, "was not 0 when the launch began: merged nothing")
	}
	for i := 0; 4*i < len(counters); i++ {
		if n := binary.LittleEndian.Uint32(counters[4*i:]); n != 0 {
			return wrong(i, "is %d after the launch, want 0", n)
		}
	}
	return nil
}
