package emu

import (
	"maps"
	"math/bits"
	"slices"
)

// Pages that move: how a driver with unified memory takes pages from a device
// whose accesses can be retried. A page that leaves is unmapped, its bytes are
// moved, and it stays unmapped until a wave touches it. That is a fault: the
// wave is set aside at the instruction, which has done nothing yet, the driver
// moves the page back or maps it where it is, and the wave tries again.

// pageBytes is the size of what moves.
const pageBytes = 4096

// pages is the state of migration in a dispatch.
type pages struct {
	s      *scheduler
	driver *driver
	absent map[uint64]*page // those that are not mapped, by number
	moving []*page          // of those, what the driver is at work on
	away   map[uint64]bool  // those that are mapped where they were moved
}

// page is one that is not mapped.
type page struct {
	number  uint64
	state   pageState
	rest    int // boundaries until what is done to it is done
	parts   []pagePart
	waiting []*wave // in the order of their faults
}

type pageState uint8

const (
	leaving   pageState = iota // on its way to the system's memory
	gone                       // there, and nobody has touched it since
	returning                  // on its way to the device, because of a fault
	updating                   // about to be mapped where it is, because of a fault
	fetching                   // on its way to the device, because of nothing
)

// pagePart is the bytes that a page has of a buffer, while they are not in it.
type pagePart struct {
	in    []byte // their place in Buffer.Data
	moved []byte
}

// moveMost is the most boundaries that a driver takes for a page.
const moveMost = 8

// retry is raised by an access to a page that is not mapped, before its
// instruction has changed anything.
type retry struct{}

// check raises a retry if any of n bytes are not mapped.
func (p *pages) check(w *wave, addr, n uint64, write bool) {
	for number := addr / pageBytes; number <= (addr+n-1)/pageBytes; number++ {
		if pg := p.absent[number]; pg != nil {
			p.fault(w, pg, write)
			panic(retry{})
		}
	}
}

// fault notes that a wave waits for a page.
func (p *pages) fault(w *wave, pg *page, write bool) {
	if len(pg.waiting) == 0 {
		kind := 'R'
		if write {
			kind = 'W'
		}
		now := w.now + w.ran() - w.total - 1 + p.driver.spent // without the instruction itself
		p.driver.event("%x %d -%d @%x(%x) %c", smiPageFaultStart, now, p.driver.PID, pg.number, p.driver.Node, kind)
	}
	pg.waiting = append(pg.waiting, w)
	w.held = append(w.held, pg.number)
	if pg.state == gone {
		p.resolve(pg)
	}
}

// resolve begins to map a page that a wave waits for.
func (p *pages) resolve(pg *page) {
	pg.state = updating
	if p.driver.rng.chance(0.5) {
		pg.state = returning
	}
	pg.rest = 0 // it begins at the next boundary
	p.moving = append(p.moving, pg)
}

// advance is a boundary: the driver gets on with its work.
func (p *pages) advance() {
	for _, pg := range slices.Clone(p.moving) {
		switch {
		case pg.rest == 0: // a resolution that has not begun
			pg.rest = 1 + p.driver.rng.below(moveMost)
			if pg.state == returning {
				p.start(pg, systemMemory, p.driver.Node, migrateGPUFault)
			}
			continue
		case pg.rest > 1:
			pg.rest--
			continue
		}
		p.moving = slices.DeleteFunc(p.moving, func(o *page) bool { return o == pg })
		p.finish(pg)
	}
}

// finish ends what the driver does to a page.
func (p *pages) finish(pg *page) {
	switch pg.state {
	case leaving:
		p.end(pg, p.driver.Node, systemMemory, migrateTTM)
		if pg.state = gone; len(pg.waiting) > 0 {
			p.resolve(pg)
		}
	case returning:
		p.end(pg, systemMemory, p.driver.Node, migrateGPUFault)
		p.mapped(pg, 'M')
	case fetching:
		p.end(pg, systemMemory, p.driver.Node, migratePrefetch)
		p.mapped(pg, 'M')
	case updating:
		p.away[pg.number] = true
		p.mapped(pg, 'U')
	}
}

// mapped puts a page's bytes back and lets the waves that wait for it try again.
func (p *pages) mapped(pg *page, how rune) {
	pg.restore()
	delete(p.absent, pg.number)
	if len(pg.waiting) == 0 {
		return
	}
	p.driver.event("%x %d -%d @%x(%x) %c", smiPageFaultEnd, p.s.now(), p.driver.PID, pg.number, p.driver.Node, how)
	for _, w := range pg.waiting {
		if w.status == retrying {
			w.status = running
			p.s.ready = append(p.s.ready, w)
		}
	}
}

func (pg *page) restore() {
	for _, part := range pg.parts {
		copy(part.in, part.moved)
	}
}

// migrate takes a page of a pageable buffer from the device, or back to it, if
// the one that chance points to can be moved.
func (p *pages) migrate() {
	var candidates []*Buffer
	for _, b := range p.s.d.dev.space.buffers {
		if b.Residency == Pageable && len(b.Data) > 0 {
			candidates = append(candidates, b)
		}
	}
	if len(candidates) == 0 {
		return
	}
	b := candidates[p.driver.rng.below(len(candidates))]
	first := b.Addr / pageBytes
	count := (b.Addr+uint64(len(b.Data))-1)/pageBytes - first + 1
	number := first + uint64(p.driver.rng.below(int(count)))
	if p.absent[number] != nil || p.held(number) {
		return
	}
	pg := &page{number: number, rest: 1 + p.driver.rng.below(moveMost)}
	if !pg.take(p.s.d.dev.space) {
		return
	}
	p.s.migrations++
	pg.state = leaving
	from, to, trigger := p.driver.Node, uint32(systemMemory), migrateTTM
	if p.away[number] {
		pg.state = fetching
		from, to, trigger = to, from, migratePrefetch
		delete(p.away, number)
	}
	p.start(pg, from, to, trigger)
	p.driver.event("%x %d -%d @%x(%x) %x %d", smiUnmap, p.s.now(), p.driver.PID, number, 1, p.driver.Node, unmapMigrate)
	p.absent[number] = pg
	p.moving = append(p.moving, pg)
	p.move(pg)
}

// held says whether a wave has waited for a page and not yet run the
// instruction: moving it again could go on for ever.
func (p *pages) held(number uint64) bool {
	for _, g := range p.s.groups {
		for _, w := range g.waves {
			if slices.Contains(w.held, number) {
				return true
			}
		}
	}
	return false
}

// take finds the bytes that a page has; false if some of them may not move.
func (pg *page) take(s *Space) bool {
	lo := pg.number * pageBytes
	hi := lo + pageBytes
	for _, b := range s.buffers {
		first, end := max(lo, b.Addr), min(hi, b.Addr+uint64(len(b.Data)))
		if first >= end {
			continue
		}
		if b.Residency != Pageable {
			return false
		}
		pg.parts = append(pg.parts, pagePart{in: b.Data[first-b.Addr : end-b.Addr]})
	}
	return true
}

// move completes what is under way to the page, drops it from the caches, and
// takes its bytes out of its buffers, where something else is then.
func (p *pages) move(pg *page) {
	lo := pg.number * pageBytes
	hi := lo + pageBytes
	if r := p.s.d.caches; r != nil {
		for _, g := range p.s.groups {
			for _, w := range g.waves {
				w.sampleTouching(w.pending.issued, lo, hi)
				r.arriveRange(w, len(w.pending.global), lo, hi)
			}
		}
		r.forget(lo, pageBytes)
	}
	for i := range pg.parts {
		part := &pg.parts[i]
		part.moved = slices.Clone(part.in)
		for k := range part.in {
			part.in[k] = 0xdb
		}
	}
}

func (p *pages) start(pg *page, from, to uint32, trigger int) {
	p.driver.event("%x %d -%d @%x(%x) %x->%x %x:%x %d", smiMigrateStart, p.s.now(), p.driver.PID, pg.number, 1, from, to, 0, 0, trigger)
}

func (p *pages) end(pg *page, from, to uint32, trigger int) {
	p.driver.event("%x %d -%d @%x(%x) %x->%x %d %d", smiMigrateEnd, p.s.now(), p.driver.PID, pg.number, 1, from, to, trigger, 0)
}

// stall lets time pass until a wave can run again; false if none waits for a
// page.
func (p *pages) stall() bool {
	if p == nil || !slices.ContainsFunc(p.moving, func(pg *page) bool { return len(pg.waiting) > 0 }) {
		return false
	}
	p.driver.spent += defaultQuantum
	p.advance()
	return true
}

// close puts every page back when a dispatch ends, and ends what has begun.
func (p *pages) close() {
	for len(p.moving) > 0 {
		p.advance()
	}
	for _, number := range slices.Sorted(maps.Keys(p.absent)) {
		p.absent[number].restore()
	}
}

// forget drops the lines of a range from every cache.
func (r *relaxed) forget(addr, n uint64) {
	for _, c := range slices.Concat(r.l0, r.l1, r.scalars) {
		for at := addr / lineBytes; at < (addr+n)/lineBytes; at++ {
			delete(c, at)
		}
	}
}

// replay undoes what running the instruction at w.at counted, and makes it the
// next. It has changed nothing else.
func (w *wave) replay() {
	in := w.block.insts[(w.at-w.block.base)>>2].Load()
	w.pc = w.at
	w.left++
	w.laneOps -= uint64(bits.OnesCount64(w.exec() & in.width))
	w.ops[in.id]--
	w.pending.pendingCounts = w.counted
	w.replaying = true
	w.stop(retrying)
}

// paged notes how a wave that ran so many instructions is with pages.
func (s *scheduler) paged(w *wave, ran uint64) {
	switch {
	case w.status == retrying:
		s.retries++
		if ran > 0 { // what it has waited for before is behind it
			w.held = w.held[len(w.held)-1:]
		}
	case ran > 0:
		w.held = w.held[:0]
	}
}

// touch is for an access to global memory that the wave is about to make: it
// raises a retry if the memory is not mapped.
func (w *wave) touch(addr, n uint64, write bool) {
	if w.pages != nil {
		w.pages.check(w, addr, n, write)
	}
}
