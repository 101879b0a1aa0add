package bench

import (
	"context"
	"fmt"
	"time"

	"github.com/holdfast-llm/holdfast/engine"
)

// Runner opens models for tests.
type Runner interface {
	// Open prepares a test: a session whose context holds the test's depth,
	// prompt and generated tokens.
	Open(t Test) (Session, error)
}

// Session is what a test times: one sequence of tokens, empty at first.
type Session interface {
	// Info describes what runs.
	Info() Info
	// Prompt appends n random tokens, in batches.
	Prompt(ctx context.Context, n int) error
	// Generate appends n random tokens one at a time, computing the logits of
	// each.
	Generate(ctx context.Context, n int) error
	// Keep drops all but the first n tokens.
	Keep(n int)
	// Lanes is what ran since the last call.
	Lanes() Lanes
	Close() error
}

// Info describes a session's model and machine.
type Info struct {
	ModelFile   string
	ModelType   string // as inspect.Description has it
	ModelBytes  int64
	ModelParams int64
	CPU, GPU    string // descriptions
	Backends    string
	DeviceKind  string
	Residency   string // of arenas and caches
}

// Lanes is which attention ran, and what kernels did where they are counted.
type Lanes struct {
	Lane     string   // the registrations, joined by "+" if several
	Splits   int      // of the key-value cache; 1 is no split
	Declined []string // "registration: reason"
	Faults   int      // of running kernels that steps survived
	Kernels  []engine.KernelCount
}

// Result is a test and its times.
type Result struct {
	Test
	Info
	Lanes
	Commit    string // the build's
	Build     int
	Time      time.Time // when the test started
	SamplesNS []int64   // one for each repetition
}

// Loop runs tests.
type Loop struct {
	Runner   Runner
	Commit   string // copied to results
	Build    int
	Progress func(format string, args ...any) // nil: none
	Now      func() time.Time                 // nil: time.Now
}

// Run runs every test of p and gives each result to print as soon as it is
// there. It ends at the first error: ctx's, a Runner's, or print's.
func (l *Loop) Run(ctx context.Context, p Params, print func(Result) error) error {
	tests := p.Tests()
	for i, t := range tests {
		prefix := fmt.Sprintf("benchmark %d/%d: ", i+1, len(tests))
		progress := func(format string, args ...any) {
			if l.Progress != nil {
				l.Progress(prefix+format, args...)
			}
		}
		progress("starting")
		r, err := l.run(ctx, p, t, progress)
		if err != nil {
			return err
		}
		if err := print(r); err != nil {
			return err
		}
	}
	return nil
}

func (l *Loop) run(ctx context.Context, p Params, t Test, progress func(string, ...any)) (r Result, err error) {
	now := l.Now
	if now == nil {
		now = time.Now
	}
	s, err := l.Runner.Open(t)
	if err != nil {
		return r, err
	}
	defer func() {
		if cerr := s.Close(); err == nil {
			err = cerr
		}
	}()
	r = Result{Test: t, Info: s.Info(), Commit: l.Commit, Build: l.Build, Time: now()}
	if err := sleep(ctx, time.Duration(p.DelaySec)*time.Second); err != nil {
		return r, err
	}
	if !p.NoWarmup {
		if t.NPrompt > 0 {
			progress("warmup prompt run")
			if err := s.Prompt(ctx, t.NPrompt); err != nil {
				return r, err
			}
		}
		if t.NGen > 0 {
			progress("warmup generation run")
			s.Keep(0)
			if err := s.Generate(ctx, 1); err != nil {
				return r, err
			}
		}
	}
	s.Keep(0)
	for i := range p.Repetitions {
		if i == 0 && t.NDepth > 0 {
			// Once for all repetitions: each goes back to it.
			progress("depth run")
			if err := s.Prompt(ctx, t.NDepth); err != nil {
				return r, err
			}
		}
		s.Keep(t.NDepth)
		if i == 0 {
			s.Lanes() // forget those of what is not timed
		}
		progress("run %d/%d", i+1, p.Repetitions)
		start := now()
		if t.NPrompt > 0 {
			if err := s.Prompt(ctx, t.NPrompt); err != nil {
				return r, err
			}
		}
		if t.NGen > 0 {
			if err := s.Generate(ctx, t.NGen); err != nil {
				return r, err
			}
		}
		// A clock too coarse for the test must not make it infinitely fast.
		r.SamplesNS = append(r.SamplesNS, max(now().Sub(start).Nanoseconds(), 1))
	}
	r.Lanes = s.Lanes()
	return r, nil
}

func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
