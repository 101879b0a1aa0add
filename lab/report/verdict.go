package report

import (
	"fmt"

	"github.com/holdfast-llm/holdfast/lab"
	"github.com/holdfast-llm/holdfast/lab/stat"
)

// Ruling is what the trials make of a claim.
type Ruling string

// The rulings. A claim that is not shown is undecided until the trials exclude
// it: too few trials show nothing.
const (
	Shown     Ruling = "shown"
	Refuted   Ruling = "refuted"
	Undecided Ruling = "undecided"
)

// Verdict is a claim with its ruling.
type Verdict struct {
	Claim  lab.Claim `json:"claim"`
	Ruling Ruling    `json:"ruling"`
	Why    []string  `json:"why"` // for each point of the matrix, those that decide first
}

// Shown reports whether all claims are shown; it is true without claims.
func (rep *Report) Shown() bool {
	for _, v := range rep.Verdicts {
		if v.Ruling != Shown {
			return false
		}
	}
	return true
}

// judge rules on a claim at every point: it is shown if it is shown at all of
// them, each at the claim's confidence, which is then that of the whole; it is
// refuted if it is at one, for which there are as many chances as points, so
// there the confidence is Bonferroni's.
func (rep *Report) judge(c lab.Claim) Verdict {
	whys := map[Ruling][]string{}
	all := lab.Points(rep.Run.Axes)
	for _, at := range all {
		ruling, why := rep.judgeAt(c, at, len(all))
		if where := rep.Run.Where(at); where != "" {
			why = where + ": " + why
		}
		whys[ruling] = append(whys[ruling], why)
	}
	v := Verdict{Claim: c, Ruling: Shown}
	for _, r := range []Ruling{Refuted, Undecided, Shown} {
		if len(v.Why) == 0 {
			v.Ruling = r
		}
		v.Why = append(v.Why, whys[r]...)
	}
	return v
}

func (rep *Report) judgeAt(c lab.Claim, at []string, many int) (Ruling, string) {
	a := rep.cellAt(c.Arm, at).Faults()
	if c.Kind == lab.AtMost {
		return judgeBound(c, a, many)
	}
	b := rep.cellAt(c.Against, at).Faults()
	if few := min(a.N, b.N); few < max(1, c.Trials) {
		return Undecided, fmt.Sprintf("%v against %v: %d trials count of %d", a, b, few, max(1, c.Trials))
	}
	p := stat.FisherExact(a, b)
	why := fmt.Sprintf("%v against %v, p %s", a, b, pValue(p))
	switch wrongWay := c.Kind == lab.Lower && a.Value() > b.Value(); {
	case wrongWay && p*float64(many) <= 1-c.Conf:
		return Refuted, why
	case p > 1-c.Conf || wrongWay:
		return Undecided, why
	}
	return Shown, why
}

// judgeBound rules by the one-sided exact bounds.
func judgeBound(c lab.Claim, a stat.Rate, many int) (Ruling, string) {
	upper, lower := a.Upper(c.Conf), a.Lower(1-(1-c.Conf)/float64(many))
	switch {
	case lower > c.Rate:
		return Refuted, fmt.Sprintf("%v excludes rates under %s", a, percentDown(lower))
	case a.N < c.Trials:
		return Undecided, fmt.Sprintf("%v: %d trials count of %d", a, a.N, c.Trials)
	case upper <= c.Rate:
		return Shown, fmt.Sprintf("%v excludes rates above %s", a, percentUp(upper))
	}
	why := says(a, c.Conf)
	if n, err := stat.TrialsToExclude(c.Rate, c.Conf, a.K); err == nil {
		why += fmt.Sprintf("; without another fault %s would do", some(n-a.N, "more trial"))
	}
	return Undecided, why
}
