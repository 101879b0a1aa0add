package emu

import "fmt"

// Timing says when what is under way in relaxed memory completes, within what
// the hardware allows. With the zero value loads deliver at once, and stores
// arrive as late as they may.
type Timing struct {
	// LateLoads leaves the registers of a load, an atomic that returns, or an
	// exchange between lanes as they were until a wait for it: code that does
	// not wait reads old values. A vector or LDS load reads memory then, too,
	// and not when it is issued: another wave may overwrite what it reads.
	LateLoads bool
	// EarlyLoads and EarlyStores are how likely one that is under way completes
	// before an instruction, from 0 to 1. Loads complete in the order of their
	// counter, scalar ones in any. Stores to global memory arrive line by line,
	// in any order but for those to the same line; stores to LDS in order.
	EarlyLoads, EarlyStores float64
}

// check says what is wrong with the timing, if anything.
func (t *Timing) check(m Mode) error {
	switch {
	case *t == Timing{}:
		return nil
	case m != Relaxed:
		return fmt.Errorf("emu: timing of %v memory, whose accesses complete at once", m)
	case !(t.EarlyLoads >= 0 && t.EarlyLoads <= 1 && t.EarlyStores >= 0 && t.EarlyStores <= 1):
		return fmt.Errorf("emu: early loads at a rate of %v and stores of %v, want 0 to 1", t.EarlyLoads, t.EarlyStores)
	case t.EarlyLoads > 0 && !t.LateLoads:
		return fmt.Errorf("emu: early loads at a rate of %v, but none is late", t.EarlyLoads)
	}
	return nil
}

// passTime completes what happens to complete before the next instruction.
func (w *wave) passTime() {
	p, t := &w.pending, w.timing
	if len(p.loads) > 0 && w.rng.chance(t.EarlyLoads) {
		w.fill(&p.loads[0])
		p.loads = p.loads[1:]
	}
	if len(p.lds) > 0 {
		rate := t.EarlyLoads
		if p.lds[0].store {
			rate = t.EarlyStores
		}
		if w.rng.chance(rate) {
			w.completeLocal(&p.lds[0])
			p.lds = p.lds[1:]
		}
	}
	if len(p.scalars) > 0 && w.rng.chance(t.EarlyLoads) {
		w.fillScalar(w.rng.below(len(p.scalars)))
	}
	if len(p.global) > 0 && w.rng.chance(t.EarlyStores) {
		w.arriveSome()
	}
}

// arriveSome lets a part of a store arrive: what it writes to one line.
func (w *wave) arriveSome() {
	i := w.rng.below(len(w.pending.global))
	s := &w.pending.global[i]
	if len(s.lanes) == 0 { // no lane was active
		return
	}
	line := s.lanes[w.rng.below(len(s.lanes))].addr &^ (lineBytes - 1)
	w.relaxed.arriveRange(w, i+1, line, line+lineBytes)
}

// fillScalar puts the data of a scalar load into its registers.
func (w *wave) fillScalar(i int) {
	l := w.pending.scalars[i]
	for j, v := range l.data[:l.load.words] {
		l.load.set(w, j, v)
	}
	w.pending.scalars = append(w.pending.scalars[:i], w.pending.scalars[i+1:]...)
}

// drainScalars completes scalar loads until no more than n accesses that
// lgkmcnt counts are under way: any of them, since they come back in any order.
func (w *wave) drainScalars(n int) {
	p := &w.pending
	for len(p.scalars) > 0 && len(p.scalars)+len(p.lds) > n {
		w.fillScalar(w.rng.below(len(p.scalars)))
	}
}
