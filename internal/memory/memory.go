// Package memory allocates buffers by what is asked of them: where they live,
// who may touch them, what for, how aligned, how coherent, and what may happen
// to their pages. The last, residency, is a field like the others: a buffer
// that the system may move or swap while a kernel runs is a choice, not an
// accident.
//
// What an operating system or a device cannot give is an error that says what
// was asked; nothing is given in its place.
package memory

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"os"
	"unsafe"

	"github.com/holdfast-llm/holdfast/internal/mmap"
)

// Params is how a buffer is allocated.
type Params struct {
	Type      Type
	Access    Access
	Usage     string // what it is for, as errors and reports name it: "arena", "key-value cache"
	Align     int    // of the first byte, a power of two up to MaxAlign; 0 means 1
	Coherence Coherence
	Residency Residency
}

func (p Params) String() string {
	return fmt.Sprintf("%s, %s, %s, aligned to %d, %s, %s", p.Usage, p.Type, p.Access, p.Align, p.Coherence, p.Residency)
}

// MaxAlign is the largest alignment.
const MaxAlign = 1 << 30

// Type says where memory is.
type Type uint8

// The types.
const (
	Host   Type = iota // the processor's own memory
	Device             // memory of a device, which the processor may not reach
)

func (t Type) String() string { return [...]string{"host", "device"}[t&1] }

// Access says who may do what with memory.
type Access uint8

// The accesses.
const (
	ReadWrite Access = iota // anybody may read and write
	None                    // touching it is a fault
)

func (a Access) String() string { return [...]string{"read write", "no access"}[a&1] }

// Coherence says when a write is seen by others than the writer.
type Coherence uint8

// The coherences.
const (
	Coherent    Coherence = iota // once it is ordered before the read
	NonCoherent                  // after it was flushed, and what was cached dropped
)

func (c Coherence) String() string { return [...]string{"coherent", "non-coherent"}[c&1] }

// Residency says what may happen to the pages of a buffer while it is in use.
type Residency uint8

// The residencies.
const (
	Pageable      Residency = iota // may be swapped or moved
	Pinned                         // locked in physical memory
	NonMigratable                  // device memory that never moves, where a device has it
)

func (r Residency) String() string {
	if int(r) >= len(residencies) {
		return fmt.Sprintf("residency(%d)", uint8(r))
	}
	return residencies[r]
}

var residencies = [...]string{"pageable", "pinned", "non-migratable"}

// Buffer is allocated memory.
type Buffer struct {
	params Params
	mem    *mmap.Mapping
	data   []byte // the part of mem that is aligned
}

// Alloc returns n bytes of the processor's memory, zeroed. base is the address
// they are to have; 0 leaves it to the system. Errors, all before anything is
// kept: memory of a device, or coherence or residency that the processor's
// memory does not have; an alignment that is none; an address that is not
// aligned or is taken; no memory; and pages that may not be locked, with the
// limit.
func Alloc(p Params, n int, base uintptr) (*Buffer, error) {
	b, err := alloc(p, n, base)
	if err != nil {
		return nil, fmt.Errorf("%s %s of %d bytes: %w", p.Residency, p.Usage, n, err)
	}
	return b, nil
}

func alloc(p Params, n int, base uintptr) (*Buffer, error) {
	p.Align = max(p.Align, 1)
	switch {
	case p.Type != Host:
		return nil, fmt.Errorf("the processor has no %s memory", p.Type)
	case p.Coherence != Coherent:
		return nil, fmt.Errorf("the processor has no %s memory", p.Coherence)
	case p.Residency != Pageable && p.Residency != Pinned:
		return nil, fmt.Errorf("the processor has no %s memory: its pages are pageable or pinned", p.Residency)
	case p.Align > MaxAlign || p.Align&(p.Align-1) != 0:
		return nil, fmt.Errorf("alignment %d, want a power of two up to %d", p.Align, MaxAlign)
	case base%uintptr(p.Align) != 0:
		return nil, fmt.Errorf("address %#x, want a multiple of %d", base, p.Align)
	case n <= 0 || n > math.MaxInt-p.Align:
		return nil, errors.New("no such size")
	}
	mem, err := get(p, n, base)
	if err != nil {
		return nil, err
	}
	b := &Buffer{params: p, mem: mem}
	at := int(-address(mem.Bytes()) & uintptr(p.Align-1))
	if at+n > len(mem.Bytes()) {
		return nil, errors.Join(fmt.Errorf("at %#x, want a multiple of %d", address(mem.Bytes()), p.Align), mem.Close())
	}
	b.data = mem.Bytes()[at : at+n : at+n]
	b.params.Align = 1 << min(bits.TrailingZeros64(uint64(address(b.data))), 30)
	b.params.Residency = Pageable
	if p.Residency == Pinned {
		if err := b.Pin(); err != nil {
			return nil, errors.Join(err, b.Close())
		}
	}
	return b, nil
}

// get maps at least n bytes, enough that n of them are aligned.
func get(p Params, n int, base uintptr) (*mmap.Mapping, error) {
	if base != 0 {
		return mmap.AnonymousAt(base, n)
	}
	if page := os.Getpagesize(); p.Align > page {
		n += p.Align - page
	}
	if p.Access == None {
		return mmap.NoAccess(n)
	}
	return mmap.Anonymous(n)
}

func address(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }

// Params is what the buffer has: at least what was asked for.
func (b *Buffer) Params() Params { return b.params }

// Bytes is the memory. It must not be used after Close.
func (b *Buffer) Bytes() []byte { return b.data }

// Pin locks the buffer's pages in physical memory until Close. It needs the
// operating system's leave; the error says how much it gives.
func (b *Buffer) Pin() error {
	if err := b.mem.Lock(); err != nil {
		return err
	}
	b.params.Residency = Pinned
	return nil
}

// Close gives the memory back. Closing twice is harmless.
func (b *Buffer) Close() error {
	b.data = nil
	return b.mem.Close()
}
