package check

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// GitHub writes the findings that count, and what is wrong otherwise, as
// annotations of a workflow run. The error is w's.
func (d *Document) GitHub(w io.Writer) error {
	b := bufio.NewWriter(w)
	for _, r := range d.Results {
		for i := range r.Findings {
			f := &r.Findings[i]
			if !f.counts() {
				continue
			}
			var where []string
			if len(f.Sites) > 0 {
				if file, line, col := d.place(r, f.Finding, &f.Sites[0]); line > 0 {
					where = append(where, "file="+property(file), fmt.Sprintf("line=%d", line))
					if col > 0 {
						where = append(where, fmt.Sprintf("col=%d", col))
					}
				}
			}
			where = append(where, "title="+property(ruleID(f.Tool, f.Kind)))
			fmt.Fprintf(b, "::error %s::%s\n", strings.Join(where, ","), data(f.String()))
		}
		for _, s := range r.problems() {
			fmt.Fprintf(b, "::error title=%s::%s\n", property(r.Name), data(s))
		}
	}
	for _, s := range d.Unused {
		fmt.Fprintf(b, "::warning ::%s\n", data(s))
	}
	return b.Flush()
}

// data and property are escaped as the runner reads them back.
func data(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

func property(s string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(data(s))
}
