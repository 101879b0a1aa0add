package dispatch

import (
	"fmt"
	"unsafe"

	"github.com/holdfast-llm/holdfast/device"
	"github.com/holdfast-llm/holdfast/op"
)

// verify holds what a registration answers against the memory that will really
// be bound: nothing is enqueued on the strength of a promise.
func verify(m *device.Match, s *device.Site, arena device.Arena) *device.Decline {
	if m == nil || m.Covers < 1 || m.Covers > len(s.Ops) {
		return no(device.ReasonShape, "answers neither with operations that it covers nor with a decline")
	}
	for i := range m.Launches {
		l := &m.Launches[i]
		for j := range l.Bindings {
			b := &l.Bindings[j]
			if d := verifyBinding(l, b, s.Compile, arena); d != nil {
				return d
			}
			for k := range l.Bindings[:j] {
				if a := &l.Bindings[k]; (a.Access|b.Access)&device.Write != 0 && overlap(a, b) {
					return no(device.ReasonAlias, "%s: %s and %s share bytes, and one is written", l.Kernel, extent(a), extent(b))
				}
			}
		}
	}
	return nil
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
// the same time share a byte, canaries included, and all lie in the arena. A
// failure is a mistake in place.
func verifyPlaces(p *device.Program) error {
	g := p.Arena.Guard
	for i := range p.Places {
		a := &p.Places[i]
		if a.Offset < p.Arena.Prefix+g || a.Offset+a.Bytes+g > p.ArenaBytes {
			return fmt.Errorf("dispatch: %s at %d to %d is outside the arena of %d bytes", a.Value.Name, a.Offset, a.Offset+a.Bytes, p.ArenaBytes)
		}
		for j := range i {
			b := &p.Places[j]
			together := a.First <= b.Last && b.First <= a.Last
			if (together || p.Arena.NoReuse) && a.Offset-g < b.Offset+b.Bytes+g && b.Offset-g < a.Offset+a.Bytes+g && a.Bytes > 0 && b.Bytes > 0 {
				return fmt.Errorf("dispatch: %s at %d to %d and %s at %d to %d live at once and overlap",
					a.Value.Name, a.Offset, a.Offset+a.Bytes, b.Value.Name, b.Offset, b.Offset+b.Bytes)
			}
		}
	}
	return nil
}
