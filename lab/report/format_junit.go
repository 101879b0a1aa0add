package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Skipped  int          `xml:"skipped,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Skipped  int         `xml:"skipped,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Class   string     `xml:"classname,attr"`
		Name    string     `xml:"name,attr"`
		Failure *junitNote `xml:"failure"`
		Skipped *junitNote `xml:"skipped"`
		Out     string     `xml:"system-out,omitempty"`
	}
	junitNote struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr,omitempty"`
		Text    string `xml:",chardata"`
	}
)

// JUnit writes the report as JUnit's XML. The suite of the claims has a test for
// each, which fails unless the claim is shown. The suite of the rates has a test
// for each arm at each point, which says what was counted; it passes whatever
// that is, since without a claim nothing was asked, and is skipped if no trial
// counts. The error is w's.
func (rep *Report) JUnit(w io.Writer) error {
	r := rep.Run
	rates := junitSuite{Name: r.Name + " rates"}
	for i := range rep.Cells {
		c := &rep.Cells[i]
		x := junitCase{Class: r.Name + " rates", Name: strings.Trim(c.Arm+", "+r.Where(c.At), ", ")}
		if c.Faults().N == 0 {
			x.Skipped = &junitNote{Message: c.Says}
		} else {
			x.Out = fmt.Sprintf("%v faults, %s %% to %s %%: %s", c.Faults(), digitsOf(c.Wilson.Lo), digitsOf(c.Wilson.Hi), c.Says)
		}
		rates.add(x)
	}
	suites := []junitSuite{rates}
	if len(rep.Verdicts) > 0 {
		claims := junitSuite{Name: r.Name + " claims"}
		for _, v := range rep.Verdicts {
			x := junitCase{Class: r.Name + " claims", Name: v.Claim.String()}
			why := strings.Join(v.Why, "\n")
			if v.Ruling == Shown {
				x.Out = why
			} else {
				x.Failure = &junitNote{Message: string(v.Ruling) + ": " + v.Why[0], Type: string(v.Ruling), Text: why}
			}
			claims.add(x)
		}
		suites = append([]junitSuite{claims}, suites...)
	}
	out := junitSuites{Suites: suites}
	for _, s := range suites {
		out.Tests += s.Tests
		out.Failures += s.Failures
		out.Skipped += s.Skipped
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(out); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func (s *junitSuite) add(c junitCase) {
	s.Tests++
	if c.Failure != nil {
		s.Failures++
	}
	if c.Skipped != nil {
		s.Skipped++
	}
	s.Cases = append(s.Cases, c)
}
