package kernel

import (
	"encoding/binary"
	"math"
)

// FaultBytes is the size of a row's fault in device memory.
const FaultBytes = 12

// Fault is what a kernel found wrong with a row of logits: the first NaN, or
// else the greatest element if that is infinite. The host zeroes a fault for
// each row before a step; the first kernel that finds something writes it, and
// those behind it leave it alone.
type Fault struct {
	Mark  uint32 // of the kernel's arguments, never 0; 0 is no fault
	Index uint32 // of the element in its row
	Value float32
}

// Faults reads the faults of a step's rows, whole ones only.
func Faults(b []byte) []Fault {
	fs := make([]Fault, 0, len(b)/FaultBytes)
	for ; len(b) >= FaultBytes; b = b[FaultBytes:] {
		u := binary.LittleEndian.Uint32
		fs = append(fs, Fault{u(b), u(b[4:]), math.Float32frombits(u(b[8:]))})
	}
	return fs
}
