package report

import (
	"fmt"
	"strings"

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
	Claim  Claim    `json:"claim"`
	Ruling Ruling   `json:"ruling"`
	Why    []string `json:"why"` // for each point of the matrix, those that decide first
}

// String is the claim in words.
func (c Claim) String() string {
	switch c.Kind {
	case AtMost:
		return fmt.Sprintf("%s faults in at most %s of trials", c.Arm, percent(c.Rate))
	case Lower:
		return fmt.Sprintf("%s faults less often than %s", c.Arm, c.Against)
	}
	return fmt.Sprintf("%s faults at another rate than %s", c.Arm, c.Against)
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
func (rep *Report) judge(c Claim) Verdict {
	whys := map[Ruling][]string{}
	all := points(rep.Run.Axes)
	for _, at := range all {
		ruling, why := rep.judgeAt(c, at, len(all))
		if where := rep.Run.where(at); where != "" {
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

func (rep *Report) judgeAt(c Claim, at []string, many int) (Ruling, string) {
	a := rep.cellAt(c.Arm, at).Faults()
	if c.Kind == AtMost {
		return judgeBound(c, a, many)
	}
	b := rep.cellAt(c.Against, at).Faults()
	if few := min(a.N, b.N); few < max(1, c.Trials) {
		return Undecided, fmt.Sprintf("%v against %v: %d trials count of %d", a, b, few, max(1, c.Trials))
	}
	p := stat.FisherExact(a, b)
	why := fmt.Sprintf("%v against %v, p %s", a, b, pValue(p))
	switch wrongWay := c.Kind == Lower && a.Value() > b.Value(); {
	case wrongWay && p*float64(many) <= 1-c.Conf:
		return Refuted, why
	case p > 1-c.Conf || wrongWay:
		return Undecided, why
	}
	return Shown, why
}

// judgeBound rules by the one-sided exact bounds.
func judgeBound(c Claim, a stat.Rate, many int) (Ruling, string) {
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

// headline is the verdict of all claims in a line; "" without claims.
func (rep *Report) headline() string {
	if len(rep.Verdicts) == 0 {
		return ""
	}
	var s []string
	for _, v := range rep.Verdicts {
		s = append(s, fmt.Sprintf("%s: %s", v.Ruling, v.Claim))
	}
	return strings.Join(s, "; ")
}
