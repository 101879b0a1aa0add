package probe

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

// maxClasses bounds how many distinct answers are printed.
const maxClasses = 10

// Clean says whether every request was answered, all the same.
func (r *Result) Clean() bool {
	return r.Stopped == "" && len(r.Faces) == 0 && len(r.Classes) == 1
}

// Write prints a result. conf is the intervals' confidence.
func (r *Result) Write(w io.Writer, conf float64) error {
	var b strings.Builder
	o := &r.Options
	fmt.Fprintf(&b, "%s\n", r.Target)
	failed, divergent := r.Failed(), r.Divergent()
	fmt.Fprintf(&b, "%d requests, %d at a time", failed.N, o.Concurrency)
	if o.Distractors > 0 {
		fmt.Fprintf(&b, ", %d others before each", o.Distractors)
	}
	fmt.Fprintf(&b, ": %d answered, %d failed", failed.N-failed.K, failed.K)
	if r.Interrupted > 0 {
		fmt.Fprintf(&b, ", %d interrupted", r.Interrupted)
	}
	b.WriteString("\n")
	if r.Stopped != "" {
		fmt.Fprintln(&b, r.Stopped)
	}
	if divergent.N > 0 {
		i := divergent.Wilson(conf)
		what := fmt.Sprintf("text and log-probabilities to %d decimals", o.Digits)
		if r.API == Command || r.NoProbs || o.Probs == 0 {
			what = "text"
		}
		fmt.Fprintf(&b, "distinct answers: %d (%s), distinct texts: %d\n", len(r.Classes), what, r.Texts)
		fmt.Fprintf(&b, "divergent: %s = %.1f %% (%.0f %%: %.1f to %.1f)\n", divergent, 100*divergent.Value(), 100*conf, 100*i.Lo, 100*i.Hi)
		if divergent.K == 0 {
			fmt.Fprintf(&b, "  rates above %.3g %% are excluded, one-sided and exact\n", 100*divergent.Upper(conf))
		}
	}
	if r.NoProbs {
		fmt.Fprintln(&b, "the endpoint gave no log-probabilities: only texts were compared")
	}
	if failed.K > 0 {
		i := failed.Wilson(conf)
		fmt.Fprintf(&b, "failed: %s = %.1f %% (%.0f %%: %.1f to %.1f)\n", failed, 100*failed.Value(), 100*conf, 100*i.Lo, 100*i.Hi)
	}
	for _, f := range slices.Sorted(maps.Keys(r.Faces)) {
		fmt.Fprintf(&b, "  %-14s %d, such as: %s\n", f, r.Faces[f], r.example(f))
	}
	r.writeClasses(&b)
	if m := r.median(); m > 0 {
		fmt.Fprintf(&b, "median time of a request: %s\n", m.Round(10*time.Microsecond))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (r *Result) writeClasses(b *strings.Builder) {
	for i := range r.Classes {
		c := &r.Classes[i]
		if i == maxClasses {
			fmt.Fprintf(b, "  and %d more\n", len(r.Classes)-i)
			break
		}
		fmt.Fprintf(b, "%7d x %q\n", c.Count, cutText(c.Text))
		if c.Difference != nil {
			fmt.Fprintf(b, "          %s\n", c.Difference)
		}
	}
}

func cutText(s string) string {
	s = strings.ToValidUTF8(s, "?")
	if r := []rune(s); len(r) > 60 {
		return string(r[:60]) + "..."
	}
	return s
}

// String says where the answers part.
func (d *Difference) String() string {
	if d.Bytes {
		return fmt.Sprintf("differs from byte %d on: %q, not %q", d.Token, d.Got, d.Usual)
	}
	s := fmt.Sprintf("first differs at token %d", d.Token)
	switch {
	case d.HasDelta && d.Usual == d.Got:
		s += fmt.Sprintf(", %q: its log-probability by %+.6f", d.Got, d.Delta)
	case d.HasDelta:
		s += fmt.Sprintf(": %q, not %q; log-probability by %+.6f", d.Got, d.Usual, d.Delta)
	case d.Usual != d.Got:
		s += fmt.Sprintf(": %q, not %q", d.Got, d.Usual)
	}
	switch {
	case d.SameText:
		s += "; the text is the same"
	case d.TextToken > d.Token:
		s += fmt.Sprintf("; another token first at %d", d.TextToken)
	}
	return s
}

func (r *Result) example(face string) string {
	for _, a := range r.Answers {
		if len(a.Faces) > 0 && a.Faces[0] == face {
			return a.Detail
		}
	}
	return "with another"
}

func (r *Result) median() time.Duration {
	var ds []time.Duration
	for _, a := range r.Answers {
		if !a.Distractor && len(a.Faces) == 0 {
			ds = append(ds, a.End.Wall.Sub(a.Start.Wall))
		}
	}
	if len(ds) == 0 {
		return 0
	}
	slices.Sort(ds)
	return ds[len(ds)/2]
}

// WriteRequests writes a line of JSON for each request, in the order of their ends: what
// lab trace correlate reads.
func (r *Result) WriteRequests(w io.Writer) error {
	e := json.NewEncoder(w)
	for _, a := range r.Answers {
		if err := e.Encode(a); err != nil {
			return err
		}
	}
	return nil
}

// summary is a result as JSON.
type summary struct {
	Target    string         `json:"target"`
	API       API            `json:"api"`
	Requests  int            `json:"requests"`
	Failed    int            `json:"failed"`
	Answered  int            `json:"answered"`
	Divergent int            `json:"divergent"`
	Share     float64        `json:"share"`
	Wilson    [2]float64     `json:"wilson"`
	Conf      float64        `json:"confidence"`
	Distinct  int            `json:"distinct"`
	Texts     int            `json:"distinct_texts"`
	Faces     map[string]int `json:"faces"`
	Classes   []Class        `json:"answers"`
	Stopped   string         `json:"stopped,omitempty"`
}

// WriteJSON writes the result without the single requests.
func (r *Result) WriteJSON(w io.Writer, conf float64) error {
	f, d := r.Failed(), r.Divergent()
	s := summary{
		Target: r.Target, API: r.API, Requests: f.N, Failed: f.K, Answered: d.N, Divergent: d.K, Share: d.Value(), Conf: conf,
		Distinct: len(r.Classes), Texts: r.Texts, Faces: r.Faces, Classes: r.Classes, Stopped: r.Stopped,
	}
	if d.N > 0 {
		i := d.Wilson(conf)
		s.Wilson = [2]float64{i.Lo, i.Hi}
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(s)
}
