package dispatch

import (
	"fmt"
	"slices"

	"github.com/holdfast-llm/holdfast/device"
	"github.com/holdfast-llm/holdfast/op"
)

// place gives every transient and output an offset in the arena. Transients
// whose lifetimes do not touch share bytes: first fit, in the order of their
// first use. Lifetimes are counted in stages, the runs of launches between
// two waits, because the launches of a stage may run at the same time.
func place(p *device.Program, c *device.Compile) {
	places := lifetimes(p, c)
	p.ArenaBytes = p.Arena.Prefix
	var busy []device.Place // by offset: what a value must keep clear of
	for i := range places {
		v := &places[i]
		if !p.Arena.NoReuse {
			busy = slices.DeleteFunc(busy, func(q device.Place) bool { return q.Last < v.First })
		}
		k := firstFit(busy, v, p.Arena)
		busy = slices.Insert(busy, k, *v)
		p.ArenaBytes = max(p.ArenaBytes, v.Offset+v.Bytes+p.Arena.Guard)
	}
	p.Places = places
}

// lifetimes lists the program's transients and outputs in order of first use,
// First and Last counted in stages.
func lifetimes(p *device.Program, c *device.Compile) []device.Place {
	var places []device.Place
	index := map[*op.Value]int{}
	stage := 0
	last := 0
	for _, l := range p.Launches {
		if l.Wait {
			stage++
		}
		last = stage
		for _, b := range l.Bindings {
			v := b.Value
			if v.Role != op.Transient && v.Role != op.Output {
				continue
			}
			i, ok := index[v]
			if !ok {
				i = len(places)
				index[v] = i
				places = append(places, device.Place{Value: v, Bytes: c.Bytes(v), RowBytes: c.RowBytes(v), First: stage})
			}
			places[i].Last = stage
		}
	}
	for i := range places {
		if places[i].Value.Role == op.Output {
			places[i].Last = last
		}
	}
	return places
}

// firstFit gives v the lowest aligned offset at which it shares no byte with
// the busy places, canaries included, and returns the number of those before
// it.
func firstFit(busy []device.Place, v *device.Place, arena device.Arena) int {
	a, g := alignOf(arena), arena.Guard
	v.Offset = align(arena.Prefix+g, a)
	for k, q := range busy {
		if v.Offset+v.Bytes+g <= q.Offset-g {
			return k
		}
		v.Offset = max(v.Offset, align(q.Offset+q.Bytes+2*g, a))
	}
	return len(busy)
}

func align(n, to int) int { return (n + to - 1) &^ (to - 1) }

func alignOf(a device.Arena) int {
	if a.Align == 0 {
		return device.ArenaAlign
	}
	return a.Align
}

// maxArena bounds what the arena's options may ask for, against slips of the
// keyboard.
const maxArena = 1 << 30

func checkArena(a device.Arena) error {
	// Kernels read whole vectors, so 64 is the least that all of them run with.
	if a.Align != 0 && (a.Align < device.ArenaAlign || a.Align > maxArena || a.Align&(a.Align-1) != 0) {
		return fmt.Errorf("dispatch: arena alignment %d, want a power of two from %d to %d", a.Align, device.ArenaAlign, maxArena)
	}
	if a.Limit < 0 {
		return fmt.Errorf("dispatch: arena limit of %d bytes", a.Limit)
	}
	for _, o := range []struct {
		name string
		n    int
	}{{"prefix", a.Prefix}, {"guard", a.Guard}} {
		if o.n < 0 || o.n > maxArena {
			return fmt.Errorf("dispatch: arena %s of %d bytes, want 0 to %d", o.name, o.n, maxArena)
		}
	}
	return nil
}
