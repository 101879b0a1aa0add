package emu_test

import (
	"fmt"
	"testing"

	"github.com/holdfast-llm/holdfast/amd/emu"
)

// handover runs a kernel of handover.cpp and counts the items that read
// something else than what the other wrote.
func handover(t *testing.T, flags, kernel string, c emu.Config) int {
	t.Helper()
	o := compile(t, "handover.cpp", flags)
	shared, out := make([]uint32, 128), make([]uint32, 128)
	args := []any{shared, out}
	if kernel == "through_local" || kernel == "through_local_no_wait" {
		args = args[1:]
	}
	if _, err := launch(o, kernel, c, [3]uint32{128, 1, 1}, [3]uint32{128, 1, 1}, args...); err != nil {
		t.Fatalf("%s: %v", kernel, err)
	}
	wrong := 0
	for i, v := range out {
		if v != uint32((i+32)%128)+1000 {
			wrong++
		}
	}
	return wrong
}

// orders are schedules with the waves after a barrier in different orders.
func orders(mode emu.Mode) map[string]emu.Config {
	all := map[string]emu.Config{
		"in order":    {Mode: mode},
		"reverse":     {Mode: mode, Schedule: emu.Schedule{Waves: emu.ReverseAfterBarriers}},
		"round robin": {Mode: mode, Schedule: emu.Schedule{Waves: emu.RoundRobin, Quantum: 1}},
	}
	for seed := range uint64(8) {
		all[fmt.Sprint("random ", seed)] = emu.Config{Mode: mode, Seed: seed, Schedule: emu.Schedule{Waves: emu.Random, Quantum: 3}}
	}
	return all
}

func TestRelaxedMemoryShowsMissingSynchronisation(t *testing.T) {
	t.Parallel()
	const wgp, cu = "-O2", "-O2 -mcumode"
	for _, c := range []struct {
		kernel, flags string
		wrong         bool // in relaxed memory, with every schedule
	}{
		{"whole", wgp, false},
		{"whole", cu, false},
		{"whole", "-O0", false},
		{"whole", wgp + " -mwavefrontsize64 -DWAVE64=1", false},
		{"through_local", wgp, false},
		{"local_only", wgp, true},
		{"no_release", wgp, true},
		{"no_release", cu, true},
		// In CU mode the waves share the cache that the store went through.
		{"no_acquire", wgp, true},
		{"no_acquire", cu, false},
		{"through_local_no_wait", wgp, true},
	} {
		for name, cfg := range orders(emu.Relaxed) {
			if wrong := handover(t, c.flags, c.kernel, cfg); (wrong > 0) != c.wrong {
				t.Errorf("%s (%s), %s: %d of 128 items read something else", c.kernel, c.flags, name, wrong)
			}
		}
		for name, cfg := range orders(emu.Coherent) {
			if wrong := handover(t, c.flags, c.kernel, cfg); wrong > 0 && c.kernel != "local_only" {
				t.Errorf("%s (%s), coherent memory, %s: %d of 128 items read something else", c.kernel, c.flags, name, wrong)
			}
		}
	}
}

func TestRelaxedMemoryIsReplayedFromItsSeed(t *testing.T) {
	t.Parallel()
	for seed := range uint64(5) {
		c := emu.Config{Mode: emu.Relaxed, Seed: seed, Schedule: emu.Schedule{Waves: emu.Random, Quantum: 3}}
		if a, b := handover(t, "-O2", "local_only", c), handover(t, "-O2", "local_only", c); a != b {
			t.Errorf("seed %d: %d wrong, then %d", seed, a, b)
		}
	}
}

// A message with the scopes it needs arrives whole, whatever the order.
func TestAReleasedMessageArrivesWhole(t *testing.T) {
	t.Parallel()
	o := compile(t, "handover.cpp", "-O2")
	arrived := 0
	for seed := range uint64(40) {
		data, flag, out := make([]uint32, 32), make([]uint32, 1), make([]uint32, 32)
		c := emu.Config{Mode: emu.Relaxed, Seed: seed, Schedule: emu.Schedule{Waves: emu.Random, Groups: emu.Shuffled, Resident: 2}}
		if _, err := launch(o, "message", c, [3]uint32{64, 1, 1}, [3]uint32{32, 1, 1}, data, flag, out); err != nil {
			t.Fatal(err)
		}
		for i, v := range out {
			if v == uint32(i)+1000 {
				arrived++
			} else if v != 0 {
				t.Fatalf("seed %d: item %d read %d", seed, i, v)
			}
		}
	}
	if arrived == 0 {
		t.Error("no message arrived")
	}
}

// What a driver does to a queue changes no result of a kernel that
// synchronises, and every event has its line.
func TestPressureChangesNoResult(t *testing.T) {
	t.Parallel()
	var lines []string
	events := map[byte]int{}
	for seed := range uint64(20) {
		c := emu.Config{
			Mode: emu.Relaxed, Seed: seed, Schedule: emu.Schedule{Waves: emu.RoundRobin, Quantum: 4},
			Pressure: &emu.Pressure{Evict: 0.2, Migrate: 0.2, PID: 4711, Node: 1, Events: func(l string) {
				lines = append(lines, l)
				events[l[0]]++
			}},
		}
		for _, flags := range []string{"-O2", "-O2 -mcumode"} {
			if wrong := handover(t, flags, "whole", c); wrong > 0 {
				t.Errorf("seed %d, %s: %d of 128 items read something else", seed, flags, wrong)
			}
		}
	}
	for _, id := range "569ab" {
		if events[byte(id)] == 0 {
			t.Errorf("no event %c in %d", id, len(lines))
		}
	}
}

// An eviction completes the stores of every wave: it can hide that a kernel
// does not wait for them, but not always.
func TestPressureDoesNotHideAMissingWaitForGood(t *testing.T) {
	t.Parallel()
	wrong := 0
	for seed := range uint64(20) {
		c := emu.Config{
			Mode: emu.Relaxed, Seed: seed, Schedule: emu.Schedule{Waves: emu.RoundRobin, Quantum: 4},
			Pressure: &emu.Pressure{Evict: 0.1},
		}
		if handover(t, "-O2", "local_only", c) > 0 {
			wrong++
		}
	}
	if wrong == 0 || wrong == 20 {
		t.Errorf("%d of 20 seeds show the missing wait", wrong)
	}
}
