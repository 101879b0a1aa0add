package emu

// Mode is the memory model.
type Mode uint8

const (
	// Coherent memory: every access is complete, and seen by all, when its
	// instruction is. For running kernels.
	Coherent Mode = iota
	// Relaxed memory: stores wait in a queue and caches can be stale, as the
	// hardware allows. For finding out whether a kernel synchronises.
	Relaxed
)

func (m Mode) String() string {
	if m == Relaxed {
		return "relaxed"
	}
	return "coherent"
}

// WaveOrder says which of the waves that can run is next.
type WaveOrder uint8

const (
	// InOrder runs a wave until it waits at a barrier, ends, or has run a
	// quantum, then the one that has waited longest; after a barrier the lowest
	// first.
	InOrder WaveOrder = iota
	// ReverseAfterBarriers is InOrder, but after a barrier the wave that
	// arrived last is first.
	ReverseAfterBarriers
	// RoundRobin gives each wave of the resident workgroups a quantum in turn.
	RoundRobin
	// Random chooses a wave of the resident workgroups, and how much of a
	// quantum it gets, from the seed.
	Random
)

// GroupOrder says in which order workgroups start.
type GroupOrder uint8

// The orders of workgroups. Shuffled is a permutation that the seed chooses.
const (
	Forward GroupOrder = iota // x fastest, as the hardware does
	Backward
	Shuffled
)

// Schedule says who runs when. The zero value runs workgroups one after
// another and their waves in order.
type Schedule struct {
	Waves  WaveOrder
	Groups GroupOrder
	// Quantum is how many instructions a wave runs before another has its turn.
	// 0: 2^18 for InOrder and ReverseAfterBarriers, 64 for the others.
	Quantum int
	// Resident is how many workgroups are interleaved. 0: 1 for InOrder and
	// ReverseAfterBarriers, 4 for the others. Whatever it is, more workgroups
	// start, up to 64, when all waves of those that are resident keep running
	// without arriving anywhere: they may be waiting for one that has not
	// started.
	Resident int
	// Preempt are points at which a wave is set aside.
	Preempt []Preemption
}

// Preemption is a point at which a wave stops running until every other
// resident wave that can run has ended, waits at a barrier or has been set
// aside too.
type Preemption struct {
	Group *[3]uint32 // nil for every workgroup
	Wave  int        // -1 for every wave
	// After is the number of instructions that the wave has run. With PC, it
	// counts arrivals at it: 0 is the first.
	After uint64
	// PC is an address in the loaded code before whose instruction the wave
	// stops; 0 for none.
	PC uint64
}

// Config is how a device behaves. The zero value is a coherent one that runs a
// dispatch in order, in one goroutine.
//
// What a dispatch does is a function of the code object, the memory, the
// configuration and the seed, unless Workers is more than 1.
type Config struct {
	Mode     Mode
	Seed     uint64
	Schedule Schedule
	// Timing is when accesses complete in relaxed memory.
	Timing Timing
	// Workers is how many goroutines run workgroups at the same time; 0 and 1
	// mean one. More are used only with coherent memory, an InOrder schedule
	// without preemptions, no observer and no pressure. Then the order of
	// atomics of different workgroups is not reproducible, and workgroups that
	// talk to each other through plain loads and stores, with no atomic between
	// them, are a data race of this process too.
	Workers int
	// Budget is how many instructions of waves a dispatch may run; 0 means 2^34.
	Budget uint64
	// Observer, if not nil, sees everything.
	Observer Observer
	// Pressure, if not nil, is what a driver does meanwhile.
	Pressure *Pressure
	// ComputeUnits is how many there are, an even number; 0 means 8. Workgroups
	// take them in turn: in WGP mode a pair, its waves alternating.
	ComputeUnits int
	// Poison fills registers, LDS and scratch with a pattern from the seed when
	// a wave starts. Otherwise they are zero, which hides that a kernel reads
	// what it never wrote.
	Poison bool
}

const (
	defaultBudget  = 1 << 34
	defaultQuantum = 64
	inOrderQuantum = 1 << 18
	maxResident    = 64
)

// quantum is the configured one or its default.
func (s *Schedule) quantum() int {
	switch {
	case s.Quantum > 0:
		return s.Quantum
	case s.Waves == InOrder || s.Waves == ReverseAfterBarriers:
		return inOrderQuantum
	}
	return defaultQuantum
}

func (s *Schedule) resident() int {
	switch {
	case s.Resident > 0:
		return min(s.Resident, maxResident)
	case s.Waves == InOrder || s.Waves == ReverseAfterBarriers:
		return 1
	}
	return 4
}
