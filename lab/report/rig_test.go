package report

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-llm/holdfast/internal/golden"
	"github.com/holdfast-llm/holdfast/lab"
)

var start = time.Date(2026, 10, 3, 14, 0, 0, 0, time.UTC)

// run is a journal under construction.
type run struct{ lab.Journal }

// of is a run of a header's experiment, with a confidence of 95 %.
func of(h lab.Header) *run {
	h.Conf = 0.95
	return &run{lab.Journal{Header: h}}
}

// add adds k faults and n-k clean trials of an arm at a point.
func (r *run) add(arm string, k, n int, at ...string) {
	for i := range n {
		t := lab.Trial{Arm: arm, At: at, Outcome: lab.Clean}
		if i < k {
			t.Outcome, t.Faces = lab.Fault, []string{"NaN"}
		}
		r.addTrial(t)
	}
}

func (r *run) addTrial(t lab.Trial) {
	t.ID = fmt.Sprint(len(r.Trials) + 1)
	t.Start = start.Add(time.Duration(len(r.Trials)) * 10 * time.Second)
	t.End = t.Start.Add(8 * time.Second)
	r.Trials = append(r.Trials, t)
}

// campaign is an experiment with all that a report can show.
func campaign() *run {
	r := of(lab.Header{
		Name: "split against serial, under pressure", Hash: strings.Repeat("3f", 32),
		Text: "name = \"split against serial, under pressure\"\n# <not markup> & so on\n",
		Arms: []string{"buggy split", "fixed split", "serial"},
		Axes: []lab.Axis{{Name: "pressure", Values: []string{"quiet", "evictions"}}, {Name: "depth", Values: []string{"63", "2100", "8192"}}},
		Claims: []lab.Claim{
			{Kind: lab.Lower, Arm: "fixed split", Against: "buggy split", Conf: 0.95},
			{Kind: lab.AtMost, Arm: "fixed split", Rate: 0.2, Conf: 0.95, Trials: 14},
			{Kind: lab.AtMost, Arm: "buggy split", Rate: 0.05, Conf: 0.95},
		},
		Environment: []lab.Field{{Key: "kernel", Value: "6.17.0-rc3"}, {Key: "device", Value: "software gfx11, 2 workers"}},
		Planned:     20,
	})
	r.Cut = true
	r.Open = []lab.Trial{{ID: "x"}}
	r.Events = []lab.Event{{At: start.Add(5 * time.Minute), Kind: "evict", Text: "node 1 userptr"}, {At: start.Add(9 * time.Minute), Kind: "evict", Text: "node 1 userptr"}, {At: start.Add(2 * time.Minute), Kind: "pressure", Text: "started"}}
	rng := rand.New(rand.NewPCG(3, 14))
	for range 16 {
		for pi, p := range r.Axes[0].Values {
			for di, d := range r.Axes[1].Values {
				for ai, arm := range r.Arms {
					t := lab.Trial{Arm: arm, At: []string{p, d}, Outcome: lab.Clean}
					if ai == 0 && rng.Float64() < 0.3*float64(pi*di) {
						t.Outcome, t.Faces = lab.Fault, []string{[]string{"differs", "NaN"}[rng.IntN(2)]}
					} else if rng.IntN(60) == 0 {
						t.Outcome, t.Reason = []lab.Outcome{lab.Invalid, lab.OutOfRegime, lab.Incomplete}[rng.IntN(3)], "GTT at 41 GiB, not from 80 to 92 GiB"
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
	rep := New(&campaign().Journal)
	for _, f := range []struct{ format, file string }{
		{"text", "campaign.txt"}, {"md", "campaign.md"}, {"json", "campaign.json"}, {"junit", "campaign.xml"}, {"html", "campaign.html"},
	} {
		t.Run(f.format, func(t *testing.T) { golden.Check(t, f.file, written(t, rep, f.format)) })
	}
}
