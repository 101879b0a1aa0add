package report

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/holdfast-llm/holdfast/lab"
)

// section is a part of the report as the text and Markdown have it.
type section struct {
	title string
	note  string
	table *table
}

// sections are the tables that have rows, in their order.
func (rep *Report) sections() []section {
	all := []section{
		{"rates", "", rep.rates()},
		{"between arms", fmt.Sprintf("Fisher's exact test, two-sided; Holm over %s; differences in points of percent (Newcombe)", some(len(rep.Comparisons), "comparison")), rep.differences()},
		{"what the faults looked like", "", rep.faces()},
		{"in no rate", "", rep.left()},
	}
	var kept []section
	for _, s := range all {
		if len(s.table.rows) > 0 {
			kept = append(kept, s)
		}
	}
	return kept
}

// summary is the run in a few lines: what ran, and how it stands.
func (rep *Report) summary() []string {
	r := rep.Run
	var counts []string
	for _, o := range lab.Outcomes {
		if n := rep.count(o); n > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", n, plural(o, n)))
		}
	}
	line := some(len(r.Trials), "trial")
	if len(counts) > 0 {
		line += ": " + strings.Join(counts, ", ")
	}
	if !rep.Start.IsZero() {
		line += "; in " + rep.End.Sub(rep.Start).Round(time.Second).String()
	}
	lines := []string{line}
	if planned := r.Planned * len(rep.Cells); r.Planned > 0 && len(r.Trials) < planned {
		lines = append(lines, fmt.Sprintf("not finished: %d of %d planned trials ended", len(r.Trials), planned))
	}
	return append(lines, rep.Notes...)
}

func plural(o lab.Outcome, n int) string {
	if o == lab.Fault && n != 1 {
		return "faults"
	}
	return string(o)
}

// Text writes the report for a terminal. The error is w's.
func (rep *Report) Text(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", rep.Run.Name)
	for _, l := range rep.summary() {
		fmt.Fprintf(&b, "  %s\n", l)
	}
	if h := rep.Run.Hash; h != "" {
		fmt.Fprintf(&b, "  experiment file sha256 %s\n", h)
	}
	for _, s := range rep.sections() {
		fmt.Fprintf(&b, "\n%s\n", s.title)
		if s.note != "" {
			fmt.Fprintf(&b, "  %s\n", s.note)
		}
		s.table.text(&b)
	}
	for i, v := range rep.Verdicts {
		if i == 0 {
			fmt.Fprintf(&b, "\nverdict, on what the experiment's file claims\n")
		}
		fmt.Fprintf(&b, "  %s: %s (confidence %s)\n", strings.ToUpper(string(v.Ruling)), v.Claim, percent0(v.Claim.Conf))
		for _, why := range v.Why {
			fmt.Fprintf(&b, "    %s\n", why)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Markdown writes the report for an issue. The error is w's.
func (rep *Report) Markdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", rep.Run.Name)
	for _, l := range rep.summary() {
		fmt.Fprintf(&b, "- %s\n", l)
	}
	if h := rep.Run.Hash; h != "" {
		fmt.Fprintf(&b, "- experiment file sha256 `%s`\n", h)
	}
	for i, v := range rep.Verdicts {
		if i == 0 {
			fmt.Fprintf(&b, "\n## Verdict\n\n")
		}
		fmt.Fprintf(&b, "- **%s**: %s (confidence %s)\n", v.Ruling, v.Claim, percent0(v.Claim.Conf))
		for _, why := range v.Why {
			fmt.Fprintf(&b, "  - %s\n", why)
		}
	}
	for _, s := range rep.sections() {
		fmt.Fprintf(&b, "\n## %s\n\n", strings.ToUpper(s.title[:1])+s.title[1:])
		if s.note != "" {
			fmt.Fprintf(&b, "%s\n\n", s.note)
		}
		s.table.markdown(&b)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
