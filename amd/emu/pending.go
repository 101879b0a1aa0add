package emu

import (
	"encoding/binary"
	"math/bits"

	"github.com/holdfast-llm/holdfast/amd/isa"
)

// What a wave has under way in relaxed memory.

// pendingMost is how many instructions of a wave may be under way in a queue.
const pendingMost = 64

// pending is a wave's accesses that have not completed, oldest first in each
// queue. A wait for all but n covers every access before the last n
// instructions that its counter counts, whether they are in a queue or not.
type pending struct {
	global  []pendingAccess // stores to global memory
	loads   []pendingAccess // loads, and atomics that return, of late loads
	lds     []pendingAccess // stores and late loads, which LDS takes in order
	scalars []pendingScalar // late loads, which come back in any order
	pendingCounts
	issued uint64 // accesses to global memory so far
}

// pendingCounts are how many instructions vscnt, vmcnt and lgkmcnt have counted.
type pendingCounts struct{ stores, vectors, locals uint64 }

// count counts an instruction. Scalar loads count in lgkmcnt too, but may come
// back before what was issued earlier: a wait for all but n says nothing then.
func (p *pendingCounts) count(f isa.Format, m *memOp) {
	switch {
	case f == isa.SMEM:
		return
	case f == isa.DS:
		p.locals++
		return
	case f == isa.FLAT: // it may be an access to LDS
		p.locals++
	}
	if m.kind == Load || m.returns {
		p.vectors++
	} else {
		p.stores++
	}
}

// pendingAccess is a store, or a load that has not filled its registers.
type pendingAccess struct {
	number uint64 // its counter's value with it
	serial uint64 // how many global accesses the wave had issued before
	store  bool
	known  bool   // the data of a load is here already
	op     *memOp // of a load
	bytes  int
	lanes  []pendingLane
	lo, hi uint64 // its addresses are in between
}

type pendingLane struct {
	addr uint64
	lane uint8
	data [16]byte
}

// pendingScalar is a scalar load that has not filled its registers.
type pendingScalar struct {
	load *scalarLoad
	data [16]uint32
}

func newPendingStore(w *wave, m *memOp, a *Access) pendingAccess {
	s := newPendingAccess(m.bytes, a)
	s.store = true
	for i := range s.lanes {
		l := &s.lanes[i]
		m.store(w, int(l.lane), l.data[:m.bytes])
	}
	return s
}

func newPendingLoad(m *memOp, a *Access) pendingAccess {
	l := newPendingAccess(m.bytes, a)
	l.op = m
	return l
}

func newPendingAccess(n int, a *Access) pendingAccess {
	p := pendingAccess{bytes: n, lanes: make([]pendingLane, 0, bits.OnesCount64(a.Lanes)), lo: ^uint64(0)}
	for lanes := a.Lanes; lanes != 0; lanes &= lanes - 1 {
		lane := bits.TrailingZeros64(lanes)
		addr := a.Addr[lane]
		p.lanes = append(p.lanes, pendingLane{addr: addr, lane: uint8(lane)})
		p.lo, p.hi = min(p.lo, addr), max(p.hi, addr+uint64(n))
	}
	return p
}

// touches says whether a lane's bytes are among those from lo to hi.
func (p *pendingAccess) touches(lo, hi uint64) bool {
	if p.hi <= lo || hi <= p.lo {
		return false
	}
	for i := range p.lanes {
		if l := p.lanes[i].addr; l < hi && lo < l+uint64(p.bytes) {
			return true
		}
	}
	return false
}

// overlay puts what a store would write over bytes at an address.
func (p *pendingAccess) overlay(addr uint64, b []byte) {
	if p.hi <= addr || addr+uint64(len(b)) <= p.lo {
		return
	}
	for i := range p.lanes {
		l := &p.lanes[i]
		for k := range p.bytes {
			if at := l.addr + uint64(k) - addr; at < uint64(len(b)) {
				b[at] = l.data[k]
			}
		}
	}
}

func (p *pending) addStore(s pendingAccess) {
	s.number, s.serial = p.stores, p.issued
	p.issued++
	p.global = append(p.global, s)
}

func (p *pending) addLoad(l pendingAccess) {
	l.number, l.serial = p.vectors, p.issued
	p.issued++
	p.loads = append(p.loads, l)
}

func (p *pending) addLocal(l pendingAccess) {
	l.number = p.locals
	p.lds = append(p.lds, l)
}

// drain lets the stores arrive but for those of the last n instructions that
// vscnt counted.
func (r *relaxed) drain(w *wave, n int) {
	p := &w.pending
	for len(p.global) > 0 && p.global[0].number+uint64(n) <= p.stores {
		r.arrive(w, &p.global[0])
		p.global = p.global[1:]
	}
}

// drainOverlapping lets the stores up to the last that touches the bytes
// arrive.
func (r *relaxed) drainOverlapping(w *wave, addr uint64, n int) {
	for i := len(w.pending.global) - 1; i >= 0; i-- {
		if s := &w.pending.global[i]; s.touches(addr, addr+uint64(n)) {
			r.drain(w, int(w.pending.stores-s.number))
			return
		}
	}
}

// arrive puts a store into memory and the wave's own L0.
func (r *relaxed) arrive(w *wave, s *pendingAccess) {
	for i := range s.lanes {
		r.arriveLane(w, s, &s.lanes[i])
	}
}

func (r *relaxed) arriveLane(w *wave, s *pendingAccess, l *pendingLane) {
	b := r.space.Find(l.addr, uint64(s.bytes))
	if b == nil {
		return // unmapped since: the access itself was checked
	}
	w.sampleTouching(s.serial, l.addr, l.addr+uint64(s.bytes))
	copy(b.Data[l.addr-b.Addr:], l.data[:s.bytes])
	for k := range s.bytes {
		at := l.addr + uint64(k)
		if line, ok := r.l0[w.cu][at/lineBytes]; ok {
			line[at%lineBytes] = l.data[k]
		}
		delete(r.l1[w.cu/unitsPerArray], at/lineBytes)
	}
}

// arriveRange lets arrive what the wave's first n stores write from lo to hi,
// and what they write to the same bytes as that.
func (r *relaxed) arriveRange(w *wave, n int, lo, hi uint64) {
	stores := w.pending.global[:n]
	for grown := true; grown; {
		grown = false
		for i := range stores {
			s := &stores[i]
			for j := range s.lanes {
				first := s.lanes[j].addr
				end := first + uint64(s.bytes)
				if first < hi && lo < end && (first < lo || hi < end) {
					lo, hi, grown = min(lo, first), max(hi, end), true
				}
			}
		}
	}
	kept := w.pending.global[:0]
	for i := range w.pending.global {
		s := w.pending.global[i]
		if i < n {
			lanes := s.lanes[:0]
			for j := range s.lanes {
				if l := &s.lanes[j]; l.addr < hi && lo < l.addr+uint64(s.bytes) {
					r.arriveLane(w, &s, l)
				} else {
					lanes = append(lanes, *l)
				}
			}
			if s.lanes = lanes; len(lanes) == 0 {
				continue
			}
		}
		kept = append(kept, s)
	}
	w.pending.global = kept
}

// sampleTouching reads the data of the loads that were issued before a serial
// number, up to the last of them that reads bytes from lo to hi: these bytes are
// about to change.
func (w *wave) sampleTouching(serial, lo, hi uint64) {
	loads := w.pending.loads
	for i := len(loads) - 1; i >= 0; i-- {
		if l := &loads[i]; l.serial < serial && !l.known && l.touches(lo, hi) {
			for j := range loads[:i+1] {
				w.sample(&loads[j])
			}
			return
		}
	}
}

// sample reads the data of a load.
func (w *wave) sample(l *pendingAccess) {
	if l.known {
		return
	}
	l.known = true
	for i := range l.lanes {
		p := &l.lanes[i]
		w.relaxed.load(w, p.addr, p.data[:l.bytes], l.op.glc, l.serial)
	}
}

// fill puts the data of a load into its registers.
func (w *wave) fill(l *pendingAccess) {
	w.sample(l)
	for i := range l.lanes {
		p := &l.lanes[i]
		l.op.load(w, int(p.lane), p.data[:l.bytes])
	}
}

// deliver fills the registers of the loads but for those of the last n
// instructions that vmcnt counted.
func (w *wave) deliver(n int) {
	p := &w.pending
	for len(p.loads) > 0 && p.loads[0].number+uint64(n) <= p.vectors {
		w.fill(&p.loads[0])
		p.loads = p.loads[1:]
	}
}

// lds carries out an access to local memory whose addresses are checked.
func (r *relaxed) lds(w *wave, m *memOp, a *Access) {
	switch {
	case m.kind == Store:
		w.pending.addLocal(newPendingStore(w, m, a))
		w.drainLDS(pendingMost)
		return
	case m.kind == Load && w.late():
		w.pending.addLocal(newPendingLoad(m, a))
		w.drainLDS(pendingMost)
		return
	}
	w.drainLDS(0)
	old := w.registersOf(m)
	for lanes := a.Lanes; lanes != 0; lanes &= lanes - 1 {
		lane := bits.TrailingZeros64(lanes)
		p := w.group.lds[a.Addr[lane]:][:m.bytes]
		if m.kind == Atomic {
			m.modify(w, lane, p)
		} else {
			m.load(w, lane, p)
		}
	}
	if l, ok := w.postpone(m, a.Lanes, old); ok {
		w.pending.addLocal(l)
	}
}

// drainLDS completes the accesses to LDS but for those of the last n
// instructions that lgkmcnt counted.
func (w *wave) drainLDS(n int) {
	p := &w.pending
	for len(p.lds) > 0 && p.lds[0].number+uint64(n) <= p.locals {
		w.completeLocal(&p.lds[0])
		p.lds = p.lds[1:]
	}
}

// completeLocal completes an access to LDS.
func (w *wave) completeLocal(l *pendingAccess) {
	if l.store {
		for i := range l.lanes {
			copy(w.group.lds[l.lanes[i].addr:], l.lanes[i].data[:l.bytes])
		}
		return
	}
	if !l.known {
		l.known = true
		for i := range l.lanes {
			copy(l.lanes[i].data[:l.bytes], w.group.lds[l.lanes[i].addr:])
		}
	}
	w.fill(l)
}

// late says whether loads of the wave fill their registers late.
func (w *wave) late() bool { return w.timing != nil && w.timing.LateLoads }

// registersOf are the registers that an operation changes, if it is to change
// them late.
func (w *wave) registersOf(m *memOp) []lanes {
	if !w.late() || m.dst < 0 {
		return nil
	}
	return append([]lanes(nil), w.vgpr[m.dst:m.dst+m.words()]...)
}

// postpone makes a load of what an operation has put into registers, and puts
// the old values back. It is false if there was nothing to postpone.
func (w *wave) postpone(m *memOp, mask uint64, old []lanes) (pendingAccess, bool) {
	if old == nil {
		return pendingAccess{}, false
	}
	l := pendingAccess{known: true, op: &memOp{dst: m.dst, bytes: 4 * len(old)}, bytes: 4 * len(old)}
	for ; mask != 0; mask &= mask - 1 {
		lane := bits.TrailingZeros64(mask)
		p := pendingLane{lane: uint8(lane)}
		for i := range old {
			r := &w.vgpr[m.dst+i][lane]
			binary.LittleEndian.PutUint32(p.data[4*i:], *r)
			*r = old[i][lane]
		}
		l.lanes = append(l.lanes, p)
	}
	return l, true
}

// exchange runs an instruction that gives lanes of its destination values from
// elsewhere, through LDS; a late one gives them at a wait.
func (w *wave) exchange(in *inst, run func(*wave, *inst)) {
	w.pending.locals++
	if !w.late() {
		run(w, in)
		return
	}
	m := &memOp{dst: reg(&in.Operands[0]), bytes: 4}
	old := w.registersOf(m)
	run(w, in)
	if l, ok := w.postpone(m, w.active(), old); ok {
		w.pending.addLocal(l)
		w.drainLDS(pendingMost)
	}
}
