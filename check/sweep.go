package check

import (
	"cmp"
	"fmt"
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
	Budget    uint64 // instructions of waves that a dispatch may run; 0 is the device's
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
	flags  string // that give it
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
	var list []one
	for _, m := range s.Modes {
		for _, w := range s.Schedules {
			for i := range uint64(max(s.Seeds, 1)) {
				c := emu.Config{Mode: m, Seed: s.Seed + i, Schedule: emu.Schedule{Waves: w}, Poison: true, Budget: s.Budget}
				list = append(list, one{c, fmt.Sprintf("--mode %s --schedule %s --seed %d", nameOf(m, modes), nameOf(w, schedules), c.Seed)})
			}
		}
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
