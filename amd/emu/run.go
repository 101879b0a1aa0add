package emu

import (
	"math/bits"
)

// waveStatus says whether a wave can run.
type waveStatus uint8

const (
	running  waveStatus = iota
	retrying            // an access to a page that is not mapped: paging.go
	atBarrier
	halted
	ended
)

var waveStatuses = [...]string{running: "running", retrying: "at a page that is not mapped", atBarrier: "at a barrier", halted: "halted", ended: "ended"}

func (s waveStatus) String() string { return waveStatuses[s] }

// noBlock has no instruction that a program counter could point to.
var noBlock = block{base: 1 << 63}

// suspend ends the wave's slice after the instruction that calls it.
func (w *wave) suspend() {
	w.unused += w.left
	w.left = 0
}

// stop is suspend for a wave that cannot go on by itself.
func (w *wave) stop(s waveStatus) {
	w.status = s
	w.suspend()
}

// ran is how many instructions the wave has run.
func (w *wave) ran() uint64 { return w.total + uint64(w.slice-w.left-w.unused) }

// executePlain is the run loop when nobody looks.
func (w *wave) executePlain() {
	b := w.block
	for w.left > 0 {
		w.left--
		pc := w.pc
		i := (pc - b.base) >> 2
		if i >= blockWords {
			b = w.enter(pc)
			i = (pc - b.base) >> 2
		}
		in := b.insts[i].Load()
		if in == nil {
			in = w.fetch(pc)
		}
		w.at = pc
		w.pc = pc + in.bytes
		w.laneOps += uint64(bits.OnesCount64(w.exec() & in.width))
		w.ops[in.id]++
		in.run(w, in)
	}
}

// executeChecked is the run loop with an observer, preemption points, timing, or
// an instruction that is tried again: nobody sees it begin twice.
func (w *wave) executeChecked() {
	b := w.block
	for w.left > 0 {
		pc, again := w.pc, w.replaying
		w.replaying = false
		if w.breaks != nil && !again && w.preempted(pc) {
			w.aside = true
			w.suspend()
			return
		}
		i := (pc - b.base) >> 2
		if i >= blockWords {
			b = w.enter(pc)
			i = (pc - b.base) >> 2
		}
		in := b.insts[i].Load()
		if in == nil {
			in = w.fetch(pc)
		}
		w.at = pc
		if w.timing != nil && !again {
			w.passTime()
		}
		if w.obs != nil && !again {
			w.obs.Instruction(Wave{w}, &in.Inst)
		}
		w.left--
		w.pc = pc + in.bytes
		w.laneOps += uint64(bits.OnesCount64(w.exec() & in.width))
		w.ops[in.id]++
		in.run(w, in)
	}
}

// breakpoint is a preemption point of one wave that it has not come to yet.
type breakpoint struct {
	pc, after uint64
}

// preempted says whether the wave is at a preemption point, and drops the point.
func (w *wave) preempted(pc uint64) bool {
	for i := range w.breaks {
		b := &w.breaks[i]
		switch {
		case b.pc == 0 && w.ran() < b.after, b.pc != 0 && b.pc != pc:
			continue
		case b.pc != 0 && b.after > 0:
			b.after--
			continue
		}
		w.breaks = append(w.breaks[:i], w.breaks[i+1:]...)
		if len(w.breaks) == 0 {
			w.breaks = nil
		}
		return true
	}
	return false
}

// setBreaks takes over the schedule's preemption points that are the wave's.
func (w *wave) setBreaks(points []Preemption) {
	w.breaks = nil
	for _, p := range points {
		if (p.Group == nil || *p.Group == w.group.id) && (p.Wave < 0 || p.Wave == w.id) {
			w.breaks = append(w.breaks, breakpoint{p.PC, p.After})
		}
	}
}

// run lets the wave run up to n instructions, fewer if it is suspended, and
// returns what the last of them raised.
func (w *wave) run(n int) (err error) {
	w.slice, w.left, w.unused = n, n, 0
	defer func() {
		e := recover()
		if _, ok := e.(retry); ok {
			w.replay()
			e = nil
		}
		w.total = w.ran()
		w.slice, w.left, w.unused = 0, 0, 0
		switch e := e.(type) {
		case nil:
		case *Fault:
			err = w.locate(e)
		case *Unsupported:
			err = e
		default:
			panic(e) // a bug of ours
		}
	}()
	if w.obs != nil || w.breaks != nil || w.timing != nil || w.replaying {
		w.executeChecked()
	} else {
		w.executePlain()
	}
	return nil
}

// locate fills in where a fault happened.
func (w *wave) locate(f *Fault) *Fault {
	if f.PC == 0 {
		f.PC = w.at
	}
	if f.Text == "" {
		f.Text = w.text(f.PC)
	}
	f.Kernel, f.Group, f.Wave = w.d.kernel.Name, w.group.id, w.id
	return f
}

// text is the instruction at pc, or "" if it has not been decoded.
func (w *wave) text(pc uint64) string {
	t := w.d.kernel.text(pc)
	if t == nil {
		return ""
	}
	start := t.Addr &^ 3
	b := t.blocks[(pc-start)/4/blockWords].Load()
	if b == nil {
		return ""
	}
	in := b.insts[(pc-b.base)/4].Load()
	if in == nil {
		return ""
	}
	return in.Inst.String()
}
