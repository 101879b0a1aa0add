package check

import (
	"errors"

	"github.com/holdfast-llm/holdfast/amd/emu"
	"github.com/holdfast-llm/holdfast/amd/hsaco"
	"github.com/holdfast-llm/holdfast/amd/isa"
)

// Session is a Checker that also keeps what a Result says beside findings: which
// operations ran, and the code objects of the kernels.
type Session struct {
	*Checker
	ops     [isa.NumIDs]uint64
	objects map[string]*hsaco.Object // by kernel
	faults  []error
}

// NewSession makes a session with a new checker. Errors: those of New.
func NewSession(o Options) (*Session, error) {
	c, err := New(o)
	if err != nil {
		return nil, err
	}
	return &Session{Checker: c, objects: map[string]*hsaco.Object{}}, nil
}

// DispatchBegin implements emu.Observer.
func (s *Session) DispatchBegin(l *emu.Launched) {
	s.objects[l.Kernel.Name] = l.Kernel.Module.Object
	s.Checker.DispatchBegin(l)
}

// DispatchEnd implements emu.Observer.
func (s *Session) DispatchEnd(l *emu.Launched, err error) {
	if err != nil {
		s.faults = append(s.faults, err)
	}
	s.Checker.DispatchEnd(l, err)
}

// Instruction implements emu.Observer.
func (s *Session) Instruction(w emu.Wave, in *isa.Inst) {
	s.ops[in.Op.ID]++
	s.Checker.Instruction(w, in)
}

// Result is what the session has seen so far.
func (s *Session) Result(name string) *Result {
	r := &Result{Name: name, Runs: 1, Summary: s.summary, objects: s.objects}
	r.Summary.NotChecked = append([]Gap{}, s.summary.NotChecked...)
	for _, f := range s.findings {
		own := *f
		r.Findings = append(r.Findings, Found{Finding: &own, Runs: 1})
	}
	for _, op := range isa.Ops() {
		if n := s.ops[op.ID]; n > 0 {
			if how, _ := emu.Support(op); how.Approximate != "" {
				r.Approximate = append(r.Approximate, Approximate{op.Name, n, how.Approximate})
			}
		}
	}
	for _, err := range s.faults {
		r.fault(err)
	}
	return r
}

// fault takes note of what a dispatch ended with.
func (r *Result) fault(err error) {
	var f *emu.Fault
	if errors.As(err, &f) {
		r.Faults = append(r.Faults, f)
		return
	}
	r.Err = errors.Join(r.Err, err)
}
