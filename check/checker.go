package check

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/holdfast-llm/holdfast/amd/emu"
	"github.com/holdfast-llm/holdfast/amd/isa"
)

// Options say what is looked for.
type Options struct {
	Tools []Tool // nil means all
	// UniformWrites reports lanes of one store that write the same value to the
	// same place, which is usually meant.
	UniformWrites bool
}

// Checker is an observer of a software device that runs detectors. It is used
// by one device at a time.
type Checker struct {
	dispatch  *emu.Launched // under way
	detectors []detector
	findings  []*Finding
	byKey     map[key]*Finding
	summary   Summary
}

// detector looks on and reports to its Checker.
type detector interface {
	emu.Observer
}

// key is what makes two findings the same one.
type key struct {
	tool   Tool
	kind   Kind
	kernel string
	pcs    [2]uint64
}

// Summary says what was looked at.
type Summary struct {
	Tools            []Tool `json:"tools"`
	Dispatches       int    `json:"dispatches"`
	Instructions     uint64 `json:"instructions"`      // of waves
	Accesses         uint64 `json:"accesses"`          // of lanes, to all memories
	NotChecked       []Gap  `json:"not_checked"`       // what a detector came upon and does not judge
	DispatchesFailed int    `json:"dispatches_failed"` // that ended with a fault of the device
}

// Gap is something that is not checked, and how often it was met.
type Gap struct {
	Tool  Tool   `json:"tool"`
	What  string `json:"what"`
	Count int    `json:"count"`
}

// Report is what was found.
type Report struct {
	Findings []*Finding `json:"findings"`
	Summary  Summary    `json:"summary"`
}

// New makes a checker. Errors: a tool that there is none of.
func New(o Options) (*Checker, error) {
	if o.Tools == nil {
		o.Tools = Tools()
	}
	c := &Checker{byKey: map[key]*Finding{}}
	for _, t := range o.Tools {
		make, ok := makers[t]
		if !ok {
			return nil, fmt.Errorf("check: no tool %q, there are %v", t, Tools())
		}
		if !slices.Contains(c.summary.Tools, t) {
			c.summary.Tools = append(c.summary.Tools, t)
			c.detectors = append(c.detectors, make(c, o))
		}
	}
	return c, nil
}

// Report is what was found so far, in the order in which it was first seen.
func (c *Checker) Report() Report { return Report{slices.Clone(c.findings), c.summary} }

// report adds a finding, or counts it if it is one that is known: of the same
// instructions in the same kernel.
func (c *Checker) report(f Finding) {
	f.Kernel = c.dispatch.Kernel.Name
	k := key{tool: f.Tool, kind: f.Kind, kernel: f.Kernel}
	for i := range min(len(f.Sites), len(k.pcs)) {
		k.pcs[i] = f.Sites[i].PC
	}
	if known := c.byKey[k]; known != nil {
		known.Count++
		return
	}
	f.Count = 1
	c.byKey[k] = &f
	c.findings = append(c.findings, &f)
}

// gap counts something that a detector does not judge.
func (c *Checker) gap(t Tool, what string) {
	for i := range c.summary.NotChecked {
		if g := &c.summary.NotChecked[i]; g.Tool == t && g.What == what {
			g.Count++
			return
		}
	}
	c.summary.NotChecked = append(c.summary.NotChecked, Gap{t, what, 1})
}

// site is an instruction of a wave; lane is -1 for none.
func (c *Checker) site(w emu.Wave, in *isa.Inst, lane int) Site {
	m := c.dispatch.Kernel.Module
	s := Site{PC: w.PC() - m.Base, Text: in.String(), Group: w.Group(), Wave: w.Index(), Lane: lane}
	if file, line, col, ok := m.Object.Line(s.PC); ok {
		s.File, s.Line, s.Col = file, line, col
	}
	return s
}

// What follows hands on what the device shows.

// DispatchBegin implements emu.Observer.
func (c *Checker) DispatchBegin(l *emu.Launched) {
	c.dispatch = l
	c.summary.Dispatches++
	for _, d := range c.detectors {
		d.DispatchBegin(l)
	}
}

// DispatchEnd implements emu.Observer.
func (c *Checker) DispatchEnd(l *emu.Launched, err error) {
	if err != nil {
		c.summary.DispatchesFailed++
	}
	for _, d := range c.detectors {
		d.DispatchEnd(l, err)
	}
}

// WaveBegin implements emu.Observer.
func (c *Checker) WaveBegin(w emu.Wave) {
	for _, d := range c.detectors {
		d.WaveBegin(w)
	}
}

// WaveEnd implements emu.Observer.
func (c *Checker) WaveEnd(w emu.Wave) {
	for _, d := range c.detectors {
		d.WaveEnd(w)
	}
}

// Instruction implements emu.Observer.
func (c *Checker) Instruction(w emu.Wave, in *isa.Inst) {
	c.summary.Instructions++
	for _, d := range c.detectors {
		d.Instruction(w, in)
	}
}

// Access implements emu.Observer.
func (c *Checker) Access(a *emu.Access) {
	c.summary.Accesses += lanesOf(a)
	for _, d := range c.detectors {
		d.Access(a)
	}
}

func lanesOf(a *emu.Access) uint64 {
	if a.Space == emu.Scalar {
		return 1
	}
	return uint64(bits.OnesCount64(a.Lanes))
}

// Wait implements emu.Observer.
func (c *Checker) Wait(w emu.Wave, n emu.Counters) {
	for _, d := range c.detectors {
		d.Wait(w, n)
	}
}

// Barrier implements emu.Observer.
func (c *Checker) Barrier(w emu.Wave) {
	for _, d := range c.detectors {
		d.Barrier(w)
	}
}

// BarrierPassed implements emu.Observer.
func (c *Checker) BarrierPassed(group [3]uint32, n uint64, waves []emu.Wave) {
	for _, d := range c.detectors {
		d.BarrierPassed(group, n, waves)
	}
}

// Cache implements emu.Observer.
func (c *Checker) Cache(w emu.Wave, op emu.CacheOp) {
	for _, d := range c.detectors {
		d.Cache(w, op)
	}
}
