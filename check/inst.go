package check

import (
	"strings"

	"github.com/holdfast-llm/holdfast/amd/isa"
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
