package dispatch

import (
	"sort"

	"github.com/holdfast-llm/holdfast/device"
	"github.com/holdfast-llm/holdfast/op"
)

// arenaAlign is the alignment of every transient in bytes: a cache line, and
// the width of the widest vector.
const arenaAlign = 64

// place gives every transient and output an offset in the arena. Transients
// whose lifetimes do not touch share bytes: first fit, in the order of their
// first use. Lifetimes are counted in stages, the runs of launches between
// two waits, because the launches of a stage may run at the same time.
func place(p *device.Program, c *device.Compile) {
	places := lifetimes(p, c)
	for i := range places {
		v := &places[i]
		v.Offset = firstFit(places[:i], v)
		p.ArenaBytes = max(p.ArenaBytes, v.Offset+v.Bytes)
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
				places = append(places, device.Place{Value: v, Bytes: c.Bytes(v), First: stage})
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

// firstFit is the lowest aligned offset at which v overlaps no placed value
// that lives at the same time.
func firstFit(placed []device.Place, v *device.Place) int {
	var busy []device.Place
	for _, q := range placed {
		if q.First <= v.Last && v.First <= q.Last {
			busy = append(busy, q)
		}
	}
	sort.Slice(busy, func(i, j int) bool { return busy[i].Offset < busy[j].Offset })
	at := 0
	for _, q := range busy {
		if at+v.Bytes <= q.Offset {
			break
		}
		at = max(at, align(q.Offset+q.Bytes))
	}
	return at
}

func align(n int) int { return (n + arenaAlign - 1) &^ (arenaAlign - 1) }
