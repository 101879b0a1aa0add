package check

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/holdfast-llm/holdfast/amd/emu"
)

// What synccheck finds.
const (
	// BarrierDivergent: lanes of a wave went around a barrier that others of it
	// executed, and went on.
	BarrierDivergent Kind = "barrier-divergent"
	// BarrierMismatch: waves of a workgroup met at different barriers.
	BarrierMismatch Kind = "barrier-mismatch"
	// BarrierMissed: a wave ended while others of its workgroup waited at a
	// barrier, or before they came to one.
	BarrierMissed Kind = "barrier-missed"
	// Deadlock: waves that wait for what cannot happen.
	Deadlock Kind = "deadlock"
)

var synccheckKinds = map[Kind]KindInfo{
	BarrierDivergent: {
		Synccheck, "some lanes of a wave executed a barrier, others went around it and on",
		"move the barrier out of the divergent branch, so that all work-items reach it",
	},
	BarrierMismatch: {
		Synccheck, "waves of a workgroup met at different barrier instructions",
		"let all waves take the same way through the barriers: a condition around one must be the same for the whole workgroup",
	},
	BarrierMissed: {
		Synccheck, "a wave ended without reaching a barrier that others of its workgroup reached",
		"let every wave reach the barrier, with its work left out, instead of returning early",
	},
	Deadlock: {
		Synccheck, "waves wait for something that cannot happen, or that did not within the budget",
		"see who waits for whom: a barrier that not all reach, a flag that nobody sets, a workgroup that cannot start before this one ends",
	},
}

// synccheck judges barriers. The hardware counts waves and so lets pass what
// source languages forbid; it is the source's rule that is checked: every
// work-item of a workgroup that goes on reaches the same barriers. Lanes that
// are masked off at a barrier and never work again have ended, which is allowed;
// a lane works if it accesses global memory or LDS, or comes to a barrier.
type synccheck struct {
	emu.NopObserver
	c      *Checker
	groups map[[3]uint32]*syncGroup
}

// syncGroup is a workgroup that is under way.
type syncGroup struct {
	waves []syncWave
	ended []place // of waves, where they ended
	live  int
}

// syncWave is a wave's barriers.
type syncWave struct {
	at     place  // the latest barrier
	around uint64 // lanes that were masked off at it
}

func newSynccheck(c *Checker, _ Options) detector { return &synccheck{c: c} }

// DispatchBegin forgets what was.
func (s *synccheck) DispatchBegin(*emu.Launched) { s.groups = map[[3]uint32]*syncGroup{} }

func (s *synccheck) group(w emu.Wave) *syncGroup {
	g := s.groups[w.Group()]
	if g == nil {
		g = &syncGroup{}
		s.groups[w.Group()] = g
	}
	return g
}

// WaveBegin counts the wave.
func (s *synccheck) WaveBegin(w emu.Wave) {
	g := s.group(w)
	for len(g.waves) <= w.Index() {
		g.waves = append(g.waves, syncWave{})
	}
	g.live++
}

// WaveEnd remembers where the wave ended.
func (s *synccheck) WaveEnd(w emu.Wave) {
	g := s.group(w)
	g.ended = append(g.ended, placeOf(w))
	if g.live--; g.live == 0 {
		delete(s.groups, w.Group())
	}
}

// Access judges lanes that come back to work.
func (s *synccheck) Access(a *emu.Access) {
	if a.Space != emu.Global && a.Space != emu.LDS {
		return
	}
	if g := s.groups[a.Wave.Group()]; g.waves[a.Wave.Index()].around&a.Lanes != 0 {
		s.divergent(a.Wave, &g.waves[a.Wave.Index()], a.Lanes)
	}
}

// divergent reports that lanes which were not at the latest barrier work on.
func (s *synccheck) divergent(w emu.Wave, v *syncWave, lanes uint64) {
	lane := bits.TrailingZeros64(v.around & lanes)
	s.c.report(Finding{
		Tool: Synccheck, Kind: BarrierDivergent,
		Message: fmt.Sprintf("%d of %d lanes were masked off at the barrier at %#x and went on without it",
			bits.OnesCount64(v.around&lanes), w.Lanes(), s.c.pc(v.at)),
		Sites:   []Site{s.c.siteOf(v.at, -1), s.c.siteOf(placeOf(w), lane)},
		Missing: fmt.Sprintf("EXEC with all lanes at the s_barrier at %#x", s.c.pc(v.at)),
	})
	v.around = 0
}

// Barrier notes who is there.
func (s *synccheck) Barrier(w emu.Wave) {
	v := &s.group(w).waves[w.Index()]
	if v.around&w.Exec() != 0 {
		s.divergent(w, v, w.Exec())
	}
	v.at, v.around = placeOf(w), allLanes(w)&^w.Exec()
}

// BarrierPassed compares the waves' barriers.
func (s *synccheck) BarrierPassed(group [3]uint32, n uint64, waves []emu.Wave) {
	g := s.groups[group]
	// The order of the waves is the schedule's; what is said is not.
	waves = slices.SortedFunc(slices.Values(waves), func(a, b emu.Wave) int { return a.Index() - b.Index() })
	first := g.waves[waves[0].Index()].at
	for _, w := range waves[1:] {
		if at := g.waves[w.Index()].at; at.pc != first.pc {
			s.c.report(Finding{
				Tool: Synccheck, Kind: BarrierMismatch,
				Message: fmt.Sprintf("barrier %d of the workgroup is at %#x for wave %d and at %#x for wave %d", n, s.c.pc(first), first.wave, s.c.pc(at), at.wave),
				Sites:   []Site{s.c.siteOf(first, -1), s.c.siteOf(at, -1)},
			})
			break
		}
	}
	if len(g.ended) > 0 {
		s.c.report(Finding{
			Tool: Synccheck, Kind: BarrierMissed,
			Message: fmt.Sprintf("%d of %d waves ended without the barrier at %#x, where %d waited", len(g.ended), len(g.waves), s.c.pc(first), len(waves)),
			Sites:   []Site{s.c.siteOf(first, -1), s.c.siteOf(g.ended[0], -1)},
		})
	}
}

// DispatchEnd judges why a dispatch did not end by itself.
func (s *synccheck) DispatchEnd(l *emu.Launched, err error) {
	s.groups = nil
	var f *emu.Fault
	if !errors.As(err, &f) || f.Kind != emu.StuckFault && f.Kind != emu.BudgetFault {
		return
	}
	finding := Finding{Tool: Synccheck, Kind: Deadlock, Message: f.Detail, Sites: []Site{s.c.siteOf(place{f.PC, f.Group, f.Wave}, -1)}}
	if f.HasAddr {
		if b := l.Device.Space().Find(f.Addr, 1); b != nil {
			finding.Buffer, finding.Offset = b.Name, int64(f.Addr-b.Addr)
		}
	}
	finding.Message += ": " + s.who(f)
	s.c.report(finding)
}

// who says what the waves of a stuck dispatch wait for.
func (s *synccheck) who(f *emu.Fault) string {
	const most = 4
	var parts []string
	base := s.c.dispatch.Kernel.Module.Base
	for i, w := range f.Waves {
		if i == most {
			parts = append(parts, fmt.Sprintf("and %d more waves", len(f.Waves)-most))
			break
		}
		parts = append(parts, fmt.Sprintf("workgroup (%d,%d,%d) wave %d is %s at %#x (%s)", w.Group[0], w.Group[1], w.Group[2], w.Wave, w.State, w.PC-base, w.Text))
	}
	return strings.Join(parts, "; ")
}
