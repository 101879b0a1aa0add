package check

import (
	"fmt"
	"path/filepath"
	"strings"
)

// Document is what the formats print: the results of a call.
type Document struct {
	Version string // of this program
	Results []*Result
	Unused  []string // suppressions that took no finding
	Listing *Listing // nil if there is none
	// Cases says that the results are of case files, whose expectations count.
	Cases bool
}

// place is where a format points for an instruction: its source line, or its line
// in the listing; line is 0 if there is neither.
func (d *Document) place(r *Result, f *Finding, s *Site) (file string, line, col int) {
	if s.File != "" {
		return filepath.ToSlash(s.File), s.Line, s.Col
	}
	if line := d.Listing.Line(r, f, s); line > 0 {
		return filepath.ToSlash(d.Listing.Path), line, 0
	}
	return "", 0, 0
}

// counts are the totals that are printed.
type counts struct {
	cases, positives, negatives, held      int
	findings, expected, suppressed, failed int // failed could not be checked
	wrong                                  int // expectations that do not hold
	stopped                                int // dispatches, by a fault
}

func (d *Document) counts() (n counts) {
	for _, r := range d.Results {
		n.cases++
		switch {
		case r.Runs == 0: // what it is could not be told
		case r.Expects:
			n.positives++
		default:
			n.negatives++
		}
		if r.Status() == Clean {
			n.held++
		}
		if r.Err != nil {
			n.failed++
		}
		n.wrong += len(r.Wrong)
		if !r.expectsFault {
			n.stopped += len(r.Faults)
		}
		for i := range r.Findings {
			switch f := &r.Findings[i]; {
			case f.Expected:
				n.expected++
			case f.Suppressed != "":
				n.suppressed++
			default:
				n.findings++
			}
		}
	}
	return n
}

// some is a number and what is counted, with an s if there are more or none.
func some(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// at is where an instruction is in its kernel: "name+0x1c", or the pc if the
// kernel's code is not known.
func (r *Result) at(kernel string, pc uint64) string {
	if o := r.objects[kernel]; o != nil {
		if k, ok := o.Kernel(kernel); ok && pc >= k.Entry {
			return fmt.Sprintf("%s+%#x", kernel, pc-k.Entry)
		}
	}
	return fmt.Sprintf("%s at pc %#x", kernel, pc)
}

func joinTools(tools []Tool) string {
	var s []string
	for _, t := range tools {
		s = append(s, string(t))
	}
	if len(s) == 0 {
		return "no tool"
	}
	return strings.Join(s, ", ")
}
