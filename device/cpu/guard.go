package cpu

import (
	"fmt"
	"math"

	"github.com/holdfast-llm/holdfast/attn/kv"
	"github.com/holdfast-llm/holdfast/device"
	"github.com/holdfast-llm/holdfast/op"
)

// hooks is what happens between the stages of a run besides its launches:
// canaries, poison, watching, planted faults. All of it is worker 0's while
// the others wait; a run without hooks has none of these waits.
type hooks struct {
	guard  int
	poison bool
	watch  func(*device.Watched)
	plant  *planted // nil: no fault in this run
	// byFirst and byLast are the places whose life begins or ends with a stage.
	byFirst, byLast [][]int
	stageOf         []int // of each launch
	live            []int // places whose canaries are armed
	watched         device.Watched
	copied          []byte            // of caches, for watched
	rowBytes        map[*op.Value]int // of places
	offsets         []int             // launches of stage s are offsets[s] to offsets[s+1]
}

func newHooks(p *device.Program, o device.LoadOptions) *hooks {
	h := &hooks{guard: p.Arena.Guard, poison: o.Poison, watch: o.Watch, rowBytes: map[*op.Value]int{}}
	stage := 0
	for i, l := range p.Launches {
		if l.Wait || i == 0 {
			h.offsets = append(h.offsets, i)
			if i > 0 {
				stage++
			}
		}
		h.stageOf = append(h.stageOf, stage)
	}
	h.offsets = append(h.offsets, len(p.Launches))
	h.byFirst, h.byLast = make([][]int, stage+1), make([][]int, stage+1)
	for i, at := range p.Places {
		h.rowBytes[at.Value] = at.RowBytes
		h.byFirst[at.First] = append(h.byFirst[at.First], i)
		h.byLast[at.Last] = append(h.byLast[at.Last], i)
	}
	return h
}

// always says whether every run needs the hooks.
func (h *hooks) always() bool { return h.guard > 0 || h.poison || h.watch != nil }

// begin arms what lives from a stage on.
func (e *executable) begin(stage int) {
	h := e.hooks
	for _, i := range h.byFirst[stage] {
		at := &e.prog.Places[i]
		switch mem := e.arena.Bytes()[at.Offset : at.Offset+at.Bytes]; {
		case h.poison:
			poison(mem)
		case h.watch != nil:
			clear(mem) // what a launch leaves unwritten looks the same in every run
		}
		if h.guard > 0 {
			for _, zone := range e.canaries(at) {
				arm(zone)
			}
			h.live = append(h.live, i)
		}
	}
}

// end looks at what a stage has left behind, and gives up what ends with it.
func (e *executable) end(stage int) {
	h := e.hooks
	e.applyPlanted(stage)
	if h.guard > 0 {
		for _, i := range h.live {
			e.checkCanaries(stage, &e.prog.Places[i])
		}
		live := h.live[:0]
		for _, i := range h.live {
			if e.prog.Places[i].Last > stage {
				live = append(live, i)
			}
		}
		h.live = live
	}
	if h.watch != nil {
		for i := h.offsets[stage]; i < h.offsets[stage+1]; i++ {
			e.showLaunch(i)
		}
	}
}

// showLaunch hands what a launch wrote to the watcher.
func (e *executable) showLaunch(i int) {
	h := e.hooks
	w := &h.watched
	w.Launch, w.Written, h.copied = i, w.Written[:0], h.copied[:0]
	for _, b := range e.prog.Launches[i].Bindings {
		if b.Access&device.Write != 0 {
			w.Written = append(w.Written, e.written(&b))
		}
	}
	h.watch(w)
}

// written is the part of a binding that a run writes.
func (e *executable) written(b *device.Binding) device.Memory {
	v, n, m := b.Value, e.batch.n, e.batch.m
	if v.Role == op.Cache {
		return e.cacheRows(v)
	}
	mem, row := e.places[v], e.hooks.rowBytes[v]
	lo, hi := b.Offset, b.Offset+b.Bytes
	if row > 0 {
		hi = min(hi, row*v.Count(n, m))
	}
	return device.Memory{Value: v, Data: mem[min(lo, hi):hi:hi], RowBytes: row}
}

// cacheRows copies a batch's rows out of a cache, where they lie far apart.
func (e *executable) cacheRows(v *op.Value) device.Memory {
	h, size := e.hooks, v.Type.RowBytes(v.Cache.HeadDim)
	from := len(h.copied)
	for i, pos := range e.batch.Pos {
		for head := range v.Cache.Heads {
			rows := kv.Rows(v, int(e.batch.Slot[i]), head)
			h.copied = append(h.copied, rows[int(pos)*size:(int(pos)+1)*size]...)
		}
	}
	return device.Memory{Value: v, Data: h.copied[from:len(h.copied):len(h.copied)], RowBytes: v.Cache.Heads * size}
}

// poison fills memory with NaNs, in every type that has them.
func poison(b []byte) {
	for i := range b {
		b[i] = 0xff
	}
}

// canaries are the zones before and after a place.
func (e *executable) canaries(at *device.Place) [2][]byte {
	b, g := e.arena.Bytes(), e.hooks.guard
	end := at.Offset + at.Bytes
	return [2][]byte{b[at.Offset-g : at.Offset], b[end : end+g]}
}

// canary is the byte at a position of a zone: no two neighbours are alike, and
// none is 0 or 0xff.
func canary(i int) byte { return 0xa5 ^ byte(i&0x3f) }

func arm(zone []byte) {
	for i := range zone {
		zone[i] = canary(i)
	}
}

// checkCanaries raises a fault if a byte around a place was written.
func (e *executable) checkCanaries(stage int, at *device.Place) {
	for side, zone := range e.canaries(at) {
		for i, c := range zone {
			if c == canary(i) {
				continue
			}
			where, off := "before", len(zone)-i
			if side == 1 {
				where, off = "after", i+1
			}
			l := e.culprit(stage, at)
			panic(&device.Fault{
				Device: e.dev.Name(), Kind: device.FaultCanary, Launch: e.prog.Launches[l].Kernel, Op: e.prog.Launches[l].Op,
				Err: fmt.Errorf("byte %d %s %s (%d bytes at arena offset %d) is %#02x, was %#02x; next to it: %s",
					off, where, at.Value.Name, at.Bytes, at.Offset, c, canary(i), e.neighbours(stage, at)),
			})
		}
	}
}

// culprit is the launch of a stage that writes a value: the first suspect. If
// none does it is the stage's first.
func (e *executable) culprit(stage int, at *device.Place) int {
	h := e.hooks
	for i := h.offsets[stage]; i < h.offsets[stage+1]; i++ {
		for _, b := range e.prog.Launches[i].Bindings {
			if b.Value == at.Value && b.Access&device.Write != 0 {
				return i
			}
		}
	}
	return h.offsets[stage]
}

// neighbours names the live transients that lie nearest before and after one.
func (e *executable) neighbours(stage int, at *device.Place) string {
	before, after := "the start of the arena", "the end of the arena"
	lo, hi := math.MinInt, math.MaxInt
	for i := range e.prog.Places {
		q := &e.prog.Places[i]
		if q == at || q.First > stage || q.Last < stage {
			continue
		}
		if q.Offset < at.Offset && q.Offset > lo {
			lo, before = q.Offset, q.Value.Name
		}
		if q.Offset > at.Offset && q.Offset < hi {
			hi, after = q.Offset, q.Value.Name
		}
	}
	return before + " before, " + after + " after"
}
