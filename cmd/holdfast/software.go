package main

import (
	"github.com/holdfast-llm/holdfast/amd/emu"
	"github.com/holdfast-llm/holdfast/device/gfx11"
	"github.com/holdfast-llm/holdfast/internal/cli"
)

// softwareFlags say how the software gfx11 device runs.
type softwareFlags struct {
	mode, schedule string
	seed           int
}

func (s *softwareFlags) declare(f *cli.FlagSet) {
	s.mode, s.schedule = "coherent", "in-order"
	f.Choice(&s.mode, "--mode M", "memory: coherent, or relaxed as hardware may be", "coherent", "relaxed")
	f.Choice(&s.schedule, "--schedule S", "whose turn it is: in-order, reverse (after barriers), round-robin or random", "in-order", "reverse", "round-robin", "random")
	f.Int(&s.seed, "--device-seed N", "of everything that the device chooses", 0, 1<<30)
}

func (s *softwareFlags) config() emu.Config {
	c := emu.Config{Seed: uint64(s.seed)}
	if s.mode == "relaxed" {
		c.Mode = emu.Relaxed
	}
	c.Schedule.Waves = map[string]emu.WaveOrder{
		"in-order": emu.InOrder, "reverse": emu.ReverseAfterBarriers, "round-robin": emu.RoundRobin, "random": emu.Random,
	}[s.schedule]
	return c
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
