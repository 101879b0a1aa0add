package emu

import (
	"sort"
	"time"

	"github.com/holdfast-llm/holdfast/amd/isa"
)

// Report says what a dispatch did.
type Report struct {
	Workgroups       uint64 // that ended
	Waves            uint64 // that ended
	Instructions     uint64 // of waves
	LaneInstructions uint64 // active lanes of vector instructions, memory included
	Barriers         uint64 // that workgroups passed
	Evictions        uint64 // of the queue: Pressure
	Migrations       uint64 // of pages
	Retries          uint64 // of instructions that touched a page that was not mapped
	Workers          int    // goroutines that ran it
	Elapsed          time.Duration
	// Ops are the operations that ran, the most frequent first.
	Ops []OpCount
	// Unsupported is the instruction that stopped the dispatch, if one did.
	Unsupported *Unsupported
}

// OpCount is how often an operation ran, and how near it is to the hardware.
type OpCount struct {
	Op    *isa.Op
	Count uint64
	Fidelity
}

// Approximate are the operations that ran and are not exact.
func (r *Report) Approximate() []OpCount {
	var list []OpCount
	for _, o := range r.Ops {
		if o.Approximate != "" {
			list = append(list, o)
		}
	}
	return list
}

// opCounts counts instructions by isa.Op.ID.
type opCounts [isa.NumIDs]uint64

// addOps makes Ops of the counts.
func (r *Report) addOps(counts *opCounts) {
	for _, op := range isa.Ops() {
		if n := counts[op.ID]; n != 0 {
			r.Ops = append(r.Ops, OpCount{op, n, handlers[op.ID].fidelity})
		}
	}
	sort.SliceStable(r.Ops, func(i, j int) bool { return r.Ops[i].Count > r.Ops[j].Count })
}

// Support says how near an operation is to the hardware; false if it is not
// modelled at all.
func Support(op *isa.Op) (Fidelity, bool) {
	h := &handlers[op.ID]
	return h.fidelity, h.run != nil || h.prepare != nil
}
