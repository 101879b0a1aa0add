package lab

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

func header() *Header {
	return &Header{
		Name: "split", Hash: "3f", Text: "name = \"split\"\n", Arms: []string{"bug", "fix"},
		Axes: []Axis{{"depth", []string{"63", "2100"}}}, Planned: 2,
		Claims:      []Claim{{Kind: Lower, Arm: "fix", Against: "bug", Conf: 0.95}},
		Environment: []Field{{"kernel", "6.17"}},
	}
}

var noon = time.Date(2026, 10, 3, 12, 0, 0, 123456789, time.UTC)

// journal writes a journal of three trials, the last of which does not end.
func journal(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "split.jsonl")
	w, err := Create(path, header())
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	steps := []error{
		w.Started(&Trial{ID: "1", Arm: "bug", At: []string{"63"}}, Clocks{noon, 5}),
		w.Event("evict", "node 1", noon.Add(time.Second)),
		w.Ended(&Trial{ID: "1", Outcome: Fault, Faces: []string{"NaN"}}, Clocks{noon.Add(2 * time.Second), 7}),
		w.Started(&Trial{ID: "2", Arm: "fix", At: []string{"63"}}, Clocks{noon.Add(3 * time.Second), 9}),
		w.Ended(&Trial{ID: "2", Outcome: Invalid, Reason: "no such\nfile"}, Clocks{noon.Add(4 * time.Second), 9}),
		w.Started(&Trial{ID: "3", Arm: "fix", At: []string{"2100"}}, Clocks{Wall: noon.Add(5 * time.Second)}),
	}
	for i, err := range steps {
		if err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
	}
	return path
}

func TestAJournalTellsWhatWasWritten(t *testing.T) {
	f, err := os.Open(journal(t))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	j, err := ReadJournal("x", f)
	if err != nil {
		t.Fatal(err)
	}
	h := header()
	h.Format, h.Conf = JournalFormat, 0.95
	want := &Journal{
		Header: *h,
		Trials: []Trial{
			{"1", "bug", []string{"63"}, Fault, []string{"NaN"}, "", "", noon, noon.Add(2 * time.Second)},
			{"2", "fix", []string{"63"}, Invalid, nil, "no such\nfile", "", noon.Add(3 * time.Second), noon.Add(4 * time.Second)},
		},
		Events: []Event{{noon.Add(time.Second), "evict", "node 1"}},
		Open:   []Trial{{ID: "3", Arm: "fix", At: []string{"2100"}, Start: noon.Add(5 * time.Second)}},
		Size:   j.Size,
	}
	if !reflect.DeepEqual(j, want) {
		t.Errorf("got  %+v\nwant %+v", j, want)
	}
}

// TestAJournalMayEndAnywhere cuts a journal at every byte: each prefix with a
// whole first line is read, its whole lines count, and it can be resumed.
func TestAJournalMayEndAnywhere(t *testing.T) {
	path := journal(t)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	first := bytes.IndexByte(whole, '\n') + 1
	ends := [][]byte{[]byte(`"end":{"id":"1"`), []byte(`"end":{"id":"2"`)}
	cut := filepath.Join(t.TempDir(), "cut.jsonl")
	for n := range len(whole) + 1 {
		part := whole[:n]
		j, err := ReadJournal("x", bytes.NewReader(part))
		if n < first {
			if err == nil {
				t.Fatalf("a journal of %d bytes, less than its header, is read", n)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%d bytes: %v", n, err)
		}
		lines := part[:bytes.LastIndexByte(part, '\n')+1]
		trials := 0
		for _, e := range ends {
			trials += bytes.Count(lines, e)
		}
		if len(j.Trials) != trials || j.Cut != (len(lines) < n) || j.Size != int64(len(lines)) {
			t.Fatalf("%d bytes: %d trials of %d, cut %v, size %d of %d", n, len(j.Trials), trials, j.Cut, j.Size, len(lines))
		}
		if n%7 != 0 { // each resumption waits for the disk
			continue
		}
		if err := os.WriteFile(cut, part, 0o666); err != nil {
			t.Fatal(err)
		}
		w, j, err := Resume(cut)
		if err != nil {
			t.Fatalf("%d bytes: resumed: %v", n, err)
		}
		if err := w.Event("resumed", "", noon); err != nil {
			t.Fatal(err)
		}
		w.Close()
		f, err := os.Open(cut)
		if err != nil {
			t.Fatal(err)
		}
		again, err := ReadJournal("x", f)
		f.Close()
		if err != nil || again.Cut || len(again.Trials) != trials || len(again.Events) != len(j.Events)+1 {
			t.Fatalf("%d bytes: after resuming: %+v, %v", n, again, err)
		}
	}
}

func TestBadJournals(t *testing.T) {
	const head = `{"header":{"format":1,"name":"x","sha256":"","text":"","arms":["a","b"],"confidence":0.95,"trials":1}}` + "\n"
	for _, c := range []struct{ name, text, want string }{
		{"an empty file", "", "x: no journal: it has no whole line"},
		{"another file", "GGUF\x03\x00\n", "x:1: lab: not a line of a journal"},
		{"no header", `{"event":{"at":"2026-10-03T12:00:00Z","kind":"e"}}` + "\n", "x:1: lab: a journal has one header"},
		{"two headers", head + head, "x:2: lab: a journal has one header"},
		{"a later format", strings.Replace(head, `"format":1`, `"format":2`, 1), "x:1: lab: a journal of format 2; this version reads 1"},
		{"no arms", strings.Replace(head, `["a","b"]`, `[]`, 1), "without arms"},
		{"a confidence of certainty", strings.Replace(head, `0.95`, `1`, 1), "confidence 1 is not between"},
		{"a huge matrix", strings.Replace(head, `"trials"`, `"axes":[`+strings.Repeat(`{"name":"d","values":["1","2","3","4"]},`, 40)+`{"name":"d","values":["1"]}],"trials"`, 1), "more than 100000 arms and points"},
		{"a claim of no arm", strings.Replace(head, `"trials"`, `"claims":[{"kind":"at most","arm":"c","rate":0.1,"confidence":0.95}],"trials"`, 1), `claim 1: no arm "c"`},
		{"a claim of no kind", strings.Replace(head, `"trials"`, `"claims":[{"kind":"is","arm":"a","confidence":0.95}],"trials"`, 1), `claim 1: no kind "is"`},
		{"an end without a start", head + `{"end":{"id":"7","outcome":"clean","wall":"2026-10-03T12:00:00Z"}}` + "\n", `x:2: lab: trial "7" ends and did not start`},
		{"a trial that starts twice", head + strings.Repeat(`{"start":{"id":"7","arm":"a","wall":"2026-10-03T12:00:00Z"}}`+"\n", 2), `x:3: lab: trial "7" starts twice`},
		{"a trial that ends twice", head + `{"start":{"id":"7","arm":"a","wall":"2026-10-03T12:00:00Z"}}` + "\n" + strings.Repeat(`{"end":{"id":"7","outcome":"clean","wall":"2026-10-03T12:00:00Z"}}`+"\n", 2), `x:4: lab: trial "7" ends twice`},
		{"an unknown outcome", head + `{"start":{"id":"7","arm":"a","wall":"2026-10-03T12:00:00Z"}}` + "\n" + `{"end":{"id":"7","outcome":"fine","wall":"2026-10-03T12:00:00Z"}}` + "\n", `no outcome "fine"`},
		{"an unknown field", head + `{"pause":{}}` + "\n", "unknown field"},
		{"an empty line", head + "\n", "x:2: lab: not a line"},
		{"a line of nothing", head + "{}\n", "x:2: lab: a line with nothing in it"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ReadJournal("x", strings.NewReader(c.text))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

func TestAJournalIsNotWrittenOver(t *testing.T) {
	path := journal(t)
	if _, err := Create(path, header()); !os.IsExist(err) {
		t.Errorf("%v", err)
	}
	if _, _, err := Resume(path + ".not"); !os.IsNotExist(err) {
		t.Errorf("%v", err)
	}
	bad := header()
	bad.Arms = nil
	if _, err := Create(path+".bad", bad); err == nil {
		t.Error("a header without arms is written")
	}
}

func FuzzReadJournal(f *testing.F) {
	f.Add([]byte(`{"header":{"format":1,"name":"x","sha256":"","text":"","arms":["a"],"confidence":0.95,"trials":1}}` + "\n" + `{"start":{"id":"1","arm":"a","wall":"2026-10-03T12:00:00Z"}}` + "\n" + `{"end":{"id":"1","outcome":"clean","wall":"2026-10-03T12:00:00Z"}}` + "\n{"))
	f.Fuzz(func(t *testing.T, b []byte) {
		j, err := ReadJournal("x", bytes.NewReader(b))
		if err == nil && (j.Size > int64(len(b)) || len(j.Arms) == 0) {
			t.Errorf("%+v", j)
		}
	})
}
