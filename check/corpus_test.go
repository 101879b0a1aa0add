package check

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
)

// TestTheCorpusIsAsExpected runs all cases under testdata/cases: each finds what
// it expects, in every memory model and schedule that it names, and nothing else.
// For each tool more of them find nothing than something.
func TestTheCorpusIsAsExpected(t *testing.T) {
	root := filepath.Join("testdata", "cases")
	paths, err := FindCases(root + "/...")
	if err != nil {
		t.Fatal(err)
	}
	if len(paths) < 120 {
		t.Errorf("%d cases, want at least 120", len(paths))
	}
	builder := &Builder{}
	t.Cleanup(func() {
		if err := builder.Close(); err != nil {
			t.Error(err)
		}
	})
	sweep, err := NewSweep(nil, nil, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	positives, negatives := map[string]int{}, map[string]int{}
	for _, path := range paths {
		c, err := ReadCase(path)
		if err != nil {
			t.Fatal(err)
		}
		ran := c.Tools
		if len(ran) == 0 {
			for _, t := range Tools() {
				ran = append(ran, string(t))
			}
		}
		for _, tool := range ran {
			if len(c.Expected) == 0 {
				negatives[tool]++
			}
		}
		found := map[string]bool{}
		for _, e := range c.Expected {
			found[e.Tool] = true
		}
		for tool := range found {
			positives[tool]++
		}
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.ToSlash(path), filepath.ToSlash(root)+"/"), ".toml")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := c.Run(context.Background(), Settings{Sweep: sweep, Builder: builder})
			if errors.Is(r.Err, ErrNoCompiler) {
				t.Skip(r.Err)
			}
			if r.Status() != Clean {
				for i := range r.Findings {
					t.Logf("%v", r.Findings[i].Finding)
				}
				t.Errorf("%v: %v %v", r.Status(), r.Err, r.Wrong)
			}
		})
	}
	for tool, n := range positives {
		if negatives[tool] <= n {
			t.Errorf("%s: %d cases find something and %d nothing: there are to be more of these", tool, n, negatives[tool])
		}
	}
}
