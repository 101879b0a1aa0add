package kernel

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/holdfast-llm/holdfast/amd/emu"
)

// The planted bug shows as on silicon: under some schedules the floats are right
// and their pack is not. The kernels that it is planted in are right under all.
func TestThePlantedBugSpoilsThePackOnly(t *testing.T) {
	for _, wave := range []int{32, 64} {
		for _, tile := range []bool{false, true} {
			t.Run(fmt.Sprintf("wave%d/tile=%t", wave, tile), func(t *testing.T) {
				wrong := 0
				const seeds = 6
				for seed := range uint64(seeds) {
					dev, err := emu.New(emu.Config{Mode: emu.Relaxed, Seed: seed, Poison: true, Schedule: emu.Schedule{Waves: emu.Random}})
					if err != nil {
						t.Fatal(err)
					}
					r := &rig{dev: dev, kernels: map[string]*emu.Kernel{}, wave: wave}
					p := (&attention{kvHeads: 1, group: 2, headDim: 128, vDim: 128, pos: []int32{99}, seed: seed}).fill()
					if !p.packIsGood(t, r, tile, true) {
						wrong++
					}
					if !p.packIsGood(t, r, tile, false) {
						t.Errorf("seed %d: the kernel without the bug packs something else than it computed", seed)
					}
				}
				if wrong == 0 {
					t.Errorf("no pack of %d is wrong", seeds)
				}
				t.Logf("%d packs of %d are wrong", wrong, seeds)
			})
		}
	}
}

// packIsGood runs a fused kernel, with the bug or without, holds its floats
// against the reference, and reports whether they are what is packed.
func (p *attention) packIsGood(t *testing.T, r *rig, tile, planted bool) bool {
	t.Helper()
	out := r.garbage(t, "out", 4*p.channels())
	q8 := r.garbage(t, "q8", Q8_1Bytes(p.channels()))
	states := r.garbage(t, "states", p.stateBytes())
	counters, status := r.bytes(t, "counters", make([]byte, 4*p.kvHeads)), r.bytes(t, "status", make([]byte, 4))
	l, _ := p.fused(r.operands(t, p), states, counters, status, out, q8, tile, true)
	if planted {
		switch a := l.Args.(type) {
		case AttentionFusedQ8:
			l.Args = AttentionPlantedQ8(a)
		case AttentionFused128Q8:
			l.Args = AttentionPlanted128Q8(a)
		}
	}
	r.run(t, l)
	exact := inF32
	if tile {
		exact = inF16
	}
	p.check(t, out.asFloats(), exact)
	return bytes.Equal(q8.Data, packQ8(t, out.asFloats()))
}
