package engine

import (
	"cmp"
	"maps"
	"slices"

	"github.com/holdfast-llm/holdfast/device"
	"github.com/holdfast-llm/holdfast/device/gfx11"
)

// LaneCount is how often a registration was chosen: once for each operation
// of each step.
type LaneCount struct {
	Lane   string
	Count  int
	Splits int // attention: the most parts that the keys were split into; 0 if it does not split
}

// DeclineCount is how often a registration declined for one reason. Detail is
// one example.
type DeclineCount struct {
	Lane   string
	Reason device.Reason
	Detail string
	Count  int
}

// Record is what ran since the engine was opened.
type Record struct {
	Steps    int
	Lanes    []LaneCount    // by name
	Declines []DeclineCount // by name and reason
	Faulted  int            // faults of running kernels
	Faults   []FaultRecord  // the last thousand of them, in order
}

// tally counts what programs ran.
type tally struct {
	steps    int
	lanes    map[string]LaneCount
	declines map[declineKey]DeclineCount
}

type declineKey struct {
	lane   string
	reason device.Reason
}

func newTally() tally {
	return tally{lanes: map[string]LaneCount{}, declines: map[declineKey]DeclineCount{}}
}

// add counts all runs of a program.
func (t *tally) add(p *program) {
	if p.runs == 0 {
		return
	}
	t.steps += p.runs
	for _, d := range p.Decisions {
		l := t.lanes[d.Chosen]
		t.lanes[d.Chosen] = LaneCount{d.Chosen, l.Count + p.runs, max(l.Splits, d.Splits)}
		for _, x := range d.Declined {
			k := declineKey{x.Lane, x.Reason}
			t.declines[k] = DeclineCount{x.Lane, x.Reason, x.Detail, t.declines[k].Count + p.runs}
		}
	}
}

// Record counts what was chosen and what declined in all steps so far.
func (e *Engine) Record() Record {
	e.mu.Lock()
	defer e.mu.Unlock()
	t := tally{e.past.steps, maps.Clone(e.past.lanes), maps.Clone(e.past.declines)}
	for _, p := range e.loaded() {
		t.add(p)
	}
	r := Record{
		Steps: t.steps, Faulted: e.faulted, Faults: slices.Clone(e.faults),
		Lanes: slices.Collect(maps.Values(t.lanes)), Declines: slices.Collect(maps.Values(t.declines)),
	}
	slices.SortFunc(r.Lanes, func(a, b LaneCount) int { return cmp.Compare(a.Lane, b.Lane) })
	slices.SortFunc(r.Declines, func(a, b DeclineCount) int {
		return cmp.Or(cmp.Compare(a.Lane, b.Lane), cmp.Compare(a.Reason, b.Reason))
	})
	return r
}

// KernelCount is what the launches of one kernel of a device that counts them
// did.
type KernelCount struct {
	Kernel   string
	Launches int
	// Instructions of waves, and of their active lanes.
	Instructions, LaneInstructions uint64
	// Bytes of global memory that lanes read and write, and those of them that
	// are different ones within a launch; 0 if they are not counted.
	Requested, Touched uint64
}

// Kernels is what each kernel did in all steps so far, by name. It is empty on
// devices that do not count instructions, and without programs that faulted.
func (e *Engine) Kernels() []KernelCount {
	e.mu.Lock()
	defer e.mu.Unlock()
	by := map[string]KernelCount{}
	for _, p := range e.loaded() {
		x, ok := p.exec.(*gfx11.Executable)
		if !ok {
			continue
		}
		for _, s := range x.Stats() {
			k := by[s.Kernel]
			by[s.Kernel] = KernelCount{
				s.Kernel, k.Launches + s.Runs, k.Instructions + s.Instructions, k.LaneInstructions + s.LaneInstructions,
				k.Requested + s.Requested, k.Touched + s.Touched,
			}
		}
	}
	return slices.SortedFunc(maps.Values(by), func(a, b KernelCount) int { return cmp.Compare(a.Kernel, b.Kernel) })
}
