package cpu

import (
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
}

// Load places the program's transients and binds its launches.
func (d *Device) Load(p *device.Program, o device.LoadOptions) (device.Executable, error) {
	arena, err := mmap.Anonymous(max(p.ArenaBytes, 1))
	if err != nil {
		return nil, fmt.Errorf("cpu: arena of %d bytes: %w", p.ArenaBytes, err)
	}
	e := &executable{
		dev: d, prog: p, arena: arena, places: map[*op.Value][]byte{},
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
		e.steps = append(e.steps, step{kernel: k, name: l.Kernel, op: l.Op, wait: l.Wait})
	}
	for i := range e.workers {
		e.workers[i] = worker{id: i, scratch: alignedBytes(scratch)}
	}
	e.batch.tiles = make([]tile, 0, p.Limits.Tokens)
	e.job = e.work
	return e, nil
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
			Device: e.dev.Name(), Launch: v.Name, Op: -1,
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
				s.run(w, b, task)
			}
		}
	}
}

// recover turns a panic in a kernel into a fault and lets the others through.
func (e *executable) recover(w *worker, at *int) {
	r := recover()
	if r == nil {
		return
	}
	err, ok := r.(error)
	if !ok {
		err = fmt.Errorf("%v", r)
	}
	w.fault = &device.Fault{Device: e.dev.Name(), Launch: e.steps[*at].name, Op: e.steps[*at].op, Err: err}
	e.dev.pool.broken.Store(true)
}

// Output is the memory of an output, [m][Cols].
func (e *executable) Output(v *op.Value) []byte { return e.places[v] }

// Close frees the arena.
func (e *executable) Close() error { return e.arena.Close() }
