package emu_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-llm/holdfast/amd/emu"
	"github.com/holdfast-llm/holdfast/amd/isa"
)

// timings are relaxed memory with accesses that complete late, early, and by
// chance.
func timings() map[string]emu.Config {
	all := map[string]emu.Config{}
	for name, t := range map[string]emu.Timing{
		"late loads":            {LateLoads: true},
		"early stores":          {EarlyStores: 0.3},
		"late and early loads":  {LateLoads: true, EarlyLoads: 0.1},
		"all early, late loads": {LateLoads: true, EarlyLoads: 0.5, EarlyStores: 0.5},
	} {
		for order, c := range orders(emu.Relaxed) {
			c.Timing = t
			all[name+", "+order] = c
		}
	}
	return all
}

func TestTimingChangesNothingOfWhatSynchronises(t *testing.T) {
	t.Parallel()
	const w64 = " -mwavefrontsize64 -DWAVE64=1"
	for _, c := range []struct{ kernel, flags string }{
		{"whole", "-O2"},
		{"whole", "-O2 -mcumode"},
		{"whole", "-O0"},
		{"whole", "-O2" + w64},
		{"through_local", "-O2"},
		{"through_local", "-O2" + w64},
	} {
		for name, cfg := range timings() {
			if wrong := handover(t, c.flags, c.kernel, cfg); wrong > 0 {
				t.Errorf("%s (%s), %s: %d of 128 items read something else", c.kernel, c.flags, name, wrong)
			}
		}
	}
}

// Stores that arrive early hide a missing wait from some seeds, not from all.
func TestEarlyStoresShowMissingSynchronisationToSomeSeeds(t *testing.T) {
	t.Parallel()
	for _, kernel := range []string{"local_only", "no_release", "through_local_no_wait"} {
		wrong := 0
		const seeds = 20
		for seed := range uint64(seeds) {
			c := emu.Config{Mode: emu.Relaxed, Seed: seed, Timing: emu.Timing{LateLoads: true, EarlyLoads: 0.2, EarlyStores: 0.2}}
			if handover(t, "-O2", kernel, c) > 0 {
				wrong++
			}
		}
		t.Logf("%s: wrong for %d of %d seeds", kernel, wrong, seeds)
		if wrong == 0 {
			t.Errorf("%s: right for all of %d seeds", kernel, seeds)
		}
	}
}

// waits are the places of a kernel's wait instructions in its file.
func waits(t *testing.T, file []byte, kernel string, wave isa.Wave) (places []int, texts []string) {
	t.Helper()
	k, ok := parse(t, file).Kernel(kernel)
	if !ok {
		t.Fatalf("no kernel %s", kernel)
	}
	start := bytes.Index(file, k.Code)
	for at := 0; at < len(k.Code); {
		in, err := isa.Decode(uint64(at), k.Code[at:], wave)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(in.Op.Name, "s_waitcnt") && in.Op.Name != "s_waitcnt_depctr" {
			places, texts = append(places, start+at), append(texts, fmt.Sprintf("%#x: %s", at, in.String()))
		}
		at += in.Size
	}
	return places, texts
}

// TestAKernelWithoutItsWaitsIsWrong: without all of them for every seed, and
// without any one for some seed, but for a few that have nothing to wait for
// where they are.
func TestAKernelWithoutItsWaitsIsWrong(t *testing.T) {
	t.Parallel()
	const nop = 0xbf800000
	rng := rand.New(rand.NewPCG(5, 1))
	a, b := floats(rng, 64*64), floats(rng, 64*64)
	in, values := floats(rng, 8*16*256), make([]uint32, 8*256)
	for i := range values {
		values[i] = rng.Uint32()
	}
	for _, k := range []struct {
		source, kernel string
		run            func(file []byte, c emu.Config) (any, error)
	}{
		{"matmul.cpp", "matmul", func(file []byte, c emu.Config) (any, error) {
			out := make([]float32, 64*64)
			_, err := launch(parse(t, file), "matmul", c, [3]uint32{4 * 256, 4}, [3]uint32{256}, a, b, out)
			return out, err
		}},
		{"reduce.cpp", "reduce", func(file []byte, c emu.Config) (any, error) {
			sums, tops := make([]float32, 8), make([]float32, 8)
			_, err := launch(parse(t, file), "reduce", c, [3]uint32{8 * 256}, [3]uint32{256}, in, sums, tops)
			return [][]float32{sums, tops}, err
		}},
		{"reduce.cpp", "prefix", func(file []byte, c emu.Config) (any, error) {
			out, count := make([]uint32, 8*256), make([]uint32, 64)
			_, err := launch(parse(t, file), "prefix", c, [3]uint32{8 * 256}, [3]uint32{256}, values, out, count)
			return [][]uint32{out, count}, err
		}},
	} {
		for _, wave := range []isa.Wave{isa.Wave32, isa.Wave64} {
			if wave == isa.Wave64 && k.kernel != "matmul" && !long() {
				continue
			}
			flags := "-O2"
			if wave == isa.Wave64 {
				flags += " -mwavefrontsize64 -DWAVE64=1"
			}
			file := build(t, k.source, flags)
			want, err := k.run(file, emu.Config{})
			if err != nil {
				t.Fatal(err)
			}
			// wrong counts the seeds, up to most, for which the file gives
			// something else.
			const seeds = 3
			wrong := func(file []byte, most int) int {
				n := 0
				for seed := uint64(0); seed < seeds && n < most; seed++ {
					c := emu.Config{
						Mode: emu.Relaxed, Seed: seed, Poison: true, Budget: 1 << 18,
						Schedule: emu.Schedule{Waves: emu.Random, Quantum: 16}, Timing: emu.Timing{LateLoads: true, EarlyLoads: 0.02},
					}
					if got, err := k.run(file, c); err != nil || !reflect.DeepEqual(got, want) {
						n++
					}
				}
				return n
			}
			if n := wrong(file, seeds); n > 0 {
				t.Errorf("%s, wave%d: wrong for %d of %d seeds", k.kernel, wave, n, seeds)
			}
			places, texts := waits(t, file, k.kernel, wave)
			none, silent := slices.Clone(file), 0
			for i, at := range places {
				binary.LittleEndian.PutUint32(none[at:], nop)
				one := slices.Clone(file)
				binary.LittleEndian.PutUint32(one[at:], nop)
				if wrong(one, 1) == 0 {
					t.Logf("%s, wave%d, without %s: right for %d seeds", k.kernel, wave, texts[i], seeds)
					silent++
				}
			}
			if len(places) < 8 || silent > len(places)/3 {
				t.Errorf("%s, wave%d: %d of %d waits make no difference", k.kernel, wave, silent, len(places))
			}
			if n := wrong(none, seeds); n < seeds {
				t.Errorf("%s, wave%d, without %d waits: right for %d of %d seeds", k.kernel, wave, len(places), seeds-n, seeds)
			}
		}
	}
}
