package trace

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/holdfast-llm/holdfast/internal/golden"
)

const ms = int64(1e6)

// scene is requests of 10 ms every 20 ms, with an eviction in each that has one.
func scene(n int, bad, hit func(i int) bool) (*Trace, *Requests) {
	t, rs := &Trace{Clock: "boot"}, &Requests{Clock: "boot"}
	for i := range n {
		start := int64(i+1) * 20 * ms
		rs.List = append(rs.List, Request{ID: fmt.Sprint(i), Start: start, End: start + 10*ms, Bad: bad(i)})
		at := start + 15*ms // between two requests
		if hit(i) {
			at = start + 5*ms
		}
		t.Events = append(t.Events, Event{Kind: QueueEviction, At: at, Until: at, Timed: true, PID: 7})
	}
	return t, rs
}

func options() CorrelateOptions {
	return CorrelateOptions{Margins: []int64{0, 5 * ms, 20 * ms}, Conf: 0.95, Draws: 2000, Seed: 1}
}

func TestWhatComesTogetherIsFound(t *testing.T) {
	odd := func(i int) bool { return i%2 == 1 }
	tr, rs := scene(40, odd, odd)
	c, err := Correlate(tr, rs, options())
	if err != nil {
		t.Fatal(err)
	}
	x := c.Overlaps[0]
	if x.Bad.K != 20 || x.Bad.N != 20 || x.Good.K != 0 || x.Good.N != 20 || x.Fisher > 1e-9 || x.Permutation.P > 0.01 || x.EventsInside != 20 {
		t.Errorf("%+v", x)
	}
	if y := c.Overlaps[2]; y.Bad.K != 20 || y.Good.K != 20 || y.EventsInside != 40 {
		t.Errorf("within 20 ms all have one: %+v", y)
	}
	if !strings.Contains(c.verdict(), "more often") {
		t.Error(c.verdict())
	}
}

// Events at random, requests bad at random: of 200 such scenes about 1 in 20 at most may
// look like a connection.
func TestWhatDoesNotComeTogetherIsNot(t *testing.T) {
	found := 0
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		pick := func(int) bool { return r.IntN(2) == 1 }
		tr, rs := scene(60, pick, pick)
		o := options()
		o.Draws, o.Margins = 100, []int64{0, 5 * ms}
		c, err := Correlate(tr, rs, o)
		if err != nil {
			t.Fatal(err)
		}
		if c.Overlaps[0].Holm <= 0.05 {
			found++
		}
	}
	if found > 18 { // 10 expected at most; more than 18 has a chance of 0.6 %
		t.Errorf("%d of 200 unrelated scenes look related", found)
	}
}

// TestCountAgainstLooking compares the index with looking at every span.
func TestCountAgainstLooking(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var spans []span
	for range 50 {
		from := r.Int64N(1000)
		spans = append(spans, span{from, from + r.Int64N(30)})
	}
	index := newSpans(spans)
	for range 500 {
		from := r.Int64N(1000)
		to := from + r.Int64N(40)
		want := 0
		for _, s := range spans {
			if s.from <= to && s.to >= from {
				want++
			}
		}
		if got := index.count(from, to); got != want {
			t.Fatalf("[%d, %d]: %d, want %d", from, to, got, want)
		}
	}
}

func TestCorrelationIsPrinted(t *testing.T) {
	tr, rs := scene(40, func(i int) bool { return i%2 == 1 }, func(i int) bool { return i%4 == 1 })
	tr.Dropped, tr.Clock = 3, "profiler"
	c, err := Correlate(tr, rs, options())
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := c.Write(&b); err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "correlate.txt", b.String())
}

func TestNothingToCompareIsAnError(t *testing.T) {
	never := func(int) bool { return false }
	tr, rs := scene(5, never, never)
	if _, err := Correlate(tr, rs, options()); err == nil || !strings.Contains(err.Error(), "0 of 5 requests are bad") {
		t.Error(err)
	}
	tr, rs = scene(5, func(i int) bool { return i == 1 }, never)
	o := options()
	o.Kinds = []Kind{Unmap}
	if _, err := Correlate(tr, rs, o); err == nil || !strings.Contains(err.Error(), "none of 5 events is a timed one of the kinds unmap") {
		t.Error(err)
	}
}

func TestRequests(t *testing.T) {
	for name, c := range map[string]struct {
		text, want string // ids, with ! for the bad, or the error
	}{
		"json": {`{"kind":"header"}
{"id":1,"start":{"boot":5},"end":{"boot":6},"divergent":true}
{"id":2,"start":{"boot":5},"end":{"boot":6},"divergent":false}
{"id":3,"start":{"boot":5},"end":{"boot":6},"faces":["timeout"]}
{"id":4,"start":{"boot":7},"end":{"boot":6}}
{"id":5,"sta`, "1! 2 3!"},
		"a broken line that is not the last": {"{\"id\":1}\n{\"id\"\n{\"id\":1}\n", "line 2: trace: unexpected end of JSON input"},
		"csv":                                {"start,end,bad,id\n1,2,true,a\n3,4,0,b\n", "a! b"},
		"csv without ids":                    {"t0,t1,divergent\n1,2,1\n3,4,false\n", "1! 2"},
		"csv without a column":               {"start,bad\n1,1\n", "no column end among start, bad"},
		"csv that ends before it starts":     {"start,end,bad\n5,4,1\n", "record 2: ends at 4, before its start at 5"},
		"nothing":                            {"", "EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			rs, err := ReadRequests("f", strings.NewReader(c.text))
			if err != nil {
				if !strings.Contains(err.Error(), c.want) {
					t.Errorf("%v, want %q", err, c.want)
				}
				return
			}
			var got []string
			for _, r := range rs.List {
				mark := ""
				if r.Bad {
					mark = "!"
				}
				got = append(got, r.ID+mark)
			}
			if s := strings.Join(got, " "); s != c.want {
				t.Errorf("%q, want %q", s, c.want)
			}
		})
	}
}

func FuzzReadRequests(f *testing.F) {
	f.Add("start,end,bad\n1,2,1\n")
	f.Add("{\"id\":1,\"start\":{\"boot\":5},\"end\":{\"boot\":6}}\n")
	f.Fuzz(func(t *testing.T, s string) {
		rs, err := ReadRequests("f", strings.NewReader(s))
		if err != nil {
			return
		}
		for _, r := range rs.List {
			if r.End < r.Start {
				t.Errorf("%+v", r)
			}
		}
	})
}
