package device

import (
	"slices"

	"github.com/holdfast-llm/holdfast/op"
)

// Compile is what a Match may ask of the program being compiled.
type Compile struct {
	Limits  Limits
	derived map[derivedKey]*op.Value
	fresh   []derivedKey // made by the match under way
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
	c.fresh = append(c.fresh, key)
	return d, true
}

// Temp returns a transient of a fixed number of bytes.
func (c *Compile) Temp(name string, bytes int) *op.Value {
	v := &op.Value{Name: name, Role: op.Transient, Per: op.Once}
	c.extra[v] = bytes
	return v
}

// Written forgets what was derived from v: it gets a new value.
func (c *Compile) Written(v *op.Value) {
	for k := range c.derived {
		if k.of == v {
			delete(c.derived, k)
		}
	}
}

// Rewritten forgets what was derived from values that the match under way
// writes, but for what it derived itself.
func (c *Compile) Rewritten(values []*op.Value) {
	for k := range c.derived {
		if slices.Contains(values, k.of) && !slices.Contains(c.fresh, k) {
			delete(c.derived, k)
		}
	}
}

// Begin starts a match; Undo forgets what was derived since.
func (c *Compile) Begin() { c.fresh = c.fresh[:0] }

// Undo forgets what the match under way derived: its launches will not run.
func (c *Compile) Undo() {
	for _, k := range c.fresh {
		delete(c.derived, k)
	}
	c.fresh = c.fresh[:0]
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

// Bindings are those of a launch that reads and writes whole values; one may
// be among both.
func (c *Compile) Bindings(reads, writes []*op.Value) []Binding {
	var bs []Binding
	add := func(v *op.Value, a Access) {
		for i := range bs {
			if bs[i].Value == v {
				bs[i].Access |= a
				return
			}
		}
		bs = append(bs, c.Bind(v, a))
	}
	for _, v := range reads {
		add(v, Read)
	}
	for _, v := range writes {
		add(v, Write)
	}
	return bs
}

// Bind is a binding of the whole of v.
func (c *Compile) Bind(v *op.Value, a Access) Binding {
	return Binding{Value: v, Bytes: c.Bytes(v), Access: a}
}
