package report

import (
	"encoding/json"
	"io"
	"time"

	"github.com/holdfast-llm/holdfast/lab"
)

// jsonFormat is the version of the document.
const jsonFormat = 1

type jsonDocument struct {
	Format      int          `json:"format"`
	Name        string       `json:"name"`
	Hash        string       `json:"experiment_sha256"`
	Confidence  float64      `json:"confidence"`
	Arms        []string     `json:"arms"`
	Axes        []lab.Axis   `json:"axes"`
	Start       *time.Time   `json:"start,omitempty"`
	End         *time.Time   `json:"end,omitempty"`
	Planned     int          `json:"planned_trials_of_each_cell,omitempty"`
	Notes       []string     `json:"notes"`
	Verdicts    []Verdict    `json:"verdicts"`
	Cells       []jsonCell   `json:"cells"`
	Comparisons []Comparison `json:"comparisons"`
	Environment []lab.Field  `json:"environment"`
	Left        []lab.Trial  `json:"in_no_rate"`
}

type jsonCell struct {
	Cell
	Faults int `json:"faults"`
	Trials int `json:"trials"` // that count
}

// JSON writes all that the report has computed, with rates from 0 to 1, and
// the trials that no rate counts. The error is w's.
func (rep *Report) JSON(w io.Writer) error {
	r := rep.Run
	d := jsonDocument{
		Format: jsonFormat, Name: r.Name, Hash: r.Hash, Confidence: r.Conf, Planned: r.Planned,
		Arms: list(r.Arms), Axes: list(r.Axes), Notes: list(rep.Notes), Verdicts: list(rep.Verdicts),
		Comparisons: list(rep.Comparisons), Environment: list(r.Environment), Left: list(rep.Left),
	}
	if !rep.Start.IsZero() {
		d.Start, d.End = &rep.Start, &rep.End
	}
	for i := range rep.Cells {
		c := &rep.Cells[i]
		d.Cells = append(d.Cells, jsonCell{*c, c.Faults().K, c.Faults().N})
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(d)
}

// list is xs, but [] rather than null without any.
func list[T any](xs []T) []T {
	if xs == nil {
		return []T{}
	}
	return xs
}
