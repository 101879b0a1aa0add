package check

import (
	"strings"

	"github.com/holdfast-llm/holdfast/amd/emu"
	"github.com/holdfast-llm/holdfast/amd/isa"
)

// class is the counter at which an access is known to be complete.
type class uint8

const (
	classLoads  class = iota // vmcnt
	classStores              // vscnt
	classLocal               // lgkmcnt, LDS
	classScalar              // lgkmcnt, scalar loads
	classes
)

// counters is a set of the counters that an instruction counts in while it is
// under way.
type counters uint8

const (
	countsLoads  counters = 1 << iota // vmcnt: vector loads, atomics that return
	countsStores                      // vscnt: vector stores, atomics that do not
	countsLocal                       // lgkmcnt: LDS, in order
	countsScalar                      // lgkmcnt: scalar loads and messages, in any order
)

// countersOf says what an instruction counts in, whether or not a lane is
// active.
func countersOf(in *isa.Inst) counters {
	c := counterTable[in.Op.ID]
	if c&countsStores != 0 && c&countsLoads != 0 { // an atomic
		if in.Mods.Flags&isa.GLC != 0 {
			return c &^ countsStores
		}
		return c &^ countsLoads
	}
	return c
}

// counterTable is by operation; atomics, which count in one or the other, have
// both of loads and stores.
var counterTable = func() (t [isa.NumIDs]counters) {
	for _, op := range isa.Ops() {
		_, verb, _ := strings.Cut(op.Name, "_")
		var c counters
		switch {
		case strings.HasPrefix(verb, "load"), strings.HasPrefix(verb, "buffer_load"):
			c = countsLoads
		case strings.HasPrefix(verb, "store"):
			c = countsStores
		case strings.HasPrefix(verb, "atomic"):
			c = countsLoads | countsStores
		}
		switch op.Format {
		case isa.SMEM:
			if c != 0 {
				t[op.ID] = countsScalar
			}
		case isa.DS:
			t[op.ID] = countsLocal
		case isa.FLAT:
			t[op.ID] = c | countsLocal // it may be an access to LDS
		case isa.GLOBAL, isa.SCRATCH, isa.MUBUF, isa.MTBUF:
			t[op.ID] = c
		}
	}
	return t
}()

// tally is what a wave has under way, by counter: the sequence numbers of its
// memory instructions.
type tally struct {
	queue [classes][]uint32
}

// issue adds an instruction.
func (t *tally) issue(c counters, seq uint32) {
	for i := range classes {
		if c&(1<<i) != 0 {
			t.queue[i] = append(t.queue[i], seq)
		}
	}
}

// wait takes out what a wait completes, and notes for each counter up to which
// number everything is. All but n are complete then: LDS instructions end in
// order, scalar loads in any.
func (t *tally) wait(n emu.Counters, done *[classes]uint32) {
	t.complete(classLoads, n.Loads, done)
	t.complete(classStores, n.Stores, done)
	t.complete(classLocal, n.Scalar, done)
	if n.Scalar == 0 {
		t.complete(classScalar, 0, done)
	}
}

// complete leaves at most n of a class under way; n < 0 leaves all.
func (t *tally) complete(c class, n int, done *[classes]uint32) {
	q := t.queue[c]
	if n < 0 || len(q) <= n {
		return
	}
	done[c] = q[len(q)-n-1]
	t.queue[c] = q[:copy(q, q[len(q)-n:])]
}
