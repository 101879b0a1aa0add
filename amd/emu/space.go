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

	host []byte // the host's copy of memory that is not coherent: host.go
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
