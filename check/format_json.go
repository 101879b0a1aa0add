package check

import (
	"encoding/json"
	"io"
)

// The JSON document. Numbers of bytes, addresses as numbers.
type jsonDocument struct {
	Format  int          `json:"format"`
	Version string       `json:"version"`
	Status  string       `json:"status"`
	Results []jsonResult `json:"results"`
	Unused  []string     `json:"unused_suppressions"`
	Listing string       `json:"listing,omitempty"`
}

type jsonResult struct {
	Name        string        `json:"name"`
	Status      string        `json:"status"`
	Runs        int           `json:"runs"`
	Findings    []jsonFinding `json:"findings"`
	Wrong       []string      `json:"wrong"`
	Faults      []string      `json:"faults"`
	Changed     string        `json:"changed,omitempty"`
	Error       string        `json:"error,omitempty"`
	Summary     Summary       `json:"summary"`
	Approximate []Approximate `json:"approximate"`
}

type jsonFinding struct {
	Found
	Lines []int `json:"listing_lines,omitempty"` // of the sites
}

// jsonFormat is the version of the document.
const jsonFormat = 1

// JSON writes all of a document. The error is w's.
func (d *Document) JSON(w io.Writer) error {
	out := jsonDocument{Format: jsonFormat, Version: d.Version, Status: StatusOf(d.Results).String(), Results: []jsonResult{}, Unused: d.Unused}
	if out.Unused == nil {
		out.Unused = []string{}
	}
	if d.Listing != nil {
		out.Listing = d.Listing.Path
	}
	for _, r := range d.Results {
		x := jsonResult{
			Name: r.Name, Status: r.Status().String(), Runs: r.Runs, Findings: []jsonFinding{}, Wrong: append([]string{}, r.Wrong...),
			Faults: []string{}, Changed: r.Changed, Summary: r.Summary, Approximate: append([]Approximate{}, r.Approximate...),
		}
		for _, f := range r.Faults {
			x.Faults = append(x.Faults, f.Error())
		}
		x.Summary.Tools = append([]Tool{}, x.Summary.Tools...)
		x.Summary.NotChecked = append([]Gap{}, x.Summary.NotChecked...)
		if r.Err != nil {
			x.Error = r.Err.Error()
		}
		for i := range r.Findings {
			f := jsonFinding{Found: r.Findings[i]}
			for j := range f.Sites {
				if line := d.Listing.Line(r, f.Finding, &f.Sites[j]); line > 0 {
					f.Lines = append(f.Lines, line)
				}
			}
			x.Findings = append(x.Findings, f)
		}
		out.Results = append(out.Results, x)
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(out)
}
