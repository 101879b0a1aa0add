package device

import (
	"github.com/holdfast-llm/holdfast/internal/memory"
	"github.com/holdfast-llm/holdfast/op"
)

// LoadOptions say how a program is loaded. The zero value is the usual way.
type LoadOptions struct {
	Residency Residency // of the arena
	Base      uintptr   // where in the address space the arena should be; 0 leaves it to the system
	Poison    bool      // transients hold NaN patterns when their life begins
	// Watch, if set, is called when the launches of a stage have ended, once
	// for each of them in the program's order, on the goroutine of Run.
	Watch func(w *Watched)
	// Inject is faults to be raised, for tests of what follows from them.
	Inject []Injection
}

// BufferParams is how memory is allocated: type, access, usage, alignment,
// coherence and residency. A loaded program's arena has them, and so has a
// key-value cache.
type BufferParams = memory.Params

// Residency says what may happen to the pages of a buffer while it is in use.
type Residency = memory.Residency

// The residencies.
const (
	Pageable      = memory.Pageable      // may be swapped or moved
	Pinned        = memory.Pinned        // locked in physical memory
	NonMigratable = memory.NonMigratable // device memory that never moves, where a device has it
)

// Watched is a launch that has ended.
type Watched struct {
	Launch  int // index in Program.Launches
	Written []Memory
}

// Memory is what a launch has written of one value: the rows of this batch. Of
// a cache it is a copy, row after row of the batch, each with all its heads.
type Memory struct {
	Value *op.Value
	Data  []byte
	// RowBytes is the size of a row; 0 if the layout is a kernel's own: then
	// Data is all that the launch may have written.
	RowBytes int
}

// FaultKind is a way of failing.
type FaultKind string

// The kinds.
const (
	FaultMemory FaultKind = "oob"    // memory that is not there, or not to be written
	FaultNaN    FaultKind = "nan"    // a result that is no number
	FaultPanic  FaultKind = "panic"  // a broken rule of the kernel's own
	FaultCanary FaultKind = "canary" // bytes written between transients
)

// Injection is a fault to be raised in one run of a program.
type Injection struct {
	Lane string // name prefix of the registration
	Step int    // in the Step-th Run of any program on the device, from 0
	Kind FaultKind
}
