package emu_test

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/holdfast-llm/holdfast/amd/emu"
	"github.com/holdfast-llm/holdfast/amd/emu/internal/progen"
	"github.com/holdfast-llm/holdfast/amd/hsaco"
)

// needClang skips a test that compiles kernels, and says so.
func needClang(t testing.TB) {
	t.Helper()
	for _, tool := range []string{"clang-22", "ld.lld-22"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("NOT RUN: no %s; install clang-22 and lld-22", tool)
		}
	}
}

// setting reads a number from the environment.
func setting(t testing.TB, name string, otherwise int) int {
	t.Helper()
	s := os.Getenv(name)
	if s == "" {
		return otherwise
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		t.Fatalf("%s=%s is not a count", name, s)
	}
	return n
}

// A failure is a program whose results in one variant are not the host's.
type failure struct {
	program *progen.Program
	variant progen.Variant
	detail  string
	// The compiler's mistake, when the program agrees without it.
	miscompiled *progen.Miscompilation
}

// TestGeneratedPrograms compares random programs, compiled for gfx1151 in four
// ways, with the host: every work-item's results in every bit. Programs that
// the compiler is known to get wrong are counted apart.
// HOLDFAST_PROGRAMS is how many, HOLDFAST_PROGRAMS_SEED the first one's seed,
// HOLDFAST_PROGRAMS_SHRINK how many failures are made small.
func TestGeneratedPrograms(t *testing.T) {
	needClang(t)
	t.Parallel()
	n := 8
	if testing.Short() {
		n = 4
	}
	n = setting(t, "HOLDFAST_PROGRAMS", n)
	first := setting(t, "HOLDFAST_PROGRAMS_SEED", 1)

	const workers = 2
	batch := min(24, (n+workers-1)/workers)
	var mu sync.Mutex
	var failures []failure
	var wg sync.WaitGroup
	batches := make(chan []*progen.Program)
	for range workers {
		wg.Go(func() {
			for programs := range batches {
				found, err := judge(t.TempDir(), programs, progen.Variants)
				mu.Lock()
				if err != nil {
					t.Errorf("seeds from %d: %v", programs[0].Seed, err)
				}
				failures = append(failures, found...)
				mu.Unlock()
			}
		})
	}
	for at := 0; at < n; at += batch {
		var programs []*progen.Program
		for i := at; i < min(at+batch, n); i++ {
			programs = append(programs, progen.Generate(uint64(first+i)))
		}
		batches <- programs
	}
	close(batches)
	wg.Wait()
	failures = setAside(t, failures)
	t.Logf("%d programs of %d work-items in %d variants, %d failures", n, progen.Items*progen.Groups, len(progen.Variants), len(failures))
	report(t, failures)
}

// setAside logs the programs that the compiler got wrong and returns the other
// failures.
func setAside(t *testing.T, failures []failure) []failure {
	seeds := map[*progen.Miscompilation]map[uint64]bool{}
	var others []failure
	for _, f := range failures {
		if f.miscompiled == nil {
			others = append(others, f)
			continue
		}
		if seeds[f.miscompiled] == nil {
			seeds[f.miscompiled] = map[uint64]bool{}
		}
		seeds[f.miscompiled][f.program.Seed] = true
	}
	for i := range progen.Miscompilations {
		m := &progen.Miscompilations[i]
		if n := len(seeds[m]); n > 0 {
			t.Logf("%d programs miscompiled: %s: seeds %v", n, m.Name, slices.Sorted(maps.Keys(seeds[m])))
		}
	}
	return others
}

// report fails the test for each sort of failure, with a shrunk program for the
// first few.
func report(t *testing.T, failures []failure) {
	sort.Slice(failures, func(i, j int) bool { return failures[i].program.Seed < failures[j].program.Seed })
	kinds := map[string][]failure{}
	for _, f := range failures {
		run, rest, _ := strings.Cut(f.detail, ": ")
		kind, _, _ := strings.Cut(rest, ":")
		kind = run + ": " + kind
		if _, text, ok := strings.Cut(f.detail, "not supported: "); ok {
			kind = "not supported: " + strings.Fields(text)[0]
		}
		kinds[kind] = append(kinds[kind], f)
	}
	names := make([]string, 0, len(kinds))
	for k := range kinds {
		names = append(names, k)
	}
	sort.Strings(names)
	shrunk := setting(t, "HOLDFAST_PROGRAMS_SHRINK", 3)
	for i, k := range names {
		f := kinds[k][0]
		text := "(not shrunk)"
		if i < shrunk {
			text = shrink(t, f)
		}
		t.Errorf("%d times %q, first seed %d, %s: %s\n%s", len(kinds[k]), k, f.program.Seed, f.variant.Name, f.detail, text)
	}
}

// shrink cuts a failing program down and prints it.
func shrink(t *testing.T, f failure) string {
	unsupported := strings.Contains(f.detail, "not supported")
	small, err := progen.Shrink(f.program, 60, func(programs []*progen.Program) ([]bool, error) {
		fails := make([]bool, len(programs))
		found, err := compare(t.TempDir(), programs, []progen.Variant{f.variant})
		for _, one := range found {
			for i, p := range programs {
				if p == one.program && strings.Contains(one.detail, "not supported") == unsupported {
					fails[i] = true
				}
			}
		}
		return fails, err
	})
	if err != nil {
		return fmt.Sprintf("shrinking: %v\n%s", err, small)
	}
	return small.String()
}

// judge compares programs and asks of those that fail whether the compiler is
// to blame.
func judge(dir string, programs []*progen.Program, variants []progen.Variant) ([]failure, error) {
	failures, err := compare(dir, programs, variants)
	if err != nil {
		return failures, err
	}
	for i := range failures {
		f := &failures[i]
		for k := range progen.Miscompilations {
			m := &progen.Miscompilations[k]
			again, err := compare(dir, []*progen.Program{f.program}, []progen.Variant{f.variant}, m.Flag())
			if err != nil {
				return failures, err
			}
			if len(again) == 0 {
				f.miscompiled = m
				break
			}
		}
	}
	return failures, nil
}

// compare runs programs on the host and, in each variant, on the device.
func compare(dir string, programs []*progen.Program, variants []progen.Variant, flags ...string) ([]failure, error) {
	source, err := progen.Write(dir, "programs", programs)
	if err != nil {
		return nil, err
	}
	host, err := progen.CompileHost(source)
	if err != nil {
		return nil, err
	}
	want := map[int][]*progen.Results{}
	for _, wave := range []int{32, 64} {
		if want[wave], err = progen.RunHost(host, wave, programs); err != nil {
			return nil, err
		}
	}
	var failures []failure
	for _, v := range variants {
		object, err := v.Compile(source, flags...)
		if err != nil {
			return failures, err
		}
		parsed, err := hsaco.Parse(filepath.Base(source)+"."+v.Name, object)
		if err != nil {
			return failures, err
		}
		for i, p := range programs {
			for _, run := range runs {
				got, err := runProgram(parsed, progen.Name(i), p, run.Config)
				detail := ""
				if err != nil {
					detail = err.Error()
				} else {
					detail = progen.Diff(want[v.Wave][i], got)
				}
				if detail != "" { // one way to run it speaks for the rest
					failures = append(failures, failure{program: p, variant: v, detail: run.name + ": " + detail})
					break
				}
			}
		}
	}
	return failures, nil
}

// runs are the ways in which each program is run.
var runs = []struct {
	name string
	emu.Config
}{
	{"coherent", emu.Config{}},
	{"late loads", emu.Config{Mode: emu.Relaxed, Timing: emu.Timing{LateLoads: true}}},
	{"random timing, moving pages", emu.Config{
		Mode: emu.Relaxed, Schedule: emu.Schedule{Waves: emu.Random, Quantum: 16},
		Timing:   emu.Timing{LateLoads: true, EarlyLoads: 0.05, EarlyStores: 0.05},
		Pressure: &emu.Pressure{Evict: 0.01, Migrate: 0.1},
	}},
}

// runProgram runs one program on a device of its own.
func runProgram(o *hsaco.Object, name string, p *progen.Program, c emu.Config) (*progen.Results, error) {
	in := p.Input()
	r := progen.NewResults(in)
	c.Budget, c.Seed, c.Poison = 1<<24, p.Seed, true
	_, err := launch(o, name, c, [3]uint32{progen.Items * progen.Groups}, [3]uint32{progen.Items}, in, r.Out, r.Memory, r.Shared)
	return r, err
}
