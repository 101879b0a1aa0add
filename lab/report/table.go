package report

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/holdfast-llm/holdfast/lab"
)

// table is what the text, Markdown and HTML print.
type table struct {
	head  []string
	right []bool // of each column: aligned to the right
	rows  [][]string
}

// column adds a column's head. Cells are added by row.
func (t *table) column(head string, right bool) {
	t.head = append(t.head, head)
	t.right = append(t.right, right)
}

func (t *table) row(cells ...string) { t.rows = append(t.rows, cells) }

// text lays the table out with spaces, indented by two.
func (t *table) text(b *strings.Builder) {
	width := make([]int, len(t.head))
	for _, r := range append([][]string{t.head}, t.rows...) {
		for i, c := range r {
			width[i] = max(width[i], utf8.RuneCountInString(c))
		}
	}
	for _, r := range append([][]string{t.head}, t.rows...) {
		var line strings.Builder
		for i, c := range r {
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(c))
			if t.right[i] {
				c = pad + c
			} else {
				c += pad
			}
			line.WriteString("  " + c)
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
}

// markdown writes the table for GitHub.
func (t *table) markdown(b *strings.Builder) {
	escape := strings.NewReplacer("|", `\|`, "<", "&lt;", "\n", " ")
	line := func(cells []string) {
		b.WriteString("|")
		for _, c := range cells {
			b.WriteString(" " + escape.Replace(c) + " |")
		}
		b.WriteString("\n")
	}
	line(t.head)
	b.WriteString("|")
	for _, right := range t.right {
		if right {
			b.WriteString(" ---: |")
		} else {
			b.WriteString(" --- |")
		}
	}
	b.WriteString("\n")
	for _, r := range t.rows {
		line(r)
	}
}

// rates is the table of the cells.
func (rep *Report) rates() *table {
	t := &table{}
	for _, a := range rep.Run.Axes {
		t.column(a.Name, true)
	}
	conf := percent0(rep.Run.Conf)
	t.column("arm", false)
	t.column("faults", true)
	t.column("%", true)
	t.column("Wilson "+conf, true)
	t.column("Clopper-Pearson", true)
	left := rep.leftOutcomes()
	for _, o := range left {
		t.column(string(o), true)
	}
	t.column("so", false)
	for i := range rep.Cells {
		c := &rep.Cells[i]
		row := append([]string{}, c.At...)
		rate := "-"
		if c.Faults().N > 0 {
			rate = digitsOf(c.Rate)
		}
		row = append(row, c.Arm, c.Faults().String(), rate, between(c.Wilson.Lo, c.Wilson.Hi), between(c.ClopperPearson.Lo, c.ClopperPearson.Hi))
		for _, o := range left {
			row = append(row, fmt.Sprint(c.Counts[o]))
		}
		t.row(append(row, c.Says)...)
	}
	return t
}

// leftOutcomes are the outcomes that no rate counts, of which there were some.
func (rep *Report) leftOutcomes() (os []lab.Outcome) {
	for _, o := range lab.Outcomes {
		if !o.Counts() && rep.count(o) > 0 {
			os = append(os, o)
		}
	}
	return os
}

// differences is the table of the comparisons.
func (rep *Report) differences() *table {
	t := &table{}
	for _, a := range rep.Run.Axes {
		t.column(a.Name, true)
	}
	t.column("arm", false)
	t.column("against", false)
	t.column("faults", true)
	t.column("difference", true)
	t.column(percent0(rep.Run.Conf), true)
	t.column("p", true)
	t.column("Holm", true)
	t.column("so", false)
	for i := range rep.Comparisons {
		c := &rep.Comparisons[i]
		row := append(append([]string{}, c.At...), c.Arm, c.Against, fmt.Sprintf("%v, %v", c.A, c.B))
		if c.A.N == 0 || c.B.N == 0 {
			row = append(row, "-", "-", "-", "-")
		} else {
			row = append(row, digitsOf(c.Diff), between(c.Within.Lo, c.Within.Hi), pValue(c.P), pValue(c.Holm))
		}
		t.row(append(row, c.Says)...)
	}
	return t
}

// faces is the table of what the faults looked like; it has no rows without
// faults.
func (rep *Report) faces() *table {
	t := &table{}
	for _, a := range rep.Run.Axes {
		t.column(a.Name, true)
	}
	t.column("arm", false)
	t.column("face", false)
	t.column("faults", true)
	for i := range rep.Cells {
		c := &rep.Cells[i]
		for _, f := range c.Faces {
			t.row(append(append([]string{}, c.At...), c.Arm, f.Face, fmt.Sprintf("%d of %d", f.Count, c.Counts[lab.Fault]))...)
		}
	}
	return t
}

// left is the table of the trials that no rate counts.
func (rep *Report) left() *table {
	t := &table{}
	t.column("trial", false)
	t.column("arm", false)
	if len(rep.Run.Axes) > 0 {
		t.column("at", false)
	}
	t.column("outcome", false)
	t.column("reason", false)
	for i := range rep.Left {
		x := &rep.Left[i]
		row := []string{x.ID, x.Arm}
		if len(rep.Run.Axes) > 0 {
			row = append(row, rep.Run.Where(x.At))
		}
		t.row(append(row, string(x.Outcome), why(x))...)
	}
	return t
}

// why is the reason why a trial does not count, or the faces that it showed.
func why(t *lab.Trial) string {
	if t.Reason != "" {
		return oneLine(t.Reason)
	}
	return oneLine(strings.Join(t.Faces, ", "))
}

// oneLine keeps a reason, which may be a program's output, to a line of the
// table.
func oneLine(s string) string {
	const longest = 200
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "�")), " ")
	if r := []rune(s); len(r) > longest {
		return string(r[:longest]) + "..."
	}
	return s
}
