package dispatch

import (
	"errors"
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
// program for batches up to limits. Errors: an *UnsupportedError, naming the
// operation and every decline, if nothing takes an operation; a *MatchError if
// a device breaks the rules of Match; an arena larger than allowed.
func Compile(dev device.Device, g *op.Graph, limits device.Limits, opt Options) (*device.Program, error) {
	if err := checkArena(opt.Arena); err != nil {
		return nil, err
	}
	b := builder{
		dev: dev, graph: g, limits: limits, opt: opt,
		regs: map[op.Kind][]device.Registration{}, tooLarge: map[string]string{}, needed: map[string]bool{},
	}
	for {
		p, err := b.build()
		var none *UnsupportedError
		switch {
		case b.refusedLast != "" && errors.As(err, &none):
			b.keep()
			continue
		case err != nil:
			return nil, err
		}
		if limit := opt.Arena.Limit; limit == 0 || p.ArenaBytes <= limit {
			return p, nil
		}
		if err := b.shrink(p); err != nil {
			return nil, err
		}
	}
}

// builder builds a program, more than once if its arena is too large.
type builder struct {
	dev    device.Device
	graph  *op.Graph
	limits device.Limits
	opt    Options
	regs   map[op.Kind][]device.Registration // by priority

	compile     *device.Compile   // of the last build
	tooLarge    map[string]string // registrations whose workspace made the arena too large, with the numbers
	needed      map[string]bool   // those of them that nothing replaces
	refusedLast string            // the last one of tooLarge
}

// build chooses, orders, places and verifies.
func (b *builder) build() (*device.Program, error) {
	b.compile = device.NewCompile(b.limits)
	p := &device.Program{Limits: b.limits, Output: b.graph.Logits, Arena: b.opt.Arena}
	v := &verifier{arena: b.opt.Arena, written: map[*op.Value]bool{}}
	for at := 0; at < len(b.graph.Ops); {
		site := &device.Site{Compile: b.compile, Ops: b.graph.Ops[at:]}
		m, d, err := b.choose(site, v)
		if err != nil {
			return nil, err
		}
		v.accept(m)
		for _, o := range site.Ops[1:m.Covers] {
			b.compile.Rewritten(o.Out)
			d.Op += " + " + o.Name
		}
		for _, l := range m.Launches {
			l.Op = len(p.Decisions)
			p.Launches = append(p.Launches, l)
		}
		p.Decisions = append(p.Decisions, d)
		at += m.Covers
	}
	order(p.Launches, b.opt.Serial)
	place(p, b.compile)
	return p, verifyPlaces(p)
}

// choose asks the registrations for the operation at a site, one after the
// other.
func (b *builder) choose(s *device.Site, v *verifier) (*device.Match, device.Decision, error) {
	o := s.Op()
	for _, out := range o.Out {
		s.Written(out)
	}
	d := device.Decision{Op: o.Name, Kind: o.Kind}
	for _, r := range b.offers(o.Kind) {
		m, decline, err := b.match(r, s, v)
		switch {
		case err != nil:
			return nil, d, err
		case decline != nil:
			d.Declined = append(d.Declined, *decline)
		default:
			d.Chosen, d.Covers, d.Splits = r.Name, m.Covers, m.Splits
			return m, d, nil
		}
	}
	return nil, d, &UnsupportedError{Device: b.dev.Name(), Op: o, Declined: d.Declined}
}

// offers are the registrations of a kind, highest priority first.
func (b *builder) offers(k op.Kind) []device.Registration {
	rs, ok := b.regs[k]
	if !ok {
		rs = append(rs, b.dev.Registrations(k)...)
		sort.SliceStable(rs, func(i, j int) bool { return rs[i].Priority > rs[j].Priority })
		b.regs[k] = rs
	}
	return rs
}

// match asks a registration and verifies what it answers.
func (b *builder) match(r device.Registration, s *device.Site, v *verifier) (*device.Match, *device.Decline, error) {
	if decline := b.refused(r.Name); decline != nil {
		return nil, decline, nil
	}
	s.Begin()
	m, decline := r.Match(s)
	if decline == nil {
		if err := checkMatch(r.Name, m, s); err != nil {
			return nil, nil, err
		}
		decline = v.verify(m, s)
	}
	if decline != nil {
		s.Undo()
		decline.Lane = r.Name
		return nil, decline, nil
	}
	return m, nil, nil
}

// refused declines a registration that is not asked at all.
func (b *builder) refused(name string) *device.Decline {
	for _, prefix := range b.opt.Disable {
		if prefix != "" && strings.HasPrefix(name, prefix) {
			return &device.Decline{Lane: name, Reason: device.ReasonDisabled, Detail: "by prefix " + prefix}
		}
	}
	if why, ok := b.opt.Quarantined[name]; ok {
		return &device.Decline{Lane: name, Reason: device.ReasonQuarantined, Detail: why}
	}
	if why, ok := b.tooLarge[name]; ok {
		return &device.Decline{Lane: name, Reason: device.ReasonMemory, Detail: why}
	}
	return nil
}

// shrink refuses, for the next build, the registration with the largest
// workspace. It is an error if there is none left.
func (b *builder) shrink(p *device.Program) error {
	workspace := make([]int, len(p.Decisions))
	seen := map[*op.Value]bool{}
	for i := range p.Launches {
		l := &p.Launches[i]
		for _, x := range l.Bindings {
			if b.compile.Made(x.Value) && !seen[x.Value] && !b.needed[p.Decisions[l.Op].Chosen] {
				seen[x.Value] = true
				workspace[l.Op] += b.compile.Bytes(x.Value)
			}
		}
	}
	most := 0
	for i, n := range workspace {
		if n > workspace[most] {
			most = i
		}
	}
	if len(workspace) == 0 || workspace[most] == 0 {
		return fmt.Errorf("dispatch: arena of %d bytes, allowed are %d: no registration runs in less", p.ArenaBytes, p.Arena.Limit)
	}
	b.refusedLast = p.Decisions[most].Chosen
	b.tooLarge[b.refusedLast] = fmt.Sprintf("arena of %d bytes with a workspace of %d for %s, allowed are %d",
		p.ArenaBytes, workspace[most], p.Decisions[most].Op, p.Arena.Limit)
	return nil
}

// keep takes back what shrink refused last: nothing else runs an operation.
func (b *builder) keep() {
	delete(b.tooLarge, b.refusedLast)
	b.needed[b.refusedLast] = true
	b.refusedLast = ""
}

// MatchError says that a registration broke the rules of Match: a mistake in
// the device.
type MatchError struct {
	Lane string
	Op   string
	What string
}

func (e *MatchError) Error() string {
	return fmt.Sprintf("dispatch: %s at %s: %s", e.Lane, e.Op, e.What)
}

// checkMatch checks what no registration may get wrong.
func checkMatch(lane string, m *device.Match, s *device.Site) error {
	what := ""
	switch {
	case m == nil:
		what = "neither a match nor a decline"
	case m.Covers < 1 || m.Covers > len(s.Ops):
		what = fmt.Sprintf("covers %d of %d operations", m.Covers, len(s.Ops))
	default:
		for _, l := range m.Launches {
			for i, b := range l.Bindings {
				if b.Value == nil {
					what = fmt.Sprintf("binding %d of %s has no value", i, l.Kernel)
				}
			}
		}
	}
	if what == "" {
		return nil
	}
	return &MatchError{lane, s.Op().Name, what}
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
