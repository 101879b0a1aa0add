package emu

// Hooks of the memory system, which the scalar instructions and the scheduler
// call. In coherent mode an access is complete when its instruction is.

// noWait is a count that no wait can be for: the field's all ones, and more.
const noWait = 1 << 30

// noBuffer holds no address that an access could be to.
var noBuffer = Buffer{Addr: 1 << 63}

// memoryReset makes a wave that is about to start forget the memory it saw.
func (w *wave) memoryReset() {
	w.last, w.relaxed, w.pending, w.timing = &noBuffer, w.d.caches, pending{}, nil
	if c := &w.d.dev.config; w.relaxed != nil && c.Timing != (Timing{}) {
		w.timing = &c.Timing
		w.rng = poison(c.Seed^0x74696d65, uint64(w.group.index), uint64(w.id))
	}
}

// waitcnt waits until at most vm loads, exp exports and lgkm LDS and scalar
// accesses are outstanding; noWait where the instruction does not ask.
func (w *wave) waitcnt(vm, exp, lgkm int) {
	if w.relaxed != nil {
		w.deliver(vm)
		w.drainLDS(lgkm)
		w.drainScalars(lgkm)
	}
}

// waitVscnt waits until at most n stores are outstanding.
func (w *wave) waitVscnt(n int) {
	if w.relaxed != nil {
		w.relaxed.drain(w, n)
	}
}

// finish completes everything that the wave has outstanding, when it ends.
func (w *wave) finish() {
	w.waitcnt(0, 0, 0)
	w.waitVscnt(0)
}

// memoryBegin and memoryEnd are called once for each dispatch, before its first
// wave and after its last, also if it failed. Caches start empty.
func (d *dispatch) memoryBegin() {
	if d.dev.config.Mode == Relaxed {
		d.caches = newRelaxed(d.dev.space, d.dev.config.ComputeUnits)
	}
}

func (d *dispatch) memoryEnd() { d.caches = nil }
