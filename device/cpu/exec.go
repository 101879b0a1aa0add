package cpu

import (
	"errors"
	"fmt"
	"runtime/debug"
	"sync/atomic"
	"unsafe"

	"github.com/holdfast-llm/holdfast/device"
	"github.com/holdfast-llm/holdfast/device/stage"
	"github.com/holdfast-llm/holdfast/internal/memory"
	"github.com/holdfast-llm/holdfast/op"
)

// kernel is a bound launch: tasks(b) independent pieces of work.
type kernel struct {
	tasks   func(b *batch) int
	run     func(w *worker, b *batch, task int)
	scratch int // bytes of scratch each worker needs
}

// worker is what one thread has for itself.
type worker struct {
	id      int
	scratch []byte // 64-byte aligned
	fault   *device.Fault
}

// step is a kernel in its place in the program.
type step struct {
	kernel
	name string
	op   int // the decision it belongs to
	wait bool
	// stage begins with this step, -1 if none does.
	stage int
}

// counter hands out the tasks of one step that belong to one worker's share.
type counter struct {
	next atomic.Int32
	_    [60]byte
}

// executable is a program bound to memory.
type executable struct {
	dev     *Device
	prog    *device.Program
	arena   *memory.Buffer
	places  map[*op.Value][]byte
	steps   []step
	next    []counter // [step][worker]
	workers []worker
	batch   batch
	job     func(worker int)

	takes device.Takes

	hooks   *stage.Hooks
	hooked  bool           // this run needs them
	nowhere *memory.Buffer // may not be read; nil without injections
	read    byte           // of nowhere
}

// Run executes the program for b. Errors: a batch larger than the program's
// limits, rows out of range, or a *device.Fault.
func (e *executable) Run(b *device.Batch) error {
	if err := e.takes.Accept(b); err != nil {
		return err
	}
	e.dev.mu.Lock()
	defer e.dev.mu.Unlock()
	e.batch.Batch = *b
	e.batch.n, e.batch.m = len(b.Tokens), len(b.Output)
	e.batch.cut()
	e.hooks.Start(e.dev.runs)
	e.hooked = e.hooks.Needed()
	e.dev.runs++
	for i := range e.next {
		e.next[i].next.Store(0)
	}
	e.dev.pool.run(e.job)
	if f := e.fault(); f != nil {
		return f
	}
	return e.scan()
}

// fault is the fault of the run that has ended: of the lowest worker that had
// one, whichever came first. nil if none had.
func (e *executable) fault() *device.Fault {
	var first *device.Fault
	for i := range e.workers {
		w := &e.workers[i]
		if first == nil {
			first = w.fault
		}
		w.fault = nil
	}
	return first
}

// scan refuses outputs that are not numbers: whatever went wrong, no token is
// chosen from them.
func (e *executable) scan() error {
	v := e.prog.Output
	out := floats(e.places[v])[:e.batch.m*v.Cols]
	if i := e.dev.elem.NonFinite(out); i >= 0 {
		return &device.Fault{
			Device: e.dev.Name(), Kind: device.FaultNaN, Launch: v.Name, Op: -1,
			Err: fmt.Errorf("output row %d, element %d is %v", i/v.Cols, i%v.Cols, out[i]),
		}
	}
	return nil
}

// work is one worker's way through the program.
func (e *executable) work(id int) {
	w := &e.workers[id]
	at := 0
	defer e.recover(w, &at)
	// A kernel that touches a page the file no longer has must not take the
	// process down: the fault becomes a panic, and the panic a device.Fault.
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	p, workers := e.dev.pool, e.dev.pool.workers
	b := &e.batch
	for at = range e.steps {
		s := &e.steps[at]
		if s.wait {
			p.barrier()
			if p.broken.Load() {
				return
			}
		}
		if e.hooked && s.stage >= 0 {
			if id == 0 {
				if s.stage > 0 {
					e.end(s.stage - 1)
				}
				e.hooks.Begin(s.stage)
			}
			p.barrier()
			if p.broken.Load() {
				return
			}
		}
		// Each worker starts with its own contiguous share, so that it reads
		// memory as a stream, and then helps the others with theirs.
		n := s.tasks(b)
		next := e.next[at*workers : (at+1)*workers]
		for v := range workers {
			owner := id + v
			if owner >= workers {
				owner -= workers
			}
			lo, hi := owner*n/workers, (owner+1)*n/workers
			for {
				task := lo + int(next[owner].next.Add(1)) - 1
				if task >= hi {
					break
				}
				if task == 0 && e.hooked {
					e.raise(at)
				}
				s.run(w, b, task)
			}
		}
	}
	if e.hooked {
		p.barrier()
		if id == 0 && !p.broken.Load() {
			e.end(e.hooks.Stages() - 1)
		}
	}
}

// end looks at what a stage has left behind.
func (e *executable) end(stage int) {
	if f := e.hooks.End(stage, &e.batch.Batch); f != nil {
		panic(f)
	}
}

// raise raises the fault that is planted in a launch, if there is one there. The
// worker that takes the launch's first task calls it.
func (e *executable) raise(launch int) {
	switch kind, _ := e.hooks.Raise(launch); kind {
	case device.FaultMemory:
		// A read of a page that nobody may read: the processor's own fault.
		e.read = *unsafe.SliceData(e.nowhere.Bytes())
	case device.FaultPanic:
		panic("injected")
	}
}

// recover turns a panic in a kernel into a fault and lets the others through.
func (e *executable) recover(w *worker, at *int) {
	r := recover()
	if r == nil {
		return
	}
	w.fault = e.faultOf(r, *at)
	e.dev.pool.broken.Store(true)
}

// faultOf is the fault that a panic in a step stands for.
func (e *executable) faultOf(r any, at int) *device.Fault {
	if f, ok := r.(*device.Fault); ok {
		return f
	}
	err, ok := r.(error)
	if !ok {
		err = fmt.Errorf("%v", r)
	}
	kind, index := device.FaultPanic, e.steps[at].op
	var memory interface{ Addr() uintptr } // of the runtime's memory faults
	var nan *notFinite
	switch {
	case errors.As(err, &memory):
		kind = device.FaultMemory
		err = fmt.Errorf("%w at address %#x", err, memory.Addr())
	case errors.As(err, &nan):
		kind = device.FaultNaN
		if nan.inherited {
			index = -1
		}
	}
	return &device.Fault{Device: e.dev.Name(), Kind: kind, Launch: e.steps[at].name, Op: index, Err: err}
}

// Buffer is how the arena was allocated: what it has, not only what was asked.
func (e *executable) Buffer() device.BufferParams { return e.arena.Params() }

// Output is the memory of an output, [m][Cols].
func (e *executable) Output(v *op.Value) []byte { return e.places[v] }

// Address is where a value is in memory; false if the program does not place it
// and it has no bytes.
func (e *executable) Address(v *op.Value) (uint64, bool) {
	b, placed := e.places[v]
	if !placed {
		b = v.Data
	}
	return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(b)))), len(b) > 0
}

// Close frees the arena.
func (e *executable) Close() error {
	err := e.arena.Close()
	if e.nowhere != nil {
		err = errors.Join(err, e.nowhere.Close())
	}
	return err
}

// Tasks is the number of tasks of each launch for the largest batch, all of
// one sequence: the grid, for dumps.
func (e *executable) Tasks() []int {
	l := e.prog.Limits
	b := batch{n: l.Tokens, m: l.Outputs}
	b.Tokens, b.Pos, b.Slot = make([]int32, b.n), make([]int32, b.n), make([]int32, b.n)
	keys := l.Keys
	if keys == 0 {
		keys = e.takes.Context()
	}
	for i := range b.n {
		b.Pos[i] = int32(max(0, keys-b.n) + i)
	}
	b.cut()
	var tasks []int
	for i := range e.steps {
		tasks = append(tasks, e.steps[i].tasks(&b))
	}
	return tasks
}
