package report

import (
	"fmt"
	"io"
	"strings"
)

// Formats are the names that Write knows.
var Formats = []string{"text", "md", "json", "junit", "html"}

// Write writes the report in one of Formats. The error is w's, or names a format
// that is not among them.
func (rep *Report) Write(w io.Writer, format string) error {
	switch format {
	case "text":
		return rep.Text(w)
	case "md":
		return rep.Markdown(w)
	case "json":
		return rep.JSON(w)
	case "junit":
		return rep.JUnit(w)
	case "html":
		return rep.HTML(w)
	}
	return fmt.Errorf("report: no format %q; there are %s", format, strings.Join(Formats, ", "))
}
