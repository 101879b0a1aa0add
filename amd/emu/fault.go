package emu

import (
	"fmt"
	"strings"
)

// FaultKind says what sort of fault stopped a dispatch.
type FaultKind uint8

// The kinds of fault.
const (
	MemoryFault FaultKind = iota // an access to memory that is not there, or not allowed
	CodeFault                    // a program counter without an instruction
	LimitFault                   // registers or LDS beyond what the kernel was given
	TrapFault                    // s_trap, or a message that the machine does not answer
	BudgetFault                  // the instruction budget is used up
	StuckFault                   // no wave can run, and not all have ended
)

var faultKinds = [...]string{
	MemoryFault: "memory", CodeFault: "code", LimitFault: "limit", TrapFault: "trap",
	BudgetFault: "budget", StuckFault: "stuck",
}

func (k FaultKind) String() string {
	if int(k) < len(faultKinds) {
		return faultKinds[k]
	}
	return fmt.Sprintf("FaultKind(%d)", uint8(k))
}

// Fault is what stops a dispatch: an access to memory that is not there, a
// trap, the budget, a barrier that nobody will reach. An instruction raises it
// as a panic, with Kind, Detail and, if they mean something, Lane and Addr; the
// run loop fills in the rest.
type Fault struct {
	Kind   FaultKind
	PC     uint64
	Text   string // the instruction
	Detail string

	Kernel string
	Group  [3]uint32 // the workgroup
	Wave   int       // in the workgroup
	Lane   int       // the first that is at fault, if HasLane
	Addr   uint64    // the address accessed or polled, if HasAddr

	HasLane, HasAddr bool

	// Waves is the state of every resident wave, for a budget or a stuck
	// dispatch.
	Waves []WaveState
}

// WaveState says where a wave stood when a dispatch was stopped.
type WaveState struct {
	Group  [3]uint32
	Wave   int
	State  string // "running", "at a barrier", "halted" or "ended"
	PC     uint64 // of the instruction it is at; of its last for a wave that ended
	Text   string // that instruction
	Loop   [2]uint64
	Looped bool // Loop is the first and the last address it kept running at the end
	// Polls are the addresses that it read in the loop, at most 8.
	Polls []uint64
}

func (s *WaveState) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "workgroup %d,%d,%d wave %d %s at %#x", s.Group[0], s.Group[1], s.Group[2], s.Wave, s.State, s.PC)
	if s.Text != "" {
		fmt.Fprintf(&b, " (%s)", s.Text)
	}
	if s.Looped {
		fmt.Fprintf(&b, ", looping between %#x and %#x", s.Loop[0], s.Loop[1])
	}
	for i, a := range s.Polls {
		if i == 0 {
			b.WriteString(", reading")
		}
		fmt.Fprintf(&b, " %#x", a)
	}
	return b.String()
}

func (f *Fault) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "emu: %s fault at %#x", f.Kind, f.PC)
	if f.Text != "" {
		fmt.Fprintf(&b, " (%s)", f.Text)
	}
	if f.Kernel != "" {
		fmt.Fprintf(&b, " in %s, workgroup %d,%d,%d wave %d", f.Kernel, f.Group[0], f.Group[1], f.Group[2], f.Wave)
	}
	if f.HasLane {
		fmt.Fprintf(&b, " lane %d", f.Lane)
	}
	fmt.Fprintf(&b, ": %s", f.Detail)
	const most = 16
	for i := range f.Waves {
		if i == most {
			fmt.Fprintf(&b, "\n\tand %d more waves", len(f.Waves)-most)
			break
		}
		fmt.Fprintf(&b, "\n\t%s", &f.Waves[i])
	}
	return b.String()
}
