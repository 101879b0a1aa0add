package check

import (
	"errors"
	"fmt"
	"path"
	"slices"

	"github.com/holdfast-llm/holdfast/internal/tomlfile"
)

// Suppressions are findings that are known and why they are left. They are read
// from a TOML file:
//
//	[[suppress]]
//	tool = "racecheck"
//	kind = "missing acquire"
//	kernel = "attention_*"
//	reason = "the counter is only a hint"
//
// kind, kernel, buffer and file (of the first instruction) are patterns as those
// of path.Match; what is left out matches everything. A reason must be given.
type Suppressions struct {
	List []Suppression `toml:"suppress"`
	name string
	used []int // how many findings each took
}

// Suppression is a pattern of findings.
type Suppression struct {
	Tool   string `toml:"tool"`
	Kind   string `toml:"kind"`
	Kernel string `toml:"kernel"`
	Buffer string `toml:"buffer"`
	File   string `toml:"file"`
	Line   int    `toml:"line"`
	PC     uint64 `toml:"pc"`
	Reason string `toml:"reason"`
}

// ReadSuppressions reads a file of suppressions. Errors name the file and the
// line, or the suppression that is wrong.
func ReadSuppressions(name string) (*Suppressions, error) {
	b, err := readSmall(name)
	if err != nil {
		return nil, err
	}
	s := &Suppressions{name: name}
	if err := tomlfile.Decode(name, string(b), s); err != nil {
		return nil, err
	}
	s.used = make([]int, len(s.List))
	for i := range s.List {
		if err := s.List[i].check(); err != nil {
			return nil, fmt.Errorf("%s: suppression %d: %w", name, i+1, err)
		}
	}
	return s, nil
}

func (x *Suppression) check() error {
	if x.Reason == "" {
		return errors.New("no reason")
	}
	if *x == (Suppression{Reason: x.Reason}) {
		return errors.New("nothing but a reason: it would take every finding")
	}
	if x.Tool != "" && !slices.Contains(Tools(), Tool(x.Tool)) {
		return fmt.Errorf("no tool %q%s", x.Tool, tomlfile.Meant(x.Tool, Tools()))
	}
	for _, pattern := range []string{x.Kind, x.Kernel, x.Buffer, x.File} {
		if _, err := path.Match(pattern, ""); err != nil {
			return fmt.Errorf("pattern %q: %w", pattern, err)
		}
	}
	return nil
}

func (x *Suppression) matches(f *Finding) bool {
	like := func(pattern, s string) bool {
		ok, _ := path.Match(pattern, s)
		return pattern == "" || ok
	}
	var s Site
	if len(f.Sites) > 0 {
		s = f.Sites[0]
	}
	return (x.Tool == "" || x.Tool == string(f.Tool)) && like(x.Kind, string(f.Kind)) && like(x.Kernel, f.Kernel) &&
		like(x.Buffer, f.Buffer) && (like(x.File, s.File) || like(x.File, path.Base(s.File))) &&
		(x.Line == 0 || x.Line == s.Line) && (x.PC == 0 || x.PC == s.PC)
}

// Apply marks the findings of r that are suppressed. Expected ones are not.
func (s *Suppressions) Apply(r *Result) {
	if s == nil {
		return
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		for j := range s.List {
			if f.counts() && s.List[j].matches(f.Finding) {
				f.Suppressed = s.List[j].Reason
				s.used[j]++
			}
		}
	}
}

// Unused are the suppressions that took no finding, a sentence each.
func (s *Suppressions) Unused() []string {
	if s == nil {
		return nil
	}
	var list []string
	for i, n := range s.used {
		if n == 0 {
			list = append(list, fmt.Sprintf("%s: suppression %d (%s) took no finding: delete it", s.name, i+1, s.List[i].Reason))
		}
	}
	return list
}
