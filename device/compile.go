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
	extra   map[*op.Value]extra
}

// extra is the size of a value that a match made.
type extra struct{ bytes, rowBytes int }

type derivedKey struct {
	of *op.Value
	id string
}

// NewCompile starts a compilation for batches up to l.
func NewCompile(l Limits) *Compile {
	return &Compile{Limits: l, derived: map[derivedKey]*op.Value{}, extra: map[*op.Value]extra{}}
}

// Derived returns a transient computed from v, such as its quantised form, of
// bytes in a layout of the kernel's own. fresh is true the first time it is
// asked for since v was last written: the caller then emits the launch that
// computes it.
func (c *Compile) Derived(v *op.Value, id string, bytes int) (d *op.Value, fresh bool) {
	return c.derive(v, id, extra{bytes: bytes})
}

// DerivedRows is Derived for a layout that has rowBytes for each row of v, in
// their order.
func (c *Compile) DerivedRows(v *op.Value, id string, rowBytes int) (d *op.Value, fresh bool) {
	return c.derive(v, id, extra{bytes: rowBytes * c.Rows(v), rowBytes: rowBytes})
}

func (c *Compile) derive(v *op.Value, id string, x extra) (d *op.Value, fresh bool) {
	key := derivedKey{v, id}
	if d, ok := c.derived[key]; ok {
		return d, false
	}
	d = c.Temp(v.Name+"."+id, x.bytes)
	d.Per = v.Per
	c.extra[d] = x
	c.derived[key] = d
	c.fresh = append(c.fresh, key)
	return d, true
}

// Temp returns a transient of a fixed number of bytes.
func (c *Compile) Temp(name string, bytes int) *op.Value {
	v := &op.Value{Name: name, Role: op.Transient, Per: op.Once}
	c.extra[v] = extra{bytes: bytes}
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
	if x, ok := c.extra[v]; ok {
		return x.bytes
	}
	return v.Bytes(c.Limits.Tokens, c.Limits.Outputs)
}

// Made says whether v is a transient that a match made: workspace, as opposed
// to results of operations.
func (c *Compile) Made(v *op.Value) bool {
	_, ok := c.extra[v]
	return ok
}

// RowBytes is the size of a row of v; 0 if v is not laid out by rows.
func (c *Compile) RowBytes(v *op.Value) int {
	if x, ok := c.extra[v]; ok {
		return x.rowBytes
	}
	return v.RowBytes()
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
