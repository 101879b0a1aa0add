package check

import (
	"cmp"
	"slices"

	"github.com/holdfast-llm/holdfast/amd/emu"
	"github.com/holdfast-llm/holdfast/amd/hsaco"
)

// Result is what looking at one thing came to: a case, a recorded dispatch, a
// whole run.
type Result struct {
	Name     string // of the case, the folder or the kernel
	Runs     int    // with different schedules, seeds and memory models
	Findings []Found
	Summary  Summary // of all runs
	// Approximate are the operations that ran and are not exact.
	Approximate []Approximate
	// Faults are what stopped dispatches, of the first run that was stopped.
	Faults []*emu.Fault
	// Wrong are expectations that do not hold, a sentence each.
	Wrong []string
	// Changed says how what the kernel wrote differs from run to run; it is
	// empty if it does not, or if there was one run.
	Changed string
	// Minimal is the smallest case that finds the same, as a file; empty if it was
	// not looked for.
	Minimal string
	// Expects says whether the case wants findings: it is a positive.
	Expects bool
	// Err is why it could not be checked, or not to the end.
	Err error

	expectsFault bool
	objects      map[string]*hsaco.Object // by kernel
}

// Found is a finding and what became of it.
type Found struct {
	*Finding
	Runs       int    `json:"runs"`          // in how many it showed
	Run        string `json:"run,omitempty"` // the flags of the first of them, if there were several
	Expected   bool   `json:"expected,omitempty"`
	Suppressed string `json:"suppressed,omitempty"` // the reason given for it

	in []int // the runs, from 0
}

// counts reports whether a finding speaks against the kernel.
func (f *Found) counts() bool { return !f.Expected && f.Suppressed == "" }

// Approximate is an operation that ran and is not exact.
type Approximate struct {
	Op    string `json:"op"`
	Count uint64 `json:"count"`
	How   string `json:"how"`
}

// Status is how a result, or a set of them, ends.
type Status int

// The statuses, which are exit codes.
const (
	Clean Status = iota
	Faulty
	NotChecked
)

func (s Status) String() string { return [...]string{"clean", "findings", "not checked"}[s] }

// Status is Faulty if something is wrong, whatever else could not be checked.
func (r *Result) Status() Status {
	switch {
	case r.count() > 0 || len(r.Wrong) > 0 || len(r.Faults) > 0 && !r.expectsFault:
		return Faulty
	case r.Err != nil:
		return NotChecked
	}
	return Clean
}

// count is how many findings speak against the kernel.
func (r *Result) count() int {
	n := 0
	for i := range r.Findings {
		if r.Findings[i].counts() {
			n++
		}
	}
	return n
}

// StatusOf is the worst of all: Faulty before NotChecked before Clean.
func StatusOf(results []*Result) Status {
	status := Clean
	for _, r := range results {
		switch s := r.Status(); {
		case s == Faulty:
			return Faulty
		case s == NotChecked:
			status = s
		}
	}
	return status
}

// sameFinding is what makes findings of different runs the same one.
func sameFinding(f *Finding) key {
	k := key{tool: f.Tool, kind: f.Kind, kernel: f.Kernel}
	for i := range min(len(f.Sites), len(k.pcs)) {
		k.pcs[i] = f.Sites[i].PC
	}
	return k
}

// add adds another run of the same thing; flags say which.
func (r *Result) add(o *Result, flags string) {
	if r.Runs == 0 {
		r.Summary.Tools = o.Summary.Tools
		r.objects = o.objects
	}
	run := r.Runs
	r.Runs += o.Runs
	for _, f := range o.Findings {
		i := slices.IndexFunc(r.Findings, func(known Found) bool { return sameFinding(known.Finding) == sameFinding(f.Finding) })
		if i < 0 {
			f.Run, f.in = flags, []int{run}
			r.Findings = append(r.Findings, f)
			continue
		}
		r.Findings[i].Count += f.Count
		r.Findings[i].Runs++
		r.Findings[i].in = append(r.Findings[i].in, run)
	}
	r.Summary.add(o.Summary)
	for _, a := range o.Approximate {
		i := slices.IndexFunc(r.Approximate, func(known Approximate) bool { return known.Op == a.Op })
		if i < 0 {
			r.Approximate = append(r.Approximate, a)
			continue
		}
		r.Approximate[i].Count += a.Count
	}
	slices.SortStableFunc(r.Approximate, func(a, b Approximate) int { return cmp.Compare(b.Count, a.Count) })
	if len(r.Faults) == 0 {
		r.Faults = o.Faults
	}
	if r.Err == nil {
		r.Err = o.Err
	}
}

// add adds what another run looked at.
func (s *Summary) add(o Summary) {
	s.Dispatches += o.Dispatches
	s.Instructions += o.Instructions
	s.Accesses += o.Accesses
	s.DispatchesFailed += o.DispatchesFailed
	for _, g := range o.NotChecked {
		i := slices.IndexFunc(s.NotChecked, func(known Gap) bool { return known.Tool == g.Tool && known.What == g.What })
		if i < 0 {
			s.NotChecked = append(s.NotChecked, g)
			continue
		}
		s.NotChecked[i].Count += g.Count
	}
}
