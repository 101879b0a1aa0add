// Package addr explains the address of a memory fault by a map of allocations:
// which buffer it is in, or how far past the end of which one, whether that one
// had been freed, and whether an index that was multiplied in 32 bits leads there.
package addr

import "fmt"

// Range is an allocation, or a named part of one.
type Range struct {
	Name   string
	Start  uint64
	Bytes  uint64
	Detail string // what else the map says: "weight", "stages 3 to 9", "r-xp"
	// Stride is the bytes from one element of the outermost dimension to the next,
	// 0 if the map does not say.
	Stride uint64
	Freed  bool
	// Allocated and FreedAt say when: a time as the trace writes it, or a line.
	Allocated, FreedAt string

	order int // of what happened last to it, in the map
}

// End is the address after the last byte, which is not in the range. A range that
// ends where addresses do has the end 0, as the arithmetic says; none does in a
// Map.
func (r *Range) End() uint64 { return r.Start + r.Bytes }

func (r *Range) contains(a uint64) bool { return a >= r.Start && a-r.Start < r.Bytes }

// Map is what was allocated.
type Map struct {
	Format string  // of the file, one of Formats
	Ranges []Range // by start, then from the longest to the shortest
	// Skipped is how many lines say nothing of allocations.
	Skipped int
	// Unmatched is how many frees are of nothing that the map allocates.
	Unmatched int
}

// Formats are the names of the formats that Read knows.
var Formats = []string{"program", "dispatch", "maps", "trace", "csv"}

func (r *Range) String() string {
	return fmt.Sprintf("%s [%#x, %#x), %d bytes", r.Name, r.Start, r.End(), r.Bytes)
}
