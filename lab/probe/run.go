package probe

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"

	"github.com/holdfast-llm/holdfast/internal/clock"
)

func itoa(n int) string { return strconv.Itoa(n) }

func now() Moment {
	wall, boot := clock.Both()
	return Moment{wall, boot}
}

// Run asks as the options say. each, if not nil, gets every answer when it is there,
// one at a time. A canceled context ends the probe with what there is.
func Run(ctx context.Context, o Options, each func(*Answer)) (*Result, error) {
	if o.Requests < 1 || o.Concurrency < 1 || o.Timeout <= 0 || o.Distractors < 0 {
		return nil, fmt.Errorf("probe: %d requests, %d at a time, %d distractors, a timeout of %s", o.Requests, o.Concurrency, o.Distractors, o.Timeout)
	}
	r := &Result{Options: o, Target: strings.Join(o.Command, " "), API: Command}
	var ask func(ctx context.Context, prompt string, a *Answer)
	if len(o.Command) > 0 {
		if o.Distractors > 0 {
			return nil, fmt.Errorf("probe: a command has no distractors")
		}
		ask = func(ctx context.Context, _ string, a *Answer) { runCommand(ctx, &o, o.Command, a) }
	} else {
		c, err := newClient(&o)
		if err != nil {
			return nil, err
		}
		defer c.http.CloseIdleConnections()
		ask, r.Target, r.API = c.ask, c.url, c.api
	}
	w := &workers{o: &o, ask: ask, each: each, result: r}
	ctx, w.cancel = context.WithCancel(ctx)
	defer w.cancel()
	var wg sync.WaitGroup
	for range min(o.Concurrency, o.Requests) {
		wg.Go(func() { w.work(ctx) })
	}
	wg.Wait()
	r.finish()
	return r, nil
}

// workers share what is to be asked.
type workers struct {
	o      *Options
	ask    func(ctx context.Context, prompt string, a *Answer)
	each   func(*Answer)
	cancel context.CancelFunc

	mu       sync.Mutex
	next     int
	answered bool
	failed   int // in a row, since the start
	result   *Result
}

func (w *workers) work(ctx context.Context) {
	for {
		w.mu.Lock()
		w.next++
		id := w.next
		w.mu.Unlock()
		if id > w.o.Requests || ctx.Err() != nil {
			return
		}
		for i := range w.o.Distractors {
			w.one(ctx, id, distractor(w.o.Seed, id, i), true)
		}
		w.one(ctx, id, w.o.Prompt, false)
	}
}

// one asks once and keeps the answer.
func (w *workers) one(ctx context.Context, id int, prompt string, distractor bool) {
	if ctx.Err() != nil {
		return
	}
	a := &Answer{ID: id, Kind: "request", Distractor: distractor}
	if distractor {
		a.Kind = "distractor"
	}
	a.Start = now()
	w.ask(ctx, prompt, a)
	a.End = now()
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(a.Faces) > 0 && a.Faces[0] == "interrupted" {
		w.result.Interrupted++
		return
	}
	w.result.Answers = append(w.result.Answers, a)
	if w.each != nil {
		w.each(a)
	}
	switch {
	case len(a.Faces) == 0:
		w.answered = true
	case !w.answered:
		if w.failed++; w.o.GiveUp > 0 && w.failed >= w.o.GiveUp && w.result.Stopped == "" {
			w.result.Stopped = fmt.Sprintf("stopped: %d failures and no answer; the last: %s", w.failed, a.Detail)
			w.cancel()
		}
	}
}

// distractor is a prompt that differs from request to request.
func distractor(seed uint64, id, i int) string {
	r := rand.New(rand.NewPCG(seed, uint64(id)<<16|uint64(i)))
	words := []string{"river", "window", "seven", "under", "paper", "north", "quickly", "stone", "orange", "letter"}
	var b strings.Builder
	fmt.Fprintf(&b, "Story %d of %d:", r.IntN(1000), id)
	for range 3 + r.IntN(60) {
		b.WriteString(" " + words[r.IntN(len(words))])
	}
	return b.String()
}
