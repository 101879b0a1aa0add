package report

import (
	_ "embed"
	"html/template"
	"io"
	"strings"
	"time"
)

//go:embed page.html.tmpl
var pageTemplate string

//go:embed page.css
var pageStyle string

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"style":    func() template.CSS { return template.CSS(pageStyle) },
	"percent0": percent0,
	"upper":    strings.ToUpper,
	"time":     func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") },
}).Parse(pageTemplate))

// pageData is what the page shows: the report and its plots.
type pageData struct {
	*Report
	Summary  []string
	Forest   *forest
	Heats    []heat
	Timeline *timeline
	Tables   []pageTable
}

// pageTable is a table as the template has it.
type pageTable struct {
	Title, Note string
	Head        []pageCell
	Rows        [][]pageCell
}

type pageCell struct {
	Text  string
	Right bool
}

// HTML writes the report as one page, which loads nothing: style and plots are
// in it, and there is no script. The error is w's.
func (rep *Report) HTML(w io.Writer) error {
	d := pageData{Report: rep, Summary: rep.summary(), Forest: rep.forest(), Heats: rep.heats(), Timeline: rep.timeline()}
	for _, s := range rep.sections() {
		t := pageTable{Title: strings.ToUpper(s.title[:1]) + s.title[1:], Note: s.note, Head: s.table.cells(s.table.head)}
		for _, r := range s.table.rows {
			t.Rows = append(t.Rows, s.table.cells(r))
		}
		d.Tables = append(d.Tables, t)
	}
	return page.Execute(w, d)
}

func (t *table) cells(row []string) (cells []pageCell) {
	for i, c := range row {
		cells = append(cells, pageCell{c, t.right[i]})
	}
	return cells
}
