package device

import (
	"fmt"

	"github.com/holdfast-llm/holdfast/op"
)

// Registration is a device's offer to run an operation, or a run of
// operations (a fused registration). The offer with the highest priority whose
// Match does not decline, and whose launches verify, is taken.
type Registration struct {
	Name     string // "attention.decode_split.multipass", "mul_mat.vec"
	Priority int
	Match    func(s *Site) (*Match, *Decline)
}

// Site is where in a step a registration is asked.
type Site struct {
	*Compile
	// Ops are the operation to run and all that follow it in the step.
	Ops []*op.Op
}

// Op is the operation to run.
func (s *Site) Op() *op.Op { return s.Ops[0] }

// Users are the operations behind the first n that read v before it is
// written again.
func (s *Site) Users(v *op.Value, n int) []*op.Op {
	var users []*op.Op
	for _, o := range s.Ops[n:] {
		for _, in := range o.In {
			if in == v {
				users = append(users, o)
				break
			}
		}
		for _, out := range o.Out {
			if out == v {
				return users
			}
		}
	}
	return users
}

// Match is how a registration runs the operations at a site. Its launches write
// every result that is read behind them, and read nothing that neither they nor
// those before them write.
type Match struct {
	Launches []Launch
	Covers   int // operations that the launches run, from the site's first; at least 1
	Splits   int // attention: parts that the keys are split into at most; 0 if it does not split
}

// Decline says why a registration does not run an operation. It is data, not
// an error: the next registration is tried.
type Decline struct {
	Lane   string // the registration's name
	Reason Reason
	Detail string // for people: "rows 1, want at least 9"
}

func (d Decline) String() string { return fmt.Sprintf("%s: %s (%s)", d.Lane, d.Reason, d.Detail) }

// Access says what a launch does with a binding.
type Access uint8

// The accesses.
const (
	Read      Access = 1
	Write     Access = 2
	ReadWrite Access = Read | Write
)

func (a Access) String() string {
	return [...]string{"none", "read", "write", "read write"}[a&ReadWrite]
}

// Binding is memory that a launch uses: bytes [Offset, Offset+Bytes) of a value,
// for the largest batch of the program. A kernel gets no more than that.
type Binding struct {
	Value         *op.Value
	Offset, Bytes int
	Align         int // of the first byte's address; 0 means 1
	Access        Access
}

// Launch is one kernel with the memory it uses. Launches that do not depend on
// each other may run at the same time.
type Launch struct {
	Kernel   string
	Bindings []Binding
	// Bind returns the device's own executable form, given the memory of the
	// launch's bindings. It is called once, when the program is loaded.
	Bind func(mem func(*op.Value) []byte) any

	Op   int  // set by dispatch: the index in Program.Decisions
	Wait bool // set by dispatch: every launch before this one has to end first
}

// Program is an ordered list of launches with its transients placed in an
// arena.
type Program struct {
	Limits     Limits
	Launches   []Launch
	Places     []Place
	Arena      Arena
	ArenaBytes int
	Output     *op.Value
	Decisions  []Decision
}

// Arena says where a program's transients are placed. The zero value is the
// usual placement.
type Arena struct {
	Align   int  // of every transient in bytes, a power of two; 0 means ArenaAlign
	Prefix  int  // unused bytes before the first transient
	NoReuse bool // every transient has bytes of its own
	Guard   int  // bytes of canary before and after every transient
	Limit   int  // bytes that the arena may have; 0 means any number
}

// ArenaAlign is the usual alignment of transients: a cache line, and the width
// of the widest vector.
const ArenaAlign = 64

// Place is where a transient or output lives: bytes [Offset, Offset+Bytes) of
// the arena during stages First to Last. A stage is the launches between two
// waits.
type Place struct {
	Value         *op.Value
	Offset, Bytes int
	RowBytes      int // of a row of the batch; 0 if the layout is a kernel's own
	First, Last   int
}

// Decision records what was chosen for one operation, or a fused run of them,
// and what declined.
type Decision struct {
	Op       string // names, joined by " + "
	Kind     op.Kind
	Covers   int
	Chosen   string
	Splits   int
	Declined []Decline
}
