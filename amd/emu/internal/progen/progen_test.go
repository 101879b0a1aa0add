package progen

import (
	"os/exec"
	"reflect"
	"strings"
	"testing"
)

func needClang(t *testing.T) {
	t.Helper()
	for _, tool := range []string{"clang-22", "ld.lld-22"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("NO GENERATED PROGRAM WAS COMPILED: no %s; install clang-22 and lld-22", tool)
		}
	}
}

func generate(from, n int) []*Program {
	var ps []*Program
	for seed := from; seed < from+n; seed++ {
		ps = append(ps, Generate(uint64(seed)))
	}
	return ps
}

func TestAProgramIsAFunctionOfItsSeed(t *testing.T) {
	for seed := range uint64(50) {
		if a, b := Generate(seed).String(), Generate(seed).String(); a != b {
			t.Fatalf("seed %d gives two programs:\n%s\n%s", seed, a, b)
		}
	}
	if Generate(1).String() == Generate(2).String() {
		t.Error("two seeds give one program")
	}
}

// TestProgramsMeanTheSameToEveryHostCompiler has the witness judged: undefined
// behaviour would show in the sanitizer or as a difference between the levels
// of optimisation.
func TestProgramsMeanTheSameToEveryHostCompiler(t *testing.T) {
	needClang(t)
	n := 60
	if testing.Short() {
		n = 20
	}
	programs := generate(1000, n)
	source, err := Write(t.TempDir(), "host", programs)
	if err != nil {
		t.Fatal(err)
	}
	var results [][]*Results
	for _, flags := range [][]string{nil, {"-O2"}, {"-fsanitize=undefined", "-fno-sanitize=signed-integer-overflow,shift-base", "-fno-sanitize-recover=all", "-fsanitize-trap=undefined"}} {
		host, err := CompileHost(source, flags...)
		if err != nil {
			t.Fatal(err)
		}
		r, err := RunHost(host, 32, programs)
		if err != nil {
			t.Fatalf("with %v: %v", flags, err)
		}
		results = append(results, r)
	}
	for i, p := range programs {
		for k := range results[1:] {
			if !reflect.DeepEqual(results[0][i], results[k+1][i]) {
				t.Errorf("seed %d differs between compilations: %s\n%s", p.Seed, Diff(results[0][i], results[k+1][i]), p)
			}
		}
	}
}

// TestShrinkingKeepsTheCause shrinks programs whose "failure" is a piece of
// text, which nothing but the statement around it needs.
func TestShrinkingKeepsTheCause(t *testing.T) {
	shrunk := 0
	for seed := uint64(0); shrunk < 20; seed++ {
		p := Generate(seed)
		const cause = "umulhi("
		if !strings.Contains(p.body(), cause) {
			continue
		}
		shrunk++
		before := p.size()
		small, err := Shrink(p, 100, func(ps []*Program) ([]bool, error) {
			fails := make([]bool, len(ps))
			for i, p := range ps {
				fails[i] = strings.Contains(p.body(), cause)
			}
			return fails, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if n := len(strings.Split(strings.TrimSpace(small.body()), "\n")); !strings.Contains(small.body(), cause) || n > 4 {
			t.Errorf("seed %d: size %d became %d, %d lines:\n%s", seed, before, small.size(), n, small)
		}
	}
}

// TestEveryCutCompiles has the compiler judge what shrinking tries.
func TestEveryCutCompiles(t *testing.T) {
	needClang(t)
	if testing.Short() {
		t.Skip("one compilation of some hundred programs")
	}
	var cuts []*Program
	for _, p := range generate(40, 4) {
		all := p.cuts()
		cuts = append(cuts, all[:min(60, len(all))]...)
	}
	source, err := Write(t.TempDir(), "cuts", cuts)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := CompileHost(source); err != nil {
		t.Fatal(err)
	}
}
