package gfx11

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/holdfast-llm/holdfast/amd/emu"
	"github.com/holdfast-llm/holdfast/device"
	"github.com/holdfast-llm/holdfast/device/kernel"
	"github.com/holdfast-llm/holdfast/device/stage"
	hostmem "github.com/holdfast-llm/holdfast/internal/memory"
	"github.com/holdfast-llm/holdfast/op"
)

// Executable is a program in the device's memory.
type Executable struct {
	dev   *Device
	prog  *device.Program
	takes device.Takes
	hooks *stage.Hooks
	steps []step

	arena  *emu.Buffer
	shared map[*op.Value]*mapping    // weights and caches
	own    map[*op.Value]*emu.Buffer // the batch's numbers, and what single launches keep
	record *recording                // of the run under way or the next; nil: none
}

// step is a launch in its place in the program.
type step struct {
	command
	index   int // in Program.Launches
	name    string
	op      int
	kernel  *kernel.Kernel
	entry   *emu.Kernel
	items   uint32
	kernarg []byte
	groups  func(rows int) [3]uint32
	zeroed  [][]byte // what a run begins with
	stats   LaunchStats
}

// LaunchStats is what the runs of a launch have added up to.
type LaunchStats struct {
	Launch string // device.Launch.Kernel
	Kernel string // the entry point
	Lane   string // the registration that it is of
	Runs   int
	// Instructions of waves; LaneInstructions are the active lanes of those that
	// vectors run.
	Workgroups, Waves, Instructions, LaneInstructions uint64
	// With Config.Traffic: bytes of global memory that lanes read and write, and
	// those of them that are different ones. No launch can move fewer.
	Requested, Touched uint64
	Elapsed            time.Duration
}

// Stats are those of each launch, in the program's order.
func (e *Executable) Stats() []LaunchStats {
	e.dev.mu.Lock()
	defer e.dev.mu.Unlock()
	all := make([]LaunchStats, len(e.steps))
	for i := range e.steps {
		all[i] = e.steps[i].stats
	}
	return all
}

// Run executes the program for b, one launch after another. Errors: a batch
// that does not fit the program, or a *device.Fault.
func (e *Executable) Run(b *device.Batch) error {
	if err := e.takes.Accept(b); err != nil {
		return err
	}
	e.dev.mu.Lock()
	defer e.dev.mu.Unlock()
	err := e.runAll(b)
	if e.record != nil {
		err = errors.Join(err, e.record.err)
		e.record = nil
	}
	return err
}

// runAll runs the launches.
func (e *Executable) runAll(b *device.Batch) error {
	e.begin(b)
	hooked := e.hooks.Needed()
	for i := range e.steps {
		if stage, opens := e.hooks.Opens(i); hooked && opens {
			if f := e.turn(stage, b); f != nil {
				return f
			}
		}
		if f := e.run(&e.steps[i], b); f != nil {
			return f
		}
	}
	if hooked {
		if f := e.turn(e.hooks.Stages(), b); f != nil {
			return f
		}
	}
	return e.scan(b)
}

// begin gives the device the numbers of a batch.
func (e *Executable) begin(b *device.Batch) {
	for _, x := range []struct {
		value *op.Value
		rows  []int32
	}{{batchTokens, b.Tokens}, {batchPos, b.Pos}, {batchSlot, b.Slot}, {batchOutput, b.Output}} {
		mem := e.own[x.value].Data
		for i, v := range x.rows {
			binary.LittleEndian.PutUint32(mem[4*i:], uint32(v))
		}
	}
	for i := range e.steps {
		for _, mem := range e.steps[i].zeroed {
			clear(mem)
		}
	}
	e.hooks.Start(e.dev.runs)
	e.dev.runs++
}

// turn ends the stage before one and begins that, if there is one.
func (e *Executable) turn(stage int, b *device.Batch) *device.Fault {
	if stage > 0 {
		if f := e.hooks.End(stage-1, b); f != nil {
			return f
		}
	}
	if stage < e.hooks.Stages() {
		e.hooks.Begin(stage)
	}
	return nil
}

// run runs a launch and looks at what it left behind.
func (e *Executable) run(s *step, b *device.Batch) *device.Fault {
	rows := s.rows.Count(len(b.Tokens), len(b.Output))
	if rows == 0 {
		return nil
	}
	kernarg := s.kernarg
	if kind, ok := e.hooks.Raise(s.index); ok {
		if kind == device.FaultPanic {
			return e.fault(s, kind, errors.New("injected"))
		}
		kernarg = astray(kernarg)
	}
	if f := e.dispatch(s, rows, kernarg); f != nil {
		return f
	}
	if s.check == nil {
		return nil
	}
	found := s.check(e.bytes, rows)
	if found == nil {
		return nil
	}
	f := e.fault(s, found.kind, found.err)
	if found.inherited {
		f.Op = -1
	}
	return f
}

// dispatch runs a launch's kernel. A page of the model's file that is no longer
// there is a fault of the launch and not of the process.
func (e *Executable) dispatch(s *step, rows int, kernarg []byte) (f *device.Fault) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		r := recover()
		if r == nil {
			return
		}
		lost, ok := r.(interface {
			error
			Addr() uintptr
		})
		if !ok {
			panic(r)
		}
		f = e.fault(s, device.FaultMemory, fmt.Errorf("%w at the host's address %#x", lost, lost.Addr()))
	}()
	g := s.groups(rows)
	report, err := e.launch(s, emu.Dispatch{
		Kernel: s.entry, Grid: [3]uint32{g[0] * s.items, g[1], g[2]}, Workgroup: [3]uint32{s.items, 1, 1}, Kernarg: kernarg,
	})
	s.stats.add(report)
	if t := e.dev.traffic; t != nil {
		s.stats.Requested += t.requested
		s.stats.Touched += t.touched()
	}
	if err == nil {
		return nil
	}
	kind := device.FaultPanic
	if wrong := (*emu.Fault)(nil); errors.As(err, &wrong) && wrong.Kind == emu.MemoryFault {
		kind = device.FaultMemory
	}
	return e.fault(s, kind, err)
}

// launch runs a dispatch, and records it if that is wanted.
func (e *Executable) launch(s *step, d emu.Dispatch) (*emu.Report, error) {
	if e.record != nil && e.record.err == nil {
		return e.record.launch(e, s, d)
	}
	return e.dev.emu.Run(context.Background(), d)
}

func (t *LaunchStats) add(r *emu.Report) {
	t.Runs++
	t.Workgroups += r.Workgroups
	t.Waves += r.Waves
	t.Instructions += r.Instructions
	t.LaneInstructions += r.LaneInstructions
	t.Elapsed += r.Elapsed
}

func (e *Executable) fault(s *step, kind device.FaultKind, err error) *device.Fault {
	return &device.Fault{Device: e.dev.Name(), Kind: kind, Launch: s.name, Op: s.op, Err: err}
}

// nowhere is an address at which nothing is ever mapped.
const nowhere = 0x1000

// astray is a kernel's arguments with the first of them, which all kernels
// read, pointing nowhere.
func astray(kernarg []byte) []byte {
	k := slices.Clone(kernarg)
	binary.LittleEndian.PutUint64(k, nowhere)
	return k
}

// bytes is the host's view of a value.
func (e *Executable) bytes(v *op.Value) []byte {
	if mem, ok := e.hooks.Bytes(v); ok {
		return mem
	}
	if b := e.own[v]; b != nil {
		return b.Data
	}
	return v.Data
}

// scan refuses outputs that are not numbers: whatever went wrong, no token is
// chosen from them.
func (e *Executable) scan(b *device.Batch) error {
	v := e.prog.Output
	i, x := nonFinite(e.bytes(v)[:4*len(b.Output)*v.Cols])
	if i < 0 {
		return nil
	}
	return &device.Fault{
		Device: e.dev.Name(), Kind: device.FaultNaN, Launch: v.Name, Op: -1,
		Err: fmt.Errorf("output row %d, element %d is %v", i/v.Cols, i%v.Cols, x),
	}
}

// Output is the host's view of an output, [m][Cols].
func (e *Executable) Output(v *op.Value) []byte { return e.bytes(v) }

// Buffer is how the arena was allocated.
func (e *Executable) Buffer() device.BufferParams {
	return device.BufferParams{
		Type: hostmem.Device, Usage: "arena", Residency: e.arena.Residency,
		Align: int(min(e.arena.Addr&-e.arena.Addr, hostmem.MaxAlign)),
	}
}

// Tasks are the workgroups of each launch for the largest batch.
func (e *Executable) Tasks() []int {
	var tasks []int
	for i := range e.steps {
		s := &e.steps[i]
		g := s.groups(s.rows.Count(e.prog.Limits.Tokens, e.prog.Limits.Outputs))
		tasks = append(tasks, int(g[0])*int(g[1])*int(g[2]))
	}
	return tasks
}
