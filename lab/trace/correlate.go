package trace

import (
	"fmt"
	"io"
	"slices"
	"sort"
	"strings"

	"github.com/holdfast-llm/holdfast/lab/stat"
)

// CorrelateOptions say how events and requests are compared.
type CorrelateOptions struct {
	Kinds   []Kind  // of events; nil: evictions and restores
	PID     int     // of events; 0: any
	Margins []int64 // nanoseconds, by which requests are widened on both sides
	// Shift is added to the events' times: their clock's distance from the requests'.
	Shift int64
	Conf  float64
	Draws int // of the permutation test
	Seed  uint64
}

// Overlap is how many requests had an event, at one margin.
type Overlap struct {
	Margin       int64
	Bad, Good    stat.Rate // of the requests, those with an event
	Difference   float64
	Within       stat.Interval
	Fisher       float64
	Holm         float64       // Fisher, adjusted for all margins
	EventsBad    float64       // events to a bad request, in the mean
	EventsGood   float64       // to a good one
	Permutation  stat.Permuted // of the difference of those
	EventsInside int           // events in any request
}

// Correlation is what events and requests have to do with each other.
type Correlation struct {
	Events   int // of the kinds asked for
	Requests int
	Bad      int
	// Outside is how many requests, whole, are before the first or after the last
	// event of any kind: whether the recording was on then cannot be told.
	Outside  int
	Untimed  int    // events of those kinds without a time
	Dropped  uint64 // events that were lost
	Overlaps []Overlap
	Options  CorrelateOptions
	Warnings []string
}

// Correlate asks whether bad requests had events more often than good ones.
func Correlate(t *Trace, rs *Requests, o CorrelateOptions) (*Correlation, error) {
	if o.Kinds == nil {
		o.Kinds = []Kind{QueueEviction, QueueRestore}
	}
	c := &Correlation{Requests: len(rs.List), Dropped: t.Dropped, Options: o}
	var spans []span
	first, last := int64(1<<62), int64(-1<<62)
	for i := range t.Events {
		e := &t.Events[i]
		if e.Timed {
			first, last = min(first, e.At+o.Shift), max(last, e.Until+o.Shift)
		}
		if !slices.Contains(o.Kinds, e.Kind) || o.PID != 0 && e.PID != 0 && e.PID != o.PID {
			continue
		}
		if !e.Timed {
			c.Untimed++
			continue
		}
		spans = append(spans, span{e.At + o.Shift, e.Until + o.Shift})
	}
	c.Events = len(spans)
	if c.Events == 0 {
		return nil, fmt.Errorf("trace: none of %d events is a timed one of the kinds %s", len(t.Events), joinKinds(o.Kinds))
	}
	for _, r := range rs.List {
		if r.Bad {
			c.Bad++
		}
		if r.End < first || r.Start > last {
			c.Outside++
		}
	}
	if c.Bad == 0 || c.Bad == c.Requests {
		return nil, fmt.Errorf("trace: %d of %d requests are bad: nothing to compare", c.Bad, c.Requests)
	}
	c.warn(t, rs)
	index := newSpans(spans)
	var ps []float64
	for _, m := range o.Margins {
		x := overlap(index, rs.List, m, o)
		ps = append(ps, x.Fisher)
		c.Overlaps = append(c.Overlaps, x)
	}
	for i, p := range stat.Holm(ps) {
		c.Overlaps[i].Holm = p
	}
	return c, nil
}

func (c *Correlation) warn(t *Trace, rs *Requests) {
	if t.Clock != rs.Clock && c.Options.Shift == 0 {
		say := func(s string) string {
			if s == "" {
				return "a clock that is not named"
			}
			return "the clock " + s
		}
		c.Warnings = append(c.Warnings, fmt.Sprintf("events are by %s, requests by %s: give their distance with --shift, or record both by CLOCK_BOOTTIME", say(t.Clock), say(rs.Clock)))
	}
	if c.Outside > 0 {
		c.Warnings = append(c.Warnings, fmt.Sprintf("%d requests are before the first event or after the last: was the recording on, and are the clocks the same?", c.Outside))
	}
	if c.Dropped > 0 {
		c.Warnings = append(c.Warnings, fmt.Sprintf("%d events were dropped: a request without an event may have had one", c.Dropped))
	}
	if c.Untimed > 0 {
		c.Warnings = append(c.Warnings, fmt.Sprintf("%d events have no time and are left out", c.Untimed))
	}
}

func overlap(index *spanIndex, rs []Request, margin int64, o CorrelateOptions) Overlap {
	x := Overlap{Margin: margin}
	var bad, good []float64
	for _, r := range rs {
		n := index.count(r.Start-margin, r.End+margin)
		rate, list := &x.Good, &good
		if r.Bad {
			rate, list = &x.Bad, &bad
		}
		rate.N++
		if n > 0 {
			rate.K++
		}
		*list = append(*list, float64(n))
	}
	x.EventsInside = index.inside(rs, margin)
	x.Difference, x.Within = stat.RiskDifference(x.Bad, x.Good, o.Conf)
	x.Fisher = stat.FisherExact(x.Bad, x.Good)
	x.EventsBad, x.EventsGood = mean(bad), mean(good)
	x.Permutation = stat.Permutation(bad, good, o.Draws, o.Seed)
	return x
}

func mean(xs []float64) float64 {
	sum := 0.0
	for _, x := range xs {
		sum += x
	}
	return sum / float64(len(xs))
}

// span is a closed stretch of time.
type span struct{ from, to int64 }

// spanIndex counts the spans that a stretch of time meets: those that begin before
// its end, less those that end before its start.
type spanIndex struct {
	spans    []span
	from, to []int64 // sorted
}

func newSpans(spans []span) *spanIndex {
	x := &spanIndex{spans: spans}
	for _, s := range spans {
		x.from = append(x.from, s.from)
		x.to = append(x.to, s.to)
	}
	slices.Sort(x.from)
	slices.Sort(x.to)
	return x
}

func (x *spanIndex) count(from, to int64) int {
	begun := sort.Search(len(x.from), func(i int) bool { return x.from[i] > to })
	over := sort.Search(len(x.to), func(i int) bool { return x.to[i] >= from })
	return begun - over
}

// inside is how many spans meet any request.
func (x *spanIndex) inside(rs []Request, margin int64) int {
	index := &spanIndex{}
	for _, r := range rs {
		index.from = append(index.from, r.Start-margin)
		index.to = append(index.to, r.End+margin)
	}
	slices.Sort(index.from)
	slices.Sort(index.to)
	n := 0
	for _, s := range x.spans {
		if index.count(s.from, s.to) > 0 {
			n++
		}
	}
	return n
}

func joinKinds(ks []Kind) string {
	var s []string
	for _, k := range ks {
		s = append(s, k.String())
	}
	return strings.Join(s, ", ")
}

// Write prints a correlation.
func (c *Correlation) Write(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%d events (%s), %d requests, %d of them bad\n\n", c.Events, joinKinds(c.Options.Kinds), c.Requests, c.Bad)
	fmt.Fprintf(&b, "%9s  %-17s %-17s %-24s %-17s %s\n", "margin", "bad with event", "good with event", "difference", "Fisher (Holm)", "events each: bad, good (permutation)")
	rate := func(r stat.Rate) string { return fmt.Sprintf("%s %.1f %%", r, 100*r.Value()) }
	for _, x := range c.Overlaps {
		fmt.Fprintf(&b, "%6.4g ms  %-17s %-17s %-24s %-17s %.3g, %.3g (p %.2g)\n", float64(x.Margin)/1e6, rate(x.Bad), rate(x.Good),
			fmt.Sprintf("%+.1f (%.1f to %.1f)", 100*x.Difference, 100*x.Within.Lo, 100*x.Within.Hi),
			fmt.Sprintf("p %.2g (%.2g)", x.Fisher, x.Holm), x.EventsBad, x.EventsGood, x.Permutation.P)
	}
	b.WriteString("\n" + c.verdict() + "\n")
	for _, s := range c.Warnings {
		fmt.Fprintf(&b, "warning: %s\n", s)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// verdict says the one thing that may be said.
func (c *Correlation) verdict() string {
	for _, x := range c.Overlaps {
		if x.Holm <= 1-c.Options.Conf {
			how := "more"
			if x.Difference < 0 {
				how = "less"
			}
			return fmt.Sprintf("bad requests had an event %s often (margin %.4g ms): they come together, which does not say that one causes the other", how, float64(x.Margin)/1e6)
		}
	}
	return "at no margin can bad requests be told from good ones by their events; the differences' intervals say what could be there all the same"
}
