package gfx11

import (
	"fmt"
	"sort"
	"strings"

	"github.com/holdfast-llm/holdfast/amd/emu"
)

// Use says what device memory is for.
type Use string

// The uses.
const (
	Weights Use = "weights"
	Caches  Use = "caches"
	Arenas  Use = "arenas"
	Batches Use = "batches" // tokens, positions, slots, output rows
	Kernels Use = "kernels" // what single launches keep, and their constants
	Code    Use = "code"
)

// memory counts what is mapped on a device, by use.
type memory struct {
	dev   *emu.Device
	limit int64 // 0: none
	used  int64
	by    map[Use]held
	uses  map[*emu.Buffer]Use
}

// held is what a use has.
type held struct {
	bytes   int64
	buffers int
}

func newMemory(dev *emu.Device, limit int64) memory {
	return memory{dev: dev, limit: limit, by: map[Use]held{}, uses: map[*emu.Buffer]Use{}}
}

// MemoryError says that device memory has run out: what was asked for, and who
// has how much.
type MemoryError struct {
	Name        string // of the buffer that was asked for
	Use         Use
	Bytes       int64 // asked for
	Used, Limit int64
	Holders     string // "weights 7621632 bytes in 95 buffers, caches ..."
}

func (e *MemoryError) Error() string {
	return fmt.Sprintf("gfx11: no memory for %s (%s): %d bytes asked for, %d of %d in use: %s",
		e.Name, e.Use, e.Bytes, e.Used, e.Limit, e.Holders)
}

// reserve counts a buffer of a use. Errors: a *MemoryError.
func (m *memory) reserve(use Use, name string, bytes int64) error {
	if m.limit > 0 && bytes > m.limit-m.used {
		return &MemoryError{name, use, bytes, m.used, m.limit, m.holders()}
	}
	m.count(use, bytes, 1)
	return nil
}

func (m *memory) count(use Use, bytes int64, buffers int) {
	h := m.by[use]
	m.by[use] = held{h.bytes + bytes, h.buffers + buffers}
	m.used += bytes
}

// holders says who has how much, the most first.
func (m *memory) holders() string {
	var uses []Use
	for use, h := range m.by {
		if h.buffers > 0 {
			uses = append(uses, use)
		}
	}
	if uses == nil {
		return "nothing"
	}
	sort.Slice(uses, func(i, j int) bool {
		a, b := m.by[uses[i]].bytes, m.by[uses[j]].bytes
		return a > b || a == b && uses[i] < uses[j]
	})
	var s []string
	for _, use := range uses {
		s = append(s, fmt.Sprintf("%s %d bytes in %d buffers", use, m.by[use].bytes, m.by[use].buffers))
	}
	return strings.Join(s, ", ")
}

// place makes bytes of the host's a buffer of the device.
func (m *memory) place(use Use, name string, data []byte, p emu.Placement) (*emu.Buffer, error) {
	if err := m.reserve(use, name, int64(len(data))); err != nil {
		return nil, err
	}
	b, err := m.dev.Map(name, data, p)
	if err != nil {
		m.count(use, -int64(len(data)), -1)
		return nil, fmt.Errorf("gfx11: %s: %w", use, err)
	}
	m.uses[b] = use
	return b, nil
}

// free unmaps a buffer.
func (m *memory) free(b *emu.Buffer) error {
	if err := m.dev.Free(b); err != nil {
		return fmt.Errorf("gfx11: %w", err)
	}
	m.count(m.uses[b], -int64(len(b.Data)), -1)
	delete(m.uses, b)
	return nil
}
