package emu

import (
	"fmt"
	"slices"

	"github.com/holdfast-llm/holdfast/amd/isa"
)

// What a dispatch that does not end was doing.

// states describes the resident waves, those that can run first.
func (s *scheduler) states() []WaveState {
	var list []WaveState
	for _, status := range []waveStatus{running, retrying, atBarrier, halted, ended} {
		for _, g := range s.groups {
			for _, w := range g.waves {
				if w.status == status {
					list = append(list, w.state())
				}
			}
		}
	}
	return list
}

func (w *wave) state() WaveState {
	pc := w.at
	if w.status == running {
		pc = w.pc
	}
	return WaveState{Group: w.group.id, Wave: w.id, State: w.status.String(), PC: pc, Text: w.text(pc)}
}

// stuck is the fault of a dispatch of which no wave can run.
func (s *scheduler) stuck() error {
	var w *wave
	waiting, stopped := 0, 0
	for _, g := range s.groups {
		for _, v := range g.waves {
			switch v.status {
			case atBarrier:
				waiting++
			case halted:
				stopped++
				if w == nil {
					w = v
				}
			}
		}
	}
	if w == nil { // cannot be: waves that all wait are let go on
		w = s.groups[0].waves[0]
	}
	return w.locate(&Fault{
		Kind:   StuckFault,
		Detail: fmt.Sprintf("no wave can run: %d halted, %d at a barrier that the others will not reach", stopped, waiting),
		Waves:  s.states(),
	})
}

// overBudget is the fault of a dispatch that ran too long. It lets the waves
// that can run go on for a moment to see where they are and what they read.
func (s *scheduler) overBudget(w *wave) error {
	f := w.locate(&Fault{Kind: BudgetFault})
	f.Waves = s.states()
	waiting := 0
	for i := range f.Waves {
		st := &f.Waves[i]
		switch v := s.find(st.Group, st.Wave); v.status {
		case atBarrier:
			waiting++
		case running:
			v.probe(st)
			if v == w && len(st.Polls) > 0 {
				f.Addr, f.HasAddr = st.Polls[0], true
			}
		}
	}
	f.Detail = fmt.Sprintf("the budget of %d instructions is used up", s.d.dev.config.Budget)
	if waiting > 0 {
		f.Detail += fmt.Sprintf(", %d waves wait at a barrier", waiting)
	}
	if f.HasAddr {
		f.Detail += fmt.Sprintf(", the wave keeps reading %#x", f.Addr)
		if b := s.d.dev.space.Find(f.Addr, 1); b != nil {
			f.Detail += fmt.Sprintf(" (%s + %d)", b.Name, f.Addr-b.Addr)
		}
	}
	return f
}

func (s *scheduler) find(group [3]uint32, wave int) *wave {
	for _, g := range s.groups {
		if g.id == group {
			return g.waves[wave]
		}
	}
	return nil
}

// probe observes a wave in what may be an endless loop.
type probe struct {
	NopObserver
	first, last uint64
	polls       []uint64
}

// probeLength is how many instructions a probe sees.
const probeLength = 4096

// probe runs the wave a little further and notes where it goes. Faults do not
// count: the dispatch is over.
func (w *wave) probe(st *WaveState) {
	p := &probe{first: ^uint64(0)}
	w.obs, w.breaks = p, nil
	err := w.run(probeLength)
	w.obs = w.d.obs
	if err != nil || w.status != running {
		return
	}
	st.Loop, st.Looped, st.Polls = [2]uint64{p.first, p.last}, true, p.polls
}

func (p *probe) Instruction(w Wave, _ *isa.Inst) {
	p.first, p.last = min(p.first, w.PC()), max(p.last, w.PC())
}

func (p *probe) Access(a *Access) {
	const most = 8
	if a.Kind == Store || a.Space == Scratch {
		return
	}
	lanes := a.Lanes
	if a.Space == Scalar {
		lanes = 1
	}
	for l := range 64 {
		if lanes>>l&1 != 0 && len(p.polls) < most && !slices.Contains(p.polls, a.Addr[l]) {
			p.polls = append(p.polls, a.Addr[l])
		}
	}
}
