package kernel

var argmax = &Kernel{Name: "argmax", Source: "argmax", Items: 1024}

// Argmax writes the index of the greatest of a row of Logits, [rows][N] floats,
// the lowest of equals, to Out, int32 [rows]. A row with a NaN, or whose
// greatest is infinite, gets -1 and a fault with Mark in Faults, [rows] of
// FaultBytes.
type Argmax struct {
	Logits, Out, Faults Pointer
	N, Mark             uint32
}

// Kernel is argmax.
func (Argmax) Kernel() *Kernel { return argmax }

// Launch is for a number of rows.
func (a Argmax) Launch(rows int) Launch { return Launch{a, [3]uint32{uint32(rows), 1, 1}} }
