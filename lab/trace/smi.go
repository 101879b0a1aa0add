package trace

import (
	"fmt"
	"strconv"
	"strings"
)

// The KFD's system management events are lines: an event's number in hexadecimal, a
// space, and a text that depends on it. Newer drivers append fields; old ones
// leave the last one out or send a NUL for it.

var (
	migrateTriggers  = []string{"prefetch", "gpu-fault", "cpu-fault", "ttm"}
	evictionTriggers = []string{"svm", "userptr", "ttm", "suspend", "criu-checkpoint", "criu-restore"}
	unmapTriggers    = []string{"mmu-notify", "mmu-notify-migrate", "unmap-from-cpu"}
)

func triggerName(names []string, n uint64) string {
	if n < uint64(len(names)) {
		return names[n]
	}
	return fmt.Sprintf("trigger-%d", n)
}

// ParseSMI reads a line of the KFD's system management interface. ok is false if it
// does not look like one; an error says what is wrong with one that does.
func ParseSMI(line string) (e Event, ok bool, err error) {
	line = strings.Trim(line, "\x00\r\n \t")
	id, text, _ := strings.Cut(line, " ")
	n, err := strconv.ParseUint(strings.TrimPrefix(id, "0x"), 16, 8)
	if err != nil || n == 0 || len(id) > 4 {
		return e, false, nil
	}
	s := &smiText{rest: strings.Fields(strings.ReplaceAll(text, "\x00", ""))}
	e.Kind = Kind(n)
	switch e.Kind {
	case VMFault:
		s.vmFault(&e)
	case Throttle:
		e.Note = "mask " + s.pair(":")
	case PreReset, PostReset:
		e.Note = strings.Join(s.rest, " ")
	case MigrateStart:
		s.begin(&e)
		s.span(&e)
		s.route(&e)
		if pages := s.pair(":"); s.err == nil {
			e.Note = "prefetch:preferred " + pages
		}
		e.Trigger = triggerName(migrateTriggers, s.uint("the trigger", 10))
	case MigrateEnd:
		s.begin(&e)
		s.span(&e)
		s.route(&e)
		e.Trigger = triggerName(migrateTriggers, s.uint("the trigger", 10))
		if code := s.next(); code != "" && code != "0" {
			e.Note = "error " + code
		}
	case PageFaultStart, PageFaultEnd:
		s.begin(&e)
		page, node := s.parens()
		e.Addr, e.Node = Address(page<<12), uint32(node)
		e.Note = map[string]string{"R": "read", "W": "write", "M": "migrated", "U": "updated"}[s.next()]
	case QueueEviction:
		s.begin(&e)
		e.Node = uint32(s.uint("the node", 16))
		e.Trigger = triggerName(evictionTriggers, s.uint("the trigger", 10))
	case QueueRestore:
		s.begin(&e)
		e.Node = uint32(s.uint("the node", 16))
		if s.next() == "R" {
			e.Note = "rescheduled"
		}
	case Unmap:
		s.begin(&e)
		s.span(&e)
		e.Node = uint32(s.uint("the node", 16))
		e.Trigger = triggerName(unmapTriggers, s.uint("the trigger", 10))
	case ProcessStart, ProcessEnd:
		e.Note = strings.Join(s.rest, " ")
	default:
		return e, false, nil
	}
	if s.err != nil {
		return e, looksLike(text), fmt.Errorf("trace: %s: %w", e.Kind, s.err)
	}
	return e, true, nil
}

// looksLike says whether a text that cannot be read as an event's was one: most
// begin with a time and a process.
func looksLike(text string) bool {
	f := strings.Fields(text)
	if len(f) == 0 {
		return false
	}
	_, err := strconv.ParseUint(f[0], 10, 63)
	return err == nil && (len(f) == 1 || strings.HasPrefix(f[1], "-"))
}

// smiText is the rest of an event's text. The first error stays.
type smiText struct {
	rest []string
	err  error
}

func (s *smiText) next() string {
	if len(s.rest) == 0 {
		return ""
	}
	f := s.rest[0]
	s.rest = s.rest[1:]
	return f
}

func (s *smiText) fail(what, got string) {
	if s.err == nil {
		s.err = fmt.Errorf("want %s, got %q", what, got)
	}
}

func (s *smiText) uint(what string, base int) uint64 {
	f := s.next()
	n, err := strconv.ParseUint(f, base, 64)
	if err != nil {
		s.fail(what, f)
	}
	return n
}

// begin reads the time and the process, which is written as a negative number.
func (s *smiText) begin(e *Event) {
	f := s.next()
	at, err := strconv.ParseInt(f, 10, 64)
	if err != nil || at < 0 {
		s.fail("a time", f)
	}
	e.At, e.Until, e.Timed = at, at, true
	f = s.next()
	pid, err := strconv.ParseInt(strings.TrimPrefix(f, "-"), 10, 32)
	if err != nil || pid < 0 {
		s.fail("a process", f)
	}
	e.PID = int(pid)
}

// parens reads "@HEX(HEX)".
func (s *smiText) parens() (a, b uint64) {
	f := s.next()
	first, second, ok := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(f, "@"), ")"), "(")
	a, err1 := strconv.ParseUint(first, 16, 64)
	b, err2 := strconv.ParseUint(second, 16, 64)
	if !ok || err1 != nil || err2 != nil || a >= 1<<52 {
		s.fail("@PAGE(NUMBER)", f)
	}
	return a, b
}

// span reads pages as bytes.
func (s *smiText) span(e *Event) {
	first, pages := s.parens()
	if pages >= 1<<52 {
		s.fail("fewer than 2^52 pages", fmt.Sprint(pages))
	}
	e.Addr, e.Bytes = Address(first<<12), pages<<12
}

// route reads "HEX->HEX".
func (s *smiText) route(e *Event) {
	f := s.next()
	from, to, ok := strings.Cut(f, "->")
	a, err1 := strconv.ParseUint(from, 16, 32)
	b, err2 := strconv.ParseUint(to, 16, 32)
	if !ok || err1 != nil || err2 != nil {
		s.fail("FROM->TO", f)
	}
	e.From, e.To = uint32(a), uint32(b)
}

// pair reads "HEX:HEX" and returns it.
func (s *smiText) pair(sep string) string {
	f := s.next()
	a, b, ok := strings.Cut(f, sep)
	_, err1 := strconv.ParseUint(a, 16, 64)
	_, err2 := strconv.ParseUint(b, 16, 64)
	if !ok || err1 != nil || err2 != nil {
		s.fail("HEX"+sep+"HEX", f)
	}
	return f
}

func (s *smiText) vmFault(e *Event) {
	text := strings.Join(s.rest, " ")
	pid, task, ok := strings.Cut(text, ":")
	n, err := strconv.ParseUint(pid, 16, 31)
	if !ok || err != nil {
		s.fail("PID:TASK", text)
	}
	e.PID, e.Note = int(n), task
}
