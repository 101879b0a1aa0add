package dispatch

import (
	"fmt"
	"unsafe"

	"github.com/holdfast-llm/holdfast/device"
	"github.com/holdfast-llm/holdfast/op"
)

// verifier holds what a registration answers against the memory that will
// really be bound: nothing is enqueued on the strength of a promise.
type verifier struct {
	arena   device.Arena
	written map[*op.Value]bool // transients that an accepted launch writes
}

// verify says why a match is not accepted; nil if it is.
func (v *verifier) verify(m *device.Match, s *device.Site) *device.Decline {
	for i := range m.Launches {
		if d := v.launch(m, i, s.Compile); d != nil {
			return d
		}
	}
	return v.results(m, s)
}

// accept remembers what a match writes.
func (v *verifier) accept(m *device.Match) {
	for i := range m.Launches {
		for _, b := range m.Launches[i].Bindings {
			if b.Access&device.Write != 0 {
				v.written[b.Value] = true
			}
		}
	}
}

func (v *verifier) launch(m *device.Match, i int, c *device.Compile) *device.Decline {
	l := &m.Launches[i]
	for j := range l.Bindings {
		b := &l.Bindings[j]
		if d := verifyBinding(l, b, c, v.arena); d != nil {
			return d
		}
		for k := range l.Bindings[:j] {
			if a := &l.Bindings[k]; (a.Access|b.Access)&device.Write != 0 && overlap(a, b) {
				return no(device.ReasonAlias, "%s: %s and %s share bytes, and one is written", l.Kernel, extent(a), extent(b))
			}
		}
		if b.Access == device.Read && placed(b.Value) && !v.written[b.Value] && !writes(m.Launches[:i+1], b.Value) {
			return no(device.ReasonAccess, "%s: reads %s, which nothing has written", l.Kernel, b.Value.Name)
		}
	}
	return nil
}

func writes(ls []device.Launch, v *op.Value) bool {
	for i := range ls {
		for _, b := range ls[i].Bindings {
			if b.Value == v && b.Access&device.Write != 0 {
				return true
			}
		}
	}
	return false
}

// results declines a match that leaves out a result of the operations it
// covers: outputs and caches always, transients if an operation behind them
// reads them.
func (v *verifier) results(m *device.Match, s *device.Site) *device.Decline {
	for _, o := range s.Ops[:m.Covers] {
		for _, out := range o.Out {
			to := unwritten(m.Launches, out, s.Bytes(out))
			if to < 0 {
				continue
			}
			reader := "the host"
			if out.Role == op.Transient {
				users := s.Users(out, m.Covers)
				if len(users) == 0 {
					continue
				}
				reader = users[0].Name
			}
			return no(device.ReasonResult, "byte %d of %s, which %s reads, is not written", to, out.Name, reader)
		}
	}
	return nil
}

// unwritten is the first byte of a value that no launch writes; -1 if all are
// written.
func unwritten(ls []device.Launch, v *op.Value, size int) int {
	to := 0
	for grown := true; grown && to < size; {
		grown = false
		for i := range ls {
			for _, b := range ls[i].Bindings {
				if b.Value == v && b.Access&device.Write != 0 && b.Offset <= to && b.Offset+b.Bytes > to {
					to, grown = b.Offset+b.Bytes, true
				}
			}
		}
	}
	if to >= size {
		return -1
	}
	return to
}

func verifyBinding(l *device.Launch, b *device.Binding, c *device.Compile, arena device.Arena) *device.Decline {
	v := b.Value
	size := c.Bytes(v)
	if b.Offset < 0 || b.Bytes < 0 || b.Offset > size || b.Bytes > size-b.Offset {
		return no(device.ReasonBounds, "%s: %s of %d bytes", l.Kernel, extent(b), size)
	}
	if v.Role == op.Weight && b.Access&device.Write != 0 {
		return no(device.ReasonAccess, "%s: writes %s, a weight", l.Kernel, v.Name)
	}
	if b.Align > 1 {
		at := uintptr(b.Offset)
		if placed(v) {
			if a := alignOf(arena); b.Align > a {
				return no(device.ReasonAlign, "%s: %s, want a multiple of %d, transients are at multiples of %d", l.Kernel, extent(b), b.Align, a)
			}
		} else {
			at += uintptr(unsafe.Pointer(unsafe.SliceData(v.Data)))
		}
		if at%uintptr(b.Align) != 0 {
			return no(device.ReasonAlign, "%s: %s, want a multiple of %d", l.Kernel, extent(b), b.Align)
		}
	}
	return nil
}

// placed says whether a value lives in the arena.
func placed(v *op.Value) bool { return v.Role == op.Transient || v.Role == op.Output }

// overlap says whether two bindings share bytes: of one value by their
// extents, of two that are not in the arena by their addresses. Values in the
// arena that live at the same time are apart by placement (verifyPlaces).
func overlap(a, b *device.Binding) bool {
	from, to := uintptr(a.Offset), uintptr(b.Offset)
	if a.Value != b.Value {
		if placed(a.Value) || placed(b.Value) {
			return false
		}
		from += uintptr(unsafe.Pointer(unsafe.SliceData(a.Value.Data)))
		to += uintptr(unsafe.Pointer(unsafe.SliceData(b.Value.Data)))
	}
	return from < to+uintptr(b.Bytes) && to < from+uintptr(a.Bytes)
}

func extent(b *device.Binding) string {
	return fmt.Sprintf("bytes %d to %d of %s", b.Offset, b.Offset+b.Bytes, b.Value.Name)
}

func no(r device.Reason, format string, args ...any) *device.Decline {
	return &device.Decline{Reason: r, Detail: fmt.Sprintf(format, args...)}
}

// verifyPlaces checks the placement pair by pair: no two values that live at
// the same time share a byte, canaries included, all lie in the arena, and every
// binding lies in its value's place while that lives. A failure is a mistake in
// place.
func verifyPlaces(p *device.Program) error {
	g := p.Arena.Guard
	at := make(map[*op.Value]*device.Place, len(p.Places))
	for i := range p.Places {
		a := &p.Places[i]
		at[a.Value] = a
		if a.Offset < p.Arena.Prefix+g || a.Bytes < 0 || a.Offset+a.Bytes+g > p.ArenaBytes || a.Offset%alignOf(p.Arena) != 0 {
			return fmt.Errorf("dispatch: %s at %d to %d is outside the arena of %d bytes, or not at a multiple of %d",
				a.Value.Name, a.Offset, a.Offset+a.Bytes, p.ArenaBytes, alignOf(p.Arena))
		}
		for j := range i {
			b := &p.Places[j]
			together := a.First <= b.Last && b.First <= a.Last
			if (together || p.Arena.NoReuse) && a.Offset-g < b.Offset+b.Bytes+g && b.Offset-g < a.Offset+a.Bytes+g {
				return fmt.Errorf("dispatch: %s at %d to %d and %s at %d to %d live at once and overlap",
					a.Value.Name, a.Offset, a.Offset+a.Bytes, b.Value.Name, b.Offset, b.Offset+b.Bytes)
			}
		}
	}
	stage := 0
	for i := range p.Launches {
		l := &p.Launches[i]
		if l.Wait {
			stage++
		}
		for k := range l.Bindings {
			b := &l.Bindings[k]
			if !placed(b.Value) {
				continue
			}
			if a := at[b.Value]; a == nil || b.Offset+b.Bytes > a.Bytes || stage < a.First || stage > a.Last {
				return fmt.Errorf("dispatch: %s in stage %d binds %s, which has no such place then", l.Kernel, stage, extent(b))
			}
		}
	}
	return nil
}
