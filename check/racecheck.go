package check

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/holdfast-llm/holdfast/amd/emu"
	"github.com/holdfast-llm/holdfast/amd/isa"
)

// What racecheck finds.
const (
	// Unordered: nothing orders two conflicting accesses of different waves.
	Unordered Kind = "race-unordered"
	// ReleaseMissing: the earlier access need not be complete at the barrier or
	// atomic that is to order the two.
	ReleaseMissing Kind = "race-release-missing"
	// AcquireMissing: the reader may have the bytes from before in its cache.
	AcquireMissing Kind = "race-acquire-missing"
	// ScopeTooNarrow: the reader invalidated its L0 but not the GL1, which waves
	// of other workgroups may need.
	ScopeTooNarrow Kind = "race-scope-too-narrow"
	// LaneConflict: lanes of one store write different values to a byte.
	LaneConflict Kind = "race-lanes"
	// UniformWrite: lanes of one store write one value to a byte.
	UniformWrite Kind = "uniform-write"
)

var racecheckKinds = map[Kind]KindInfo{
	Unordered: {
		Racecheck, "two waves access a byte, one of them stores to it, and nothing orders the two",
		"put a barrier between them (one workgroup), or hand over through an atomic with release and acquire at device scope (several)",
	},
	ReleaseMissing: {
		Racecheck, "an access need not be complete at the barrier or atomic behind which another wave relies on it",
		"wait for it before the barrier: a fence that covers its address space, not LDS only",
	},
	AcquireMissing: {
		Racecheck, "a load behind a barrier or atomic may still be answered from a cache that is older",
		"invalidate the cache between the two: an acquire fence that covers global memory",
	},
	ScopeTooNarrow: {
		Racecheck, "a load of what another workgroup stored invalidates the L0 only, the GL1 may be older",
		"acquire at device (agent) scope instead of workgroup scope",
	},
	LaneConflict: {
		Racecheck, "lanes of one store write different values to the same byte",
		"let one lane write, or give each lane its own place",
	},
	UniformWrite: {
		Racecheck, "lanes of one store write the same value to the same byte",
		"let one lane write",
	},
}

// racecheck finds conflicting accesses that nothing orders.
//
// Of two accesses to a byte, in different waves, at least one a store, the later
// must be ordered behind the earlier: by a barrier that both waves passed in
// between, or by a chain of atomics (read-modify-writes of one address, or a
// store that a load with glc reads), or by both in turn. That alone does not
// suffice:
//
//   - the earlier access must be complete, by a wait for its counter, before its
//     wave comes to the barrier or atomic (release);
//   - a load must not be answered from an older cache (acquire). For what its own
//     workgroup stored it needs a buffer_gl0_inv behind the barrier if the kernel
//     runs in WGP mode, where the waves have two L0s; for what another workgroup
//     stored, buffer_gl0_inv and buffer_gl1_inv in every mode, by itself or, for
//     a cache they share, by a wave that it met at a barrier since. A load with
//     glc goes past the caches. Scalar loads need s_dcache_inv.
//
// It is these rules that are judged, not whether this schedule lost the race.
// Binaries do not show which accesses are atomic in the source: loads with glc
// are taken for it, and stores to what read-modify-writes were made to. Scratch
// belongs to a lane and is not looked at.
type racecheck struct {
	emu.NopObserver
	c       *Checker
	uniform bool

	launched  *emu.Launched
	wgp       bool
	perGroup  int // waves of a whole workgroup
	waves     []*raceWave
	groups    map[int]*raceGroup
	places    []uint64       // of memory instructions
	placeOf   map[uint64]int // by pc
	global    cells
	vars      map[uint64]*clock // what is released at an atomic's address
	readers   readers
	off       bool // too large to be followed
	full      bool // there were bytes that more waves read than are remembered
	silent    *emu.Buffer
	compactAt int // how long readers may grow
	access    raceAccess
}

// raceGroup is a workgroup under way.
type raceGroup struct {
	number int
	live   int
	lds    cells
	vars   map[uint64]*clock // of LDS
}

// raceWave is a wave of the dispatch, also after its end.
type raceWave struct {
	place
	group  *raceGroup
	number int // in the dispatch
	now    moment
	// accessed is the latest instruction of which an access was seen.
	accessed uint32
	tally

	own groupClock // what it knows of its workgroup's waves
	far *clock     // and of other workgroups'
	// What it knew at its latest invalidations.
	ownL0, ownScalar        groupClock
	farL0, farL1, farScalar *clock

	acquires []acquired // by atomics that may not have returned
	syncs    []synced   // its barriers and atomics
	history  []released // what its stores release, where it changed
}

// acquired is what an atomic brings when its wave has waited for it.
type acquired struct {
	seq   uint32
	class class
	clock *clock
}

// synced is a barrier or an atomic of a wave, which its accesses up to seq come
// before.
type synced struct {
	seq uint32
	pc  uint64
}

// released is what a wave knew from its access seq on.
type released struct {
	seq  uint32
	done [classes]uint32
	own  groupClock
	far  *clock
}

func newRacecheck(c *Checker, o Options) detector {
	return &racecheck{c: c, uniform: o.UniformWrites}
}

// DispatchBegin forgets the dispatch before: between dispatches everything is
// complete and all caches are invalidated.
func (r *racecheck) DispatchBegin(l *emu.Launched) {
	r.launched, r.wgp = l, l.Kernel.Descriptor.WGPMode()
	r.perGroup = wavesPerGroup(l)
	r.waves, r.groups = r.waves[:0], map[int]*raceGroup{}
	r.places, r.placeOf = r.places[:0], map[uint64]int{}
	r.global.clear()
	r.vars, r.readers, r.off, r.silent = map[uint64]*clock{}, r.readers[:0], false, nil
	r.compactAt = compactMin
}

// DispatchEnd lets go of it.
func (r *racecheck) DispatchEnd(*emu.Launched, error) {
	if r.full {
		r.c.gap(Racecheck, fmt.Sprintf("stores to bytes that %d waves read or more: the first %d reads are compared", mostReaders, mostReaders))
	}
	r.global.clear()
	r.waves, r.groups, r.vars, r.full = r.waves[:0], nil, nil, false
}

// WaveBegin starts to follow a wave.
func (r *racecheck) WaveBegin(w emu.Wave) {
	n := w.GroupIndex()
	g := r.groups[n]
	if g == nil {
		g = &raceGroup{number: n, vars: map[uint64]*clock{}}
		g.lds.clear()
		r.groups[n] = g
	}
	g.live++
	number := n*r.perGroup + w.Index()
	if number >= 1<<markWaves-1 {
		r.giveUp("dispatches of more waves than can be numbered")
		return
	}
	for len(r.waves) <= number {
		r.waves = append(r.waves, nil)
	}
	r.waves[number] = &raceWave{place: placeOf(w), group: g, number: number}
}

// giveUp stops following a dispatch that is too large.
func (r *racecheck) giveUp(why string) {
	r.off = true
	r.c.gap(Racecheck, why)
}

// WaveEnd forgets the LDS of a workgroup that has ended.
func (r *racecheck) WaveEnd(w emu.Wave) {
	g := r.groups[w.GroupIndex()]
	if g.live--; g.live == 0 {
		delete(r.groups, g.number)
	}
}

func (r *racecheck) wave(w emu.Wave) *raceWave {
	return r.waves[w.GroupIndex()*r.perGroup+w.Index()]
}

// Instruction numbers memory instructions and counts what is under way.
func (r *racecheck) Instruction(w emu.Wave, in *isa.Inst) {
	c := countersOf(in)
	if c == 0 || r.off {
		return
	}
	v := r.wave(w)
	v.pc = w.PC()
	v.now.issued++
	if v.now.issued == 1<<markSeqs {
		r.giveUp("dispatches of waves with more memory instructions than can be numbered")
		return
	}
	v.issue(c, v.now.issued)
}

// Wait completes what was waited for.
func (r *racecheck) Wait(w emu.Wave, n emu.Counters) {
	if r.off {
		return
	}
	v := r.wave(w)
	v.wait(n, &v.now.done)
	v.acquires = slices.DeleteFunc(v.acquires, func(a acquired) bool {
		if v.now.done[a.class] < a.seq {
			return false
		}
		v.learn(a.clock)
		return true
	})
}

// learn adds what an atomic or a flag brought.
func (v *raceWave) learn(c *clock) {
	v.own = v.own.joined(c.group(v.group.number))
	v.far = v.far.joined(c)
}

// Barrier notes what comes before it.
func (r *racecheck) Barrier(w emu.Wave) {
	if !r.off {
		v := r.wave(w)
		v.pc = w.PC()
		v.sync()
	}
}

// sync notes a barrier or an atomic.
func (v *raceWave) sync() {
	if n := len(v.syncs); n > 0 && v.syncs[n-1].seq == v.now.issued {
		v.syncs[n-1].pc = v.pc
		return
	}
	v.syncs = append(v.syncs, synced{v.now.issued, v.pc})
}

// BarrierPassed lets all waves know what each knows. What they have invalidated
// in the caches that they share counts for all of them.
func (r *racecheck) BarrierPassed(_ [3]uint32, _ uint64, waves []emu.Wave) {
	if r.off {
		return
	}
	first := r.wave(waves[0])
	own := make(groupClock, r.perGroup)
	for i := range own {
		if at := first.group.number*r.perGroup + i; at < len(r.waves) && r.waves[at] != nil {
			own[i] = r.waves[at].now
		}
	}
	far, farL0, farL1, farScalar := first.far, first.farL0, first.farL1, first.farScalar
	for _, w := range waves[1:] {
		v := r.wave(w)
		far, farL0, farL1, farScalar = far.joined(v.far), farL0.joined(v.farL0), farL1.joined(v.farL1), farScalar.joined(v.farScalar)
	}
	for _, w := range waves {
		v := r.wave(w)
		v.own, v.far, v.farL1, v.farScalar = own, far, farL1, farScalar
		if !r.wgp {
			v.farL0 = farL0
		}
	}
}

// Cache notes what the wave knew when it invalidated.
func (r *racecheck) Cache(w emu.Wave, op emu.CacheOp) {
	if r.off {
		return
	}
	switch v := r.wave(w); op {
	case emu.InvalidateL0:
		v.ownL0, v.farL0 = v.own, v.far
	case emu.InvalidateL1:
		v.farL1 = v.far
	case emu.InvalidateScalar:
		v.ownScalar, v.farScalar = v.own, v.far
	}
}

// snapshot is what the wave's next atomic releases: what it knows, and itself.
func (v *raceWave) snapshot() *clock {
	own := make(groupClock, max(len(v.own), v.wave+1))
	copy(own, v.own)
	own[v.wave].join(&v.now)
	return v.far.with(v.group.number, own)
}

// remember notes what the wave's plain stores release from now on.
func (v *raceWave) remember() {
	h := released{v.now.issued, v.now.done, v.own, v.far}
	if n := len(v.history); n > 0 {
		last := &v.history[n-1]
		if last.done == h.done && last.far == h.far && len(last.own) == len(h.own) && (len(h.own) == 0 || &last.own[0] == &h.own[0]) {
			return
		}
	}
	v.history = append(v.history, h)
}

// releasedAt is what the wave's store seq released: what came before it.
func (v *raceWave) releasedAt(seq uint32) *clock {
	i, found := slices.BinarySearchFunc(v.history, seq, func(h released, seq uint32) int { return int(int64(h.seq) - int64(seq)) })
	if !found {
		i--
	}
	if i < 0 {
		return nil
	}
	h := &v.history[i]
	own := make(groupClock, max(len(h.own), v.wave+1))
	copy(own, h.own)
	own[v.wave].join(&moment{issued: seq - 1, done: h.done})
	return h.far.with(v.group.number, own)
}

// Access compares an access with those before it.
func (r *racecheck) Access(a *emu.Access) {
	if r.off || a.Space == emu.Scratch || a.Lanes == 0 {
		return
	}
	v := r.wave(a.Wave)
	if a.Space != emu.LDS && a.Kind == emu.Load && r.readOnly(a) {
		return
	}
	if len(r.readers) > r.compactAt {
		r.compact()
	}
	t := &r.access
	if !r.begin(t, v, a) {
		return
	}
	second := v.accessed == v.now.issued // of a DS instruction with two addresses
	v.accessed = v.now.issued
	if a.Kind == emu.Store {
		v.remember()
		r.lanes(v, a, second)
	}
	if a.Kind == emu.Atomic {
		r.atomic(t, a)
	}
	if a.Space == emu.Scalar {
		t.span(a.Addr[0], uint64(a.Bytes))
	} else {
		spans(a, t.span)
	}
	if t.brings != nil {
		v.acquires = append(v.acquires, acquired{v.now.issued, t.class, t.brings})
	}
}

// readOnly says that the access is to a buffer that nobody stores to.
func (r *racecheck) readOnly(a *emu.Access) bool {
	in := func(b *emu.Buffer) bool {
		for lanes := a.Lanes; lanes != 0; lanes &= lanes - 1 {
			if off := a.Addr[bits.TrailingZeros64(lanes)] - b.Addr; off >= uint64(len(b.Data)) {
				return false
			}
		}
		return true
	}
	if r.silent != nil && in(r.silent) {
		return true
	}
	b := r.launched.Device.Space().Find(a.Addr[bits.TrailingZeros64(a.Lanes)], uint64(a.Bytes))
	if b == nil || !b.ReadOnly || !in(b) {
		return false
	}
	r.silent = b
	return true
}

// spans calls f with the bytes that lanes access, neighbours together.
func spans(a *emu.Access, f func(at, n uint64)) {
	var at, end uint64
	for lanes := a.Lanes; lanes != 0; lanes &= lanes - 1 {
		addr := a.Addr[bits.TrailingZeros64(lanes)]
		switch {
		case addr == end && end != 0:
			end += uint64(a.Bytes)
		case addr == at && end == at+uint64(a.Bytes): // the same place again
		default:
			if end != at {
				f(at, end-at)
			}
			at, end = addr, addr+uint64(a.Bytes)
		}
	}
	f(at, end-at)
}
