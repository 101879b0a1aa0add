package emu

import "github.com/holdfast-llm/holdfast/internal/memory"

// Residency says what may happen to a buffer's pages while it is in use: see
// Pressure.
type Residency = memory.Residency

// The residencies.
const (
	Pageable      = memory.Pageable      // may be unmapped, moved and mapped again
	Pinned        = memory.Pinned        // locked in memory
	NonMigratable = memory.NonMigratable // device memory that never moves
)

// Buffer is an allocation in the device's address space.
type Buffer struct {
	Name      string
	Addr      uint64 // of the first byte
	Data      []byte // the bytes, as the device's memory (L2) has them
	Residency Residency
	ReadOnly  bool // a store is a fault: code, constants
	// WriteOnly says that nothing is to be read from it. The device does not mind;
	// checkers do.
	WriteOnly bool
	// Uninitialised says that nobody had given the bytes a meaning when the buffer
	// was allocated: see Placement.
	Uninitialised bool

	host []byte // the host's copy of memory that is not coherent: host.go
	dev  *Device
}

// Space is the device's address space: buffers apart from each other, with
// unmapped bytes between them.
type Space struct {
	buffers []*Buffer // ascending by Addr
	freed   []freed   // where no buffer is since, the latest last
}

// freed is what is remembered of a buffer that is no longer mapped.
type freed struct {
	name        string
	addr, bytes uint64
}

// freedMost is how many are remembered.
const freedMost = 1024

// Find is the buffer that holds the n bytes at addr, or nil.
func (s *Space) Find(addr, n uint64) *Buffer {
	lo, hi := 0, len(s.buffers)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if s.buffers[mid].Addr <= addr {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo == 0 {
		return nil
	}
	b := s.buffers[lo-1]
	size := uint64(len(b.Data))
	if off := addr - b.Addr; off > size || n > size-off {
		return nil
	}
	return b
}

// NonCoherent are the buffers of which the host has a view of its own.
func (s *Space) NonCoherent() (list []*Buffer) {
	for _, b := range s.buffers {
		if !b.Coherent() {
			list = append(list, b)
		}
	}
	return list
}

// Neighbour is a buffer, of which there may be none any more.
type Neighbour struct {
	Name        string
	Addr, Bytes uint64
	Freed       bool
}

// Near is the buffer that an address belongs to: the one that it is in, or was
// in before it was freed, or else the nearest. It is false if there is none.
func (s *Space) Near(addr uint64) (Neighbour, bool) {
	var before, after *Buffer
	for _, b := range s.buffers {
		if b.Addr > addr {
			after = b
			break
		}
		before = b
	}
	of := func(b *Buffer) (Neighbour, bool) {
		return Neighbour{Name: b.Name, Addr: b.Addr, Bytes: uint64(len(b.Data))}, true
	}
	if before != nil && addr-before.Addr < uint64(len(before.Data)) {
		return of(before)
	}
	for i := len(s.freed) - 1; i >= 0; i-- {
		if f := &s.freed[i]; addr-f.addr < f.bytes {
			return Neighbour{f.name, f.addr, f.bytes, true}, true
		}
	}
	switch {
	case before == nil && after == nil:
		return Neighbour{}, false
	case before == nil:
		return of(after)
	case after == nil || addr-before.Addr-uint64(len(before.Data)) <= after.Addr-addr:
		return of(before)
	}
	return of(after)
}
