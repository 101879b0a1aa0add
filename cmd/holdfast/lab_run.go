package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/holdfast-llm/holdfast/internal/cli"
	"github.com/holdfast-llm/holdfast/lab"
)

// labRun are the flags of lab run.
type labRun struct {
	journal string
	fresh   bool
	quiet   bool
}

func labRunMain(ctx context.Context, args []string, _ io.Reader, stdout, stderr io.Writer) int {
	var o labRun
	f := &cli.FlagSet{
		Synopsis: "holdfast lab run [flags] EXPERIMENT.toml",
		About: "Make the trials that an experiment's file describes, and write each down as it ends.\n" +
			"Run again, it goes on where it was stopped or killed. lab report says what the trials show.",
		Examples: []string{
			"holdfast lab run split.toml",
			"holdfast lab run split.toml --journal /data/split.jsonl",
			"holdfast lab report split.jsonl",
		},
	}
	f.String(&o.journal, "--journal FILE", "where trials are written down; the experiment's file with .jsonl, if absent")
	f.Bool(&o.fresh, "--new", "start another journal, with a number behind its name")
	f.Bool(&o.quiet, "-q, --quiet", "no line for each trial")
	rest, err := f.Parse(args, os.LookupEnv)
	if err == nil && len(rest) != 1 {
		err = cli.Usagef("want one experiment, got %d", len(rest))
	}
	if err == nil {
		err = o.run(ctx, rest[0], stdout, stderr)
	}
	return finish(f, "lab run", err, stdout, stderr)
}

func (o *labRun) run(ctx context.Context, path string, stdout, stderr io.Writer) error {
	e, err := lab.ReadExperiment(path)
	if err != nil {
		return err
	}
	if o.journal == "" {
		o.journal = strings.TrimSuffix(path, filepath.Ext(path)) + ".jsonl"
	}
	if o.fresh {
		o.journal = unused(o.journal)
	}
	r := &lab.Runner{Experiment: e, Journal: o.journal}
	if !o.quiet {
		r.Progress = newTrialLines(stderr).show
	}
	err = r.Run(ctx)
	if errors.Is(err, lab.ErrChanged) {
		return fmt.Errorf("%w; --new starts another journal", err)
	}
	if err == nil {
		fmt.Fprintf(stdout, "all trials are made: holdfast lab report %s\n", o.journal)
	}
	return err
}

// unused is the first name of a journal that is not taken: x.jsonl, x-2.jsonl.
func unused(path string) string {
	ext := filepath.Ext(path)
	base := strings.TrimSuffix(path, ext)
	for n := 2; ; n++ {
		if _, err := os.Lstat(path); errors.Is(err, os.ErrNotExist) {
			return path
		}
		path = fmt.Sprintf("%s-%d%s", base, n, ext)
	}
}

// trialLines are a line for each trial, with counts for each arm.
type trialLines struct {
	w      io.Writer
	start  time.Time
	made   int
	arms   []string
	counts map[string]*[2]int // faults and clean trials
}

func newTrialLines(w io.Writer) *trialLines {
	return &trialLines{w: w, start: time.Now(), counts: map[string]*[2]int{}}
}

func (l *trialLines) show(done, all int, t *lab.Trial) {
	l.made++
	c := l.counts[t.Arm]
	if c == nil {
		c = &[2]int{}
		l.counts[t.Arm] = c
		l.arms = append(l.arms, t.Arm)
	}
	switch t.Outcome {
	case lab.Fault:
		c[0]++
	case lab.Clean:
		c[1]++
	}
	var counts []string
	for _, a := range l.arms {
		counts = append(counts, fmt.Sprintf("%s %d/%d", a, l.counts[a][0], l.counts[a][0]+l.counts[a][1]))
	}
	left := time.Duration(0)
	if done < all {
		left = time.Since(l.start) / time.Duration(l.made) * time.Duration(all-done)
	}
	what := string(t.Outcome)
	if len(t.Faces) > 0 {
		what += " (" + strings.Join(t.Faces, ", ") + ")"
	} else if t.Reason != "" {
		what += " (" + t.Reason + ")"
	}
	fmt.Fprintf(l.w, "%d of %d, about %v left; faults: %s; %s: %s\n", done, all, left.Round(time.Second), strings.Join(counts, ", "), t.ID, what)
}
