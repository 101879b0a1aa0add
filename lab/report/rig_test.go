package report

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-llm/holdfast/internal/golden"
)

var start = time.Date(2026, 10, 3, 14, 0, 0, 0, time.UTC)

// add adds k faults and n-k clean trials of an arm at a point.
func (r *Run) add(arm string, k, n int, at ...string) {
	for i := range n {
		t := Trial{Arm: arm, At: at, Outcome: Clean}
		if i < k {
			t.Outcome, t.Faces = Fault, []string{"NaN"}
		}
		r.addTrial(t)
	}
}

func (r *Run) addTrial(t Trial) {
	t.ID = fmt.Sprint(len(r.Trials) + 1)
	t.Start = start.Add(time.Duration(len(r.Trials)) * 10 * time.Second)
	t.End = t.Start.Add(8 * time.Second)
	r.Trials = append(r.Trials, t)
}

// campaign is an experiment with all that a report can show.
func campaign() *Run {
	r := &Run{
		Name: "split against serial, under pressure", Hash: strings.Repeat("3f", 32),
		Text: "name = \"split against serial, under pressure\"\n# <not markup> & so on\n",
		Arms: []string{"buggy split", "fixed split", "serial"},
		Axes: []Axis{{"pressure", []string{"quiet", "evictions"}}, {"depth", []string{"63", "2100", "8192"}}},
		Claims: []Claim{
			{Kind: Lower, Arm: "fixed split", Against: "buggy split", Conf: 0.95},
			{Kind: AtMost, Arm: "fixed split", Rate: 0.2, Conf: 0.95, Trials: 14},
			{Kind: AtMost, Arm: "buggy split", Rate: 0.05, Conf: 0.95},
		},
		Environment: []Field{{"kernel", "6.17.0-rc3"}, {"device", "software gfx11, 2 workers"}},
		Events:      []Event{{start.Add(5 * time.Minute), "evict", "node 1 userptr"}, {start.Add(9 * time.Minute), "evict", "node 1 userptr"}, {start.Add(2 * time.Minute), "pressure", "started"}},
		Planned:     20,
		Notes:       []string{"the journal's last line was cut off, and is left out"},
	}
	rng := rand.New(rand.NewPCG(3, 14))
	for range 16 {
		for pi, p := range r.Axes[0].Values {
			for di, d := range r.Axes[1].Values {
				for ai, arm := range r.Arms {
					t := Trial{Arm: arm, At: []string{p, d}, Outcome: Clean}
					if ai == 0 && rng.Float64() < 0.3*float64(pi*di) {
						t.Outcome, t.Faces = Fault, []string{[]string{"differs", "NaN"}[rng.IntN(2)]}
					} else if rng.IntN(60) == 0 {
						t.Outcome, t.Reason = []Outcome{Invalid, OutOfRegime, Incomplete}[rng.IntN(3)], "GTT at 41 GiB, not from 80 to 92 GiB"
					}
					r.addTrial(t)
				}
			}
		}
	}
	return r
}

// written is a report in one of its formats.
func written(tb testing.TB, rep *Report, format string) string {
	tb.Helper()
	var b strings.Builder
	if err := rep.Write(&b, format); err != nil {
		tb.Fatal(err)
	}
	return b.String()
}

func TestFormats(t *testing.T) {
	rep := New(campaign())
	for _, f := range []struct{ format, file string }{
		{"text", "campaign.txt"}, {"md", "campaign.md"}, {"json", "campaign.json"}, {"junit", "campaign.xml"}, {"html", "campaign.html"},
	} {
		t.Run(f.format, func(t *testing.T) { golden.Check(t, f.file, written(t, rep, f.format)) })
	}
}
