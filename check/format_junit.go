package check

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
		Errors   int          `xml:"errors,attr"`
		Skipped  int          `xml:"skipped,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Errors   int         `xml:"errors,attr"`
		Skipped  int         `xml:"skipped,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Class   string       `xml:"classname,attr"`
		Name    string       `xml:"name,attr"`
		Failure *junitNote   `xml:"failure"`
		Error   *junitNote   `xml:"error"`
		Skipped *junitNote   `xml:"skipped"`
		Out     *junitOutput `xml:"system-out"`
	}
	junitNote struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr,omitempty"`
		Text    string `xml:",chardata"`
	}
	junitOutput struct {
		Text string `xml:",chardata"`
	}
)

// JUnit writes a document as JUnit's XML: a suite for each result; in it a test
// for each tool, which fails if it found something that counts, and one of the
// values and expectations. Of what could not be checked every test is an error.
// The error is w's.
func (d *Document) JUnit(w io.Writer) error {
	var out junitSuites
	for _, r := range d.Results {
		s := d.suite(r)
		out.Tests += s.Tests
		out.Failures += s.Failures
		out.Errors += s.Errors
		out.Skipped += s.Skipped
		out.Suites = append(out.Suites, s)
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

func (d *Document) suite(r *Result) junitSuite {
	s := junitSuite{Name: r.Name}
	for _, tool := range r.Summary.Tools {
		c := junitCase{Class: r.Name, Name: string(tool)}
		var texts, kinds []string
		for i := range r.Findings {
			if f := &r.Findings[i]; f.Tool == tool && f.counts() {
				texts = append(texts, f.String())
				kinds = append(kinds, string(f.Kind))
			}
		}
		if len(texts) > 0 {
			c.Failure = &junitNote{Message: firstLine(texts[0]), Type: kinds[0], Text: strings.Join(texts, "\n")}
		}
		for _, g := range r.Summary.NotChecked {
			if g.Tool == tool {
				c.output(fmt.Sprintf("not checked: %s, %d times\n", g.What, g.Count))
			}
		}
		s.add(c)
	}
	c := junitCase{Class: r.Name, Name: "run"}
	if p := r.problems(); len(p) > 0 {
		note := &junitNote{Message: firstLine(p[0]), Type: r.Status().String(), Text: strings.Join(p, "\n")}
		if r.Status() == NotChecked {
			c.Error = note
		} else {
			c.Failure = note
		}
	}
	if r.Changed != "" {
		c.output("values changed: " + r.Changed + "\n")
	}
	for _, a := range r.Approximate {
		c.output(fmt.Sprintf("approximate: %s, %d times: %s\n", a.Op, a.Count, a.How))
	}
	s.add(c)
	return s
}

func (c *junitCase) output(text string) {
	if c.Out == nil {
		c.Out = &junitOutput{}
	}
	c.Out.Text += text
}

func (s *junitSuite) add(c junitCase) {
	s.Tests++
	switch {
	case c.Failure != nil:
		s.Failures++
	case c.Error != nil:
		s.Errors++
	case c.Skipped != nil:
		s.Skipped++
	}
	s.Cases = append(s.Cases, c)
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
