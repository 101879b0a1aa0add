package main

import (
	"flag"
	"os"
	"os/exec"
	"sort"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files under testdata")

const module = "github.com/holdfast-llm/holdfast/"

// place orders the packages: the tens are the row of the layout (README,
// "Layout"), and an import may only point to a lower place. Other internal
// packages are at 0.
var place = map[string]int{
	"gguf/quant": 1, "internal/memory": 1, "internal/tomlfile": 1,
	"gguf": 2, "sample": 2, "amd/isa": 2, "amd/hsaco": 2, "lab/stat": 2, "amd/kfd": 2,
	"gguf/inspect": 3, "amd/hsaco/inspect": 3, "gguf/quantize": 3, "internal/reference": 3, "internal/synth": 3,
	"op": 10, "attn": 10, "amd/emu": 10, "amd/emu/recorded": 11, "text/token": 10, "text/chat": 10,
	"lab/addr": 10, "lab/trace": 10,
	"attn/kv":         11,
	"device/cpu/simd": 20, "device/kernel": 20,
	"device":       21,
	"device/stage": 22,
	"device/cpu":   23, "device/gfx11": 23,
	"device/all": 24,
	"dispatch":   30, "dispatch/trace": 30,
	"model": 40, "model/embedded": 40,
	"model/embedded/train/export": 41, "model/embedded/train/corpus": 41,
	"engine": 50,
	"bench":  60, "check": 60, "lab": 60, "lab/probe": 60,
	"lab/report":   61,
	"cmd/holdfast": 70,
}

func placeOf(pkg string) (int, bool) {
	p, ok := place[pkg]
	return p, ok || strings.HasPrefix(pkg, "internal/")
}

// TestImportsPointDownward compares the packages' imports of each other with
// testdata/imports.txt and with the layout's rule.
func TestImportsPointDownward(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{$p := .ImportPath}}{{range .Imports}}{{$p}} {{.}}{{"\n"}}{{end}}`, module+"...").CombinedOutput()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, out)
	}
	var edges []string
	for _, line := range strings.Split(string(out), "\n") {
		from, to, ok := strings.Cut(line, " ")
		if !ok || !strings.HasPrefix(to, module) {
			continue
		}
		from, to = strings.TrimPrefix(from, module), strings.TrimPrefix(to, module)
		edges = append(edges, from+" -> "+to)
		lo, okLo := placeOf(to)
		hi, okHi := placeOf(from)
		switch {
		case !okLo || !okHi:
			t.Errorf("%s -> %s: give both a place in this test and in the README", from, to)
		case lo >= hi:
			t.Errorf("%s (place %d) imports %s (place %d)", from, hi, to, lo)
		}
	}
	sort.Strings(edges)
	got := strings.Join(edges, "\n") + "\n"
	const golden = "testdata/imports.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("imports differ from %s (go test -update rewrites it):\n%s", golden, got)
	}
}
