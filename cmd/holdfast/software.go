package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/holdfast-llm/holdfast/amd/emu"
	"github.com/holdfast-llm/holdfast/device/gfx11"
	"github.com/holdfast-llm/holdfast/internal/cli"
	"github.com/holdfast-llm/holdfast/internal/clock"
)

// softwareFlags say how the software gfx11 device runs.
type softwareFlags struct {
	mode, schedule string
	seed           int
	evict, migrate share
	smi            smiFile
}

func (s *softwareFlags) declare(f *cli.FlagSet) {
	s.mode, s.schedule = "coherent", "in-order"
	f.Choice(&s.mode, "--mode M", "memory: coherent, or relaxed as hardware may be", "coherent", "relaxed")
	f.Choice(&s.schedule, "--schedule S", "whose turn it is: in-order, reverse (after barriers), round-robin or random", "in-order", "reverse", "round-robin", "random")
	f.Int(&s.seed, "--device-seed N", "of everything that the device chooses", 0, 1<<30)
	f.Var(&s.evict, "--evict P", "chance from 0 to 1 that the driver evicts the queue between two slices of 200 instructions")
	f.Var(&s.migrate, "--migrate P", "chance that it moves a page then")
	f.Var(&s.smi, "--smi FILE", "add the driver's events to a file, as lines of the KFD's, by CLOCK_BOOTTIME")
}

func (s *softwareFlags) config() emu.Config {
	c := emu.Config{Seed: uint64(s.seed)}
	if s.mode == "relaxed" {
		c.Mode = emu.Relaxed
	}
	c.Schedule.Waves = map[string]emu.WaveOrder{
		"in-order": emu.InOrder, "reverse": emu.ReverseAfterBarriers, "round-robin": emu.RoundRobin, "random": emu.Random,
	}[s.schedule]
	if s.evict > 0 || s.migrate > 0 {
		c.Schedule.Quantum = 200
		c.Pressure = &emu.Pressure{Evict: float64(s.evict), Migrate: float64(s.migrate), PID: os.Getpid(), Node: 1, Events: s.smi.events()}
	}
	return c
}

// share is a flag's value from 0 to 1.
type share float64

func (p *share) String() string { return fmt.Sprint(float64(*p)) }

func (p *share) Set(text string) error {
	var x float64
	if _, err := fmt.Sscan(text, &x); err != nil || !(x >= 0 && x <= 1) {
		return fmt.Errorf("want a number from 0 to 1, such as 0.01")
	}
	*p = share(x)
	return nil
}

// smiFile is the file that a driver's events are added to. Several processes may add to
// one.
type smiFile struct{ file *os.File }

func (s *smiFile) String() string {
	if s.file == nil {
		return ""
	}
	return s.file.Name()
}

func (s *smiFile) Set(path string) (err error) {
	s.file, err = os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o666)
	return err
}

// events writes lines with the machine's clock for that of the emulator, which counts
// instructions: a driver's events are compared with requests. It is nil if there is no file.
func (s *smiFile) events() func(line string) {
	if s.file == nil {
		return nil
	}
	return func(line string) {
		id, rest, _ := strings.Cut(line, " ")
		_, rest, _ = strings.Cut(rest, " ")
		fmt.Fprintf(s.file, "%s %d %s\n", id, clock.Boot(), rest)
	}
}

// gfx11Flags are softwareFlags and the wave size, for --device gfx11.
type gfx11Flags struct {
	softwareFlags
	wave string
}

func (g *gfx11Flags) declare(f *cli.FlagSet) {
	g.wave = "32"
	f.Group("with --device gfx11")
	f.Choice(&g.wave, "--wave N", "wave size of the kernels that are built for both", "32", "64")
	g.softwareFlags.declare(f)
}

func (g *gfx11Flags) config() gfx11.Config {
	c := gfx11.Config{Wave: 32, Emulator: g.softwareFlags.config()}
	if g.wave == "64" {
		c.Wave = 64
	}
	return c
}
