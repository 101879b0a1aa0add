package cpu

import (
	"errors"
	"fmt"
	"runtime/debug"
	"sync/atomic"

	"github.com/holdfast-llm/holdfast/device"
	"github.com/holdfast-llm/holdfast/internal/mmap"
	"github.com/holdfast-llm/holdfast/op"
)

// kernel is a bound launch: tasks(b) independent pieces of work.
type kernel struct {
	tasks   func(b *batch) int
	run     func(w *worker, b *batch, task int)
	scratch int // bytes of scratch each worker needs
}

// batch is a device.Batch with what the kernels derive from it.
type batch struct {
	device.Batch
	n, m  int
	tiles []tile
}

// tile is a run of rows of one sequence at consecutive positions, at most
// attentionTile of them.
type tile struct {
	row, rows int
	slot, pos int
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
	arena   *mmap.Mapping
	places  map[*op.Value][]byte
	steps   []step
	next    []counter // [step][worker]
	workers []worker
	batch   batch
	job     func(worker int)

	context, slots int // of the caches that the program uses; 0 if it uses none

	hooks   *hooks
	hooked  bool // this run needs them
	inject  []injection
	plant   planted
	nowhere *mmap.Mapping // a page that cannot be read; nil without injections
}

// Load places the program's transients and binds its launches. Errors: no
// memory, an arena base that is taken, pages that may not be locked, an
// injection that cannot be raised.
func (d *Device) Load(p *device.Program, o device.LoadOptions) (device.Executable, error) {
	arena, err := newArena(p, o)
	if err != nil {
		return nil, err
	}
	e := &executable{
		dev: d, prog: p, arena: arena, places: map[*op.Value][]byte{}, hooks: newHooks(p, o),
		next:    make([]counter, len(p.Launches)*d.pool.workers),
		workers: make([]worker, d.pool.workers),
	}
	for _, at := range p.Places {
		e.places[at.Value] = arena.Bytes()[at.Offset : at.Offset+at.Bytes : at.Offset+at.Bytes]
	}
	scratch := 0
	for i := range p.Launches {
		l := &p.Launches[i]
		k := l.Bind(func(v *op.Value) []byte { return e.bound(l, v) }).(kernel)
		scratch = max(scratch, k.scratch)
		stage := -1
		if l.Wait || i == 0 {
			stage = e.hooks.stageOf[i]
		}
		e.steps = append(e.steps, step{kernel: k, name: l.Kernel, op: l.Op, wait: l.Wait, stage: stage})
		for _, b := range l.Bindings {
			if b.Value.Role == op.Cache {
				e.context, e.slots = b.Value.Cache.Context, b.Value.Cache.Slots
			}
		}
	}
	for i := range e.workers {
		e.workers[i] = worker{id: i, scratch: alignedBytes(scratch)}
	}
	e.batch.tiles = make([]tile, 0, p.Limits.Tokens)
	e.job = e.work
	if err := e.loadInjections(o.Inject); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}

// newArena is the program's arena, where and as the options want it.
func newArena(p *device.Program, o device.LoadOptions) (*mmap.Mapping, error) {
	n := max(p.ArenaBytes, 1)
	arena, err := mmap.Anonymous(n)
	if o.Base != 0 {
		if err == nil {
			err = arena.Close()
		}
		if err == nil {
			arena, err = mmap.AnonymousAt(o.Base, n)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("cpu: arena of %d bytes: %w", n, err)
	}
	switch o.Residency {
	case device.Pinned:
		if err := arena.Lock(); err != nil {
			return nil, errors.Join(fmt.Errorf("cpu: pinned arena: %w", err), arena.Close())
		}
	case device.NonMigratable:
		return nil, errors.Join(errors.New("cpu: no memory of this device is non-migratable: pageable and pinned are"), arena.Close())
	}
	return arena, nil
}

// bound is the memory that a launch has of v: what its binding says and no
// more.
func (e *executable) bound(l *device.Launch, v *op.Value) []byte {
	for _, b := range l.Bindings {
		if b.Value != v {
			continue
		}
		mem, placed := e.places[v]
		if !placed {
			mem = v.Data
		}
		return mem[b.Offset : b.Offset+b.Bytes : b.Offset+b.Bytes]
	}
	panic("cpu: " + l.Kernel + " uses " + v.Name + " without a binding")
}

// Run executes the program for b. Errors: a batch larger than the program's
// limits, rows out of range, or a *device.Fault.
func (e *executable) Run(b *device.Batch) error {
	if err := e.accept(b); err != nil {
		return err
	}
	e.dev.mu.Lock()
	defer e.dev.mu.Unlock()
	e.batch.Batch = *b
	e.batch.n, e.batch.m = len(b.Tokens), len(b.Output)
	e.batch.cut()
	e.hooks.plant = nil
	if e.inject != nil {
		e.hooks.plant = e.armed()
	}
	e.hooked = e.hooks.always() || e.hooks.plant != nil
	e.hooks.live = e.hooks.live[:0]
	e.dev.runs++
	for i := range e.next {
		e.next[i].next.Store(0)
	}
	e.dev.pool.run(e.job)
	for i := range e.workers {
		if f := e.workers[i].fault; f != nil {
			e.workers[i].fault = nil
			return f
		}
	}
	return e.scan()
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

// accept checks that the batch fits the program.
func (e *executable) accept(b *device.Batch) error {
	n, m, l := len(b.Tokens), len(b.Output), e.prog.Limits
	switch {
	case n == 0 || n > l.Tokens:
		return fmt.Errorf("cpu: batch of %d tokens, program takes 1 to %d", n, l.Tokens)
	case m > l.Outputs:
		return fmt.Errorf("cpu: %d outputs wanted, program gives %d", m, l.Outputs)
	case len(b.Pos) != n || len(b.Slot) != n:
		return fmt.Errorf("cpu: batch of %d tokens with %d positions and %d slots", n, len(b.Pos), len(b.Slot))
	}
	for i, pos := range b.Pos {
		if e.slots == 0 {
			break
		}
		if pos < 0 || int(pos) >= e.context || l.Keys > 0 && int(pos) >= l.Keys {
			return fmt.Errorf("cpu: row %d at position %d: the cache has %d, the program takes %d", i, pos, e.context, l.Keys)
		}
		if s := b.Slot[i]; s < 0 || int(s) >= e.slots {
			return fmt.Errorf("cpu: row %d in slot %d: the cache has %d", i, s, e.slots)
		}
	}
	for _, o := range b.Output {
		if o < 0 || int(o) >= n {
			return fmt.Errorf("cpu: output row %d of a batch of %d", o, n)
		}
	}
	return nil
}

// cut divides the batch into tiles.
func (b *batch) cut() {
	b.tiles = b.tiles[:0]
	for i := range b.n {
		if k := len(b.tiles) - 1; k >= 0 {
			t := &b.tiles[k]
			if t.rows < attentionTile && t.slot == int(b.Slot[i]) && t.pos+t.rows == int(b.Pos[i]) {
				t.rows++
				continue
			}
		}
		b.tiles = append(b.tiles, tile{row: i, rows: 1, slot: int(b.Slot[i]), pos: int(b.Pos[i])})
	}
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
				e.begin(s.stage)
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
			e.end(len(e.hooks.byFirst) - 1)
		}
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

// Output is the memory of an output, [m][Cols].
func (e *executable) Output(v *op.Value) []byte { return e.places[v] }

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
		keys = e.context
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
