package isa

import "fmt"

// Unknown is the error for words that this package does not know as an
// instruction: reserved opcodes and operands.
type Unknown struct {
	PC     uint64
	Words  []uint32 // the words looked at, one to five
	Reason string   // what about them is unknown
}

func (e *Unknown) Error() string {
	return fmt.Sprintf("isa: pc %#x: words %08x: %s", e.PC, e.Words, e.Reason)
}

// Truncated is the error for an instruction of which only the first bytes are
// there.
type Truncated struct {
	PC         uint64
	Have, Need int // bytes
}

func (e *Truncated) Error() string {
	return fmt.Sprintf("isa: pc %#x: %d bytes of code left, the instruction has %d", e.PC, e.Have, e.Need)
}
