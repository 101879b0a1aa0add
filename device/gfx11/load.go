package gfx11

import (
	"errors"
	"fmt"

	"github.com/holdfast-llm/holdfast/amd/emu"
	"github.com/holdfast-llm/holdfast/device"
	"github.com/holdfast-llm/holdfast/device/kernel"
	"github.com/holdfast-llm/holdfast/device/stage"
	"github.com/holdfast-llm/holdfast/op"
)

// Load maps what the program uses, loads its kernels and lays out their
// arguments. Errors: a *MemoryError; a code object that is missing or broken;
// an arena base that is taken, not aligned or outside the address space; a
// residency that the device does not have, or another than a cache has already;
// an injection that cannot be raised. Nothing stays behind.
func (d *Device) Load(p *device.Program, o device.LoadOptions) (device.Executable, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	e := &Executable{dev: d, prog: p, takes: device.TakesOf(p), shared: map[*op.Value]*mapping{}, own: map[*op.Value]*emu.Buffer{}}
	if err := e.load(o); err != nil {
		return nil, errors.Join(err, e.close())
	}
	return e, nil
}

func (e *Executable) load(o device.LoadOptions) error {
	p := e.prog
	if err := e.placeArena(o); err != nil {
		return err
	}
	var err error
	if e.hooks, err = stage.NewHooks(e.dev.Name(), p, o, e.arena.Data); err != nil {
		return fmt.Errorf("gfx11: %w", err)
	}
	for _, b := range []struct {
		value *op.Value
		rows  int
	}{{batchTokens, p.Limits.Tokens}, {batchPos, p.Limits.Tokens}, {batchSlot, p.Limits.Tokens}, {batchOutput, p.Limits.Outputs}} {
		if err := e.keep(Batches, b.value, make([]byte, 4*b.rows), true); err != nil {
			return err
		}
	}
	for i := range p.Launches {
		if err := e.bind(i, o.Residency); err != nil {
			return err
		}
	}
	return nil
}

// placeArena maps the program's arena, at o.Base if that is an address.
func (e *Executable) placeArena(o device.LoadOptions) error {
	d, align := e.dev, max(e.prog.Arena.Align, device.ArenaAlign)
	if o.Base%uintptr(align) != 0 {
		return fmt.Errorf("gfx11: arena at %#x, want a multiple of %d", o.Base, align)
	}
	b, err := d.memory.place(Arenas, fmt.Sprintf("arena %d", d.loaded), make([]byte, max(e.prog.ArenaBytes, 1)), emu.Placement{
		Addr: uint64(o.Base), Align: max(uint64(align), pageBytes), Residency: o.Residency,
	})
	if err != nil {
		return err
	}
	d.loaded++
	e.arena = b
	return nil
}

// pageBytes is the least alignment of an arena.
const pageBytes = 4096

// keep maps memory of the program's own.
func (e *Executable) keep(use Use, v *op.Value, data []byte, readOnly bool) error {
	b, err := e.dev.memory.place(use, v.Name, data, emu.Placement{})
	if err != nil {
		return err
	}
	b.ReadOnly = readOnly
	e.own[v] = b
	return nil
}

// bind makes a launch ready to run.
func (e *Executable) bind(i int, r device.Residency) error {
	l := &e.prog.Launches[i]
	for _, b := range l.Bindings {
		if err := e.mapShared(b.Value, r); err != nil {
			return err
		}
	}
	cmd := l.Bind(nil).(command)
	s := step{command: cmd, index: i, name: l.Kernel, op: l.Op}
	for _, x := range cmd.own {
		data := x.data
		if data == nil {
			data = make([]byte, x.bytes)
			s.zeroed = append(s.zeroed, data)
		}
		if err := e.keep(Kernels, x.value, data, x.data != nil); err != nil {
			return err
		}
	}
	at := func(v *op.Value) kernel.Pointer { return e.pointer(l, v) }
	s.groups = func(rows int) [3]uint32 { return cmd.launch(at, rows).Groups }
	args := cmd.launch(at, 1).Args
	s.kernarg = kernel.Kernarg(args)
	s.kernel = args.Kernel()
	s.items = uint32(s.kernel.Items)
	var err error
	if s.entry, err = e.dev.kernel(s.kernel); err != nil {
		return err
	}
	s.stats = LaunchStats{Launch: l.Kernel, Kernel: s.kernel.Name, Lane: e.prog.Decisions[l.Op].Chosen}
	e.steps = append(e.steps, s)
	return nil
}

// mapShared maps a weight or a cache for this program, unless it has it
// already.
func (e *Executable) mapShared(v *op.Value, r device.Residency) error {
	use := Weights
	switch v.Role {
	case op.Cache:
		use = Caches
	case op.Weight:
	default:
		return nil
	}
	if e.shared[v] != nil {
		return nil
	}
	m, err := e.dev.share(use, v, r)
	if err == nil {
		e.shared[v] = m
	}
	return err
}

// pointer is the address of what a launch has of v: what its binding says, or
// memory that is its own.
func (e *Executable) pointer(l *device.Launch, v *op.Value) kernel.Pointer {
	if b := e.own[v]; b != nil {
		return kernel.Pointer(b.Addr)
	}
	for _, b := range l.Bindings {
		if addr, ok := e.Address(v); ok && b.Value == v {
			return kernel.Pointer(addr + uint64(b.Offset))
		}
	}
	panic("gfx11: " + l.Kernel + " uses " + v.Name + " without a binding")
}

// Address is where a value is in the device's memory; false if the program does
// not use it.
func (e *Executable) Address(v *op.Value) (uint64, bool) {
	if m := e.shared[v]; m != nil {
		return m.buffer.Addr, true
	}
	if at, ok := e.hooks.Offset(v); ok {
		return e.arena.Addr + uint64(at), true
	}
	return 0, false
}

// Close unmaps the program's own memory, and the weights and caches that no
// other program uses.
func (e *Executable) Close() error {
	e.dev.mu.Lock()
	defer e.dev.mu.Unlock()
	return e.close()
}

func (e *Executable) close() error {
	var errs []error
	if e.arena != nil {
		errs = append(errs, e.dev.memory.free(e.arena))
	}
	for _, b := range e.own {
		errs = append(errs, e.dev.memory.free(b))
	}
	for _, m := range e.shared {
		errs = append(errs, e.dev.release(m))
	}
	e.arena, e.own, e.shared, e.steps = nil, nil, nil, nil
	return errors.Join(errs...)
}
