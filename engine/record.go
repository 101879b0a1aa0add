package engine

import (
	"slices"
	"sort"

	"github.com/holdfast-llm/holdfast/device"
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
	Faults   []FaultRecord  // in order
}

// Record counts what was chosen and what declined in all steps so far.
func (e *Engine) Record() Record {
	e.mu.Lock()
	defer e.mu.Unlock()
	r := Record{Faults: slices.Clone(e.faults)}
	lanes := map[string]LaneCount{}
	type key struct {
		lane   string
		reason device.Reason
	}
	declines := map[key]DeclineCount{}
	for _, p := range e.all {
		if p.runs == 0 {
			continue
		}
		r.Steps += p.runs
		for _, d := range p.Decisions {
			l := lanes[d.Chosen]
			lanes[d.Chosen] = LaneCount{d.Chosen, l.Count + p.runs, max(l.Splits, d.Splits)}
			for _, x := range d.Declined {
				k := key{x.Lane, x.Reason}
				c := declines[k]
				declines[k] = DeclineCount{x.Lane, x.Reason, x.Detail, c.Count + p.runs}
			}
		}
	}
	for _, l := range lanes {
		r.Lanes = append(r.Lanes, l)
	}
	for _, d := range declines {
		r.Declines = append(r.Declines, d)
	}
	sort.Slice(r.Lanes, func(i, j int) bool { return r.Lanes[i].Lane < r.Lanes[j].Lane })
	sort.Slice(r.Declines, func(i, j int) bool {
		a, b := r.Declines[i], r.Declines[j]
		return a.Lane < b.Lane || a.Lane == b.Lane && a.Reason < b.Reason
	})
	return r
}
