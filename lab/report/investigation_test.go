package report

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/holdfast-llm/holdfast/internal/golden"
	"github.com/holdfast-llm/holdfast/lab"
	"github.com/holdfast-llm/holdfast/lab/stat"
)

// TestInvestigation recomputes the counts that the investigation of the fault in
// HRX's split attention went by, with what was concluded from them at the time.
// docs/lab.md shows the same table.
func TestInvestigation(t *testing.T) {
	table := &table{}
	for _, c := range []struct {
		head  string
		right bool
	}{{"what was counted", false}, {"counts", true}, {"difference", true}, {"95 %", true}, {"p", true}, {"so", false}} {
		table.column(c.head, c.right)
	}
	for _, c := range []struct {
		what string
		a, b stat.Rate
		p    string // as published, or by R
	}{
		{"faults: alignment 256 against 4096", stat.Rate{K: 5, N: 5}, stat.Rate{K: 0, N: 2}, "0.048"},
		{"faults: split against fallback", stat.Rate{K: 0, N: 6}, stat.Rate{K: 1, N: 6}, "1"},
		{"faults, four at once: split against fallback", stat.Rate{K: 1, N: 32}, stat.Rate{K: 2, N: 32}, "1"},
		{"an eviction in the request: divergent against canonical", stat.Rate{K: 9, N: 87}, stat.Rate{K: 9, N: 63}, "0.61"},
		{"the same within 20 ms", stat.Rate{K: 12, N: 87}, stat.Rate{K: 14, N: 63}, "0.2"},
		{"correct, forced evictions: before against after the fence", stat.Rate{K: 1, N: 8}, stat.Rate{K: 8, N: 8}, "0.0014"},
		{"faults in regime: as shipped against always staged", stat.Rate{K: 2, N: 37}, stat.Rate{K: 1, N: 25}, "1"},
		{"faults: transients reused against not", stat.Rate{K: 0, N: 15}, stat.Rate{K: 1, N: 14}, "0.48"},
	} {
		r := of(lab.Header{Name: c.what, Arms: []string{"b", "a"}})
		r.add("a", c.a.K, c.a.N)
		r.add("b", c.b.K, c.b.N)
		x := New(&r.Journal).Comparisons[0]
		if got := fmt.Sprintf("%.2g", x.P); got != c.p {
			t.Errorf("%s: p %s, want %s", c.what, got, c.p)
		}
		table.row(c.what, fmt.Sprintf("%v, %v", c.a, c.b), digitsOf(x.Diff), between(x.Within.Lo, x.Within.Hi), pValue(x.P), x.Says)
	}
	var b strings.Builder
	table.markdown(&b)
	golden.Check(t, "investigation.md", b.String())
	docs, err := os.ReadFile("../../docs/lab.md")
	if err != nil {
		t.Fatal(err)
	}
	if !golden.Updating() && !strings.Contains(strings.ReplaceAll(string(docs), "\r\n", "\n"), b.String()) {
		t.Error("docs/lab.md has another table than testdata/investigation.md")
	}
}
