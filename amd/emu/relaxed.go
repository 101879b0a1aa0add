package emu

import "math/bits"

// Relaxed memory. Memory itself (Buffer.Data) is what the L2 has. In front of
// it are, as on gfx11:
//
//   - for each wave, the stores that have not left it: they leave at a wait
//     for them, when too many are under way, at an atomic on the same bytes,
//     when the wave ends, or sooner by chance (Timing.EarlyStores). The wave's
//     own loads see them;
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
// Loads deliver at once, or at a wait for them (Timing.LateLoads). So wrong
// synchronisation shows as wrong values, the same ones for the same schedule and
// seed; right synchronisation never does.
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

// global carries out an access whose addresses are checked.
func (r *relaxed) global(w *wave, m *memOp, a *Access) {
	switch {
	case m.kind == Store:
		w.pending.addStore(newPendingStore(w, m, a))
		r.drain(w, pendingMost)
	case m.kind == Atomic:
		r.atomic(w, m, a)
	case w.late():
		w.pending.addLoad(newPendingLoad(m, a))
		w.deliver(pendingMost)
	default:
		for lanes := a.Lanes; lanes != 0; lanes &= lanes - 1 {
			lane := bits.TrailingZeros64(lanes)
			var buf [16]byte
			r.load(w, a.Addr[lane], buf[:m.bytes], m.glc, w.pending.issued)
			m.load(w, lane, buf[:m.bytes])
		}
	}
}

// atomic acts on memory itself, behind the wave's own accesses to the same
// bytes.
func (r *relaxed) atomic(w *wave, m *memOp, a *Access) {
	old := w.registersOf(m)
	for lanes := a.Lanes; lanes != 0; lanes &= lanes - 1 {
		lane := bits.TrailingZeros64(lanes)
		addr := a.Addr[lane]
		w.sampleTouching(w.pending.issued, addr, addr+uint64(m.bytes))
		r.drainOverlapping(w, addr, m.bytes)
		b := r.space.Find(addr, uint64(m.bytes))
		m.modify(w, lane, b.Data[addr-b.Addr:][:m.bytes])
		delete(r.l0[w.cu], addr/lineBytes)
		delete(r.l1[w.cu/unitsPerArray], addr/lineBytes)
	}
	if l, ok := w.postpone(m, a.Lanes, old); ok {
		w.pending.addLoad(l)
		w.deliver(pendingMost)
	}
}

// load is a load through the caches, which sees those of the wave's own stores
// that were issued before it.
func (r *relaxed) load(w *wave, addr uint64, b []byte, glc bool, issued uint64) {
	r.read(w, addr, b, glc)
	for i := range w.pending.global {
		if s := &w.pending.global[i]; s.serial < issued {
			s.overlay(addr, b)
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
