// Package report says what the trials of an experiment show, and no more: rates
// with intervals, differences between arms with exact tests, what the numbers of
// trials could not have shown, and a verdict only on what the experiment's file
// claimed before the first trial. It writes a terminal's table, Markdown, JSON,
// JUnit's XML, and one page of HTML that needs nothing else.
//
// What a trial was is decided when it is run, by package lab. Here it is only
// counted: faults over faults and clean trials. Incomplete trials, invalid ones
// and those out of regime are in no rate; they are listed with their reasons.
package report

import "time"

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

// outcomes are all of them, in the order of reports.
var outcomes = []Outcome{Fault, Clean, Incomplete, Invalid, OutOfRegime}

// Run is an experiment that ran, or is running: what reports are made of.
type Run struct {
	Name        string
	Hash        string // of the experiment's file
	Text        string // of the experiment's file
	Arms        []string
	Axes        []Axis // of the matrix; none if there is none
	Conf        float64
	Claims      []Claim // made in the file, before the first trial
	Environment []Field
	Trials      []Trial
	Events      []Event
	Notes       []string // of reading the journal: a last line cut off, a trial that never ended
	// Planned are the trials of each arm at each point; 0 if that was not said.
	Planned int
}

// Axis is one dimension of an experiment's matrix.
type Axis struct {
	Name   string   `json:"name"`
	Values []string `json:"values"`
}

// Field is a fact about where the experiment ran.
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
