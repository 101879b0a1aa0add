package trace

import (
	"fmt"
	"strings"
)

// String is a line about the event.
func (e Event) String() string {
	var b strings.Builder
	if e.Timed {
		fmt.Fprintf(&b, "%d.%09d ", e.At/1e9, e.At%1e9)
	} else {
		fmt.Fprintf(&b, "line %d ", e.Line)
	}
	b.WriteString(e.Kind.String())
	if e.Until > e.At {
		fmt.Fprintf(&b, " for %.3f ms", float64(e.Until-e.At)/1e6)
	}
	if e.Fault != nil {
		fmt.Fprintf(&b, " %s: %s", e.Fault.Source, e.Fault.Reason)
		if e.Fault.HasAddr {
			fmt.Fprintf(&b, " at %s", e.Fault.Addr)
		}
		b.WriteString(e.Fault.Details())
		return b.String()
	}
	if e.PID != 0 {
		fmt.Fprintf(&b, " pid %d", e.PID)
	}
	switch e.Kind {
	case MigrateStart, MigrateEnd:
		fmt.Fprintf(&b, " node %d to %d", e.From, e.To)
	case PageFaultStart, PageFaultEnd, QueueEviction, QueueRestore, Unmap:
		fmt.Fprintf(&b, " node %d", e.Node)
	case Dropped:
		fmt.Fprintf(&b, " %d events", e.Count)
	}
	if e.Addr != 0 {
		fmt.Fprintf(&b, " at %s", e.Addr)
		if e.Bytes != 0 {
			fmt.Fprintf(&b, "+%#x", e.Bytes)
		}
	}
	for _, s := range []string{e.Trigger, e.Note} {
		if s != "" {
			b.WriteString(", " + s)
		}
	}
	return b.String()
}
