package cpu

import (
	"errors"
	"fmt"

	"github.com/holdfast-llm/holdfast/device"
	"github.com/holdfast-llm/holdfast/device/stage"
	"github.com/holdfast-llm/holdfast/internal/memory"
	"github.com/holdfast-llm/holdfast/op"
)

// Load places the program's transients and binds its launches. Errors: no
// memory, a residency that the processor's memory does not have, an arena base
// that is taken or not aligned, pages that may not be locked, an injection that
// cannot be raised.
func (d *Device) Load(p *device.Program, o device.LoadOptions) (device.Executable, error) {
	arena, err := memory.Alloc(device.BufferParams{
		Usage: "arena", Align: max(p.Arena.Align, device.ArenaAlign), Residency: o.Residency,
	}, max(p.ArenaBytes, 1), o.Base)
	if err != nil {
		return nil, fmt.Errorf("cpu: %w", err)
	}
	e := &executable{
		dev: d, prog: p, arena: arena, places: map[*op.Value][]byte{},
		next:    make([]counter, len(p.Launches)*d.pool.workers),
		workers: make([]worker, d.pool.workers),
	}
	if e.hooks, err = stage.NewHooks(d.Name(), p, o, arena.Bytes()); err != nil {
		return nil, errors.Join(fmt.Errorf("cpu: %w", err), e.Close())
	}
	if e.hooks.Injects() {
		e.nowhere, err = memory.Alloc(memory.Params{Access: memory.None, Usage: "page that is not there"}, 1, 0)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("cpu: %w", err), e.Close())
		}
	}
	for _, at := range p.Places {
		e.places[at.Value] = arena.Bytes()[at.Offset : at.Offset+at.Bytes : at.Offset+at.Bytes]
	}
	scratch := 0
	for i := range p.Launches {
		l := &p.Launches[i]
		k := l.Bind(func(v *op.Value) []byte { return e.bound(l, v) }).(kernel)
		scratch = max(scratch, k.scratch)
		opens := -1
		if s, ok := e.hooks.Opens(i); ok {
			opens = s
		}
		e.steps = append(e.steps, step{kernel: k, name: l.Kernel, op: l.Op, wait: l.Wait, stage: opens})
	}
	for i := range e.workers {
		e.workers[i] = worker{id: i, scratch: alignedBytes(scratch)}
	}
	e.batch.tiles = make([]tile, 0, p.Limits.Tokens)
	e.takes = device.TakesOf(p)
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
