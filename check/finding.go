package check

import (
	"fmt"
	"strings"
)

// Tool names a detector.
type Tool string

// The detectors.
const (
	Memcheck  Tool = "memcheck"
	Initcheck Tool = "initcheck"
	Racecheck Tool = "racecheck"
	Waitcheck Tool = "waitcheck"
	Synccheck Tool = "synccheck"
	Hostcheck Tool = "hostcheck"
)

// Tools are all detectors.
func Tools() []Tool {
	return []Tool{Memcheck, Initcheck, Racecheck, Waitcheck, Synccheck, Hostcheck}
}

// Kind is what a finding says is wrong: one of a closed list (kinds.go).
type Kind string

// Site is an instruction and who ran it.
type Site struct {
	PC    uint64    `json:"pc"`   // in the code object, as disassemblers count
	Text  string    `json:"text"` // the instruction
	File  string    `json:"file,omitempty"`
	Line  int       `json:"line,omitempty"`
	Col   int       `json:"col,omitempty"`
	Group [3]uint32 `json:"workgroup"`
	Wave  int       `json:"wave"` // in the workgroup
	Lane  int       `json:"lane"` // the first; -1 if that means nothing
}

func (s Site) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%#x: %s, workgroup (%d,%d,%d), wave %d", s.PC, s.Text, s.Group[0], s.Group[1], s.Group[2], s.Wave)
	if s.Lane >= 0 {
		fmt.Fprintf(&b, ", lane %d", s.Lane)
	}
	if s.File != "" {
		fmt.Fprintf(&b, ", %s:%d", s.File, s.Line)
		if s.Col > 0 {
			fmt.Fprintf(&b, ":%d", s.Col)
		}
	}
	return b.String()
}

// Finding is one thing that is wrong, wherever and however often it shows: the
// instructions at Sites make it what it is.
type Finding struct {
	Tool   Tool   `json:"tool"`
	Kind   Kind   `json:"kind"`
	Kernel string `json:"kernel"`
	// Message is one sentence: "4 bytes read 12 bytes past the end of "q"".
	Message string `json:"message"`
	// Sites are the instruction at fault, and for conflicts the other one.
	Sites []Site `json:"sites"`
	// Buffer and Offset say where: of "LDS" and "scratch" the offset in them. It
	// is negative before a buffer. Buffer is empty if no memory is concerned.
	Buffer string `json:"buffer,omitempty"`
	Offset int64  `json:"offset,omitempty"`
	Bytes  int    `json:"bytes,omitempty"` // accessed by a lane
	// Missing is what would put it right and where, if that is known: "s_waitcnt_vscnt
	// null, 0x0 before the s_barrier at 0x34ac".
	Missing string `json:"missing,omitempty"`
	Count   int    `json:"count"` // how often it was seen; what else is said is of the first time
}

func (f *Finding) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s: %s", f.Tool, f.Kind, f.Message)
	for _, s := range f.Sites {
		fmt.Fprintf(&b, "\n    at %s", s)
	}
	if f.Missing != "" {
		fmt.Fprintf(&b, "\n    missing: %s", f.Missing)
	}
	if f.Count > 1 {
		fmt.Fprintf(&b, "\n    seen %d times", f.Count)
	}
	return b.String()
}
