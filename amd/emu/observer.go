package emu

import "github.com/holdfast-llm/holdfast/amd/isa"

// Observer sees what a dispatch does. With an observer all waves run in one
// goroutine, so that its methods are called one at a time, in the order of
// execution. Embed NopObserver to implement only some of them.
//
// What a method is given is valid only during the call.
type Observer interface {
	// DispatchBegin is called before the first wave, with the arguments in
	// memory.
	DispatchBegin(*Launched)
	// DispatchEnd is called after the last wave; err is what Run returns.
	DispatchEnd(l *Launched, err error)
	// WaveBegin is called when a wave is about to run, with its registers set.
	WaveBegin(Wave)
	// WaveEnd is called after s_endpgm.
	WaveEnd(Wave)
	// Instruction is called before each instruction.
	Instruction(w Wave, in *isa.Inst)
	// Access is called before an instruction's memory accesses, after its
	// addresses are checked.
	Access(*Access)
	// Wait is called when a wait instruction has waited.
	Wait(w Wave, c Counters)
	// Barrier is called when a wave arrives at s_barrier.
	Barrier(w Wave)
	// BarrierPassed is called when every wave of a workgroup has arrived or
	// ended, before any goes on; n counts the workgroup's barriers from 0.
	BarrierPassed(group [3]uint32, n uint64, waves []Wave)
	// Cache is called for an instruction that invalidates or writes back caches.
	Cache(w Wave, op CacheOp)
}

// Wave lets an observer look at a wave. It is comparable: the same wave gives
// the same value throughout a dispatch.
type Wave struct{ w *wave }

// Group is the workgroup's id.
func (w Wave) Group() [3]uint32 { return w.w.group.id }

// GroupIndex is the workgroup's number in the dispatch, x fastest.
func (w Wave) GroupIndex() int { return w.w.group.index }

// Index is the wave's number in its workgroup.
func (w Wave) Index() int { return w.w.id }

// Lanes is 32 or 64.
func (w Wave) Lanes() int { return w.w.n }

// PC is the address of the instruction that runs.
func (w Wave) PC() uint64 { return w.w.at }

// Exec is the mask of active lanes.
func (w Wave) Exec() uint64 { return w.w.active() }

// ComputeUnit is the compute unit that the wave is on: an index on the device.
func (w Wave) ComputeUnit() int { return w.w.cu }

// SGPR is the value of a scalar register by its source number: s0 is 0, then
// the isa.Reg constants up to RegExecHi.
func (w Wave) SGPR(n int) uint32 { return w.w.sgpr[n&127] }

// SCC is the scalar condition code.
func (w Wave) SCC() bool { return w.w.scc }

// VGPRs is how many vector registers the wave has.
func (w Wave) VGPRs() int { return len(w.w.vgpr) }

// VGPR is a lane's value of vector register n.
func (w Wave) VGPR(n, lane int) uint32 { return w.w.vgpr[n][lane&63] }

// Instructions is how many the wave has run, this one not included.
func (w Wave) Instructions() uint64 { return w.w.ran() }

// Counters is what a wait instruction asked for: the most that may be
// outstanding, or -1 where it did not ask.
type Counters struct {
	Loads   int // vmcnt: loads and atomics that return
	Stores  int // vscnt: stores and atomics that do not return
	Scalar  int // lgkmcnt: LDS, scalar memory, messages
	Exports int // expcnt
}

// MemorySpace says which memory an access is to.
type MemorySpace uint8

// The memories.
const (
	Global  MemorySpace = iota // through vector memory instructions
	LDS                        // addresses are offsets
	Scratch                    // addresses are offsets in a lane's own memory
	Scalar                     // global memory through the scalar cache; one address
)

// AccessKind says what an access does.
type AccessKind uint8

// The kinds of access.
const (
	Load AccessKind = iota
	Store
	Atomic
)

// Access is one instruction's access to memory, all lanes of it. An instruction
// that accesses two places (ds_load_2addr_b32) makes two.
type Access struct {
	Wave    Wave
	Inst    *isa.Inst
	Space   MemorySpace
	Kind    AccessKind
	Returns bool // an atomic that gives the old value
	Bytes   int  // at each lane's address
	Lanes   uint64
	Addr    [64]uint64 // by lane; of a scalar access Addr[0]
	GLC     bool       // bypasses L0
	SLC     bool
	DLC     bool
}

// CacheOp is a cache operation.
type CacheOp uint8

// The cache operations.
const (
	InvalidateL0     CacheOp = iota // buffer_gl0_inv
	InvalidateL1                    // buffer_gl1_inv
	InvalidateScalar                // s_dcache_inv
	InvalidateCode                  // s_icache_inv
)

// Launched describes a dispatch to observers.
type Launched struct {
	Dispatch
	Groups  [3]uint32 // workgroups, partial ones included
	LDS     uint32    // bytes of a workgroup, static and dynamic
	Scratch uint32    // bytes of a work-item
	Args    *Buffer   // the kernel arguments
	Device  *Device
}

// NopObserver does nothing.
type NopObserver struct{}

// DispatchBegin does nothing.
func (NopObserver) DispatchBegin(*Launched) {}

// DispatchEnd does nothing.
func (NopObserver) DispatchEnd(*Launched, error) {}

// WaveBegin does nothing.
func (NopObserver) WaveBegin(Wave) {}

// WaveEnd does nothing.
func (NopObserver) WaveEnd(Wave) {}

// Instruction does nothing.
func (NopObserver) Instruction(Wave, *isa.Inst) {}

// Access does nothing.
func (NopObserver) Access(*Access) {}

// Wait does nothing.
func (NopObserver) Wait(Wave, Counters) {}

// Barrier does nothing.
func (NopObserver) Barrier(Wave) {}

// BarrierPassed does nothing.
func (NopObserver) BarrierPassed([3]uint32, uint64, []Wave) {}

// Cache does nothing.
func (NopObserver) Cache(Wave, CacheOp) {}
