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

// row is each package's place in the layout (README, "Layout"): an import may
// only point to a lower row, or to a package below it in the same tree.
var row = map[string]int{
	"cmd/holdfast": 7,
	"bench":        6,
	"engine":       5,
	"model":        4, "model/embedded": 4,
	"dispatch": 3,
	"device":   2, "device/cpu": 2, "device/cpu/simd": 2,
	"op": 1, "attn": 1, "attn/kv": 1, "text/token": 1, "text/chat": 1,
	"gguf": 0, "gguf/quant": 0, "gguf/inspect": 0, "gguf/quantize": 0, "sample": 0,
}

// rowOf gives internal packages row 0.
func rowOf(pkg string) (int, bool) {
	if strings.HasPrefix(pkg, "internal/") {
		return 0, true
	}
	r, ok := row[pkg]
	return r, ok
}

// inner reports that to lies in from's own tree or from in to's, and that
// their order inside it is the allowed one.
func inner(from, to string) bool {
	switch {
	case strings.HasPrefix(to, from+"/"): // gguf -> gguf/quant
		return true
	case strings.HasPrefix(from, to+"/"): // device/cpu -> device, gguf/inspect -> gguf
		return from != "gguf/quant" && from != "device/cpu/simd"
	}
	return false
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
		lo, okLo := rowOf(to)
		hi, okHi := rowOf(from)
		switch {
		case !okLo || !okHi:
			t.Errorf("%s -> %s: give both a row in this test and in the README", from, to)
		case lo < hi, inner(from, to), strings.HasPrefix(from, "internal/"):
		case from == "attn/kv" && to == "op": // a cache is made of values
		default:
			t.Errorf("%s (row %d) imports %s (row %d)", from, hi, to, lo)
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
