package emu

import (
	"math/bits"

	"github.com/holdfast-llm/holdfast/amd/isa"
)

// Relaxed memory. Memory itself (Buffer.Data) is what the L2 has. In front of
// it are, as on gfx11:
//
//   - for each wave, the stores that have not left it: they leave at a wait
//     for them, when too many are under way, at an atomic on the same bytes,
//     or when the wave ends. The wave's own loads see them;
//   - for each compute unit, an L0 whose lines stay as they were when they were
//     read, until buffer_gl0_inv. A store that leaves a wave changes the line in
//     its own compute unit's L0. A load with glc goes past it;
//   - for each two compute units' shader array, a GL1 like it, until
//     buffer_gl1_inv; a load with glc goes past it too, and a store takes its
//     line away;
//   - for each pair of compute units, a scalar cache, until s_dcache_inv;
//   - for each wave, stores to LDS that have not arrived: they arrive at a wait
//     for them, at the wave's own next load or atomic there, or at its end.
//
// Loads deliver at once. So wrong synchronisation shows as wrong values, the
// same ones for the same schedule and seed; right synchronisation never does.
type relaxed struct {
	space   *Space
	l0      []lineCache // by compute unit
	l1      []lineCache // by shader array
	scalars []lineCache // by pair of compute units
}

// lineBytes is the length of a cache line.
const lineBytes = 128

// lineCache holds copies of lines by their address. Bytes of a line that are
// not mapped are 0.
type lineCache map[uint64]*[lineBytes]byte

// unitsPerArray is how many compute units share a GL1.
const unitsPerArray = 4

func newRelaxed(s *Space, units int) *relaxed {
	r := &relaxed{space: s}
	fresh := func(n int) []lineCache {
		c := make([]lineCache, n)
		for i := range c {
			c[i] = lineCache{}
		}
		return c
	}
	r.l0, r.l1, r.scalars = fresh(units), fresh((units+unitsPerArray-1)/unitsPerArray), fresh((units+1)/2)
	return r
}

// pendingMost is how many store instructions of a wave may be under way.
const pendingMost = 64

// pending is a wave's stores that have not arrived, oldest first: to global
// memory and to LDS. A wait for all but n covers every store before the last n
// instructions that its counter counts, whether they are in the queue or not.
type pending struct {
	global, lds    []pendingStore
	stores, locals uint64 // instructions that vscnt and lgkmcnt have counted
}

// count counts an instruction. Scalar loads count in lgkmcnt too, but may come
// back before what was issued earlier: a wait for all but n says nothing then.
func (p *pending) count(f isa.Format, m *memOp) {
	switch {
	case f == isa.SMEM:
		return
	case f == isa.DS:
		p.locals++
		return
	case f == isa.FLAT: // it may be an access to LDS
		p.locals++
	}
	if m.kind == Store || m.kind == Atomic && !m.returns {
		p.stores++
	}
}

// pendingStore is one store instruction.
type pendingStore struct {
	number uint64 // its counter's value with it
	bytes  int
	lanes  []pendingLane
}

type pendingLane struct {
	addr uint64
	data [16]byte
}

func newPendingStore(w *wave, m *memOp, a *Access) pendingStore {
	s := pendingStore{bytes: m.bytes, lanes: make([]pendingLane, 0, bits.OnesCount64(a.Lanes))}
	for lanes := a.Lanes; lanes != 0; lanes &= lanes - 1 {
		lane := bits.TrailingZeros64(lanes)
		p := pendingLane{addr: a.Addr[lane]}
		m.store(w, lane, p.data[:m.bytes])
		s.lanes = append(s.lanes, p)
	}
	return s
}

// global carries out an access whose addresses are checked.
func (r *relaxed) global(w *wave, m *memOp, a *Access) {
	if m.kind == Store {
		s := newPendingStore(w, m, a)
		s.number = w.pending.stores
		w.pending.global = append(w.pending.global, s)
		r.drain(w, pendingMost)
		return
	}
	for lanes := a.Lanes; lanes != 0; lanes &= lanes - 1 {
		lane := bits.TrailingZeros64(lanes)
		addr := a.Addr[lane]
		if m.kind == Atomic {
			r.drainOverlapping(w, addr, m.bytes)
			b := r.space.Find(addr, uint64(m.bytes))
			m.modify(w, lane, b.Data[addr-b.Addr:][:m.bytes])
			delete(r.l0[w.cu], addr/lineBytes)
			delete(r.l1[w.cu/unitsPerArray], addr/lineBytes)
			continue
		}
		var buf [16]byte
		r.read(w, addr, buf[:m.bytes], m.glc)
		for i := range w.pending.global {
			w.pending.global[i].overlay(addr, buf[:m.bytes])
		}
		m.load(w, lane, buf[:m.bytes])
	}
}

// overlay puts what a store would write over bytes at an address.
func (s *pendingStore) overlay(addr uint64, b []byte) {
	for i := range s.lanes {
		l := &s.lanes[i]
		for k := range s.bytes {
			if at := l.addr + uint64(k) - addr; at < uint64(len(b)) {
				b[at] = l.data[k]
			}
		}
	}
}

// read is a load through the caches.
func (r *relaxed) read(w *wave, addr uint64, b []byte, glc bool) {
	for i := range b {
		at := addr + uint64(i)
		if glc {
			b[i] = r.memory(at)
			continue
		}
		b[i] = r.line(r.l0[w.cu], at, func(first uint64) *[lineBytes]byte {
			c := *r.line1(w, first)
			return &c
		})[at%lineBytes]
	}
}

// line is the line of an address in a cache, filled if it is not there.
func (r *relaxed) line(c lineCache, addr uint64, fill func(first uint64) *[lineBytes]byte) *[lineBytes]byte {
	l, ok := c[addr/lineBytes]
	if !ok {
		l = fill(addr &^ (lineBytes - 1))
		c[addr/lineBytes] = l
	}
	return l
}

func (r *relaxed) line1(w *wave, addr uint64) *[lineBytes]byte {
	return r.line(r.l1[w.cu/unitsPerArray], addr, r.fromMemory)
}

// fromMemory is a copy of a line.
func (r *relaxed) fromMemory(first uint64) *[lineBytes]byte {
	l := new([lineBytes]byte)
	for i := range l {
		l[i] = r.memory(first + uint64(i))
	}
	return l
}

// memory is a byte of memory, 0 if it is not mapped.
func (r *relaxed) memory(addr uint64) byte {
	if b := r.space.Find(addr, 1); b != nil {
		return b.Data[addr-b.Addr]
	}
	return 0
}

// scalar is a load through the scalar cache, which sees no store that is under
// way.
func (r *relaxed) scalar(w *wave, addr uint64, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		at := addr + uint64(i)
		b[i] = r.line(r.scalars[w.cu/2], at, r.fromMemory)[at%lineBytes]
	}
	return b
}

// drain lets the stores arrive but for those of the last n instructions that
// vscnt counted.
func (r *relaxed) drain(w *wave, n int) {
	for len(w.pending.global) > 0 && w.pending.global[0].number+uint64(n) <= w.pending.stores {
		r.arrive(w, &w.pending.global[0])
		w.pending.global = w.pending.global[1:]
	}
}

// drainOverlapping lets the stores up to the last that touches the bytes
// arrive.
func (r *relaxed) drainOverlapping(w *wave, addr uint64, n int) {
	for i := len(w.pending.global) - 1; i >= 0; i-- {
		s := &w.pending.global[i]
		for j := range s.lanes {
			if l := s.lanes[j].addr; l < addr+uint64(n) && addr < l+uint64(s.bytes) {
				r.drain(w, int(w.pending.stores-s.number))
				return
			}
		}
	}
}

// arrive puts a store into memory and the wave's own L0.
func (r *relaxed) arrive(w *wave, s *pendingStore) {
	for i := range s.lanes {
		l := &s.lanes[i]
		b := r.space.Find(l.addr, uint64(s.bytes))
		if b == nil {
			continue // unmapped since: the access itself was checked
		}
		copy(b.Data[l.addr-b.Addr:], l.data[:s.bytes])
		for k := range s.bytes {
			at := l.addr + uint64(k)
			if line, ok := r.l0[w.cu][at/lineBytes]; ok {
				line[at%lineBytes] = l.data[k]
			}
			delete(r.l1[w.cu/unitsPerArray], at/lineBytes)
		}
	}
}

// lds carries out an access to local memory whose addresses are checked.
func (r *relaxed) lds(w *wave, m *memOp, a *Access) {
	if m.kind == Store {
		s := newPendingStore(w, m, a)
		s.number = w.pending.locals
		w.pending.lds = append(w.pending.lds, s)
		w.drainLDS(pendingMost)
		return
	}
	w.drainLDS(0)
	for lanes := a.Lanes; lanes != 0; lanes &= lanes - 1 {
		lane := bits.TrailingZeros64(lanes)
		p := w.group.lds[a.Addr[lane]:][:m.bytes]
		if m.kind == Atomic {
			m.modify(w, lane, p)
		} else {
			m.load(w, lane, p)
		}
	}
}

// drainLDS lets the stores to LDS arrive but for those of the last n
// instructions that lgkmcnt counted.
func (w *wave) drainLDS(n int) {
	for len(w.pending.lds) > 0 && w.pending.lds[0].number+uint64(n) <= w.pending.locals {
		s := &w.pending.lds[0]
		for i := range s.lanes {
			copy(w.group.lds[s.lanes[i].addr:], s.lanes[i].data[:s.bytes])
		}
		w.pending.lds = w.pending.lds[1:]
	}
}

// invalidate is a cache operation of a wave.
func (r *relaxed) invalidate(w *wave, op CacheOp) {
	switch op {
	case InvalidateL0:
		clear(r.l0[w.cu])
	case InvalidateL1:
		clear(r.l1[w.cu/unitsPerArray])
	case InvalidateScalar:
		clear(r.scalars[w.cu/2])
	}
}
