package check

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/holdfast-llm/holdfast/amd/emu"
)

// Sweep says in which ways a kernel is run: with every combination. What it
// leaves out is coherent memory, in order, seed 0.
type Sweep struct {
	Modes     []emu.Mode
	Schedules []emu.WaveOrder
	Seed      uint64 // the first
	Seeds     int
	Budget    uint64   // instructions of waves that a dispatch may run; 0 is the device's
	Preempt   int      // points at which a wave is set aside, chosen by the seed
	Layouts   []Layout // of a case's buffers
	Padding   uint64   // bytes on both sides of each buffer that are nobody's; 0 is 4096
}

var (
	modes     = map[string]emu.Mode{"coherent": emu.Coherent, "relaxed": emu.Relaxed}
	schedules = map[string]emu.WaveOrder{
		"in-order": emu.InOrder, "reverse": emu.ReverseAfterBarriers, "round-robin": emu.RoundRobin, "random": emu.Random,
	}
)

// ModeNames are the memory models by their names on the command line.
func ModeNames() []string { return []string{"coherent", "relaxed"} }

// ScheduleNames are the schedules by their names on the command line.
func ScheduleNames() []string { return []string{"in-order", "reverse", "round-robin", "random"} }

// NewSweep makes a sweep of names; "all" is every one. Errors: a name that there
// is none of.
func NewSweep(modeNames, scheduleNames []string, seed uint64, seeds int) (s Sweep, err error) {
	s.Seed, s.Seeds = seed, seeds
	if s.Modes, err = choose("memory model", modeNames, ModeNames(), modes); err != nil {
		return s, err
	}
	s.Schedules, err = choose("schedule", scheduleNames, ScheduleNames(), schedules)
	return s, err
}

func choose[T any](what string, names, all []string, values map[string]T) ([]T, error) {
	var list []T
	for _, name := range names {
		chosen := []string{name}
		if name == "all" {
			chosen = all
		}
		for _, name := range chosen {
			v, ok := values[name]
			if !ok {
				return nil, fmt.Errorf("no %s %q, there are all, %s", what, name, strings.Join(all, ", "))
			}
			list = append(list, v)
		}
	}
	return list, nil
}

// over is s, and where it says nothing what another says.
func (s Sweep) over(o Sweep) Sweep {
	if len(s.Modes) == 0 {
		s.Modes = o.Modes
	}
	if len(s.Schedules) == 0 {
		s.Schedules = o.Schedules
	}
	s.Seed, s.Seeds, s.Budget = cmp.Or(s.Seed, o.Seed), cmp.Or(s.Seeds, o.Seeds), cmp.Or(s.Budget, o.Budget)
	return s
}

// one is a run of a sweep.
type one struct {
	config emu.Config
	layout *Layout // nil: as the case says
	flags  string  // that give it
}

// all are the runs of a sweep, each with garbage in registers and LDS as a GPU
// has it.
func (s Sweep) all() []one {
	if len(s.Modes) == 0 {
		s.Modes = []emu.Mode{emu.Coherent}
	}
	if len(s.Schedules) == 0 {
		s.Schedules = []emu.WaveOrder{emu.InOrder}
	}
	layouts := []*Layout{nil}
	if len(s.Layouts) > 0 {
		layouts = nil
		for i := range s.Layouts {
			layouts = append(layouts, &s.Layouts[i])
		}
	}
	var list []one
	for _, l := range layouts {
		for _, m := range s.Modes {
			for _, w := range s.Schedules {
				for i := range uint64(max(s.Seeds, 1)) {
					c := emu.Config{Mode: m, Seed: s.Seed + i, Schedule: emu.Schedule{Waves: w}, Poison: true, Budget: s.Budget}
					flags := fmt.Sprintf("--mode %s --schedule %s --seed %d", nameOf(m, modes), nameOf(w, schedules), c.Seed)
					if s.Preempt > 0 {
						c.Schedule.Preempt = preemptions(s.Preempt, c.Seed)
						flags += fmt.Sprintf(" --preempt %d", s.Preempt)
					}
					if l != nil {
						flags += " --layout " + l.String()
					}
					list = append(list, one{c, l, flags})
				}
			}
		}
	}
	return list
}

// preemptions are n points at which a wave is set aside until the others cannot
// go on: early ones more often than late ones.
func preemptions(n int, seed uint64) []emu.Preemption {
	const most = 12 // bits of the number of instructions
	r := rand.New(rand.NewPCG(seed, 0x70726565))
	list := make([]emu.Preemption, n)
	for i := range list {
		list[i] = emu.Preemption{Wave: r.IntN(8), After: r.Uint64N(1 << (1 + r.IntN(most)))}
	}
	return list
}

func nameOf[T comparable](v T, names map[string]T) string {
	for name, w := range names {
		if w == v {
			return name
		}
	}
	return fmt.Sprint(v)
}
