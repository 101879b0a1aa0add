package gfx11

import (
	"fmt"
	"unsafe"

	"github.com/holdfast-llm/holdfast/amd/emu"
	"github.com/holdfast-llm/holdfast/op"
)

// valueKey is the bytes of a weight or a cache: two values of the same bytes,
// such as an embedding that is the output matrix too, share their place.
type valueKey struct {
	data *byte
	n    int
}

// mapping is bytes of the host that programs share on the device.
type mapping struct {
	buffer *emu.Buffer
	users  int // programs
}

// share maps a value's bytes, or finds where they are. Caches have the
// residency r. Weights are read-only and pinned: they may be a file's own pages,
// which nobody can move.
func (d *Device) share(use Use, v *op.Value, r emu.Residency) (*mapping, error) {
	key := valueKey{unsafe.SliceData(v.Data), len(v.Data)}
	if m, ok := d.values[key]; ok {
		if v.Role == op.Cache && m.buffer.Residency != r {
			return nil, fmt.Errorf("gfx11: %s is mapped as %s already, a program wants it %s", v.Name, m.buffer.Residency, r)
		}
		m.users++
		return m, nil
	}
	p := emu.Placement{Residency: r}
	if v.Role == op.Weight {
		p.Residency = emu.Pinned
	}
	b, err := d.memory.place(use, v.Name, v.Data, p)
	if err != nil {
		return nil, err
	}
	b.ReadOnly = v.Role == op.Weight
	m := &mapping{buffer: b, users: 1}
	d.values[key] = m
	return m, nil
}

// release gives up one program's use of a mapping.
func (d *Device) release(m *mapping) error {
	if m.users--; m.users > 0 {
		return nil
	}
	delete(d.values, valueKey{unsafe.SliceData(m.buffer.Data), len(m.buffer.Data)})
	return d.memory.free(m.buffer)
}
