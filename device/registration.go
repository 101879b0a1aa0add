package device

import (
	"fmt"

	"github.com/holdfast-llm/holdfast/op"
)

// Registration is a device's offer to run an operation. The offer with the
// highest priority whose Match does not decline is taken.
type Registration struct {
	Name     string // "attention.serial", "mul_mat.q4_k.avx512"
	Priority int
	Match    func(o *op.Op, c *Compile) ([]Launch, *Decline)
}

// Reason is why a registration declined: one of a closed list.
type Reason string

const (
	ReasonDisabled Reason = "disabled" // switched off by the user
	ReasonType     Reason = "type"     // element type of a value not handled
	ReasonShape    Reason = "shape"    // sizes not handled, or better handled by another
	ReasonCPU      Reason = "cpu"      // instruction set not there
)

// Decline says why a registration does not run an operation. It is data, not
// an error: the next registration is tried.
type Decline struct {
	Lane   string // the registration's name
	Reason Reason
	Detail string // for people: "rows 1, want at least 9"
}

func (d Decline) String() string { return fmt.Sprintf("%s: %s (%s)", d.Lane, d.Reason, d.Detail) }

// Launch is one kernel with the values it reads and writes. Launches that do
// not depend on each other may run at the same time.
type Launch struct {
	Kernel string
	Reads  []*op.Value
	Writes []*op.Value
	// Bind returns the device's own executable form, given the memory of
	// each value. It is called once, when the program is loaded.
	Bind func(mem func(*op.Value) []byte) any
	// Wait is set by dispatch: every launch before this one has to end first.
	Wait bool
}

// Program is an ordered list of launches with its transients placed in an
// arena.
type Program struct {
	Limits     Limits
	Launches   []Launch
	Places     []Place
	ArenaBytes int
	Output     *op.Value
	Decisions  []Decision
}

// Place is where a transient or output lives: bytes [Offset, Offset+Bytes) of
// the arena during stages First to Last. A stage is the launches between two
// waits.
type Place struct {
	Value         *op.Value
	Offset, Bytes int
	First, Last   int
}

// Decision records what was chosen for one operation and what declined.
type Decision struct {
	Op       string
	Kind     op.Kind
	Chosen   string
	Declined []Decline
}

// Compile is what a Match may ask of the program being compiled.
type Compile struct {
	Limits  Limits
	derived map[derivedKey]*op.Value
	extra   map[*op.Value]int
}

type derivedKey struct {
	of *op.Value
	id string
}

// NewCompile starts a compilation for batches up to l.
func NewCompile(l Limits) *Compile {
	return &Compile{Limits: l, derived: map[derivedKey]*op.Value{}, extra: map[*op.Value]int{}}
}

// Derived returns a transient computed from v, such as its quantised form.
// fresh is true the first time it is asked for since v was last written: the
// caller then emits the launch that computes it.
func (c *Compile) Derived(v *op.Value, id string, bytes int) (d *op.Value, fresh bool) {
	key := derivedKey{v, id}
	if d, ok := c.derived[key]; ok {
		return d, false
	}
	d = c.Temp(v.Name+"."+id, bytes)
	c.derived[key] = d
	return d, true
}

// Temp returns a transient of a fixed number of bytes.
func (c *Compile) Temp(name string, bytes int) *op.Value {
	v := &op.Value{Name: name, Role: op.Transient, Per: op.Once}
	c.extra[v] = bytes
	return v
}

// Written forgets what was derived from v: it has a new value.
func (c *Compile) Written(v *op.Value) {
	for k := range c.derived {
		if k.of == v {
			delete(c.derived, k)
		}
	}
}

// Bytes is the size of v in the program being compiled.
func (c *Compile) Bytes(v *op.Value) int {
	if n, ok := c.extra[v]; ok {
		return n
	}
	return v.Bytes(c.Limits.Tokens, c.Limits.Outputs)
}

// Rows is the largest number of rows of v.
func (c *Compile) Rows(v *op.Value) int { return v.Count(c.Limits.Tokens, c.Limits.Outputs) }
