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
}

// Compile chooses a registration for every operation of g and returns the
// program for batches up to limits. It is an error, naming the operation and
// every decline, if nothing takes an operation.
func Compile(dev device.Device, g *op.Graph, limits device.Limits, opt Options) (*device.Program, error) {
	p := &device.Program{Limits: limits, Output: g.Logits}
	c := device.NewCompile(limits)
	regs := map[op.Kind][]device.Registration{}
	for _, o := range g.Ops {
		rs, ok := regs[o.Kind]
		if !ok {
			rs = append(rs, dev.Registrations(o.Kind)...)
			sort.SliceStable(rs, func(i, j int) bool { return rs[i].Priority > rs[j].Priority })
			regs[o.Kind] = rs
		}
		d := device.Decision{Op: o.Name, Kind: o.Kind}
		for _, r := range rs {
			launches, decline := match(r, o, c, opt)
			if decline != nil {
				d.Declined = append(d.Declined, *decline)
				continue
			}
			d.Chosen = r.Name
			p.Launches = append(p.Launches, launches...)
			break
		}
		if d.Chosen == "" {
			return nil, &UnsupportedError{Device: dev.Name(), Op: o, Declined: d.Declined}
		}
		for _, v := range o.Out {
			c.Written(v)
		}
		p.Decisions = append(p.Decisions, d)
	}
	order(p.Launches)
	place(p, c)
	return p, nil
}

func match(r device.Registration, o *op.Op, c *device.Compile, opt Options) ([]device.Launch, *device.Decline) {
	for _, prefix := range opt.Disable {
		if prefix != "" && strings.HasPrefix(r.Name, prefix) {
			return nil, &device.Decline{Lane: r.Name, Reason: device.ReasonDisabled, Detail: "by prefix " + prefix}
		}
	}
	launches, decline := r.Match(o, c)
	if decline != nil {
		decline.Lane = r.Name
	}
	return launches, decline
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
// read or wrote.
func order(launches []device.Launch) {
	read, written := map[*op.Value]bool{}, map[*op.Value]bool{}
	for i := range launches {
		l := &launches[i]
		for _, v := range l.Reads {
			l.Wait = l.Wait || written[v]
		}
		for _, v := range l.Writes {
			l.Wait = l.Wait || written[v] || read[v]
		}
		if l.Wait {
			clear(read)
			clear(written)
		}
		for _, v := range l.Reads {
			read[v] = true
		}
		for _, v := range l.Writes {
			written[v] = true
		}
	}
}
