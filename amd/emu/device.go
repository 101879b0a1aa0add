package emu

import (
	"fmt"
	"slices"
	"sort"
	"sync"
)

// Device is a software gfx11 device: an address space and how it is run. One
// dispatch runs at a time; Run waits for its turn.
type Device struct {
	config Config
	space  *Space
	next   uint64 // where the next allocation without an address goes
	mu     sync.Mutex
	queue  *Buffer // the queue that dispatches are told of
	queued []Dispatch

	atomics atomicLocks
}

// New makes a device with nothing in its memory.
func New(c Config) (*Device, error) {
	switch {
	case c.ComputeUnits < 0 || c.ComputeUnits%2 != 0:
		return nil, fmt.Errorf("emu: %d compute units: they come in pairs", c.ComputeUnits)
	case c.Workers < 0:
		return nil, fmt.Errorf("emu: %d workers", c.Workers)
	case c.Schedule.Quantum < 0:
		return nil, fmt.Errorf("emu: quantum of %d instructions", c.Schedule.Quantum)
	case c.Schedule.Resident < 0:
		return nil, fmt.Errorf("emu: %d resident workgroups", c.Schedule.Resident)
	case c.Schedule.Waves > Random:
		return nil, fmt.Errorf("emu: no wave order %d", c.Schedule.Waves)
	case c.Schedule.Groups > Shuffled:
		return nil, fmt.Errorf("emu: no workgroup order %d", c.Schedule.Groups)
	case c.Mode > Relaxed:
		return nil, fmt.Errorf("emu: no memory mode %d", c.Mode)
	}
	if err := c.Timing.check(c.Mode); err != nil {
		return nil, err
	}
	if err := c.Pressure.check(); err != nil {
		return nil, err
	}
	if c.ComputeUnits == 0 {
		c.ComputeUnits = 8
	}
	if c.Budget == 0 {
		c.Budget = defaultBudget
	}
	return &Device{config: c, space: &Space{}, next: heapBase}, nil
}

// Config is the device's configuration with its defaults filled in.
func (d *Device) Config() Config { return d.config }

// Space is the device's memory.
func (d *Device) Space() *Space { return d.space }

// Placement is where and how a buffer is allocated. The zero value lets the
// device choose.
type Placement struct {
	// Addr is the address; 0 lets the device choose one.
	Addr uint64
	// Align is the alignment of a chosen address, a power of two; 0 means 256.
	Align uint64
	// Offset is added to an aligned address, for a buffer that starts in the
	// middle of its alignment.
	Offset uint64
	// Guard is how many bytes on both sides stay unmapped; 0 means 4096.
	Guard     uint64
	Residency Residency
	// NonCoherent memory is seen by host and device only after Flush and
	// Invalidate.
	NonCoherent bool
	// Uninitialised says that nobody has given the bytes a meaning: to observers,
	// the device runs alike.
	Uninitialised bool
}

// Alloc allocates a buffer of n zero bytes.
func (d *Device) Alloc(name string, n int, p Placement) (*Buffer, error) {
	if n < 0 {
		return nil, fmt.Errorf("emu: buffer %q: %d bytes", name, n)
	}
	return d.Map(name, make([]byte, n), p)
}

// Map makes data a buffer: the device works in the caller's bytes, which the
// caller does not touch while a dispatch runs.
func (d *Device) Map(name string, data []byte, p Placement) (*Buffer, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.place(name, data, p)
}

func (d *Device) place(name string, data []byte, p Placement) (*Buffer, error) {
	if p.Align == 0 {
		p.Align = 256
	}
	if p.Guard == 0 {
		p.Guard = 4096
	}
	n := uint64(len(data))
	switch {
	case p.Residency > NonMigratable:
		return nil, fmt.Errorf("emu: buffer %q: no residency %d", name, p.Residency)
	case p.Align&(p.Align-1) != 0:
		return nil, fmt.Errorf("emu: buffer %q: alignment %d is no power of two", name, p.Align)
	case p.Align > heapLimit || p.Guard > heapLimit || p.Offset > heapLimit || n > heapLimit:
		return nil, fmt.Errorf("emu: buffer %q: %d bytes, alignment %d, offset %d, guard %d: more than the address space", name, n, p.Align, p.Offset, p.Guard)
	}
	addr := p.Addr
	if addr == 0 {
		addr = d.space.gap(d.next, n, p)
	}
	if addr > heapLimit || n > heapLimit-addr {
		return nil, fmt.Errorf("emu: buffer %q: %d bytes at %#x end past the address space (%#x)", name, n, addr, uint64(heapLimit))
	}
	b := &Buffer{Name: name, Addr: addr, Data: data, Residency: p.Residency, Uninitialised: p.Uninitialised, dev: d}
	if p.NonCoherent {
		b.host = append([]byte(nil), data...)
	}
	if err := d.space.add(b); err != nil {
		return nil, err
	}
	if p.Addr == 0 {
		d.next = addr + n + p.Guard
	}
	return b, nil
}

// gap is the first address from from on that a placement may choose: no buffer,
// placed at an address of its own, is within its guards.
func (s *Space) gap(from, n uint64, p Placement) uint64 {
	i := sort.Search(len(s.buffers), func(i int) bool {
		b := s.buffers[i]
		return b.Addr+uint64(len(b.Data)) > from
	})
	for {
		addr := (from+p.Guard+p.Align-1)&^(p.Align-1) + p.Offset
		if i == len(s.buffers) || addr > heapLimit || s.buffers[i].Addr >= addr+n+p.Guard {
			return addr
		}
		from = s.buffers[i].Addr + uint64(len(s.buffers[i].Data))
		i++
	}
}

// Free unmaps a buffer; its addresses are not given out again.
func (d *Device) Free(b *Buffer) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.space.remove(b)
}

// add maps a buffer.
func (s *Space) add(b *Buffer) error {
	i := sort.Search(len(s.buffers), func(i int) bool { return s.buffers[i].Addr >= b.Addr })
	overlap := func(o *Buffer) error {
		return fmt.Errorf("emu: buffer %q: %d bytes at %#x overlap buffer %q: %d bytes at %#x", b.Name, len(b.Data), b.Addr, o.Name, len(o.Data), o.Addr)
	}
	if i > 0 {
		if o := s.buffers[i-1]; o.Addr+uint64(len(o.Data)) > b.Addr {
			return overlap(o)
		}
	}
	if i < len(s.buffers) {
		if o := s.buffers[i]; b.Addr+uint64(len(b.Data)) > o.Addr || o.Addr == b.Addr {
			return overlap(o)
		}
	}
	s.freed = slices.DeleteFunc(s.freed, func(f freed) bool {
		return f.addr < b.Addr+uint64(len(b.Data)) && b.Addr < f.addr+f.bytes
	})
	s.buffers = append(s.buffers, nil)
	copy(s.buffers[i+1:], s.buffers[i:])
	s.buffers[i] = b
	return nil
}

// remove unmaps a buffer.
func (s *Space) remove(b *Buffer) error {
	for i, o := range s.buffers {
		if o == b {
			s.buffers = append(s.buffers[:i], s.buffers[i+1:]...)
			if len(s.freed) == freedMost {
				s.freed = s.freed[1:]
			}
			s.freed = append(s.freed, freed{b.Name, b.Addr, uint64(len(b.Data))})
			return nil
		}
	}
	return fmt.Errorf("emu: buffer %q at %#x is not mapped", b.Name, b.Addr)
}
