package emu

import (
	"fmt"
	"slices"
)

// Pressure is what a driver does to a queue while it runs: it evicts and
// restores it, and moves pages. Both happen between two slices of waves (see
// Schedule.Quantum), decided by the device's seed, and are told as the lines of
// KFD's system management interface.
type Pressure struct {
	// Evict is how likely an eviction is at such a point, from 0 to 1: all
	// waves are saved with their memory operations completed, and resumed in
	// another order, in WGP mode possibly on the other compute unit.
	Evict float64
	// Migrate is how likely a migration is: a page of a pageable buffer is
	// unmapped, moved to other memory and mapped again; caches forget it.
	// Pinned and non-migratable buffers are left alone.
	Migrate float64
	// Events, if not nil, gets each event's line, without its end: "9 1000
	// -4711 1 2". Its clock counts instructions of waves as nanoseconds.
	Events func(line string)
	PID    int    // of the process, in events
	Node   uint32 // the device's number, in events
}

// Events and triggers of the KFD, see the kernel's kfd_ioctl.h.
const (
	smiMigrateStart  = 5
	smiMigrateEnd    = 6
	smiQueueEviction = 9
	smiQueueRestore  = 10
	smiUnmap         = 11

	evictTTM      = 2 // memory was needed elsewhere
	migrateTTM    = 3
	unmapMigrate  = 1
	systemMemory  = 0 // the node that pages move to
	pressurePages = 4096
)

// driver is the state of pressure in a dispatch.
type driver struct {
	rng                   random
	now                   uint64 // nanoseconds
	evictions, migrations int
}

func (d *dispatch) pressureBegin() {
	d.driver = driver{rng: random(d.dev.config.Seed ^ 0x70726573)}
}

// chance is true with probability p.
func (r *random) chance(p float64) bool {
	return p > 0 && float64(r.next()>>11)/(1<<53) < p
}

// boundary is called by the scheduler between two slices of waves, if
// Config.Pressure is set. Every wave is at an instruction boundary.
func (s *scheduler) boundary() {
	d, p := s.d, s.d.dev.config.Pressure
	d.driver.now = s.instructions
	if d.driver.rng.chance(p.Migrate) {
		d.migrate()
	}
	if d.driver.rng.chance(p.Evict) {
		s.evict()
	}
}

// evict saves every wave and resumes them in another order.
func (s *scheduler) evict() {
	d, p := s.d, s.d.dev.config.Pressure
	d.driver.evictions++
	d.event("%x %d -%d %x %d", smiQueueEviction, d.driver.now, p.PID, p.Node, evictTTM)
	for _, g := range s.groups {
		for _, w := range g.waves {
			if w.status == ended {
				continue
			}
			w.finish()
			if d.kernel.Descriptor.WGPMode() && d.driver.rng.chance(0.5) {
				w.cu ^= 1
			}
		}
	}
	if d.caches != nil { // what was cached does not survive
		d.caches = newRelaxed(d.dev.space, d.dev.config.ComputeUnits)
		for _, g := range s.groups {
			for _, w := range g.waves {
				w.relaxed = d.caches
			}
		}
	}
	for i := len(s.ready) - 1; i > 0; i-- {
		j := d.driver.rng.below(i + 1)
		s.ready[i], s.ready[j] = s.ready[j], s.ready[i]
	}
	d.event("%x %d -%d %x R", smiQueueRestore, d.driver.now, p.PID, p.Node)
}

// migrate moves a page of a pageable buffer, if there is one.
func (d *dispatch) migrate() {
	p := d.dev.config.Pressure
	var candidates []*Buffer
	for _, b := range d.dev.space.buffers {
		if b.Residency == Pageable && len(b.Data) > 0 {
			candidates = append(candidates, b)
		}
	}
	if len(candidates) == 0 {
		return
	}
	b := candidates[d.driver.rng.below(len(candidates))]
	first := b.Addr / pressurePages
	pages := (b.Addr+uint64(len(b.Data))-1)/pressurePages - first + 1
	page := first + uint64(d.driver.rng.below(int(pages)))
	d.driver.migrations++
	now := d.driver.now
	d.event("%x %d -%d @%x(%x) %x->%x %x:%x %d", smiMigrateStart, now, p.PID, page, 1, p.Node, systemMemory, 0, 0, migrateTTM)
	d.event("%x %d -%d @%x(%x) %x %d", smiUnmap, now, p.PID, page, 1, p.Node, unmapMigrate)
	if d.caches != nil {
		d.caches.forget(page*pressurePages, pressurePages)
	}
	d.event("%x %d -%d @%x(%x) %x->%x %d %d", smiMigrateEnd, now, p.PID, page, 1, p.Node, systemMemory, migrateTTM, 0)
}

// forget drops the lines of a range from every cache.
func (r *relaxed) forget(addr, n uint64) {
	for _, c := range slices.Concat(r.l0, r.l1, r.scalars) {
		for at := addr / lineBytes; at < (addr+n)/lineBytes; at++ {
			delete(c, at)
		}
	}
}

func (d *dispatch) event(format string, args ...any) {
	if f := d.dev.config.Pressure.Events; f != nil {
		f(fmt.Sprintf(format, args...))
	}
}
