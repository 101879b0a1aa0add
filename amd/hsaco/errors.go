package hsaco

import "fmt"

// Reason says in what way an object is refused, or poorer than it could be.
type Reason uint8

// The reasons.
const (
	NotELF        Reason = iota + 1 // the file is something else
	NotAMDGPU                       // an ELF, but not a 64-bit AMDGPU HSA object
	BadVersion                      // a code object version outside 3..6
	OtherChip                       // code for a processor that is not gfx11
	Truncated                       // the file ends inside what it announces
	BadSize                         // a size, count, offset or index that cannot be true
	BadDescriptor                   // a kernel descriptor outside its section, or not one
	BadEntry                        // a kernel that starts outside the text
	OverLimit                       // more LDS, scratch or registers than the machine has
	BadMetadata                     // metadata that is not what the format says
	Mismatch                        // metadata and descriptor, or target, disagree
	NoMetadata                      // warning: a kernel, or all, without metadata
	NotApplied                      // warning: relocations or symbols left to resolve
	BadDebug                        // warning: a line table that cannot be read
	reasonsEnd
)

var reasonNames = [reasonsEnd]string{
	NotELF: "not ELF", NotAMDGPU: "not AMDGPU", BadVersion: "version", OtherChip: "another chip",
	Truncated: "truncated", BadSize: "bad size", BadDescriptor: "bad descriptor", BadEntry: "bad entry",
	OverLimit: "over limit", BadMetadata: "bad metadata", Mismatch: "mismatch", NoMetadata: "no metadata",
	NotApplied: "not applied", BadDebug: "bad debug information",
}

func (r Reason) String() string {
	if r < reasonsEnd && reasonNames[r] != "" {
		return reasonNames[r]
	}
	return fmt.Sprintf("reason %d", r)
}

// Error is why an object, or a part of it, cannot be used.
type Error struct {
	Name   string // of the file
	Reason Reason
	Offset uint64 // in the file, of what is wrong
	Detail string // what, with the numbers
}

func (e *Error) Error() string {
	return fmt.Sprintf("hsaco: %s: offset %#x: %s: %s", e.Name, e.Offset, e.Reason, e.Detail)
}

// refuse makes an error whose name Parse fills in.
func refuse(r Reason, offset uint64, format string, args ...any) *Error {
	return &Error{Reason: r, Offset: offset, Detail: fmt.Sprintf(format, args...)}
}
