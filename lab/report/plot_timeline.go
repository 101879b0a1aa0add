package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-llm/holdfast/lab"
)

// timeline is the plot of the trials and events over time: a lane for each arm,
// and one for each kind of event.
type timeline struct {
	Ticks []tick
	Lanes []lane
	From  time.Time
}

type lane struct {
	Label string
	Hue   int // of the arm; -1 for events
	Marks []mark
}

// mark is a trial, an event, or several that lie too near to be told apart.
type mark struct {
	X, Width string
	Class    string // of the outcome, or "event"
	Title    string
}

// timelineBins bounds a lane's marks of one kind, however many trials there are.
const timelineBins = 800

// stretch is a mark being gathered, its ends as shares of the whole time.
type stretch struct {
	from, to float64
	class    string
	first    string // what a single one says
	n        int
}

func (rep *Report) timeline() *timeline {
	whole := rep.End.Sub(rep.Start)
	if whole <= 0 {
		return nil
	}
	share := func(t time.Time) float64 { return float64(t.Sub(rep.Start)) / float64(whole) }
	t := &timeline{From: rep.Start, Ticks: timeTicks(whole)}
	for _, arm := range rep.Run.Arms {
		var all []stretch
		for i := range rep.Run.Trials {
			x := &rep.Run.Trials[i]
			if x.Arm != arm || x.Start.IsZero() {
				continue
			}
			title := fmt.Sprintf("trial %s: %s", x.ID, x.Outcome)
			if at := rep.Run.Where(x.At); at != "" {
				title += ", " + at
			}
			if because := why(x); because != "" {
				title += ": " + because
			}
			all = append(all, stretch{share(x.Start), share(x.End), strings.ReplaceAll(string(x.Outcome), " ", "-"), title, 1})
		}
		t.Lanes = append(t.Lanes, lane{arm, rep.hue(arm), gather(all)})
	}
	kinds := map[string][]stretch{}
	for _, e := range rep.Run.Events {
		title := e.Kind
		if e.Text != "" {
			title += ": " + oneLine(e.Text)
		}
		kinds[e.Kind] = append(kinds[e.Kind], stretch{share(e.At), share(e.At), "event", title, 1})
	}
	var names []string
	for k := range kinds {
		names = append(names, k)
	}
	slices.Sort(names)
	for _, k := range names {
		t.Lanes = append(t.Lanes, lane{k, -1, gather(kinds[k])})
	}
	return t
}

// gather joins those of a class that start within one bin. Faults come last, and
// so lie over the others.
func gather(all []stretch) (marks []mark) {
	slices.SortStableFunc(all, func(a, b stretch) int {
		return cmp.Or(rank(a.class)-rank(b.class), cmp.Compare(a.class, b.class), cmp.Compare(a.from, b.from))
	})
	var joined []stretch
	for _, s := range all {
		if n := len(joined); n > 0 {
			last := &joined[n-1]
			if last.class == s.class && int(last.from*timelineBins) == int(s.from*timelineBins) {
				last.n++
				last.to = max(last.to, s.to)
				continue
			}
		}
		joined = append(joined, s)
	}
	for _, s := range joined {
		title := s.first
		if s.n > 1 {
			title = fmt.Sprintf("%d: %s, and more", s.n, s.first)
		}
		marks = append(marks, mark{place(s.from), place(max(s.to-s.from, 0.0012)), s.class, title})
	}
	return marks
}

// rank puts faults after all else.
func rank(class string) int {
	if class == string(lab.Fault) {
		return 1
	}
	return 0
}

// timeTicks are places at whole steps of time.
func timeTicks(whole time.Duration) (ts []tick) {
	const most = 5
	step := time.Millisecond
	for _, s := range []time.Duration{
		5 * time.Millisecond, 20 * time.Millisecond, 100 * time.Millisecond, 500 * time.Millisecond,
		time.Second, 2 * time.Second, 5 * time.Second, 15 * time.Second, 30 * time.Second,
		time.Minute, 2 * time.Minute, 5 * time.Minute, 15 * time.Minute, 30 * time.Minute,
		time.Hour, 2 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour, 7 * 24 * time.Hour, 30 * 24 * time.Hour,
	} {
		if whole/step < most {
			break
		}
		step = s
	}
	for whole/step > 2*most { // years
		step *= 2
	}
	for at := time.Duration(0); at <= whole; at += step {
		t := tick{X: place(float64(at) / float64(whole)), Label: short(at), Anchor: "middle"}
		if at == 0 {
			t.Anchor = "start"
		} else if float64(at) > 0.93*float64(whole) {
			t.Anchor = "end"
		}
		ts = append(ts, t)
	}
	return ts
}

// short is a duration without its zeros: "2h", not "2h0m0s".
func short(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
