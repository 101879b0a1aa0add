package gfx11

import (
	"fmt"

	"github.com/holdfast-llm/holdfast/device"
	"github.com/holdfast-llm/holdfast/device/kernel"
	"github.com/holdfast-llm/holdfast/op"
)

// The numbers of the batch, as kernels are given them: int32 of as many rows as
// the program takes.
var (
	batchTokens = &op.Value{Name: "batch tokens"}
	batchPos    = &op.Value{Name: "batch positions"}
	batchSlot   = &op.Value{Name: "batch slots"}
	batchOutput = &op.Value{Name: "batch output rows"}
)

// addresses says where a value that a launch may use is: exactly the part that
// its binding gives it.
type addresses func(*op.Value) kernel.Pointer

// command is a launch in the device's own form, which device.Launch.Bind
// returns.
type command struct {
	// rows is a value whose rows of the batch the kernel runs for.
	rows *op.Value
	// launch is the kernel for a number of rows. Its arguments must not depend
	// on that: only the number of workgroups may.
	launch func(at addresses, rows int) kernel.Launch
	own    []own
	// check looks at what the kernel has left behind; nil if there is nothing to
	// look at. bytes is the host's view of a value of the launch.
	check func(bytes func(*op.Value) []byte, rows int) *finding
}

// own is memory that belongs to one launch, outside of the arena.
type own struct {
	value *op.Value // stands for it in launch and check
	bytes int
	data  []byte // constants of so many bytes; nil: zeros at the start of each run
}

// finding is what a check found wrong.
type finding struct {
	kind device.FaultKind
	// inherited: it came in with the operands, the launch is not to blame.
	inherited bool
	err       error
}

// launch is a device.Launch of a command that uses the whole of the values it
// reads and writes, named after the operation and the kernel.
func launch(c *device.Compile, o *op.Op, reads, writes []*op.Value, cmd command) device.Launch {
	anywhere := func(*op.Value) kernel.Pointer { return 0 }
	l := device.Launch{
		Kernel:   o.Name + "." + cmd.launch(anywhere, 1).Args.Kernel().Name,
		Bindings: c.Bindings(reads, writes),
		Bind:     func(func(*op.Value) []byte) any { return cmd },
	}
	for i := range l.Bindings {
		// The device places weights and caches itself, at multiples of more.
		if b := &l.Bindings[i]; b.Value.Role == op.Transient || b.Value.Role == op.Output {
			b.Align = alignment
		}
	}
	return l
}

// alignment is what kernels take for granted of the first byte of a value.
const alignment = 16

// no says why a registration does not take an operation.
func no(r device.Reason, format string, args ...any) *device.Decline {
	return &device.Decline{Reason: r, Detail: fmt.Sprintf(format, args...)}
}
