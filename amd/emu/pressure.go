package emu

import "fmt"

// Pressure is what a driver does to a queue while it runs: it evicts and
// restores it, and moves pages. Both begin between two slices of waves (see
// Schedule.Quantum), decided by the device's seed, and are told as the lines of
// KFD's system management interface.
type Pressure struct {
	// Evict is how likely an eviction is at such a point, from 0 to 1: all
	// waves are saved with their memory operations completed, and resumed in
	// another order, in WGP mode possibly on the other compute unit.
	Evict float64
	// Migrate is how likely a migration is: a page of a pageable buffer is
	// unmapped and moved away from the device; what is under way to it has
	// completed, and caches forget it. A wave that then touches it stalls at
	// its instruction until the page is mapped again, moved back or where it
	// is, and tries again; others go on. Meanwhile the page's bytes are not in
	// Buffer.Data. A page with bytes of a pinned or non-migratable buffer is
	// left alone.
	Migrate float64
	// Events, if not nil, gets each event's line, without its end: "9 1000
	// -4711 1 2". Its clock counts instructions of waves as nanoseconds, and
	// what the driver takes while none can run.
	Events func(line string)
	PID    int    // of the process, in events
	Node   uint32 // the device's number, in events; the system's is 0
}

// Events and triggers of the KFD, see the kernel's kfd_ioctl.h.
const (
	smiMigrateStart   = 5
	smiMigrateEnd     = 6
	smiPageFaultStart = 7
	smiPageFaultEnd   = 8
	smiQueueEviction  = 9
	smiQueueRestore   = 10
	smiUnmap          = 11

	migratePrefetch = 0
	migrateGPUFault = 1
	migrateTTM      = 3 // memory was needed elsewhere
	evictTTM        = 2
	unmapMigrate    = 1
	systemMemory    = 0 // the node that pages move to
)

// driver is the state of pressure in a dispatch.
type driver struct {
	*Pressure
	rng   random
	pages *pages // nil if none ever moves
	spent uint64 // nanoseconds that no wave ran
}

// newDriver is the driver of a scheduler, or nil if there is no pressure.
func newDriver(s *scheduler) *driver {
	c := &s.d.dev.config
	if c.Pressure == nil {
		return nil
	}
	d := &driver{Pressure: c.Pressure, rng: random(c.Seed ^ 0x70726573)}
	if c.Pressure.Migrate > 0 {
		d.pages = &pages{s: s, driver: d, absent: map[uint64]*page{}, away: map[uint64]bool{}}
	}
	return d
}

// check says what is wrong with the pressure, if anything.
func (p *Pressure) check() error {
	if p != nil && !(p.Evict >= 0 && p.Evict <= 1 && p.Migrate >= 0 && p.Migrate <= 1) {
		return fmt.Errorf("emu: evictions at a rate of %v and migrations of %v, want 0 to 1", p.Evict, p.Migrate)
	}
	return nil
}

// chance is true with probability p.
func (r *random) chance(p float64) bool {
	return p > 0 && float64(r.next()>>11)/(1<<53) < p
}

// boundary is called between two slices of waves. Every wave is at an
// instruction boundary.
func (s *scheduler) boundary() {
	d := s.driver
	if d.pages != nil {
		d.pages.advance()
		if d.rng.chance(d.Migrate) {
			d.pages.migrate()
		}
	}
	if d.rng.chance(d.Evict) {
		s.evict()
	}
}

// evict saves every wave and resumes them in another order.
func (s *scheduler) evict() {
	d, k := s.driver, s.d.kernel
	s.evictions++
	d.event("%x %d -%d %x %d", smiQueueEviction, s.now(), d.PID, d.Node, evictTTM)
	for _, g := range s.groups {
		for _, w := range g.waves {
			if w.status == ended {
				continue
			}
			w.finish()
			if k.Descriptor.WGPMode() && d.rng.chance(0.5) {
				w.cu ^= 1
			}
		}
	}
	if s.d.caches != nil { // what was cached does not survive
		s.d.caches = newRelaxed(s.d.dev.space, s.d.dev.config.ComputeUnits)
		for _, g := range s.groups {
			for _, w := range g.waves {
				w.relaxed = s.d.caches
			}
		}
	}
	for i := len(s.ready) - 1; i > 0; i-- {
		j := d.rng.below(i + 1)
		s.ready[i], s.ready[j] = s.ready[j], s.ready[i]
	}
	d.spent += 1 + uint64(d.rng.below(evictionMost))
	d.event("%x %d -%d %x R", smiQueueRestore, s.now(), d.PID, d.Node)
}

// evictionMost is the most nanoseconds that an eviction takes.
const evictionMost = 1 << 16

// now is the driver's clock.
func (s *scheduler) now() uint64 { return s.instructions + s.driver.spent }

func (d *driver) event(format string, args ...any) {
	if d.Events != nil {
		d.Events(fmt.Sprintf(format, args...))
	}
}
