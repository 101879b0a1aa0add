package check

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/holdfast-llm/holdfast/amd/emu"
	"github.com/holdfast-llm/holdfast/internal/tomlfile"
)

// Expect is a finding that a case is there for. What is left out may be
// anything.
type Expect struct {
	Tool   string `toml:"tool"`
	Kind   string `toml:"kind"`
	Buffer string `toml:"buffer"`
	Offset *int64 `toml:"offset"`
	// Of the first instruction, and the other one: part of the source line's text,
	// the line's number, the pc.
	At        string `toml:"at"`
	Line      int    `toml:"line"`
	PC        uint64 `toml:"pc"`
	OtherAt   string `toml:"other_at"`
	OtherLine int    `toml:"other_line"`
	OtherPC   uint64 `toml:"other_pc"`
	// Message is a part of the finding's, or of what it says is missing.
	Message string `toml:"message"`
}

func (e *Expect) check() error {
	if e.Tool == "" {
		return errors.New("no tool")
	}
	for _, t := range Tools() {
		if string(t) == e.Tool {
			return nil
		}
	}
	return fmt.Errorf("no tool %q%s", e.Tool, tomlfile.Meant(e.Tool, Tools()))
}

func (e *Expect) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s", e.Tool)
	say := func(format string, x any, zero bool) {
		if !zero {
			fmt.Fprintf(&b, format, x)
		}
	}
	say(": %s", e.Kind, e.Kind == "")
	say(" of %q", e.Buffer, e.Buffer == "")
	if e.Offset != nil {
		say(" at offset %d", *e.Offset, false)
	}
	say(" at the line with %q", e.At, e.At == "")
	say(" at line %d", e.Line, e.Line == 0)
	say(" at pc %#x", e.PC, e.PC == 0)
	say(" and the line with %q", e.OtherAt, e.OtherAt == "")
	say(" and line %d", e.OtherLine, e.OtherLine == 0)
	say(" and pc %#x", e.OtherPC, e.OtherPC == 0)
	say(" that says %q", e.Message, e.Message == "")
	return b.String()
}

// matches reports whether f is what is expected. dir is where the sources of
// line tables are looked for.
func (e *Expect) matches(f *Finding, dir string) bool {
	site := func(i int, at string, line int, pc uint64) bool {
		if at == "" && line == 0 && pc == 0 {
			return true
		}
		if i >= len(f.Sites) {
			return false
		}
		s := &f.Sites[i]
		return (line == 0 || s.Line == line) && (pc == 0 || s.PC == pc) && (at == "" || strings.Contains(sourceLine(dir, s), at))
	}
	return string(f.Tool) == e.Tool && (e.Kind == "" || string(f.Kind) == e.Kind) &&
		(e.Buffer == "" || f.Buffer == e.Buffer) && (e.Offset == nil || f.Offset == *e.Offset) &&
		(strings.Contains(f.Message, e.Message) || strings.Contains(f.Missing, e.Message)) &&
		site(0, e.At, e.Line, e.PC) && site(1, e.OtherAt, e.OtherLine, e.OtherPC)
}

// sourceLine is the text of an instruction's source line; empty if it is not to
// be had.
func sourceLine(dir string, s *Site) string {
	if s.File == "" {
		return ""
	}
	path := s.File
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	for range s.Line - 1 {
		_, after, ok := bytes.Cut(b, []byte("\n"))
		if !ok {
			return ""
		}
		b = after
	}
	line, _, _ := bytes.Cut(b, []byte("\n"))
	return string(line)
}

// judge compares what was found with what the case expects.
func (c *Case) judge(r *Result) {
	r.Expects = len(c.Expected) > 0 || c.Fault != ""
	for i := range c.Expected {
		e := &c.Expected[i]
		// Which of several instructions a finding is about may depend on the
		// schedule; that there is one may not.
		in := map[int]bool{}
		for j := range r.Findings {
			if f := &r.Findings[j]; e.matches(f.Finding, c.Dir) {
				f.Expected = true
				for _, run := range f.in {
					in[run] = true
				}
			}
		}
		switch {
		case r.Err != nil || len(in) == r.Runs:
		case len(in) == 0:
			r.Wrong = append(r.Wrong, "expected and not found: "+e.String())
		default:
			r.Wrong = append(r.Wrong, fmt.Sprintf("expected in every run, found in %d of %d: %s", len(in), r.Runs, e))
		}
	}
	if c.Fault == "" || r.Err != nil {
		return
	}
	for _, f := range r.Faults {
		r.expectsFault = r.expectsFault || f.Kind.String() == c.Fault
	}
	if !r.expectsFault {
		r.Wrong = append(r.Wrong, fmt.Sprintf("expected a fault %q and had %v", c.Fault, r.Faults))
	}
}

// differences says where buffers are not what is wanted; before has them as they
// were.
func (c *Case) differences(buffers []*emu.Buffer, before *environment) ([]string, error) {
	var wrong []string
	for i := range c.Args {
		a := &c.Args[i]
		if a.Want == "" {
			continue
		}
		e, err := elemOf(a.Type)
		if err != nil {
			return nil, err
		}
		f, err := parseFill(a.Want)
		if err != nil {
			return nil, err
		}
		data, err := f.bytes(e, int(a.Count), before, c.Dir)
		if err != nil {
			return nil, fmt.Errorf("argument %d, %q: want: %w", i, a.Name, err)
		}
		if s := difference(values{e, buffers[i].Data}, values{e, data}, a.Tolerance); s != "" {
			wrong = append(wrong, fmt.Sprintf("%q is not what is wanted: %s", a.Name, s))
		}
	}
	return wrong, nil
}

// difference says how many elements are further apart than a tolerance, relative
// to what is wanted, or absolute where that is below 1.
func difference(got, want values, tolerance float64) string {
	count, first := 0, 0
	for i := range want.len() {
		g, w := got.at(i), want.at(i)
		switch {
		case g == w, math.IsNaN(g) && math.IsNaN(w), math.Abs(g-w) <= tolerance*max(1, math.Abs(w)) && !math.IsInf(w, 0):
			continue
		}
		if count == 0 {
			first = i
		}
		count++
	}
	if count == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d elements, the first is %d: %v, want %v", count, want.len(), first, got.at(first), want.at(first))
}
