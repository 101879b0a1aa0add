// Package trace reads what drivers and runtimes say of a GPU: the KFD's system
// management events, faults in the kernel's log and in the texts of ROCr and HRX, and
// the KFD tables of rocprofv3; and it asks whether events and requests that went
// wrong come together.
package trace

import "fmt"

// Kind is what an event is.
type Kind uint8

// The kinds, with the numbers that the KFD gives them; Fault and Dropped have
// none there.
const (
	VMFault        Kind = 1
	Throttle       Kind = 2
	PreReset       Kind = 3
	PostReset      Kind = 4
	MigrateStart   Kind = 5
	MigrateEnd     Kind = 6
	PageFaultStart Kind = 7
	PageFaultEnd   Kind = 8
	QueueEviction  Kind = 9
	QueueRestore   Kind = 10
	Unmap          Kind = 11
	ProcessStart   Kind = 12
	ProcessEnd     Kind = 13

	Fault   Kind = 64 // a text about a fault: Event.Fault says what
	Dropped Kind = 65 // Count events that the driver or the profiler lost
)

var kindNames = map[Kind]string{
	VMFault: "vm-fault", Throttle: "throttle", PreReset: "pre-reset", PostReset: "post-reset",
	MigrateStart: "migrate-start", MigrateEnd: "migrate-end", PageFaultStart: "page-fault-start", PageFaultEnd: "page-fault-end",
	QueueEviction: "eviction", QueueRestore: "restore", Unmap: "unmap", ProcessStart: "process-start", ProcessEnd: "process-end",
	Fault: "fault", Dropped: "dropped",
}

func (k Kind) String() string {
	if s, ok := kindNames[k]; ok {
		return s
	}
	return fmt.Sprintf("event-%d", uint8(k))
}

// KindNames are the names of all kinds, in the order of their numbers.
func KindNames() []string {
	var names []string
	for k := range Dropped + 1 {
		if s, ok := kindNames[k]; ok {
			names = append(names, s)
		}
	}
	return names
}

// ParseKind is the kind with a name.
func ParseKind(s string) (Kind, error) {
	for k, name := range kindNames {
		if name == s {
			return k, nil
		}
	}
	return 0, fmt.Errorf("trace: no kind of event is called %q", s)
}

// Event is one thing that a driver or a runtime said.
type Event struct {
	Kind Kind `json:"kind"`
	Line int  `json:"line"` // of the file, from 1; in JSON the record
	// At is when, in nanoseconds of the trace's clock, and Until the end of what has a
	// duration, else At. Timed says that the text had a time.
	At    int64 `json:"at,omitempty"`
	Until int64 `json:"until,omitempty"`
	Timed bool  `json:"timed"`
	PID   int   `json:"pid,omitempty"`
	// Node is the GPU, where From and To are not given, which are those of a migration.
	Node uint32 `json:"node,omitempty"`
	From uint32 `json:"from,omitempty"`
	To   uint32 `json:"to,omitempty"`
	// Addr is the first byte, Bytes how many; a page fault has no Bytes.
	Addr    Address `json:"address,omitempty"`
	Bytes   uint64  `json:"bytes,omitempty"`
	Trigger string  `json:"trigger,omitempty"` // "userptr", "gpu-fault"; "trigger-9" if it has no name here
	// Note is what else the text says: "write", "migrated", "rescheduled", the name of a
	// task.
	Note  string     `json:"note,omitempty"`
	Count uint64     `json:"count,omitempty"` // of Dropped
	Fault *FaultText `json:"fault,omitempty"`
}

// Address is an address, in hexadecimal where it is written.
type Address uint64

func (a Address) String() string { return fmt.Sprintf("%#x", uint64(a)) }

// MarshalText writes the address in hexadecimal.
func (a Address) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// MarshalText writes the kind's name.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// Trace is what a file told.
type Trace struct {
	Events []Event
	// Clock is what the events' times count: "boot" (CLOCK_BOOTTIME) for the KFD's, "log" for
	// the kernel's log, "profiler" for rocprofv3, "" if none has a time.
	Clock string
	// Skipped is how many lines are of nothing that is known here, Odd the first ones
	// of them that look like an event but cannot be read, with the reason.
	Skipped int
	Odd     []string
	// Dropped is how many events are said to have been lost.
	Dropped uint64
	// Torn says that the last line has no end.
	Torn bool
}
