package lab

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"os/exec"
	"regexp"
	"sort"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/holdfast-llm/holdfast/internal/process"
)

// ran is what came of a program.
type ran struct {
	err      error // why it could not start
	exit     int
	signal   string
	timedOut bool
	memory   int64 // that it was stopped for
	limit    string
	out, all []byte // standard output; with standard error behind it
}

// outputMax bounds what is kept of a trial's output.
const outputMax = 4 << 20

// head is a writer that keeps the first bytes.
type head struct {
	bytes.Buffer
	left int
}

func (h *head) Write(p []byte) (int, error) {
	n := min(len(p), h.left)
	h.left -= n
	h.Buffer.Write(p[:n])
	return len(p), nil
}

// run carries out a command in a group of its own, under a watchdog.
func (e *Experiment) run(ctx context.Context, a *Arm, values map[string]string) ran {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(e.Timeout))
	defer cancel()
	c := command(a.Command, a.Env, a.Dir, values)
	out, errs := &head{left: outputMax}, &head{left: outputMax}
	c.Stdout, c.Stderr = out, errs
	if err := c.Start(); err != nil {
		return ran{err: err}
	}
	var r ran
	var stopped atomic.Bool
	stop := func() {
		stopped.Store(true)
		process.Kill(c)
	}
	watched := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(watched)
		e.watch(ctx, c, &r, stop, done)
	}()
	err := c.Wait()
	close(done)
	<-watched
	process.Kill(c) // what it left running
	r.out, r.all = out.Bytes(), append(append([]byte{}, out.Bytes()...), errs.Bytes()...)
	var exit *exec.ExitError
	if errors.As(err, &exit) && !stopped.Load() {
		r.exit = exit.ExitCode()
		if r.exit < 0 {
			r.signal = strings.TrimSuffix(exit.String(), " (core dumped)")
		}
	} else if err != nil && !stopped.Load() && !errors.Is(err, exec.ErrWaitDelay) {
		r.err = err
	}
	return r
}

// watch stops a program that takes too long, too much, or that a limit is for.
func (e *Experiment) watch(ctx context.Context, c *exec.Cmd, r *ran, stop func(), done <-chan struct{}) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-ctx.Done():
			r.timedOut = errors.Is(ctx.Err(), context.DeadlineExceeded)
			stop()
			return
		case <-tick.C:
		}
		if e.Memory > 0 {
			if n, ok := process.Memory(c); ok && n > int64(e.Memory) {
				r.memory = n
				stop()
				return
			}
		}
		for i := range e.Limits {
			if ok, shows, err := e.Limits[i].in(); err == nil && !ok {
				r.limit = shows
				stop()
				return
			}
		}
	}
}

// command is a program with its arguments and environment filled in.
func command(words []string, env map[string]string, dir string, values map[string]string) *exec.Cmd {
	args := make([]string, len(words))
	for i, w := range words {
		args[i] = fill(w, values)
	}
	c := exec.Command(args[0], args[1:]...)
	c.Dir = fill(dir, values)
	if len(env) > 0 {
		c.Env = c.Environ()
		for _, k := range sorted(env) {
			c.Env = append(c.Env, k+"="+fill(env[k], values))
		}
	}
	process.Group(c)
	// Wait does not wait for what the program leaves holding its output.
	c.WaitDelay = time.Second
	return c
}

func sorted(m map[string]string) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

// standsAlone is a NaN or an Inf that is no part of a word.
var standsAlone = regexp.MustCompile(`(?i)(^|[^\w])[-+]?(nan|inf|infinity)([^\w]|$)`)

// classify says what a trial was: a fault over incomplete over clean, and what is
// invalid apart from all.
func (e *Experiment) classify(t *Trial, r *ran, reference []byte) {
	if r.err != nil {
		t.Outcome, t.Reason = Invalid, r.err.Error()
		return
	}
	if r.limit != "" {
		t.Outcome, t.Reason = Invalid, "stopped: "+r.limit
		return
	}
	t.Outcome = Clean
	rank := map[Outcome]int{Clean: 0, Incomplete: 1, Fault: 2, Invalid: 3}
	show := func(name string, o Outcome) {
		t.Faces = append(t.Faces, name)
		if rank[o] > rank[t.Outcome] {
			t.Outcome = o
		}
		if o != Fault && t.Reason == "" {
			t.Reason = name
		}
	}
	seen := map[string]bool{}
	for i := range e.Faces {
		f := &e.Faces[i]
		if f.Kind == "unusual" {
			h := sha256.Sum256(r.out)
			t.Answer = hex.EncodeToString(h[:8])
		}
		if f.shows(r, reference) {
			show(f.Name, f.Outcome)
			seen[f.Kind] = true
		}
	}
	// What no face of the file is for is a fault all the same.
	switch {
	case r.timedOut && !seen["timeout"]:
		show(fmt.Sprintf("longer than %v", time.Duration(e.Timeout)), Fault)
	case r.memory > 0 && !seen["memory"]:
		show(fmt.Sprintf("more than %d bytes of memory", int64(e.Memory)), Fault)
	case r.signal != "" && !seen["signal"]:
		show(r.signal, Fault)
	case r.exit > 0 && !seen["exit"]:
		show(fmt.Sprintf("exit %d", r.exit), Fault)
	}
	if t.Outcome == Fault {
		t.Reason = ""
	}
}

// shows says whether a trial has the face.
func (f *Face) shows(r *ran, reference []byte) bool {
	switch f.Kind {
	case "exit":
		if len(f.Codes) == 0 {
			return r.exit > 0
		}
		for _, c := range f.Codes {
			if c == r.exit && r.signal == "" && !r.timedOut && r.memory == 0 {
				return true
			}
		}
		return false
	case "signal":
		return r.signal != ""
	case "match":
		return len(f.pattern.FindAllIndex(r.all, -1)) >= max(f.Count, 1)
	case "missing":
		return len(f.pattern.FindAllIndex(r.all, -1)) < f.Count
	case "nan":
		return standsAlone.Match(r.all)
	case "utf8":
		return !utf8.Valid(r.out)
	case "timeout":
		return r.timedOut
	case "memory":
		return r.memory > 0
	case "differs":
		return !bytes.Equal(r.out, reference)
	}
	return false
}

// modal is the most frequent of some answers, the first of those that are equally
// so, and how many were it.
func modal(answers [][]byte) (answer []byte, n int) {
	count := map[string]int{}
	most := math.MinInt
	for _, a := range answers {
		count[string(a)]++
		most = max(most, count[string(a)])
	}
	for _, a := range answers {
		if count[string(a)] == most {
			return a, most
		}
	}
	return nil, 0
}
