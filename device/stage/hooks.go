package stage

import (
	"github.com/holdfast-llm/holdfast/attn/kv"
	"github.com/holdfast-llm/holdfast/device"
	"github.com/holdfast-llm/holdfast/op"
)

// Hooks is what happens between the stages of a run besides its launches:
// canaries, poison, watching, planted faults. Its methods are called by one
// goroutine while nothing runs.
type Hooks struct {
	device string // its name, for faults
	prog   *device.Program
	arena  []byte
	guard  int
	poison bool
	watch  func(*device.Watched)

	places map[*op.Value]*device.Place
	// byFirst are the places whose life begins with a stage.
	byFirst [][]int
	stageOf []int // of each launch
	offsets []int // launches of stage s are offsets[s] to offsets[s+1]
	live    []int // places whose canaries are armed

	watched device.Watched
	copied  []byte // of caches, for watched

	injections []injection
	planted    *Planted // in the run under way
}

// NewHooks prepares a program's hooks; name is the device's, arena the
// program's memory as the host sees it. Errors: an injection that cannot be
// raised.
func NewHooks(name string, p *device.Program, o device.LoadOptions, arena []byte) (*Hooks, error) {
	h := &Hooks{
		device: name, prog: p, arena: arena, guard: p.Arena.Guard, poison: o.Poison, watch: o.Watch,
		places: map[*op.Value]*device.Place{},
	}
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
	h.byFirst = make([][]int, stage+1)
	for i := range p.Places {
		at := &p.Places[i]
		h.places[at.Value] = at
		h.byFirst[at.First] = append(h.byFirst[at.First], i)
	}
	return h, h.inject(o.Inject)
}

// Start begins a run, the run-th of any program on the device.
func (h *Hooks) Start(run int) {
	h.live = h.live[:0]
	h.planted = h.armed(run)
}

// Needed says whether the run under way needs the hooks at all.
func (h *Hooks) Needed() bool {
	return h.guard > 0 || h.poison || h.watch != nil || h.planted != nil
}

// Stages is the number of stages.
func (h *Hooks) Stages() int { return len(h.byFirst) }

// Opens is the stage that begins with a launch; false if none does.
func (h *Hooks) Opens(launch int) (stage int, ok bool) {
	s := h.stageOf[launch]
	return s, h.offsets[s] == launch
}

// Offset is where a value is in the arena; false if it is elsewhere.
func (h *Hooks) Offset(v *op.Value) (int, bool) {
	at, ok := h.places[v]
	if !ok {
		return 0, false
	}
	return at.Offset, true
}

// Bytes is the memory of a value in the arena; false if it is elsewhere.
func (h *Hooks) Bytes(v *op.Value) ([]byte, bool) {
	at, ok := h.places[v]
	if !ok {
		return nil, false
	}
	return h.arena[at.Offset : at.Offset+at.Bytes : at.Offset+at.Bytes], true
}

// Begin arms what lives from a stage on.
func (h *Hooks) Begin(stage int) {
	for _, i := range h.byFirst[stage] {
		at := &h.prog.Places[i]
		switch mem := h.arena[at.Offset : at.Offset+at.Bytes]; {
		case h.poison:
			poison(mem)
		case h.watch != nil:
			clear(mem) // what a launch leaves unwritten looks the same in every run
		}
		if h.guard > 0 {
			for _, zone := range h.canaries(at) {
				arm(zone)
			}
			h.live = append(h.live, i)
		}
	}
}

// End looks at what a stage has left behind, and gives up what ends with it. It
// returns the fault of a canary that is broken, or nil.
func (h *Hooks) End(stage int, b *device.Batch) *device.Fault {
	h.plant(stage)
	if h.guard > 0 {
		for _, i := range h.live {
			if f := h.checkCanaries(stage, &h.prog.Places[i]); f != nil {
				return f
			}
		}
		live := h.live[:0]
		for _, i := range h.live {
			if h.prog.Places[i].Last > stage {
				live = append(live, i)
			}
		}
		h.live = live
	}
	if h.watch != nil {
		for i := h.offsets[stage]; i < h.offsets[stage+1]; i++ {
			h.show(i, b)
		}
	}
	return nil
}

// show hands what a launch wrote to the watcher.
func (h *Hooks) show(i int, b *device.Batch) {
	w := &h.watched
	w.Launch, w.Written, h.copied = i, w.Written[:0], h.copied[:0]
	for _, x := range h.prog.Launches[i].Bindings {
		if x.Access&device.Write != 0 {
			w.Written = append(w.Written, h.written(&x, b))
		}
	}
	h.watch(w)
}

// written is the part of a binding that a run writes.
func (h *Hooks) written(x *device.Binding, b *device.Batch) device.Memory {
	v := x.Value
	if v.Role == op.Cache {
		return h.cacheRows(v, b)
	}
	mem, _ := h.Bytes(v)
	row := h.places[v].RowBytes
	lo, hi := x.Offset, x.Offset+x.Bytes
	if row > 0 {
		hi = min(hi, row*v.Count(len(b.Tokens), len(b.Output)))
	}
	return device.Memory{Value: v, Data: mem[min(lo, hi):hi:hi], RowBytes: row}
}

// cacheRows copies a batch's rows out of a cache, where they lie far apart.
func (h *Hooks) cacheRows(v *op.Value, b *device.Batch) device.Memory {
	size := v.Type.RowBytes(v.Cache.HeadDim)
	from := len(h.copied)
	for i, pos := range b.Pos {
		for head := range v.Cache.Heads {
			rows := kv.Rows(v, int(b.Slot[i]), head)
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
