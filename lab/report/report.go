package report

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/holdfast-llm/holdfast/lab"
	"github.com/holdfast-llm/holdfast/lab/stat"
)

// Report is what a run shows. All its fields are computed by New.
type Report struct {
	Run         *lab.Journal
	Cells       []Cell
	Comparisons []Comparison
	Verdicts    []Verdict
	Left        []lab.Trial // trials that no rate counts, in their order
	Notes       []string    // what was noticed in reading and counting
	Start, End  time.Time
}

// Cell is an arm at a point of the matrix.
type Cell struct {
	Arm            string              `json:"arm"`
	At             []string            `json:"at,omitempty"`
	Counts         map[lab.Outcome]int `json:"counts"`
	Faces          []FaceCount         `json:"faces,omitempty"` // of the faults
	Rate           float64             `json:"rate"`
	Wilson         stat.Interval       `json:"wilson"`
	ClopperPearson stat.Interval       `json:"clopper_pearson"`
	Upper          float64             `json:"upper"` // one-sided
	Lower          float64             `json:"lower"`
	// Three is the rule of three's bound; 0 unless no fault was seen.
	Three float64 `json:"rule_of_three,omitempty"`
	Says  string  `json:"says"`
}

// FaceCount is how many of a cell's faults showed a face; a fault may show more
// than one.
type FaceCount struct {
	Face  string `json:"face"`
	Count int    `json:"count"`
}

// Faults are the faults among the counted trials.
func (c *Cell) Faults() stat.Rate {
	return stat.Rate{K: c.Counts[lab.Fault], N: c.Counts[lab.Fault] + c.Counts[lab.Clean]}
}

// Comparison is of an arm with the first one, at the same point.
type Comparison struct {
	Arm     string        `json:"arm"`
	Against string        `json:"against"`
	At      []string      `json:"at,omitempty"`
	A       stat.Rate     `json:"-"`
	B       stat.Rate     `json:"-"`
	Diff    float64       `json:"difference"`
	Within  stat.Interval `json:"interval"`
	P       float64       `json:"p"`    // Fisher's, two-sided
	Holm    float64       `json:"holm"` // p adjusted for all comparisons of the report
	Says    string        `json:"says"`
}

// New computes the report of what a journal tells.
func New(r *lab.Journal) *Report {
	rep := &Report{Run: r}
	if r.Cut {
		rep.Notes = append(rep.Notes, "the journal's last line was cut off, and is left out")
	}
	if n := len(r.Open); n > 0 {
		rep.Notes = append(rep.Notes, some(n, "trial")+" started and did not end, in no rate")
	}
	for _, at := range lab.Points(r.Axes) {
		for _, arm := range r.Arms {
			rep.Cells = append(rep.Cells, rep.cell(arm, at))
		}
	}
	inCells := 0
	for i := range rep.Cells {
		for _, n := range rep.Cells[i].Counts {
			inCells += n
		}
	}
	if n := len(r.Trials) - inCells; n > 0 {
		rep.Notes = append(rep.Notes, some(n, "trial")+" of no arm or point that the experiment's file has, in no rate")
	}
	for _, t := range r.Trials {
		if !t.Outcome.Counts() {
			rep.Left = append(rep.Left, t)
		}
	}
	rep.compare()
	for _, c := range r.Claims {
		rep.Verdicts = append(rep.Verdicts, rep.judge(c))
	}
	rep.span()
	return rep
}

func (rep *Report) cell(arm string, at []string) Cell {
	r := rep.Run
	c := Cell{Arm: arm, At: at, Counts: map[lab.Outcome]int{}}
	for i := range r.Trials {
		t := &r.Trials[i]
		if t.Arm != arm || !slices.Equal(t.At, at) {
			continue
		}
		c.Counts[t.Outcome]++
		if t.Outcome == lab.Fault {
			for _, f := range t.Faces {
				c.countFace(f)
			}
		}
	}
	k := c.Faults()
	c.Rate = k.Value()
	c.Wilson, c.ClopperPearson = k.Wilson(r.Conf), k.ClopperPearson(r.Conf)
	c.Upper, c.Lower = k.Upper(r.Conf), k.Lower(r.Conf)
	if k.K == 0 && k.N > 0 {
		c.Three = stat.RuleOfThree(k.N)
	}
	c.Says = says(k, r.Conf)
	return c
}

func (c *Cell) countFace(face string) {
	for i := range c.Faces {
		if c.Faces[i].Face == face {
			c.Faces[i].Count++
			return
		}
	}
	c.Faces = append(c.Faces, FaceCount{face, 1})
}

// says is what the counts cannot exclude: the bounds are rounded towards the
// rate, so that what is said is true as it is printed.
func says(k stat.Rate, conf float64) string {
	if k.N == 0 {
		return "no trial counts: nothing is excluded"
	}
	upper, lower := k.Upper(conf), k.Lower(conf)
	switch {
	case k.K == 0:
		return fmt.Sprintf("%d of %d cannot exclude %s", k.K, k.N, percentDown(upper))
	case k.K == k.N:
		return fmt.Sprintf("%d of %d cannot exclude %s", k.K, k.N, percentUp(lower))
	}
	return fmt.Sprintf("%d of %d excludes neither %s nor %s", k.K, k.N, percentUp(lower), percentDown(upper))
}

func (rep *Report) compare() {
	r := rep.Run
	if len(r.Arms) < 2 {
		return
	}
	var ps []float64
	for _, at := range lab.Points(r.Axes) {
		base := rep.cellAt(r.Arms[0], at).Faults()
		for _, arm := range r.Arms[1:] {
			c := Comparison{Arm: arm, Against: r.Arms[0], At: at, A: rep.cellAt(arm, at).Faults(), B: base}
			c.Diff, c.Within = stat.RiskDifference(c.A, c.B, r.Conf)
			c.P = stat.FisherExact(c.A, c.B)
			rep.Comparisons = append(rep.Comparisons, c)
			p := c.P
			if c.A.N == 0 || c.B.N == 0 {
				p = math.NaN() // no test was made
			}
			ps = append(ps, p)
		}
	}
	for i, p := range stat.Holm(ps) {
		c := &rep.Comparisons[i]
		if c.Holm = p; math.IsNaN(p) {
			c.Holm = 1
		}
		c.Says = c.says(1 - r.Conf)
	}
}

func (rep *Report) cellAt(arm string, at []string) *Cell {
	for i := range rep.Cells {
		if c := &rep.Cells[i]; c.Arm == arm && slices.Equal(c.At, at) {
			return c
		}
	}
	return &Cell{Counts: map[lab.Outcome]int{}}
}

// says is whether the two rates are told apart, and if not, what difference the
// trials could have shown.
func (c *Comparison) says(alpha float64) string {
	switch {
	case c.A.N == 0 || c.B.N == 0:
		return "one of them has no trial that counts"
	case c.Holm <= alpha && c.Diff < 0:
		return "lower"
	case c.Holm <= alpha:
		return "higher"
	case c.P <= alpha:
		return "not told apart among so many comparisons"
	}
	if least := leastP(c.A.N, c.B.N); least > alpha {
		return fmt.Sprintf("not told apart; %d and %d trials never could be: the least p is %.2g", c.A.N, c.B.N, least)
	}
	if visible := c.visible(alpha); visible != "" {
		return "not told apart; " + visible
	}
	return "not told apart"
}

// leastP is the least p that Fisher's test gives for any counts of two arms: all
// of the one and none of the other.
func leastP(n1, n2 int) float64 {
	return min(stat.FisherExact(stat.Rate{K: n1, N: n1}, stat.Rate{N: n2}), stat.FisherExact(stat.Rate{N: n1}, stat.Rate{K: n2, N: n2}))
}

// visible is how high the arm's rate would have had to be to be told from the
// other's with a power of 80 %. It is "" with so many trials that the sum takes
// long, or if no rate would do.
func (c *Comparison) visible(alpha float64) string {
	const power, many = 0.8, 2000
	base := c.B.Value()
	if c.A.N+c.B.N > many || stat.FisherPower(1, base, c.A.N, c.B.N, alpha) < power {
		return ""
	}
	lo, hi := base, 1.0
	for hi-lo > 0.005 {
		if mid := (lo + hi) / 2; stat.FisherPower(mid, base, c.A.N, c.B.N, alpha) < power {
			lo = mid
		} else {
			hi = mid
		}
	}
	return fmt.Sprintf("%s against %s would be, 4 times in 5", percentUp(hi), percent(base))
}

// span is from the first to the last thing that happened.
func (rep *Report) span() {
	add := func(t time.Time) {
		if t.IsZero() {
			return
		}
		if rep.Start.IsZero() || t.Before(rep.Start) {
			rep.Start = t
		}
		if t.After(rep.End) {
			rep.End = t
		}
	}
	for _, t := range rep.Run.Trials {
		add(t.Start)
		add(t.End)
	}
	for _, e := range rep.Run.Events {
		add(e.At)
	}
}

// count is how many trials had the outcome.
func (rep *Report) count(o lab.Outcome) (n int) {
	for _, t := range rep.Run.Trials {
		if t.Outcome == o {
			n++
		}
	}
	return n
}
