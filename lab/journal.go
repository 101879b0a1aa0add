package lab

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"
)

// Header is a journal's first line: what was to be done, and where, written
// before the first trial.
type Header struct {
	Format  int      `json:"format"`
	Name    string   `json:"name"`
	Hash    string   `json:"sha256"` // of Text
	Text    string   `json:"text"`   // the experiment's file
	Arms    []string `json:"arms"`
	Axes    []Axis   `json:"axes,omitempty"` // of the matrix
	Conf    float64  `json:"confidence"`
	Claims  []Claim  `json:"claims,omitempty"`
	Planned int      `json:"trials"` // of each arm at each point
	// Unusual is the face of trials whose answer is not the modal one of their arm
	// and point; empty if answers are not compared.
	Unusual     string  `json:"unusual,omitempty"`
	Environment []Field `json:"environment,omitempty"`
}

// JournalFormat is the version of the journals that this package writes.
const JournalFormat = 1

// record is a line of a journal: one of its parts is set.
type record struct {
	Header *Header  `json:"header,omitempty"`
	Start  *started `json:"start,omitempty"`
	End    *ended   `json:"end,omitempty"`
	Event  *Event   `json:"event,omitempty"`
}

// Clocks are the two clocks of a moment: the wall's, and that of the machine
// since it started, which sleeps with it on no system where it can be told
// (CLOCK_BOOTTIME), in nanoseconds; 0 where there is none.
type Clocks struct {
	Wall time.Time `json:"wall"`
	Boot int64     `json:"boot,omitempty"`
}

type started struct {
	ID  string   `json:"id"`
	Arm string   `json:"arm"`
	At  []string `json:"at,omitempty"`
	Clocks
}

type ended struct {
	ID      string   `json:"id"`
	Outcome Outcome  `json:"outcome"`
	Faces   []string `json:"faces,omitempty"`
	Reason  string   `json:"reason,omitempty"`
	Answer  string   `json:"answer,omitempty"`
	Clocks
}

// Journal is what a journal tells.
type Journal struct {
	Header
	Trials []Trial // that ended, in the order of their ends
	Events []Event
	// Open are the trials that started and did not end: the one that is running, or
	// those that were killed with the run.
	Open []Trial
	// Cut says that the last line is not whole. It is left out.
	Cut bool
	// Size is how many bytes are whole lines.
	Size int64
}

// maxLine bounds a line of a journal: it holds an experiment's file at most.
const maxLine = 16 << 20

// ReadJournal reads a journal, that of a run under way too. A last line that does
// not end, as a kill leaves it, is left out; anything else that is not as this
// package writes it is an error with the line's number. name is for errors.
func ReadJournal(name string, r io.Reader) (*Journal, error) {
	j := &Journal{}
	open := map[string]int{} // by ID, in j.Open
	ended := map[string]bool{}
	in := bufio.NewReaderSize(r, 1<<16)
	for n := 1; ; n++ {
		line, err := readLine(in)
		if err == io.EOF {
			j.Cut = len(line) > 0
			break
		}
		if err == nil {
			err = j.add(line, n, open, ended)
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, n, err)
		}
		j.Size += int64(len(line))
	}
	if j.Format == 0 {
		return nil, fmt.Errorf("%s: no journal: it has no whole line", name)
	}
	j.Open = slices.DeleteFunc(j.Open, func(t Trial) bool { return ended[t.ID] })
	if j.Unusual != "" {
		j.compareAnswers()
	}
	return j, nil
}

// compareAnswers makes faults of the clean trials whose answer is not the modal
// one of their arm and point so far, the first of those that are as frequent. So
// what a trial was may change as long as others are made.
func (j *Journal) compareAnswers() {
	type cell struct{ arm, at string }
	counts, modal := map[cell]map[string]int{}, map[cell]string{}
	of := func(t *Trial) cell { return cell{t.Arm, strings.Join(t.At, "\x00")} }
	for i := range j.Trials {
		if t := &j.Trials[i]; t.Answer != "" && t.Outcome.Counts() {
			c := of(t)
			if counts[c] == nil {
				counts[c] = map[string]int{}
			}
			counts[c][t.Answer]++
		}
	}
	for i := range j.Trials { // in their order, for the first of equals
		t := &j.Trials[i]
		if c := of(t); counts[c][t.Answer] > counts[c][modal[c]] {
			modal[c] = t.Answer
		}
	}
	for i := range j.Trials {
		t := &j.Trials[i]
		if t.Answer == "" || !t.Outcome.Counts() || t.Answer == modal[of(t)] {
			continue
		}
		t.Faces = append(t.Faces, j.Unusual)
		t.Outcome = Fault
	}
}

// readLine is a line with its end, or io.EOF with what there was of one.
func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		if line = append(line, part...); len(line) > maxLine {
			return nil, fmt.Errorf("lab: a line of more than %d bytes", maxLine)
		}
		if err != bufio.ErrBufferFull {
			return line, err
		}
	}
}

func (j *Journal) add(line []byte, n int, open map[string]int, done map[string]bool) error {
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	var r record
	if err := d.Decode(&r); err != nil {
		return fmt.Errorf("lab: not a line of a journal: %w", err)
	}
	if first := n == 1; first != (r.Header != nil) {
		return fmt.Errorf("lab: a journal has one header, on its first line")
	}
	switch {
	case r.Header != nil:
		j.Header = *r.Header
		return j.check()
	case r.Start != nil:
		s := r.Start
		if _, twice := open[s.ID]; twice {
			return fmt.Errorf("lab: trial %q starts twice", s.ID)
		}
		open[s.ID] = len(j.Open)
		j.Open = append(j.Open, Trial{ID: s.ID, Arm: s.Arm, At: s.At, Start: s.Wall})
	case r.End != nil:
		e := r.End
		i, ok := open[e.ID]
		switch {
		case !ok:
			return fmt.Errorf("lab: trial %q ends and did not start", e.ID)
		case done[e.ID]:
			return fmt.Errorf("lab: trial %q ends twice", e.ID)
		case !slices.Contains(Outcomes, e.Outcome):
			return fmt.Errorf("lab: trial %q: no outcome %q", e.ID, e.Outcome)
		}
		t := j.Open[i]
		t.Outcome, t.Faces, t.Reason, t.Answer, t.End = e.Outcome, e.Faces, e.Reason, e.Answer, e.Wall
		j.Trials = append(j.Trials, t)
		done[e.ID] = true
	case r.Event != nil:
		j.Events = append(j.Events, *r.Event)
	default:
		return fmt.Errorf("lab: a line with nothing in it")
	}
	return nil
}

// maxCells bounds the arms and points that a header may have.
const maxCells = 100_000

// check is of a header that may be from anywhere.
func (h *Header) check() error {
	if h.Format != JournalFormat {
		return fmt.Errorf("lab: a journal of format %d; this version reads %d", h.Format, JournalFormat)
	}
	if h.Conf == 0 {
		h.Conf = 0.95
	}
	if !(h.Conf > 0 && h.Conf < 1) {
		return fmt.Errorf("lab: confidence %v is not between 0 and 1", h.Conf)
	}
	if len(h.Arms) == 0 {
		return fmt.Errorf("lab: a journal without arms")
	}
	cells := len(h.Arms)
	for _, a := range h.Axes {
		if len(a.Values) == 0 {
			return fmt.Errorf("lab: axis %q has no values", a.Name)
		}
		if cells > maxCells/len(a.Values) {
			return fmt.Errorf("lab: more than %d arms and points", maxCells)
		}
		cells *= len(a.Values)
	}
	if h.Planned < 0 || h.Planned > math.MaxInt32 {
		return fmt.Errorf("lab: %d trials", h.Planned)
	}
	for i, c := range h.Claims {
		if err := c.check(h.Arms); err != nil {
			return fmt.Errorf("lab: claim %d: %w", i+1, err)
		}
	}
	return nil
}

func (c *Claim) check(arms []string) error {
	switch {
	case !slices.Contains([]ClaimKind{AtMost, Differs, Lower}, c.Kind):
		return fmt.Errorf("no kind %q", c.Kind)
	case !slices.Contains(arms, c.Arm):
		return fmt.Errorf("no arm %q", c.Arm)
	case c.Kind != AtMost && !slices.Contains(arms, c.Against):
		return fmt.Errorf("no arm %q", c.Against)
	case c.Kind != AtMost && c.Arm == c.Against:
		return fmt.Errorf("arm %q against itself", c.Arm)
	case c.Kind == AtMost && !(c.Rate > 0 && c.Rate < 1):
		return fmt.Errorf("rate %v is not between 0 and 1", c.Rate)
	case !(c.Conf > 0 && c.Conf < 1):
		return fmt.Errorf("confidence %v is not between 0 and 1", c.Conf)
	case c.Trials < 0:
		return fmt.Errorf("%d trials", c.Trials)
	}
	return nil
}
