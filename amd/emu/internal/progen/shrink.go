package progen

import (
	"sort"
	"strings"
)

// Shrink makes a failing program small: fails says of each of several programs
// whether it still fails, so that a compiler sees many at once. What comes
// back fails, and no single cut of it does, or rounds of cutting are up.
func Shrink(p *Program, rounds int, fails func([]*Program) ([]bool, error)) (*Program, error) {
	const batch = 64
	for range rounds {
		cuts := p.cuts()
		sort.SliceStable(cuts, func(i, j int) bool { return cuts[i].size() < cuts[j].size() })
		var next *Program
		for len(cuts) > 0 && next == nil {
			tried := cuts[:min(batch, len(cuts))]
			cuts = cuts[len(tried):]
			failed, err := fails(tried)
			if err != nil {
				return p, err
			}
			for i, f := range failed {
				if f {
					next = tried[i]
					break // the smallest
				}
			}
		}
		if next == nil {
			break
		}
		p = next
	}
	return p, nil
}

func (p *Program) size() int {
	n := len(p.vars)
	for _, ph := range p.phases {
		n += 5 + blockSize(ph.body)
		if ph.apart {
			n++
		}
		if ph.after != nil {
			n += 2
		}
	}
	return n
}

func blockSize(b []*stmt) int {
	n := 0
	for _, s := range b {
		n += 2 + s.head.size()
		for _, inner := range s.blocks {
			n += 1 + blockSize(inner)
		}
	}
	return n
}

// cuts are all programs that one cut makes of p.
func (p *Program) cuts() []*Program {
	var all []*Program
	for n := 0; ; n++ {
		c := &cutter{left: n, program: p.clone()}
		c.cut()
		if c.left >= 0 { // fewer places than n
			return all
		}
		all = append(all, c.program)
	}
}

// cutter walks a program and makes its left-th possible cut.
type cutter struct {
	left    int // below zero: the cut is made
	program *Program
}

// here reports whether this place is the one.
func (c *cutter) here() bool {
	c.left--
	return c.left == -1
}

func (c *cutter) cut() {
	p := c.program
	for i, ph := range p.phases {
		if len(p.phases) > 1 && c.here() {
			p.phases = append(p.phases[:i:i], p.phases[i+1:]...)
			p.phases[len(p.phases)-1].after = nil
			return
		}
		// Phases become one when nothing is between them; names may not clash.
		if ph.after != nil && !declares(p.phases[i+1].body) && c.here() {
			next := p.phases[i+1]
			ph.body = append(ph.body, next.body...)
			ph.after = next.after
			p.phases = append(p.phases[:i+1:i+1], p.phases[i+2:]...)
			return
		}
		if ph.apart && c.here() {
			ph.apart = false
			return
		}
		if ph.body = c.block(ph.body); c.left < 0 {
			return
		}
	}
	text := p.body()
	for i, v := range p.vars {
		if len(p.vars) > 1 && !strings.Contains(text, v.name) && c.here() {
			p.vars = append(p.vars[:i:i], p.vars[i+1:]...)
			return
		}
	}
}

func declares(b []*stmt) bool {
	for _, s := range b {
		if s.form == declare {
			return true
		}
	}
	return false
}

// block cuts in a block and returns what it is then.
func (c *cutter) block(b []*stmt) []*stmt {
	for i, s := range b {
		if s.form == declare && strings.Contains(text(b[i+1:]), s.name) {
			if c.expr(&s.head); c.left < 0 {
				return b
			}
			continue
		}
		if c.here() {
			return append(b[:i:i], b[i+1:]...)
		}
		if s.form == branch || s.form == choose || (s.form == loop && !strings.Contains(text(s.blocks[0]), s.name) && !leaves(s.blocks[0])) {
			for _, inner := range s.blocks {
				if c.here() {
					return append(append(b[:i:i], inner...), b[i+1:]...)
				}
			}
		}
		if (s.form == branch || s.form == choose) && len(s.blocks) > 1 && c.here() {
			s.blocks = s.blocks[:len(s.blocks)-1]
			return b
		}
		for k := range s.blocks {
			if s.blocks[k] = c.block(s.blocks[k]); c.left < 0 {
				return b
			}
		}
		if s.form == simple { // the head itself has no type to replace it by
			for k := range s.head.kids {
				if c.expr(&s.head.kids[k]); c.left < 0 {
					return b
				}
			}
		} else if s.form != exchange {
			if c.expr(&s.head); c.left < 0 {
				return b
			}
		}
	}
	return b
}

func text(b []*stmt) string {
	var w strings.Builder
	writeBlock(&w, b, "")
	return w.String()
}

// body is the text of all phases.
func (p *Program) body() string {
	var w strings.Builder
	for _, ph := range p.phases {
		writeBlock(&w, ph.body, "")
		if ph.after != nil {
			ph.after.write(&w, "")
		}
	}
	return w.String()
}

// leaves reports whether a block leaves the loop around it.
func leaves(b []*stmt) bool {
	for _, s := range b {
		if s.form == leave {
			return true
		}
		if s.form == loop {
			continue
		}
		for _, inner := range s.blocks {
			if leaves(inner) {
				return true
			}
		}
	}
	return false
}

// expr replaces an expression by an operand of its type or by a literal.
func (c *cutter) expr(e **expr) {
	x := *e
	for _, k := range x.kids {
		if k.typ == x.typ && c.here() {
			*e = k
			return
		}
	}
	if len(x.kids) > 0 {
		for _, l := range simplest(x.typ) {
			if c.here() {
				*e = leaf(x.typ, l)
				return
			}
		}
	}
	for i := range x.kids {
		if c.expr(&x.kids[i]); c.left < 0 {
			return
		}
	}
}

func simplest(t typ) []string {
	switch {
	case t == bit:
		return []string{"true", "false"}
	case isInt(t) || isFloat(t):
		return []string{"(" + string(t) + ")0", "(" + string(t) + ")1"}
	case t == h2:
		return []string{"pair((f16)0, (f16)1)"}
	case t == s2:
		return []string{"spair(0, 1)"}
	case t == w2:
		return []string{"wpair(0, 1)"}
	}
	return nil
}
