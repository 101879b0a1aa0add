package report

import (
	"encoding/json"
	"encoding/xml"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-llm/holdfast/lab"
)

func TestOnlyFaultsAndCleanTrialsAreInARate(t *testing.T) {
	r := of(lab.Header{Name: "x", Arms: []string{"a"}})
	r.add("a", 2, 37)
	for _, o := range []lab.Outcome{lab.Incomplete, lab.Invalid, lab.OutOfRegime} {
		r.addTrial(lab.Trial{Arm: "a", Outcome: o, Reason: "the reason of " + string(o)})
	}
	rep := New(&r.Journal)
	if got := rep.Cells[0].Faults().String(); got != "2/37" {
		t.Errorf("counted %s, want 2/37", got)
	}
	if len(rep.Left) != 3 {
		t.Errorf("%d trials in no rate, want 3", len(rep.Left))
	}
	for _, format := range []string{"text", "md", "json", "html"} {
		out := written(t, rep, format)
		for _, o := range []lab.Outcome{lab.Incomplete, lab.Invalid, lab.OutOfRegime} {
			if !strings.Contains(out, "the reason of "+string(o)) {
				t.Errorf("%s does not give the reason of %s", format, o)
			}
		}
	}
}

func TestWhatCountsSay(t *testing.T) {
	for _, c := range []struct {
		k, n int
		want string
	}{
		{0, 14, "0 of 14 cannot exclude 19 %"},
		{0, 59, "0 of 59 cannot exclude 4.9 %"}, // 4.95: rounded down, so it is true
		{0, 1, "0 of 1 cannot exclude 95 %"},
		{0, 100_000, "0 of 100000 cannot exclude 0.0029 %"},
		{5, 5, "5 of 5 cannot exclude 55 %"},
		{2, 37, "2 of 37 excludes neither 0.97 % nor 16 %"},
		{0, 0, "no trial counts: nothing is excluded"},
	} {
		r := of(lab.Header{Name: "x", Arms: []string{"a"}})
		if r.add("a", c.k, min(c.n, 1000)); c.n > 1000 {
			r.add("a", 0, c.n-1000)
		}
		if got := New(&r.Journal).Cells[0].Says; got != c.want {
			t.Errorf("%d of %d: %q, want %q", c.k, c.n, got, c.want)
		}
	}
}

func TestClaims(t *testing.T) {
	atMost := func(rate float64, trials int) lab.Claim {
		return lab.Claim{Kind: lab.AtMost, Arm: "fix", Rate: rate, Conf: 0.95, Trials: trials}
	}
	lower := lab.Claim{Kind: lab.Lower, Arm: "fix", Against: "bug", Conf: 0.95}
	differs := lab.Claim{Kind: lab.Differs, Arm: "fix", Against: "bug", Conf: 0.95}
	for _, c := range []struct {
		name     string
		bug, fix [2]int
		claim    lab.Claim
		want     Ruling
	}{
		{"59 clean trials show 5 %", [2]int{}, [2]int{0, 59}, atMost(0.05, 0), Shown},
		{"58 do not", [2]int{}, [2]int{0, 58}, atMost(0.05, 0), Undecided},
		{"nor do 59 with a fault", [2]int{}, [2]int{1, 59}, atMost(0.05, 0), Undecided},
		{"fewer than were to be are not judged", [2]int{}, [2]int{0, 59}, atMost(0.05, 60), Undecided},
		{"but a rate far above is refuted early", [2]int{}, [2]int{5, 5}, atMost(0.05, 60), Refuted},
		{"one fault refutes no 5 %", [2]int{}, [2]int{1, 10}, atMost(0.05, 0), Undecided},
		{"no trials show nothing", [2]int{}, [2]int{}, atMost(0.05, 0), Undecided},
		{"no trials show nothing between arms", [2]int{}, [2]int{}, differs, Undecided},
		{"8/8 wrong to 1/8 is lower", [2]int{7, 8}, [2]int{0, 8}, lower, Shown},
		{"the other way round is refuted", [2]int{0, 8}, [2]int{7, 8}, lower, Refuted},
		{"the other way round differs", [2]int{0, 8}, [2]int{7, 8}, differs, Shown},
		{"0/6 against 1/6 is nothing", [2]int{1, 6}, [2]int{0, 6}, lower, Undecided},
		{"2/37 against 1/25 is nothing", [2]int{2, 37}, [2]int{1, 25}, differs, Undecided},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := of(lab.Header{Name: "x", Arms: []string{"bug", "fix"}, Claims: []lab.Claim{c.claim}})
			r.add("bug", c.bug[0], c.bug[1])
			r.add("fix", c.fix[0], c.fix[1])
			rep := New(&r.Journal)
			if v := rep.Verdicts[0]; v.Ruling != c.want {
				t.Errorf("%s: %v", v.Ruling, v.Why)
			}
			if rep.Shown() != (c.want == Shown) {
				t.Error("Shown disagrees")
			}
		})
	}
}

func TestAClaimHoldsOfEveryPoint(t *testing.T) {
	r := of(lab.Header{
		Name: "x", Arms: []string{"fix"}, Axes: []lab.Axis{{Name: "depth", Values: []string{"63", "2100"}}},
		Claims: []lab.Claim{{Kind: lab.AtMost, Arm: "fix", Rate: 0.05, Conf: 0.95}},
	})
	r.add("fix", 0, 59, "63")
	r.add("fix", 0, 40, "2100")
	if v := New(&r.Journal).Verdicts[0]; v.Ruling != Undecided || !strings.HasPrefix(v.Why[0], "depth 2100: 0 of 40 cannot exclude 7.2 %; without another fault 19 more trials would do") {
		t.Errorf("%+v", v)
	}
	r.add("fix", 0, 19, "2100")
	if v := New(&r.Journal).Verdicts[0]; v.Ruling != Shown {
		t.Errorf("%+v", v)
	}
	r.add("fix", 5, 5, "63")
	if v := New(&r.Journal).Verdicts[0]; v.Ruling != Undecided { // 5 of 64 is 7.8 %, which 5 % may well give
		t.Errorf("%+v", v)
	}
	r.add("fix", 9, 9, "63")
	if v := New(&r.Journal).Verdicts[0]; v.Ruling != Refuted || !strings.HasPrefix(v.Why[0], "depth 63: 14/73") {
		t.Errorf("%+v", v)
	}
}

func TestWithoutAClaimThereIsNoVerdict(t *testing.T) {
	r := of(lab.Header{Name: "x", Arms: []string{"bug", "fix"}})
	r.add("bug", 20, 20)
	r.add("fix", 0, 20)
	rep := New(&r.Journal)
	for _, format := range Formats {
		out := strings.ToLower(written(t, rep, format))
		for _, word := range []string{"verdict", "shown", "refuted", "undecided", "<failure"} {
			if format == "json" && word == "verdict" {
				continue // an empty list of them
			}
			if strings.Contains(regexp.MustCompile(`(?s)<style>.*</style>`).ReplaceAllString(out, ""), word) {
				t.Errorf("%s says %q", format, word)
			}
		}
	}
	if !rep.Shown() || rep.Comparisons[0].Says != "lower" {
		t.Errorf("shown %v, %+v", rep.Shown(), rep.Comparisons[0])
	}
}

func TestComparisonsSayWhatTheyCouldNotShow(t *testing.T) {
	for _, c := range []struct {
		a, b [2]int
		want string
	}{
		{[2]int{0, 3}, [2]int{3, 3}, "not told apart; 3 and 3 trials never could be: the least p is 0.1"},
		{[2]int{0, 6}, [2]int{1, 6}, "not told apart"},
		{[2]int{1, 25}, [2]int{2, 37}, "not told apart; 35 % against 5.4 % would be, 4 times in 5"},
		{[2]int{0, 0}, [2]int{2, 37}, "one of them has no trial that counts"},
		{[2]int{8, 8}, [2]int{1, 8}, "higher"},
	} {
		r := of(lab.Header{Name: "x", Arms: []string{"b", "a"}})
		r.add("a", c.a[0], c.a[1])
		r.add("b", c.b[0], c.b[1])
		if got := New(&r.Journal).Comparisons[0].Says; got != c.want {
			t.Errorf("%v against %v: %q, want %q", c.a, c.b, got, c.want)
		}
	}
}

// TestHolmIsOverTheMatrix: a difference that would stand alone does not among ten.
func TestHolmIsOverTheMatrix(t *testing.T) {
	r := of(lab.Header{Name: "x", Arms: []string{"a", "b"}, Axes: []lab.Axis{{Name: "depth", Values: strings.Fields("1 2 3 4 5 6 7 8 9 10")}}})
	for _, d := range r.Axes[0].Values {
		k := 0
		if d == "4" {
			k = 5
		}
		r.add("a", 0, 16, d)
		r.add("b", k, 16, d)
	}
	c := New(&r.Journal).Comparisons[3]
	if c.P > 0.05 || c.Holm < 0.4 || c.Says != "not told apart among so many comparisons" {
		t.Errorf("%+v", c)
	}
}

func TestTrialsOfNoArmAreToldOf(t *testing.T) {
	r := of(lab.Header{Name: "x", Arms: []string{"a"}, Axes: []lab.Axis{{Name: "depth", Values: []string{"1"}}}})
	r.add("a", 1, 3, "1")
	r.add("a", 1, 2, "7")
	r.add("z", 0, 1, "1")
	rep := New(&r.Journal)
	if !slices.Contains(rep.Notes, "3 trials of no arm or point that the experiment's file has, in no rate") || rep.Cells[0].Faults().N != 3 {
		t.Errorf("%q, %+v", rep.Notes, rep.Cells)
	}
	if len(New(&r.Journal).Notes) != 1 {
		t.Error("notes pile up")
	}
}

// TestHostileTextStaysText: names, reasons and the file come from outside.
func TestHostileTextStaysText(t *testing.T) {
	evil := "</title></text><script>alert(1)</script>\" onload='x' \x00\xff | `%s` ]]>"
	r := of(lab.Header{
		Name: evil, Hash: evil, Text: evil, Arms: []string{evil, "b"}, Axes: []lab.Axis{{Name: evil, Values: []string{evil}}},
		Environment: []lab.Field{{Key: evil, Value: evil}},
		Claims:      []lab.Claim{{Kind: lab.Lower, Arm: evil, Against: "b", Conf: 0.95}},
	})
	r.Events = []lab.Event{{At: start, Kind: evil, Text: evil}}
	r.addTrial(lab.Trial{Arm: evil, At: []string{evil}, Outcome: lab.Fault, Faces: []string{evil}})
	r.addTrial(lab.Trial{Arm: "b", At: []string{evil}, Outcome: lab.Invalid, Reason: strings.Repeat(evil+"\n", 1000)})
	rep := New(&r.Journal)
	if out := written(t, rep, "html"); strings.Contains(out, "<script") || strings.Contains(out, "onload='x'") {
		t.Error("markup goes through")
	}
	for d := xml.NewDecoder(strings.NewReader(written(t, rep, "junit"))); ; {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if !json.Valid([]byte(written(t, rep, "json"))) {
		t.Error("the JSON is none")
	}
	if out := written(t, rep, "text"); len(out) > 8000 {
		t.Errorf("a reason of many lines makes %d bytes", len(out))
	}
	for _, line := range strings.Split(written(t, rep, "md"), "\n") {
		if strings.HasPrefix(line, "|") && strings.Contains(line, "<script") {
			t.Errorf("markup goes through: %s", line)
		}
	}
}

// TestPageIsComplete: it needs nothing from elsewhere and is of a size to send.
func TestPageIsComplete(t *testing.T) {
	r := campaign()
	for range 60 { // some 17,000 trials
		r.Trials = append(r.Trials, r.Trials[:288]...)
	}
	out := written(t, New(&r.Journal), "html")
	if len(out) > 1<<20 {
		t.Errorf("%d bytes for %d trials", len(out), len(r.Trials))
	}
	if found := regexp.MustCompile(`(?i)(src=|href=|url\(|@import|https?:|<script|<link)`).FindString(out); found != "" {
		t.Errorf("the page has %q", found)
	}
	if strings.Contains(out, "ZgotmplZ") {
		t.Error("the template refused a value")
	}
}

func TestAnEmptyRunHasAReport(t *testing.T) {
	for _, h := range []lab.Header{{}, {Name: "nothing yet", Arms: []string{"a", "b"}, Axes: []lab.Axis{{Name: "depth"}}}, {Name: "no trial", Arms: []string{"a", "b"}, Planned: 3}} {
		rep := New(&of(h).Journal)
		for _, format := range Formats {
			if written(t, rep, format) == "" {
				t.Errorf("%q: no %s", h.Name, format)
			}
		}
	}
	if err := New(&of(lab.Header{}).Journal).Write(io.Discard, "pdf"); err == nil || !strings.Contains(err.Error(), `no format "pdf"`) {
		t.Errorf("pdf: %v", err)
	}
}
