package device

import (
	"fmt"

	"github.com/holdfast-llm/holdfast/op"
)

// Device runs programs.
type Device interface {
	// Name is the device's short name, such as "cpu".
	Name() string
	// Describe says what the device is, for people: "AMD EPYC, 2 threads, avx512".
	Describe() string
	// Registrations are the device's offers for one kind of operation.
	Registrations(k op.Kind) []Registration
	// Load prepares a program: it places transients in memory of its own and
	// binds every launch. The program must outlive no value it names.
	Load(p *Program, o LoadOptions) (Executable, error)
	Close() error
}

// Executable is a program loaded on a device. It is not safe for concurrent
// use; the device runs one at a time.
type Executable interface {
	// Run executes the program for a batch. It allocates nothing. An error is
	// a *Fault or says why the batch does not fit the program.
	Run(b *Batch) error
	// Output is the memory of an output value, valid until the next Run.
	Output(v *op.Value) []byte
	// Buffer is how the program's arena was allocated.
	Buffer() BufferParams
	Close() error
}

// Batch is what changes from one run of a program to the next. Rows of the
// same slot are consecutive and in order of position.
type Batch struct {
	Tokens []int32 // [n] token ids
	Pos    []int32 // [n] position of each token in its sequence
	Slot   []int32 // [n] the sequence's slot in the KV cache
	Output []int32 // [m] rows whose logits are wanted, ascending
}

// Limits are the largest batch a program is compiled for.
type Limits struct {
	Tokens  int // n
	Outputs int // m
	// Keys is the largest number of positions that a row attends, its own
	// included; 0 means as many as the cache has.
	Keys int
}

// Fault is an error of a running kernel: the device's state is unharmed, the
// program's transients are garbage.
type Fault struct {
	Device string
	Kind   FaultKind
	Launch string // the launch that faulted
	Op     int    // whose fault it is: an index in Program.Decisions; -1 if not known
	Err    error
}

func (f *Fault) Error() string {
	return fmt.Sprintf("%s: fault in %s: %v", f.Device, f.Launch, f.Err)
}

func (f *Fault) Unwrap() error { return f.Err }
