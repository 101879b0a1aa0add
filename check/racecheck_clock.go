package check

// What waves know of each other. Every memory instruction of a wave has a
// sequence number from 1; a clock holds, for waves, up to which number their
// instructions are known to come before, and up to which those of each counter
// are known to be complete.

// moment is what is known of one wave.
type moment struct {
	issued uint32
	done   [classes]uint32
}

func (m *moment) join(o *moment) {
	m.issued = max(m.issued, o.issued)
	for i := range m.done {
		m.done[i] = max(m.done[i], o.done[i])
	}
}

func (m *moment) covers(o *moment) bool {
	for i := range m.done {
		if m.done[i] < o.done[i] {
			return false
		}
	}
	return m.issued >= o.issued
}

// groupClock is what is known of a workgroup's waves, by their index. It never
// changes once it is shared; nil knows nothing.
type groupClock []moment

func (g groupClock) at(wave int) moment {
	if wave < len(g) {
		return g[wave]
	}
	return moment{}
}

func (g groupClock) covers(o groupClock) bool {
	for i := range o {
		if m := g.at(i); !m.covers(&o[i]) {
			return false
		}
	}
	return true
}

// joined is what g and o know together.
func (g groupClock) joined(o groupClock) groupClock {
	switch {
	case g.covers(o):
		return g
	case o.covers(g):
		return o
	}
	j := make(groupClock, max(len(g), len(o)))
	copy(j, g)
	for i := range o {
		j[i].join(&o[i])
	}
	return j
}

// clock is what is known of workgroups, by their number. It never changes once
// it is shared; nil knows nothing.
type clock struct{ groups map[int]groupClock }

func (c *clock) group(n int) groupClock {
	if c == nil {
		return nil
	}
	return c.groups[n]
}

// joined is what c and o know together.
func (c *clock) joined(o *clock) *clock {
	if o == nil || c == o {
		return c
	}
	if c == nil {
		return o
	}
	j := (*clock)(nil)
	for n, theirs := range o.groups {
		ours := c.groups[n]
		if ours.covers(theirs) {
			continue
		}
		if j == nil {
			j = &clock{make(map[int]groupClock, len(c.groups)+1)}
			for n, g := range c.groups {
				j.groups[n] = g
			}
		}
		j.groups[n] = ours.joined(theirs)
	}
	if j == nil {
		return c
	}
	return j
}

// with is c and what g knows of workgroup n.
func (c *clock) with(n int, g groupClock) *clock {
	return c.joined(&clock{map[int]groupClock{n: g}})
}
