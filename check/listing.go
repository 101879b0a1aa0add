package check

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/holdfast-llm/holdfast/amd/hsaco"
	"github.com/holdfast-llm/holdfast/amd/hsaco/inspect"
)

// Listing is the disassembly of the code objects in which something was found,
// and where each instruction is in it.
type Listing struct {
	Path string // where it is to be written, as formats point at it
	text bytes.Buffer
	line int
	at   map[spot]int
}

type spot struct {
	object *hsaco.Object
	pc     uint64
}

// NewListing disassembles what the results' findings are in.
func NewListing(path string, results []*Result) (*Listing, error) {
	l := &Listing{Path: path, line: 1, at: map[spot]int{}}
	done := map[*hsaco.Object]bool{}
	for _, r := range results {
		for i := range r.Findings {
			o := r.objects[r.Findings[i].Kernel]
			if o == nil || done[o] {
				continue
			}
			done[o] = true
			if err := l.add(o); err != nil {
				return nil, err
			}
		}
	}
	return l, nil
}

// add lists an object. An instruction's line ends with its address and words
// after two slashes.
func (l *Listing) add(o *hsaco.Object) error {
	var b bytes.Buffer
	if err := inspect.Disasm(&b, o); err != nil {
		return err
	}
	text := fmt.Sprintf("; %s\n%s", o.Name, b.String())
	for line := range strings.Lines(text) {
		if _, after, ok := strings.Cut(line, "// "); ok {
			address, _, _ := strings.Cut(after, ":")
			if pc, err := strconv.ParseUint(address, 16, 64); err == nil {
				l.at[spot{o, pc}] = l.line
			}
		}
		l.line++
	}
	l.text.WriteString(text)
	return nil
}

// Bytes is the text.
func (l *Listing) Bytes() []byte { return l.text.Bytes() }

// Line is the line of an instruction of a finding, 0 if it has none.
func (l *Listing) Line(r *Result, f *Finding, s *Site) int {
	if l == nil {
		return 0
	}
	return l.at[spot{r.objects[f.Kernel], s.PC}]
}
