// Package lab runs experiments: the same trials of several arms, over and over,
// each in processes of its own, written down one by one so that a kill at any
// moment loses none and counts none twice. What the trials show is computed from
// the journal by package lab/report.
package lab

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Outcome is what became of a trial.
type Outcome string

// The outcomes of trials. Only faults and clean trials are counted in a rate.
const (
	Fault       Outcome = "fault"
	Clean       Outcome = "clean"
	Incomplete  Outcome = "incomplete"
	Invalid     Outcome = "invalid"
	OutOfRegime Outcome = "out of regime"
)

// Outcomes are all of them, in the order of reports.
var Outcomes = []Outcome{Fault, Clean, Incomplete, Invalid, OutOfRegime}

// Counts reports whether a trial that ended so is counted in a rate.
func (o Outcome) Counts() bool { return o == Fault || o == Clean }

// Axis is one dimension of an experiment's matrix.
type Axis struct {
	Name   string   `json:"name"`
	Values []string `json:"values"`
}

// Points are all points of a matrix, the last axis fastest; without axes there is
// one, which has no values.
func Points(axes []Axis) [][]string {
	all := [][]string{nil}
	for _, a := range axes {
		var next [][]string
		for _, p := range all {
			for _, v := range a.Values {
				next = append(next, append(append([]string(nil), p...), v))
			}
		}
		all = next
	}
	return all
}

// Field is a fact about where an experiment ran.
type Field struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// Trial is one trial that ended.
type Trial struct {
	ID      string    `json:"id"`
	Arm     string    `json:"arm"`
	At      []string  `json:"at,omitempty"` // values of the axes
	Outcome Outcome   `json:"outcome"`
	Faces   []string  `json:"faces,omitempty"`  // by which the outcome is known
	Reason  string    `json:"reason,omitempty"` // of a trial that is not counted
	Answer  string    `json:"answer,omitempty"` // a digest of it, if trials are compared
	Start   time.Time `json:"start"`
	End     time.Time `json:"end"`
}

// Event is something that happened beside the trials: pressure that started, a
// queue that was evicted.
type Event struct {
	At   time.Time `json:"at"`
	Kind string    `json:"kind"`
	Text string    `json:"text,omitempty"`
}

// ClaimKind is what a claim says of an arm.
type ClaimKind string

// The claims that an experiment's file can make.
const (
	AtMost  ClaimKind = "at most"    // the arm's rate is at most Rate
	Differs ClaimKind = "differs"    // the arm's rate is not that of Against
	Lower   ClaimKind = "lower than" // the arm's rate is under that of Against
)

// Claim is what an experiment set out to show, of every point of its matrix.
type Claim struct {
	Kind    ClaimKind `json:"kind"`
	Arm     string    `json:"arm"`
	Against string    `json:"against,omitempty"`
	Rate    float64   `json:"rate,omitempty"`
	Conf    float64   `json:"confidence"`
	// Trials is the least number of counted trials at a point for the claim to be
	// judged at all; 0 if there is none.
	Trials int `json:"trials,omitempty"`
}

// String is the claim in words.
func (c Claim) String() string {
	switch c.Kind {
	case AtMost:
		return fmt.Sprintf("%s faults in at most %s %% of trials", c.Arm, strconv.FormatFloat(100*c.Rate, 'g', 6, 64))
	case Lower:
		return fmt.Sprintf("%s faults less often than %s", c.Arm, c.Against)
	}
	return fmt.Sprintf("%s faults at another rate than %s", c.Arm, c.Against)
}

// Where is a point of the matrix in words: "depth 2100, align 256".
func (h *Header) Where(at []string) string {
	var s []string
	for i, v := range at {
		if i < len(h.Axes) {
			v = h.Axes[i].Name + " " + v
		}
		s = append(s, v)
	}
	return strings.Join(s, ", ")
}
