package cpu

import (
	"runtime"
	"sync/atomic"
	"time"
)

// Spinning is bounded: a waiter spins spinTurns turns (a few us), then gives its
// processor away for a moment, and after parkAfter without work it parks. It
// yields to the operating system, not to Go's scheduler: for a goroutine that is
// locked to its thread, runtime.Gosched hands the processor to another thread and
// back, two futex calls that cost more than the wait (see RATIONALE.md, "Why do
// workers spin, and for how long?").
const (
	spinTurns = 250
	parkAfter = time.Millisecond
)

// pad keeps words that different threads write on different cache lines.
type pad [64]byte

// pool runs a job on a fixed number of workers at once. The caller of run is
// worker 0; the others are goroutines locked to threads of their own.
type pool struct {
	workers int
	job     func(worker int) // written before generation is raised

	_          pad
	generation atomic.Uint32 // raised once per job
	_          pad
	running    atomic.Int32 // workers still in the job
	_          pad
	arrived    atomic.Uint32 // workers waiting at the barrier
	_          pad
	phase      atomic.Uint32 // raised when all have arrived
	_          pad
	broken     atomic.Bool // a worker left the job early: barriers let everybody through
	closed     atomic.Bool

	parked []parking // of workers 1..
	done   chan struct{}
}

// parking is where one idle worker sleeps.
type parking struct {
	asleep atomic.Bool
	wake   chan struct{}
	_      pad
}

func newPool(workers int) *pool {
	p := &pool{workers: workers, parked: make([]parking, workers), done: make(chan struct{}, workers)}
	for i := 1; i < workers; i++ {
		p.parked[i].wake = make(chan struct{}, 1)
		go p.serve(i)
	}
	return p
}

// run executes job on every worker and returns when all are done.
func (p *pool) run(job func(worker int)) {
	p.job = job
	p.broken.Store(false)
	p.arrived.Store(0)
	p.running.Store(int32(p.workers - 1))
	p.generation.Add(1)
	p.wakeAll()
	job(0)
	for turn := 0; p.running.Load() != 0; turn++ {
		relax(turn)
	}
}

func (p *pool) wakeAll() {
	for i := 1; i < p.workers; i++ {
		if p.parked[i].asleep.CompareAndSwap(true, false) {
			p.parked[i].wake <- struct{}{}
		}
	}
}

// serve is the life of worker i.
func (p *pool) serve(i int) {
	runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
	defer func() { p.done <- struct{}{} }()
	seen := uint32(0)
	for {
		seen = p.await(i, seen)
		if p.closed.Load() {
			return
		}
		p.job(i)
		p.running.Add(-1)
	}
}

// await returns the next generation after seen: it spins for a while and then
// parks.
func (p *pool) await(i int, seen uint32) uint32 {
	var idle time.Time
	for turn := 0; ; turn++ {
		if g := p.generation.Load(); g != seen {
			return g
		}
		spin(&p.generation, seen, spinTurns)
		switch {
		case turn == 0:
			idle = time.Now()
		case time.Since(idle) > parkAfter:
			p.park(i, seen)
			turn = -1
		default:
			yield()
		}
	}
}

// park sleeps until run wakes worker i, unless a job came in between.
func (p *pool) park(i int, seen uint32) {
	k := &p.parked[i]
	k.asleep.Store(true)
	if p.generation.Load() != seen && k.asleep.CompareAndSwap(true, false) {
		return // nobody has taken the flag, so nobody will send
	}
	<-k.wake
}

// barrier returns when every worker of the job has called it, or when the job
// is broken.
func (p *pool) barrier() {
	if p.workers == 1 {
		return
	}
	phase := p.phase.Load()
	if int(p.arrived.Add(1)) == p.workers {
		p.arrived.Store(0)
		p.phase.Store(phase + 1)
		return
	}
	for turn := 0; !p.broken.Load(); turn++ {
		if spin(&p.phase, phase, spinTurns) {
			return
		}
		relax(turn)
	}
}

// relax gives way after a spin that did not end: to whoever else wants this
// processor, and after about a millisecond for longer, because then the worker
// waited for has lost its own.
func relax(turn int) {
	if turn < 200 {
		yield()
		return
	}
	nap()
}

// close ends the workers and waits for them. The pool must be idle.
func (p *pool) close() {
	p.closed.Store(true)
	p.generation.Add(1)
	p.wakeAll()
	for i := 1; i < p.workers; i++ {
		<-p.done
	}
}
