package emu

import "github.com/holdfast-llm/holdfast/amd/isa"

// lanes is a vector register, or a vector operand made ready: one 32-bit word
// for each lane. A wave32 uses the first 32.
type lanes [64]uint32

// wave is the state of one wave: what its instructions read and write.
type wave struct {
	n  int    // lanes: 32 or 64
	pc uint64 // of the next instruction; a branch changes it

	// sgpr holds the scalar registers by the number of their source field:
	// s0 to s105, then VCC, TTMP, M0 and EXEC in their places (isa.Reg...).
	// NULL reads 0: writes to it are dropped.
	sgpr [128]uint32
	scc  bool
	mode uint32 // the MODE register: rounding, denormals, ...
	vgpr []lanes

	group *group // the workgroup it belongs to: LDS, barrier, ids
	id    int    // in the workgroup

	vec vectorScratch // where vector operands are made ready: vector_source.go

	d   *dispatch // what it is part of: the device, the kernel
	obs Observer  // that of the dispatch, or nil
	cu  int       // the compute unit it is on, an index on the device

	access  Access   // the one under way: memory.go
	last    *Buffer  // the buffer of the last access
	relaxed *relaxed // the caches; nil if memory is coherent
	pending pending  // accesses that have not completed
	timing  *Timing  // when they do, or nil for the default
	rng     random   // of timing

	pages     *pages        // nil if none ever moves
	held      []uint64      // pages that the instruction at pc has waited for
	counted   pendingCounts // before the instruction that runs
	replaying bool          // the instruction at pc has begun before

	// scratch is the wave's private memory: lane l's bytes are those from
	// l*lane, lane bytes each.
	scratch []byte
	lane    int

	// What the run loop needs: run.go.
	status  waveStatus
	at      uint64 // the pc of the instruction that runs, or ran last
	slice   int    // instructions given to the wave
	left    int    // of them, those that it may still run
	unused  int    // what was left when suspend ended the slice
	total   uint64 // instructions run before this slice
	now     uint64 // the scheduler's instructions when the slice began
	block   *block // the code that pc is in
	laneOps uint64 // active lanes of vector instructions run, since collected
	ops     *opCounts
	breaks  []breakpoint
	aside   bool // set aside at a preemption point

	trapStatus uint32 // TRAPSTS
	flags      uint32 // the bits of STATUS that are stored: hwreg.go
}

// exec is the mask of active lanes.
func (w *wave) exec() uint64 {
	return uint64(w.sgpr[isa.RegExecHi])<<32 | uint64(w.sgpr[isa.RegExecLo])
}

func (w *wave) setExec(m uint64) {
	w.sgpr[isa.RegExecLo], w.sgpr[isa.RegExecHi] = uint32(m), uint32(m>>32)
}

// vcc is the vector condition code; a wave32 uses the low half.
func (w *wave) vcc() uint64 {
	return uint64(w.sgpr[isa.RegVCCHi])<<32 | uint64(w.sgpr[isa.RegVCCLo])
}

// group is a workgroup: what its waves share.
type group struct {
	id    [3]uint32
	lds   []byte
	waves []*wave

	d       *dispatch
	index   int // among the dispatch's workgroups, x fastest
	size    [3]uint32
	live    int     // waves that have not ended
	waiting []*wave // at the barrier, in the order of arrival
	started uint64  // how many barriers its waves have passed
}
