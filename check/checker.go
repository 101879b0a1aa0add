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
	memory    *memcheck  // if it is one of them
	hosts     *hostcheck // likewise
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
			d := make(c, o)
			c.detectors = append(c.detectors, d)
			switch d := d.(type) {
			case *memcheck:
				c.memory = d
			case *hostcheck:
				c.hosts = d
			}
		}
	}
	return c, nil
}

// Report is what was found so far, in the order in which it was first seen.
func (c *Checker) Report() Report { return Report{slices.Clone(c.findings), c.summary} }

// report adds a finding, or counts it if it is one that is known: of the same
// instructions in the same kernel.
func (c *Checker) report(f Finding) {
	if c.dispatch != nil { // none has run yet when only the host has done something
		f.Kernel = c.dispatch.Kernel.Name
	}
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

// known counts a finding once more if it is known already.
func (c *Checker) known(t Tool, kind Kind, pcs ...uint64) bool {
	k := key{tool: t, kind: kind, kernel: c.dispatch.Kernel.Name}
	for i, pc := range pcs {
		k.pcs[i] = pc - c.dispatch.Kernel.Module.Base
	}
	f := c.byKey[k]
	if f != nil {
		f.Count++
	}
	return f != nil
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

// place is where a wave was: an instruction by its address on the device.
type place struct {
	pc    uint64
	group [3]uint32
	wave  int // in the workgroup
}

// placeOf is where a wave is.
func placeOf(w emu.Wave) place { return place{w.PC(), w.Group(), w.Index()} }

// pc is the address of a place's instruction in the code object.
func (c *Checker) pc(p place) uint64 { return p.pc - c.dispatch.Kernel.Module.Base }

// site is the instruction that a wave is at; lane is -1 for none.
func (c *Checker) site(w emu.Wave, lane int) Site { return c.siteOf(placeOf(w), lane) }

// siteOf describes a place; lane is -1 for none.
func (c *Checker) siteOf(p place, lane int) Site {
	m := c.dispatch.Kernel.Module
	s := Site{PC: c.pc(p), Group: p.group, Wave: p.wave, Lane: lane}
	if in, ok := c.inst(p.pc); ok {
		s.Text = in.String()
	}
	if file, line, col, ok := m.Object.Line(s.PC); ok {
		s.File, s.Line, s.Col = file, line, col
	}
	return s
}

// inst is the instruction at an address on the device.
func (c *Checker) inst(pc uint64) (isa.Inst, bool) {
	k := c.dispatch.Kernel
	for _, b := range k.Module.Buffers {
		if pc < b.Addr || pc-b.Addr >= uint64(len(b.Data)) {
			continue
		}
		in, err := isa.Decode(pc-k.Module.Base, b.Data[pc-b.Addr:], isa.Wave(k.Descriptor.WavefrontSize()))
		return in, err == nil
	}
	return isa.Inst{}, false
}

// allLanes is the mask of a wave's lanes.
func allLanes(w emu.Wave) uint64 { return ^uint64(0) >> (64 - w.Lanes()) }

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

// Forgive implements emu.Forgiver: with memcheck, bad accesses are findings and
// not the end of the dispatch.
func (c *Checker) Forgive(b *emu.BadAccess) bool { return c.memory != nil && c.memory.forgive(b) }

// Submitted implements emu.HostObserver.
func (c *Checker) Submitted(*emu.Dispatch) {
	if c.hosts != nil {
		c.hosts.submitted()
	}
}

// Host implements emu.HostObserver.
func (c *Checker) Host(b *emu.Buffer, op emu.HostOp, offset, n int) {
	for _, d := range c.detectors {
		if h, ok := d.(hostSeer); ok {
			h.host(b, op, offset, n)
		}
	}
}

// hostSeer is a detector that looks at what the host does with buffers.
type hostSeer interface {
	host(b *emu.Buffer, op emu.HostOp, offset, n int)
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
