package dispatch

import (
	"fmt"
	"sort"
	"strings"

	"github.com/holdfast-llm/holdfast/device"
	"github.com/holdfast-llm/holdfast/op"
)

// Options change what Compile chooses.
type Options struct {
	// Disable lists name prefixes of registrations that must not be chosen.
	Disable []string
	// Quarantined lists registrations that must not be chosen any more, by
	// full name, each with the fault that put it there.
	Quarantined map[string]string
	// Serial makes every launch wait for the one before it.
	Serial bool
	Arena  device.Arena
}

// Compile chooses a registration for every operation of g and returns the
// program for batches up to limits. It is an error, naming the operation and
// every decline, if nothing takes an operation.
func Compile(dev device.Device, g *op.Graph, limits device.Limits, opt Options) (*device.Program, error) {
	if err := checkArena(opt.Arena); err != nil {
		return nil, err
	}
	p := &device.Program{Limits: limits, Output: g.Logits, Arena: opt.Arena}
	c := device.NewCompile(limits)
	regs := map[op.Kind][]device.Registration{}
	for at := 0; at < len(g.Ops); {
		o := g.Ops[at]
		rs, ok := regs[o.Kind]
		if !ok {
			rs = append(rs, dev.Registrations(o.Kind)...)
			sort.SliceStable(rs, func(i, j int) bool { return rs[i].Priority > rs[j].Priority })
			regs[o.Kind] = rs
		}
		for _, v := range o.Out {
			c.Written(v)
		}
		d := device.Decision{Op: o.Name, Kind: o.Kind}
		site := &device.Site{Compile: c, Ops: g.Ops[at:]}
		for _, r := range rs {
			m, decline := match(r, site, opt)
			if decline != nil {
				d.Declined = append(d.Declined, *decline)
				continue
			}
			d.Chosen, d.Covers, d.Splits = r.Name, m.Covers, m.Splits
			for _, covered := range site.Ops[1:m.Covers] {
				c.Rewritten(covered.Out)
			}
			for _, l := range m.Launches {
				l.Op = len(p.Decisions)
				p.Launches = append(p.Launches, l)
			}
			break
		}
		if d.Chosen == "" {
			return nil, &UnsupportedError{Device: dev.Name(), Op: o, Declined: d.Declined}
		}
		for _, covered := range g.Ops[at+1 : at+d.Covers] {
			d.Op += " + " + covered.Name
		}
		at += d.Covers
		p.Decisions = append(p.Decisions, d)
	}
	order(p.Launches, opt.Serial)
	place(p, c)
	if err := verifyPlaces(p); err != nil {
		return nil, err
	}
	return p, nil
}

// match asks a registration and verifies what it answers.
func match(r device.Registration, s *device.Site, opt Options) (*device.Match, *device.Decline) {
	for _, prefix := range opt.Disable {
		if prefix != "" && strings.HasPrefix(r.Name, prefix) {
			return nil, &device.Decline{Lane: r.Name, Reason: device.ReasonDisabled, Detail: "by prefix " + prefix}
		}
	}
	if why, ok := opt.Quarantined[r.Name]; ok {
		return nil, &device.Decline{Lane: r.Name, Reason: device.ReasonQuarantined, Detail: why}
	}
	s.Begin()
	m, decline := r.Match(s)
	if decline == nil {
		decline = verify(m, s, opt.Arena)
	}
	if decline != nil {
		s.Undo()
		decline.Lane = r.Name
		return nil, decline
	}
	return m, nil
}

// UnsupportedError says that a device has no registration for an operation.
type UnsupportedError struct {
	Device   string
	Op       *op.Op
	Declined []device.Decline
}

func (e *UnsupportedError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "dispatch: device %s takes no %s for %s", e.Device, e.Op.Kind, e.Op.Name)
	for _, d := range e.Declined {
		fmt.Fprintf(&b, "; %s", d)
	}
	return b.String()
}

// order marks the launches that must wait for those before them: one that
// reads what a launch since the last wait wrote, or writes what such a launch
// read or wrote. Serially, every launch waits.
func order(launches []device.Launch, serial bool) {
	read, written := map[*op.Value]bool{}, map[*op.Value]bool{}
	for i := range launches {
		l := &launches[i]
		l.Wait = serial && i > 0
		for _, b := range l.Bindings {
			l.Wait = l.Wait || written[b.Value] || b.Access&device.Write != 0 && read[b.Value]
		}
		if l.Wait {
			clear(read)
			clear(written)
		}
		for _, b := range l.Bindings {
			if b.Access&device.Read != 0 {
				read[b.Value] = true
			}
			if b.Access&device.Write != 0 {
				written[b.Value] = true
			}
		}
	}
}
