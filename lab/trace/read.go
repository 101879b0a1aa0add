package trace

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

// Bounds of a trace.
const (
	maxFile   = 512 << 20
	maxLine   = 1 << 16
	maxEvents = 1 << 22
	maxOdd    = 20
)

// Read reads a trace: lines of the KFD's system management interface, of the kernel's
// log and of runtimes, also mixed and among others, or a table of rocprofv3 in CSV or
// JSON. Lines that are none of these are counted. name is for errors.
func Read(name string, r io.Reader) (*Trace, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", name, err)
	case len(b) > maxFile:
		return nil, fmt.Errorf("%s: trace: more than %d MiB", name, maxFile>>20)
	}
	t := &Trace{}
	switch head := bytes.TrimSpace(b); {
	case len(head) > 0 && (head[0] == '{' || head[0] == '[') && isProfile(head):
		err = t.readProfileJSON(head)
	case isProfileCSV(head):
		err = t.readProfileCSV(head)
	default:
		err = t.readLines(b)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	for i := range t.Events {
		t.Dropped += t.Events[i].Count
	}
	return t, nil
}

func (t *Trace) add(e Event) error {
	if len(t.Events) == maxEvents {
		return fmt.Errorf("trace: more than %d events", maxEvents)
	}
	t.Events = append(t.Events, e)
	return nil
}

func (t *Trace) readLines(b []byte) error {
	var log kernelLog
	t.Torn = len(b) > 0 && b[len(b)-1] != '\n'
	boot := false
	for n := 1; len(b) > 0; n++ {
		var raw []byte
		raw, b, _ = bytes.Cut(b, []byte("\n"))
		line := strings.Trim(string(raw[:min(len(raw), maxLine)]), "\x00\r ")
		if line == "" {
			continue
		}
		e, ok, err := ParseSMI(line)
		switch {
		case ok && err == nil:
			boot = boot || e.Timed
			e.Line = n
			if err := t.add(e); err != nil {
				return err
			}
			continue
		case ok:
			t.Skipped++
			if len(t.Odd) < maxOdd {
				t.Odd = append(t.Odd, fmt.Sprintf("line %d: %v", n, err))
			}
			continue
		}
		known, err := t.readText(&log, line, n)
		if err != nil {
			return err
		}
		if !known {
			t.Skipped++
		}
	}
	switch {
	case boot:
		t.Clock = "boot"
	case len(t.Events) > 0 && t.Events[0].Timed:
		t.Clock = "log"
	}
	return nil
}

// readText reads a line of the kernel's log or of a runtime.
func (t *Trace) readText(log *kernelLog, line string, n int) (known bool, err error) {
	e := Event{Kind: Fault, Line: n}
	e.At, e.Timed = logTime(line)
	e.Until = e.At
	if e.Fault = parseRuntime(line); e.Fault != nil {
		return true, t.add(e)
	}
	begun, ok := log.read(line, n)
	if begun != nil {
		e.Fault = begun
		return true, t.add(e)
	}
	return ok, nil
}

// Faults are the texts about faults that have an address.
func (t *Trace) Faults() []*FaultText {
	var fs []*FaultText
	for i := range t.Events {
		if f := t.Events[i].Fault; f != nil && f.HasAddr {
			fs = append(fs, f)
		}
	}
	return fs
}
