package check

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/holdfast-llm/holdfast/amd/emu"
)

// raceAccess is an access that is being compared with those before it. What was
// decided for one cell holds for the next that looks the same.
type raceAccess struct {
	r     *racecheck
	v     *raceWave
	a     *emu.Access
	cells *cells
	vars  map[uint64]*clock
	class class
	mark  mark
	// brings is what the access acquires once it has returned.
	brings *clock

	released bool // a store to an atomic's address has released

	fine   mark // a store that the access is in order with, or was reported
	before mark // reads that it is
	known  struct{ from, to mark }
}

// begin prepares t for an access; false if it cannot be followed.
func (r *racecheck) begin(t *raceAccess, v *raceWave, a *emu.Access) bool {
	pc := a.Wave.PC()
	n, ok := r.placeOf[pc]
	if !ok {
		if n = len(r.places); n == 1<<markPlaces {
			r.giveUp("kernels of more memory instructions than can be numbered")
			return false
		}
		r.places, r.placeOf[pc] = append(r.places, pc), n
	}
	*t = raceAccess{r: r, v: v, a: a, cells: &r.global, vars: r.vars}
	switch {
	case a.Space == emu.LDS:
		t.class, t.cells, t.vars = classLocal, &v.group.lds, v.group.vars
	case a.Space == emu.Scalar:
		t.class = classScalar
	case a.Kind == emu.Store || a.Kind == emu.Atomic && !a.Returns:
		t.class = classStores
	}
	t.mark = newMark(v.number, v.now.issued, n, t.class)
	return true
}

// atomic releases and acquires at the addresses of a read-modify-write.
func (r *racecheck) atomic(t *raceAccess, a *emu.Access) {
	t.v.sync()
	mine := t.v.snapshot()
	for lanes := a.Lanes; lanes != 0; lanes &= lanes - 1 {
		at := a.Addr[bits.TrailingZeros64(lanes)]
		there := t.vars[at]
		if a.Returns {
			t.brings = t.brings.joined(there)
		}
		t.vars[at] = there.joined(mine)
	}
}

// span compares an access to bytes with those before it.
func (t *raceAccess) span(at, n uint64) {
	if t.a.Kind != emu.Load {
		t.cells.each(at, n, t.store)
		return
	}
	for whole := at%4 == 0 && n%4 == 0 && !t.a.GLC; whole && n > 0; {
		if skip := t.sameAgain(at, n); skip > 0 {
			at, n = at+skip, n-skip
			continue
		}
		t.cells.each(at, 4, t.load)
		at, n = at+4, n-4
	}
	t.cells.each(at, n, t.load)
}

// sameAgain deals with the first of the dwords in [at, at+n), as long as they look
// like one that the access has seen already, and says how many bytes they are.
func (t *raceAccess) sameAgain(at, n uint64) (skip uint64) {
	for ; skip < n; skip += 4 {
		c := &t.cells.page(at + skip)[(at+skip)%pageBytes/4]
		if c.store != t.fine && c.store != 0 || c.reads != t.known.from || t.known.to == 0 {
			break
		}
		c.reads = t.known.to
	}
	return skip
}

// load judges a load of a cell.
func (t *raceAccess) load(at uint64, c *cell) {
	if c.store != t.fine && c.store != 0 {
		t.fine = c.store
		if x := t.r.waves[c.store.wave()]; x != t.v {
			t.loadOf(x, c.store, at)
		}
	}
	if t.a.GLC && t.a.Space != emu.Scalar {
		return // atomic: it conflicts with no store that is atomic too
	}
	if c.reads != t.known.from || t.known.to == 0 {
		t.known.from, t.known.to = c.reads, t.withReader(c.reads)
	}
	c.reads = t.known.to
}

// loadOf judges a load of what wave x stored.
func (t *raceAccess) loadOf(x *raceWave, m mark, at uint64) {
	know := t.v.knows(x)
	glc := t.a.GLC && t.a.Space != emu.Scalar
	switch {
	case glc && m&markAtomic != 0: // a counter
		t.brings = t.brings.joined(t.vars[at&^3]).joined(t.vars[at&^7])
		return
	case know.issued < m.seq() && glc: // a flag
		t.brings = t.brings.joined(x.releasedAt(m.seq()))
		return
	case know.issued < m.seq():
		t.report(Unordered, x, m, at, "")
		return
	}
	if know.done[m.class()] < m.seq() {
		t.report(ReleaseMissing, x, m, at, t.r.release(x, m))
	}
	if glc || t.a.Space == emu.LDS {
		return
	}
	same := x.group == t.v.group
	fresh := func(own groupClock, far *clock) bool {
		if same && own.at(x.wave).issued >= m.seq() {
			return true
		}
		return far.group(x.group.number).at(x.wave).issued >= m.seq()
	}
	if t.a.Space == emu.Scalar {
		if !fresh(t.v.ownScalar, t.v.farScalar) {
			t.report(AcquireMissing, x, m, at, t.acquire("s_dcache_inv"))
		}
		return
	}
	l0 := fresh(t.v.ownL0, t.v.farL0)
	switch {
	case same && t.r.wgp && !l0:
		t.report(AcquireMissing, x, m, at, t.acquire("buffer_gl0_inv"))
	case same:
	case !fresh(nil, t.v.farL1) && l0:
		t.report(ScopeTooNarrow, x, m, at, t.acquire("buffer_gl1_inv"))
	case !fresh(nil, t.v.farL1):
		t.report(AcquireMissing, x, m, at, t.acquire("buffer_gl1_inv and buffer_gl0_inv"))
	case !l0:
		t.report(AcquireMissing, x, m, at, t.acquire("buffer_gl0_inv"))
	}
}

// knows is what a wave knows of another.
func (v *raceWave) knows(x *raceWave) moment {
	m := v.far.group(x.group.number).at(x.wave)
	if x.group == v.group {
		own := v.own.at(x.wave)
		m.join(&own)
	}
	return m
}

// store judges a store or an atomic to a cell.
func (t *raceAccess) store(at uint64, c *cell) {
	atomic := t.a.Kind == emu.Atomic || c.store&markAtomic != 0 && t.setsFlag()
	if c.store != t.fine && c.store != 0 {
		t.fine = c.store
		if x := t.r.waves[c.store.wave()]; x != t.v && !(atomic && c.store&markAtomic != 0) {
			t.ordered(x, c.store, at)
		}
	}
	if c.reads != t.before && c.reads != 0 {
		t.before = c.reads
		list := t.r.readers.of(&c.reads)
		t.r.full = t.r.full || len(list) == mostReaders
		for _, m := range list {
			if x := t.r.waves[m.wave()]; x != t.v {
				t.ordered(x, m, at)
			}
		}
	}
	c.store, c.reads = t.mark, 0
	if atomic {
		c.store |= markAtomic
	}
}

// setsFlag says whether a store to what atomics are made to is one itself: one
// lane's. It releases then.
func (t *raceAccess) setsFlag() bool {
	if bits.OnesCount64(t.a.Lanes) != 1 {
		return false
	}
	if !t.released {
		t.released = true
		at := t.a.Addr[bits.TrailingZeros64(t.a.Lanes)]
		t.vars[at] = t.vars[at].joined(t.v.snapshot())
		t.v.sync()
	}
	return true
}

// ordered judges an access that has to come after wave x's access m.
func (t *raceAccess) ordered(x *raceWave, m mark, at uint64) {
	switch know := t.v.knows(x); {
	case know.issued < m.seq():
		t.report(Unordered, x, m, at, "")
	case know.done[m.class()] < m.seq():
		t.report(ReleaseMissing, x, m, at, t.r.release(x, m))
	}
}

// withReader is reads and this access: without those of the same wave, and
// while they are few without those that this wave's reads are ordered behind,
// since what comes after this one comes after them.
func (t *raceAccess) withReader(reads mark) mark {
	var list [mostReaders + 1]mark
	n, mine := 0, false
	old := t.r.readers.of(&reads)
	for _, m := range old {
		x := t.r.waves[m.wave()]
		if x == t.v {
			mine = true
			continue
		}
		if len(old) <= fewReaders {
			if know := t.v.knows(x); know.done[m.class()] >= m.seq() {
				continue
			}
		}
		list[n] = m
		n++
	}
	switch {
	case n == 0:
		return t.mark
	case n == mostReaders && !mine:
		return reads // a store to it will say so
	}
	list[n] = t.mark
	return t.r.readers.add(list[:n+1])
}

// release says what lacks between access m of wave x and what was to order it.
func (r *racecheck) release(x *raceWave, m mark) string {
	wait := [...]string{
		classLoads: "s_waitcnt vmcnt(0)", classStores: "s_waitcnt_vscnt null, 0x0",
		classLocal: "s_waitcnt lgkmcnt(0)", classScalar: "s_waitcnt lgkmcnt(0)",
	}[m.class()]
	i, _ := slices.BinarySearchFunc(x.syncs, m.seq(), func(s synced, seq uint32) int { return int(int64(s.seq) - int64(seq)) })
	if i == len(x.syncs) {
		return wait
	}
	return fmt.Sprintf("%s before the %s", wait, r.named(x.syncs[i].pc))
}

// acquire says what lacks between what ordered the access and the access.
func (t *raceAccess) acquire(op string) string {
	if n := len(t.v.syncs); n > 0 {
		return fmt.Sprintf("%s after the %s", op, t.r.named(t.v.syncs[n-1].pc))
	}
	return op
}

// named is an instruction's name and where it is.
func (r *racecheck) named(pc uint64) string {
	name := "instruction"
	if in, ok := r.c.inst(pc); ok {
		name = in.Op.Name
	}
	return fmt.Sprintf("%s at %#x", name, pc-r.launched.Kernel.Module.Base)
}

// report adds a finding about this access and access m of wave x. Of two that
// nothing orders, the one with the lower pc comes first, whichever was first here:
// the finding is the same in every schedule.
func (t *raceAccess) report(k Kind, x *raceWave, m mark, at uint64, missing string) {
	pc, other := t.a.Wave.PC(), t.r.places[m.place()]
	swap := k == Unordered && other < pc
	pcs := []uint64{pc, other}
	if swap {
		slices.Reverse(pcs)
	}
	if t.r.c.known(Racecheck, k, pcs...) {
		return
	}
	f := Finding{Tool: Racecheck, Kind: k, Bytes: t.a.Bytes, Missing: missing}
	f.Buffer, f.Offset = t.r.where(t.a.Space, at)
	earlier := x.place
	earlier.pc = other
	f.Sites = []Site{t.r.c.site(t.a.Wave, laneAt(t.a, at)), t.r.c.siteOf(earlier, -1)}
	what, did := t.a.Kind.String(), t.r.did(m, other)
	if k == Unordered {
		both := []string{what, did}
		if swap {
			slices.Reverse(both)
			slices.Reverse(f.Sites)
		}
		f.Message = fmt.Sprintf("%s and %s at %q + %d by %s: nothing orders the two", both[0], both[1], f.Buffer, f.Offset, waves(t.v, x))
	} else {
		why := map[Kind]string{
			ReleaseMissing: "need not be complete",
			AcquireMissing: "may be hidden by what a cache has from before",
			ScopeTooNarrow: "may be hidden by what the GL1 has from before",
		}[k]
		f.Message = fmt.Sprintf("%s of %d bytes at %q + %d behind a %s by %s, which %s", what, t.a.Bytes, f.Buffer, f.Offset, did, waves(x, t.v), why)
	}
	t.r.c.report(f)
}

// waves names two waves, the second only as far as it differs.
func waves(x, y *raceWave) string {
	if x.group == y.group {
		return fmt.Sprintf("another wave (%d, %d) of the workgroup", min(x.wave, y.wave), max(x.wave, y.wave))
	}
	return "a wave of another workgroup"
}

// did is what access m, the instruction at pc, was.
func (r *racecheck) did(m mark, pc uint64) string {
	switch {
	case m&markAtomic != 0:
		return emu.Atomic.String()
	case m.class() == classStores || m.class() == classLocal && r.isStore(pc):
		return emu.Store.String()
	}
	return emu.Load.String()
}

// isStore says whether the instruction at pc, in LDS, is a store.
func (r *racecheck) isStore(pc uint64) bool {
	in, ok := r.c.inst(pc)
	return ok && strings.Contains(in.Op.Name, "store")
}

// where names the bytes at an address.
func (r *racecheck) where(s emu.MemorySpace, at uint64) (string, int64) {
	if s == emu.LDS {
		return "LDS", int64(at)
	}
	if b := r.launched.Device.Space().Find(at, 1); b != nil {
		return b.Name, int64(at - b.Addr)
	}
	return "", int64(at)
}

// laneAt is the first lane that accesses a byte.
func laneAt(a *emu.Access, at uint64) int {
	if a.Space == emu.Scalar {
		return -1
	}
	for lanes := a.Lanes; lanes != 0; lanes &= lanes - 1 {
		lane := bits.TrailingZeros64(lanes)
		if at-a.Addr[lane] < uint64(a.Bytes) {
			return lane
		}
	}
	return -1
}
