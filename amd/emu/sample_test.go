package emu_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"testing"

	"github.com/holdfast-llm/holdfast/amd/emu"
)

// builds are the ways in which the samples are compiled.
var builds = []struct {
	name, flags string
	rare        bool // only where tests run at their whole size
}{
	{"w32", "-O2", false},
	{"w64", "-O2 -mwavefrontsize64 -DWAVE64=1", false},
	{"w32 unoptimised", "-O0", true},
	{"w64 CU mode", "-O3 -mcumode -mwavefrontsize64 -DWAVE64=1", true},
}

// schedules must not matter to a kernel that synchronises.
var schedules = map[string]emu.Config{
	"in order":          {},
	"two workers":       {Workers: 2},
	"reverse, backward": {Schedule: emu.Schedule{Waves: emu.ReverseAfterBarriers, Groups: emu.Backward}, Poison: true},
	"round robin":       {Schedule: emu.Schedule{Waves: emu.RoundRobin}, Poison: true, Seed: 1},
	"random, shuffled":  {Schedule: emu.Schedule{Waves: emu.Random, Groups: emu.Shuffled, Resident: 8}, Seed: 3, Poison: true},
	"relaxed":           {Mode: emu.Relaxed, Poison: true},
	"late loads":        {Mode: emu.Relaxed, Timing: emu.Timing{LateLoads: true}, Poison: true},
	"random timing": {
		Mode: emu.Relaxed, Schedule: emu.Schedule{Waves: emu.Random}, Seed: 9,
		Timing: emu.Timing{LateLoads: true, EarlyLoads: 0.1, EarlyStores: 0.1},
	},
	"relaxed, random, seed 7": {Mode: emu.Relaxed, Schedule: emu.Schedule{Waves: emu.Random, Groups: emu.Shuffled}, Seed: 7},
}

// long says whether tests run at their whole size, as in CI: HOLDFAST_LONG is
// set.
func long() bool { return os.Getenv("HOLDFAST_LONG") != "" }

// everyWay runs f for each schedule in the first build, for two in the others.
func everyWay(t *testing.T, source, flags string, f func(t *testing.T, run func(kernel string, grid, workgroup [3]uint32, args ...any))) {
	for _, b := range builds {
		t.Run(b.name, func(t *testing.T) {
			if testing.Short() && b.name != "w32" || b.rare && !long() {
				t.Skip("not at this size: see HOLDFAST_LONG")
			}
			o := compile(t, source, b.flags+flags)
			for name, c := range schedules {
				if b.name != "w32" && name != "in order" && name != "late loads" {
					continue
				}
				t.Run(name, func(t *testing.T) {
					f(t, func(kernel string, grid, workgroup [3]uint32, args ...any) {
						t.Helper()
						if _, err := launch(o, kernel, c, grid, workgroup, args...); err != nil {
							t.Fatalf("%s: %v", kernel, err)
						}
					})
				})
			}
		})
	}
}

func floats(rng *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(rng.NormFloat64())
	}
	return x
}

func halves(rng *rand.Rand, n int) []uint16 {
	x := make([]uint16, n)
	for i := range x {
		x[i] = halfBits(rng.NormFloat64())
	}
	return x
}

func equalFloats(t *testing.T, what string, got, want []float32) {
	t.Helper()
	for i := range want {
		if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
			t.Fatalf("%s[%d]: %v (%#x), %v (%#x) on the host", what, i, got[i], math.Float32bits(got[i]), want[i], math.Float32bits(want[i]))
		}
	}
}

func TestMatmulIsTheHosts(t *testing.T) {
	t.Parallel()
	const n = 64
	rng := rand.New(rand.NewPCG(1, 1))
	a, b, want := floats(rng, n*n), floats(rng, n*n), make([]float32, n*n)
	ask(t, witness(t, "matmul.cpp", ""), []any{a, b}, want)
	for i := range n { // the witness is a matrix product
		sum := 0.0
		for k := range n {
			sum += float64(a[i*n+k]) * float64(b[k*n+i])
		}
		if math.Abs(sum-float64(want[i*n+i])) > 1e-4 {
			t.Fatalf("the host's [%d][%d]: %v, want %v", i, i, want[i*n+i], sum)
		}
	}
	everyWay(t, "matmul.cpp", "", func(t *testing.T, run func(string, [3]uint32, [3]uint32, ...any)) {
		got := make([]float32, n*n)
		run("matmul", [3]uint32{4 * 256, 4}, [3]uint32{256}, a, b, got)
		equalFloats(t, "c", got, want)
	})
}

func TestAttentionIsTheHosts(t *testing.T) {
	t.Parallel()
	const heads, each, dims = 4, 64, 64
	blocks := uint32(6)
	if long() {
		blocks = 36
	}
	tokens := int(blocks*each) - 204 // the last blocks have none
	flags := fmt.Sprintf(" -DBLOCK_COUNT=%d", blocks)
	rng := rand.New(rand.NewPCG(2, 1))
	q, k, v := floats(rng, heads*dims), halves(rng, int(heads*dims*blocks*each)), halves(rng, int(heads*dims*blocks*each))
	want := make([]float32, heads*dims)
	ask(t, witness(t, "attention.cpp", flags), []any{uint32(tokens), q, k, v}, want)
	for h := range heads { // the witness is attention
		scores := make([]float64, tokens)
		most, total := math.Inf(-1), 0.0
		for i := range scores {
			for d := range dims {
				scores[i] += float64(q[h*dims+d]) * halfValue(k[(i*heads+h)*dims+d])
			}
			scores[i] /= math.Sqrt(dims)
			most = max(most, scores[i])
		}
		var out [dims]float64
		for i, s := range scores {
			p := math.Exp(s - most)
			total += p
			for d := range out {
				out[d] += p * halfValue(v[(i*heads+h)*dims+d])
			}
		}
		for d := range out {
			if got := float64(want[h*dims+d]); math.Abs(got-out[d]/total) > 1e-5 {
				t.Fatalf("the host's head %d, dim %d: %v, want %v", h, d, got, out[d]/total)
			}
		}
	}
	everyWay(t, "attention.cpp", flags, func(t *testing.T, run func(string, [3]uint32, [3]uint32, ...any)) {
		part, most, sums := make([]float32, heads*blocks*dims), make([]float32, heads*blocks), make([]float32, heads*blocks)
		count, got := make([]uint32, heads), make([]float32, heads*dims)
		run("attention", [3]uint32{blocks * 128, heads}, [3]uint32{128}, q, k, v, part, most, sums, count, got, uint32(tokens))
		equalFloats(t, "out", got, want)
	})
}

func TestReductionsAreTheHosts(t *testing.T) {
	t.Parallel()
	const items, groups, each, bins = 256, 8, 16, 64
	rng := rand.New(rand.NewPCG(3, 1))
	in, values := floats(rng, groups*each*items), make([]uint32, groups*items)
	for i := range values {
		values[i] = rng.Uint32()
	}
	sums, tops := make([]float32, groups), make([]float32, groups)
	scanned, count := make([]uint32, groups*items), make([]uint32, bins)
	ask(t, witness(t, "reduce.cpp", ""), []any{in, values}, sums, tops, scanned, count)
	everyWay(t, "reduce.cpp", "", func(t *testing.T, run func(string, [3]uint32, [3]uint32, ...any)) {
		gotSums, gotTops := make([]float32, groups), make([]float32, groups)
		run("reduce", [3]uint32{groups * items}, [3]uint32{items}, in, gotSums, gotTops)
		equalFloats(t, "sums", gotSums, sums)
		equalFloats(t, "tops", gotTops, tops)
		gotScanned, gotCount := make([]uint32, groups*items), make([]uint32, bins)
		run("prefix", [3]uint32{groups * items}, [3]uint32{items}, values, gotScanned, gotCount)
		if !reflect.DeepEqual(gotScanned, scanned) || !reflect.DeepEqual(gotCount, count) {
			t.Error("scan or histogram differs from the host's")
		}
	})
}
