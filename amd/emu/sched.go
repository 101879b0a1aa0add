package emu

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
)

// scheduler runs workgroups in one goroutine. What it does is a function of the
// schedule and the seed.
type scheduler struct {
	d        *dispatch
	schedule Schedule
	order    []uint64 // of the workgroups, if it is shuffled and they are few
	rng      random
	quantum  int
	resident int // how many workgroups there may be at a time

	groups []*group // the resident ones
	free   []*group // ended, for reuse
	ready  []*wave  // those that can run, the next first
	aside  []*wave  // set aside until no other can run
	last   bool     // every workgroup has started
	grant  int64    // instructions taken from the budget

	instructions uint64
	idle         uint64 // of these, since a wave last arrived anywhere
	laneOps      uint64
	waves        uint64
	done         uint64 // workgroups
	barriers     uint64
	ops          opCounts

	driver                *driver // nil without pressure
	evictions, migrations uint64
	retries               uint64
}

// grantMost is how much of the budget a scheduler takes at a time.
const grantMost = 1 << 22

func (d *dispatch) newScheduler() *scheduler {
	c := &d.dev.config
	s := &scheduler{d: d, schedule: c.Schedule, quantum: c.Schedule.quantum(), resident: c.Schedule.resident()}
	s.rng = random(c.Seed)
	s.driver = newDriver(s)
	return s
}

// run runs all workgroups and fills in the report.
func (d *dispatch) run(ctx context.Context, report *Report) error {
	c := &d.dev.config
	n := max(c.Workers, 1)
	if c.Mode != Coherent || c.Schedule.Waves != InOrder || len(c.Schedule.Preempt) > 0 || d.obs != nil || c.Pressure != nil {
		n = 1
	}
	n = int(min(uint64(n), d.count))
	schedulers := make([]*scheduler, n)
	errs := make([]error, n)
	for i := range schedulers {
		schedulers[i] = d.newScheduler()
	}
	if c.Schedule.Groups == Shuffled {
		order := d.shuffled(&schedulers[0].rng)
		for _, s := range schedulers {
			s.order = order
		}
	}
	var wg sync.WaitGroup
	for i := 1; i < n; i++ {
		wg.Go(func() { errs[i] = schedulers[i].run(ctx) })
	}
	errs[0] = schedulers[0].run(ctx)
	wg.Wait()

	report.Workers = n
	counts := &schedulers[0].ops
	for i, s := range schedulers {
		report.Workgroups += s.done
		report.Waves += s.waves
		report.Instructions += s.instructions
		report.LaneInstructions += s.laneOps
		report.Barriers += s.barriers
		report.Evictions += s.evictions
		report.Migrations += s.migrations
		report.Retries += s.retries
		if i > 0 {
			for id, v := range s.ops {
				counts[id] += v
			}
		}
	}
	report.addOps(counts)
	for _, err := range errs {
		if err != nil {
			report.Unsupported, _ = err.(*Unsupported)
			return err
		}
	}
	return nil
}

// shuffledMost is how many workgroups are shuffled evenly. More are put in an
// order that is a step of the seed's choice.
const shuffledMost = 1 << 20

func (d *dispatch) shuffled(rng *random) []uint64 {
	if d.count > shuffledMost {
		return nil
	}
	order := make([]uint64, d.count)
	for i := range order {
		j := rng.below(i + 1)
		order[i] = order[j]
		order[j] = uint64(i)
	}
	return order
}

// start starts one more workgroup; false if all have started.
func (s *scheduler) start() bool {
	i := s.d.next.Add(1) - 1
	if i >= s.d.count {
		s.last = true
		return false
	}
	switch {
	case s.order != nil:
		i = s.order[i]
	case s.schedule.Groups == Backward, s.schedule.Groups == Shuffled:
		i = s.d.count - 1 - i
	}
	var old *group
	if n := len(s.free); n > 0 {
		old, s.free = s.free[n-1], s.free[:n-1]
	}
	g := s.d.newGroup(i, old)
	s.groups = append(s.groups, g)
	for _, w := range g.waves {
		w.ops = &s.ops
		if s.driver != nil {
			w.pages = s.driver.pages
		}
		s.ready = append(s.ready, w)
		if w.obs != nil {
			w.obs.WaveBegin(Wave{w})
		}
	}
	return true
}

// run runs workgroups until none is left.
func (s *scheduler) run(ctx context.Context) error {
	err := s.loop(ctx)
	if s.driver != nil && s.driver.pages != nil {
		s.driver.pages.close()
	}
	if err != nil {
		s.d.failed.Store(true)
	}
	for _, g := range s.groups {
		for _, w := range g.waves {
			s.collect(w)
		}
	}
	return err
}

func (s *scheduler) loop(ctx context.Context) error {
	for {
		for len(s.groups) < s.resident && !s.last {
			s.start()
		}
		if len(s.ready) == 0 && len(s.aside) > 0 {
			s.ready, s.aside = s.aside, s.ready[:0]
		}
		if len(s.ready) == 0 && s.driver != nil && s.driver.pages.stall() {
			continue
		}
		if len(s.ready) == 0 {
			if len(s.groups) == 0 {
				return nil
			}
			return s.stuck()
		}
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("emu: kernel %s stopped after %d instructions: %w", s.d.kernel.Name, s.instructions, err)
		}
		if s.d.failed.Load() {
			return nil // another worker says why
		}
		w, n := s.choose()
		if n = s.take(n); n == 0 {
			s.ready = append(s.ready, w)
			return s.overBudget(w)
		}
		before := w.total
		w.now = s.instructions
		err := w.run(n)
		spent := w.total - before
		s.instructions += spent
		s.idle += spent
		s.grant -= int64(spent)
		if err != nil {
			return err
		}
		s.paged(w, spent)
		s.after(w)
		if s.driver != nil {
			s.boundary()
		}
	}
}

// choose takes the next wave out of those that are ready, and says how many
// instructions it may run.
func (s *scheduler) choose() (*wave, int) {
	i, n := 0, s.quantum
	if s.schedule.Waves == Random {
		i, n = s.rng.below(len(s.ready)), 1+s.rng.below(s.quantum)
	}
	w := s.ready[i]
	s.ready = append(s.ready[:i], s.ready[i+1:]...)
	return w, n
}

// take takes up to n instructions from the budget.
func (s *scheduler) take(n int) int {
	if s.grant < int64(n) {
		want := int64(grantMost)
		rest := s.d.budget.Add(-want)
		s.grant += max(0, want+min(rest, 0))
	}
	return int(min(int64(n), s.grant))
}

// after does what a wave's slice leads to.
func (s *scheduler) after(w *wave) {
	g := w.group
	switch w.status {
	case running:
		if w.aside {
			w.aside = false
			s.aside = append(s.aside, w)
			return
		}
		s.ready = append(s.ready, w)
		// Where nobody arrives anywhere, they may wait for a workgroup that has
		// not started.
		if s.idle > inOrderQuantum*uint64(len(s.ready)) && !s.last && s.resident < maxResident {
			s.resident++
			s.idle = 0
		}
		return
	case atBarrier:
		g.waiting = append(g.waiting, w)
	case ended:
		g.live--
		s.waves++
		s.collect(w)
		if g.live == 0 {
			s.retire(g)
		}
	case halted, retrying:
		return
	}
	s.idle = 0
	if g.live > 0 && len(g.waiting) == g.live {
		s.release(g)
	}
}

// collect takes over what the wave counted.
func (s *scheduler) collect(w *wave) {
	s.laneOps += w.laneOps
	w.laneOps = 0
}

func (s *scheduler) retire(g *group) {
	s.done++
	i := slices.Index(s.groups, g)
	s.groups = slices.Delete(s.groups, i, i+1)
	s.free = append(s.free, g)
}

// release lets a workgroup pass its barrier: all waves that have not ended are
// there.
func (s *scheduler) release(g *group) {
	if s.schedule.Waves == ReverseAfterBarriers {
		slices.Reverse(g.waiting)
	} else {
		slices.SortFunc(g.waiting, func(a, b *wave) int { return cmp.Compare(a.id, b.id) })
	}
	if obs := s.d.obs; obs != nil {
		waves := make([]Wave, len(g.waiting))
		for i, w := range g.waiting {
			waves[i] = Wave{w}
		}
		obs.BarrierPassed(g.id, g.started, waves)
	}
	for _, w := range g.waiting {
		w.status = running
	}
	s.ready = append(s.ready, g.waiting...)
	g.waiting = g.waiting[:0]
	g.started++
	s.barriers++
}
