package lab

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast-llm/holdfast/internal/clock"
)

// ErrChanged says that an experiment's file is not the one that its journal was
// started with.
var ErrChanged = errors.New("the experiment's file has changed since its first trial")

// slot is a trial that is planned.
type slot struct {
	arm   *Arm
	at    []string
	n     int // of its arm and point, from 1
	point int
}

func (s *slot) id() string {
	return fmt.Sprintf("%s/%s/%d", s.arm.Name, strings.Join(s.at, ","), s.n)
}

// values are what {names} in commands stand for.
func (s *slot) values(e *Experiment) map[string]string {
	v := map[string]string{"arm": s.arm.Name, "trial": strconv.Itoa(s.n)}
	for i, a := range e.Axes {
		v[a.Name] = s.at[i]
	}
	return v
}

// plan is every trial in the order in which they are made.
func (e *Experiment) plan() []slot {
	var slots []slot
	points := Points(e.header().Axes)
	for n := 1; n <= e.Trials; n++ {
		for p, at := range points {
			for i := range e.Arms {
				slots = append(slots, slot{&e.Arms[i], at, n, p})
			}
		}
	}
	if e.Order == "random" {
		r := rand.New(rand.NewPCG(e.Seed, 0x6c6162))
		r.Shuffle(len(slots), func(i, j int) { slots[i], slots[j] = slots[j], slots[i] })
	}
	return slots
}

// Progress is told after each trial what there is so far.
type Progress func(done, all int, t *Trial)

// Runner makes the trials of an experiment.
type Runner struct {
	Experiment *Experiment
	Journal    string // its path; trials that are in it are not made again
	Progress   Progress

	w          *Writer
	counts     map[string]int // faults by arm and point
	references map[int][]byte // answers by point
	unstarted  int            // invalid trials in a row that could not start
}

// Run makes the trials that the journal does not have yet. Errors: a journal of
// another experiment (ErrChanged); a disk that is full; pressure that does not
// go away; three trials in a row whose command cannot start; ctx's. Whatever
// happens, the journal has each trial that ended.
func (r *Runner) Run(ctx context.Context) error {
	done, tries, err := r.open()
	if err != nil {
		return err
	}
	defer r.w.Close()
	if err := r.prepare(ctx); err != nil {
		return err
	}
	slots := r.Experiment.plan()
	made := 0
	for i := range slots {
		s := &slots[i]
		if done[s.id()] {
			made++
			continue
		}
		if e := r.Experiment; e.StopFaults > 0 && r.counts[s.cell()] >= e.StopFaults {
			made++
			continue
		}
		t, err := r.trial(ctx, s, tries[s.id()])
		if err != nil {
			return err
		}
		made++
		if r.Progress != nil {
			r.Progress(made, len(slots), t)
		}
		if r.unstarted == 3 {
			return fmt.Errorf("lab: three trials in a row could not start, the last: %s", t.Reason)
		}
	}
	return nil
}

func (s *slot) cell() string { return fmt.Sprintf("%s/%d", s.arm.Name, s.point) }

// open opens or starts the journal. done are the trials that ended, tries how
// often others were begun: a trial that was killed is made again.
func (r *Runner) open() (done map[string]bool, tries map[string]int, err error) {
	done, tries, r.counts = map[string]bool{}, map[string]int{}, map[string]int{}
	e := r.Experiment
	if _, err := os.Stat(r.Journal); errors.Is(err, os.ErrNotExist) {
		h := e.header()
		if h.Environment, err = e.environment(); err != nil {
			return nil, nil, err
		}
		r.w, err = Create(r.Journal, h)
		return done, tries, err
	}
	w, j, err := Resume(r.Journal)
	if err != nil {
		return nil, nil, err
	}
	if j.Hash != e.Hash() {
		w.Close()
		return nil, nil, fmt.Errorf("%s: %w", r.Journal, ErrChanged)
	}
	points := map[string]int{}
	for i, at := range Points(j.Axes) {
		points[strings.Join(at, ",")] = i
	}
	for _, t := range j.Trials {
		id, _, _ := strings.Cut(t.ID, "#")
		done[id] = true
		if t.Outcome == Fault {
			r.counts[fmt.Sprintf("%s/%d", t.Arm, points[strings.Join(t.At, ",")])]++
		}
	}
	for _, t := range j.Open {
		id, _, _ := strings.Cut(t.ID, "#")
		tries[id]++
	}
	r.w = w
	return done, tries, nil
}

// prepare finds the answers that trials are compared with.
func (r *Runner) prepare(ctx context.Context) error {
	ref := r.Experiment.Reference
	if ref == nil {
		return nil
	}
	r.references = map[int][]byte{}
	points := Points(r.Experiment.header().Axes)
	for p, at := range points {
		if ref.File != "" {
			b, err := os.ReadFile(ref.File)
			if err != nil {
				return fmt.Errorf("lab: reference: %w", err)
			}
			r.references[p] = b
			continue
		}
		var answers [][]byte
		for n := range max(ref.Runs, 1) {
			s := &slot{r.Experiment.arm(ref.Arm), at, -n, p}
			got := r.Experiment.run(ctx, s.arm, s.values(r.Experiment))
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if got.err != nil {
				return fmt.Errorf("lab: reference: %w", got.err)
			}
			answers = append(answers, got.out)
		}
		answer, n := modal(answers)
		r.references[p] = answer
		h := sha256.Sum256(answer)
		text := fmt.Sprintf("%s: %d of %d runs of %s gave %d bytes, sha256 %s", strings.Join(at, ","), n, len(answers), ref.Arm, len(answer), hex.EncodeToString(h[:8]))
		if err := r.w.Event("reference", text, time.Now()); err != nil {
			return err
		}
	}
	return nil
}

// trial makes one and writes it down, before and after.
func (r *Runner) trial(ctx context.Context, s *slot, tries int) (*Trial, error) {
	t := &Trial{ID: s.id(), Arm: s.arm.Name, At: s.at}
	if tries > 0 {
		t.ID += fmt.Sprintf("#%d", tries+1)
	}
	t.Start, _ = clock.Both()
	if err := r.w.Started(t, now()); err != nil {
		return nil, err
	}
	if err := r.make(ctx, s, t); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, ctx.Err() // it has no end, and is made again
	}
	if t.Outcome == Fault {
		r.counts[s.cell()]++
	}
	t.End, _ = clock.Both()
	return t, r.w.Ended(t, now())
}

// make makes a trial: pressure, regime, program.
func (r *Runner) make(ctx context.Context, s *slot, t *Trial) (err error) {
	e, values := r.Experiment, s.values(r.Experiment)
	if s.arm.Pressure != "" {
		x, reason, perr := e.pressure(s.arm.Pressure).start(ctx, values)
		defer func() { err = errors.Join(err, x.stop()) }()
		if perr != nil {
			r.unstarted++
			t.Outcome, t.Reason = Invalid, perr.Error()
			return nil
		}
		if reason != "" {
			t.Outcome, t.Reason = OutOfRegime, reason
			return nil
		}
	}
	if e.Regime != nil {
		ok, shows, gerr := e.Regime.in()
		switch {
		case gerr != nil:
			t.Outcome, t.Reason = Invalid, gerr.Error()
			return nil
		case !ok:
			t.Outcome, t.Reason = OutOfRegime, shows
			return nil
		}
	}
	got := e.run(ctx, s.arm, values)
	e.classify(t, &got, r.references[s.point])
	if got.err != nil {
		r.unstarted++
	} else {
		r.unstarted = 0
	}
	return nil
}

func now() Clocks {
	wall, boot := clock.Both()
	return Clocks{wall, boot}
}

// hashFile is the SHA-256 of a file, in hex.
func hashFile(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
