package check

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// Text writes a document for people, in the manner of compute-sanitizer. The
// error is w's.
func (d *Document) Text(w io.Writer) error {
	t := textWriter{bufio.NewWriter(w)}
	t.line("HOLDFAST CHECK")
	for _, r := range d.Results {
		if d.Cases && len(d.Results) > 1 && r.Status() == Clean {
			continue // only what needs looking at
		}
		t.result(d, r)
	}
	for _, s := range d.Unused {
		t.line("%s", s)
	}
	n := d.counts()
	if d.Cases {
		t.line("CASES: %d of %s as expected (%s, %s), %d not checked", n.held, some(n.cases, "case"), some(n.positives, "positive"), some(n.negatives, "negative"), n.failed)
	}
	summary := some(n.findings, "finding")
	if n.expected > 0 {
		summary += fmt.Sprintf(", %d expected", n.expected)
	}
	if n.suppressed > 0 {
		summary += fmt.Sprintf(", %d suppressed", n.suppressed)
	}
	if n.wrong > 0 {
		summary += fmt.Sprintf(", %s not met", some(n.wrong, "expectation"))
	}
	if n.stopped > 0 {
		summary += ", " + some(n.stopped, "fault")
	}
	t.line("ERROR SUMMARY: %s", summary)
	return t.w.Flush()
}

// textWriter keeps the first error in its writer, as bufio does.
type textWriter struct{ w *bufio.Writer }

// line writes a line, whose own line breaks cannot pass for lines of ours.
func (t textWriter) line(format string, args ...any) {
	text := strings.ReplaceAll(fmt.Sprintf(format, args...), "\n", "\n=========     ")
	fmt.Fprintln(t.w, strings.TrimRight("========= "+text, " "))
}

func (t textWriter) result(d *Document, r *Result) {
	for i := range r.Findings {
		t.finding(d, r, &r.Findings[i])
	}
	for _, s := range r.Wrong {
		t.line("%s: %s", r.Name, s)
	}
	for _, f := range r.Faults {
		t.line("%s: the dispatch was stopped: %v", r.Name, f)
	}
	if r.Changed != "" {
		t.line("%s: values changed: %s", r.Name, r.Changed)
	}
	if r.Err != nil {
		t.line("%s: could not be checked: %v", r.Name, r.Err)
	}
	if r.Runs > 0 {
		t.summary(r)
	}
	if r.Minimal != "" {
		t.line("    the smallest case that finds the same:")
		for line := range strings.Lines(r.Minimal) {
			t.line("        %s", strings.TrimSuffix(line, "\n"))
		}
	}
	t.line("")
}

func (t textWriter) finding(d *Document, r *Result, f *Found) {
	note := ""
	switch {
	case f.Expected:
		note = " (expected)"
	case f.Suppressed != "":
		note = " (suppressed: " + f.Suppressed + ")"
	}
	t.line("%s: %s: %s%s", f.Tool, f.Kind, f.Message, note)
	for i := range f.Sites {
		s := &f.Sites[i]
		word := "at"
		if i > 0 {
			word = "and at"
		}
		where := ""
		if file, line, col := d.place(r, f.Finding, s); line > 0 {
			where = fmt.Sprintf(" in %s:%d", file, line)
			if col > 0 {
				where += fmt.Sprintf(":%d", col)
			}
		}
		t.line("    %s %s%s", word, r.at(f.Kernel, s.PC), where)
		who := fmt.Sprintf("wave %d", s.Wave)
		if s.Lane >= 0 {
			who += fmt.Sprintf(", lane %d", s.Lane)
		}
		t.line("        by %s of workgroup (%d,%d,%d), pc %#x: %s", who, s.Group[0], s.Group[1], s.Group[2], s.PC, s.Text)
	}
	if f.Missing != "" {
		t.line("    Missing: %s", f.Missing)
	}
	if k, ok := Kinds()[f.Kind]; ok && k.Fix != "" {
		t.line("    Fix: %s", k.Fix)
	}
	if f.Count > 1 {
		t.line("    [seen %d times]", f.Count)
	}
	if f.Run != "" {
		t.line("    in %d of %s, first with %s", f.Runs, some(r.Runs, "run"), f.Run)
	}
	t.line("")
}

// summary says what was looked at, and what was not.
func (t textWriter) summary(r *Result) {
	s := &r.Summary
	dispatches := "1 dispatch"
	if s.Dispatches != 1 {
		dispatches = fmt.Sprintf("%d dispatches", s.Dispatches)
	}
	t.line("%s: %s in %s: %d instructions of waves, %d memory accesses of lanes; %s", r.Name, dispatches, some(r.Runs, "run"),
		s.Instructions, s.Accesses, joinTools(s.Tools))
	for _, g := range s.NotChecked {
		by := ""
		if g.Tool != "" {
			by = " by " + string(g.Tool)
		}
		t.line("    NOT CHECKED%s: %s%s", by, g.What, times(g.Count))
	}
	for _, a := range r.Approximate {
		t.line("    approximate: %s%s: %s", a.Op, times(a.Count), a.How)
	}
}

// times is how often something was met, if it was more than once.
func times[T int | uint64](n T) string {
	if n == 1 {
		return ""
	}
	return fmt.Sprintf(", %d times", n)
}
