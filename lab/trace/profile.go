package trace

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// What rocprofv3 writes of the KFD: records with the fields of rocprofiler-sdk's buffer
// tracing, as the columns of a table or the members of a JSON object. Versions differ in
// which fields there are and how they are spelt, so fields are found by name without
// regard to case and underscores, and operations by what their names contain.

// queueOperations and the others are the names of operations where a record has only
// the number.
var (
	queueOperations   = []string{"EVICT_SVM", "EVICT_USERPTR", "EVICT_TTM", "EVICT_SUSPEND", "EVICT_CRIU_CHECKPOINT", "EVICT_CRIU_RESTORE", "RESTORE_RESCHEDULED", "RESTORE"}
	profileOperations = map[string][]string{"queue": queueOperations, "eventqueue": queueOperations}
)

// maxJSON bounds what is decoded at once.
const maxJSON = 128 << 20

func isProfile(b []byte) bool { return bytes.Contains(bytes.ToLower(b), []byte("kfd")) }

func plainName(s string) string {
	return strings.ReplaceAll(strings.ToLower(strings.TrimSpace(s)), "_", "")
}

func isProfileCSV(b []byte) bool {
	line, _, _ := bytes.Cut(b, []byte("\n"))
	names := strings.Split(plainName(strings.ReplaceAll(string(line[:min(len(line), maxLine)]), `"`, "")), ",")
	for i := range names {
		names[i] = strings.TrimSpace(names[i])
	}
	timed := slices.Contains(names, "timestamp") || slices.Contains(names, "starttimestamp")
	return timed && (slices.Contains(names, "operation") || slices.Contains(names, "kind"))
}

// profileRecord is a record's fields by plain name.
type profileRecord map[string]string

func (r profileRecord) text(names ...string) string {
	for _, n := range names {
		if s := r[n]; s != "" {
			return s
		}
	}
	return ""
}

func (r profileRecord) uint(names ...string) (uint64, error) {
	s := r.text(names...)
	if s == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(s, 0, 64)
	if err != nil {
		return 0, fmt.Errorf("%s: %q is no number", names[0], s)
	}
	return n, nil
}

// event is a record as an event; ok is false for what is not the KFD's.
func (r profileRecord) event(family string, line int) (e Event, ok bool, err error) {
	op := strings.ToUpper(r.text("operation", "operationname", "name"))
	if n, err := strconv.ParseUint(op, 10, 16); err == nil {
		names := profileOperations[strings.TrimPrefix(family, "kfd")]
		op = ""
		if n < uint64(len(names)) {
			op = names[n]
		}
	}
	what := strings.ToUpper(r.text("kind", "kindname")) + " " + op + " " + strings.ToUpper(family)
	e = Event{Line: line, Timed: true}
	after := func(word string, in []string) {
		_, rest, _ := strings.Cut(op, word)
		rest = strings.ToLower(strings.ReplaceAll(strings.Trim(rest, "_"), "_", "-"))
		if i := slices.Index([]string{"prefetch", "pagefault-gpu", "pagefault-cpu", "ttm-eviction"}, rest); i >= 0 && in != nil {
			rest = in[i]
		}
		e.Trigger = rest
	}
	plain := strings.ReplaceAll(what, "_", "")
	switch {
	case strings.Contains(plain, "DROPPED"):
		e.Kind = Dropped
		if e.Count, err = r.uint("count", "dropped"); err != nil {
			return e, true, err
		}
		e.Count = max(e.Count, 1)
	case strings.Contains(plain, "RESTORE") && !strings.Contains(op, "EVICT"):
		e.Kind = QueueRestore
		if strings.Contains(op, "RESCHEDULED") {
			e.Note = "rescheduled"
		}
	case strings.Contains(plain, "EVICT") && !strings.Contains(plain, "MIGRATE"):
		e.Kind = QueueEviction
		after("EVICT", nil)
	case strings.Contains(plain, "MIGRATE"):
		e.Kind = MigrateStart
		after("MIGRATE", migrateTriggers)
	case strings.Contains(plain, "PAGEFAULT"):
		e.Kind = PageFaultStart
	case strings.Contains(plain, "UNMAP"):
		e.Kind = Unmap
		after("UNMAP_FROM_GPU", nil)
	default:
		return e, false, nil
	}
	start, err1 := r.uint("starttimestamp", "timestamp", "start")
	end, err2 := r.uint("endtimestamp", "end")
	pid, err3 := r.uint("pid", "processid")
	first, err4 := r.uint("address", "startaddress")
	last, err5 := r.uint("endaddress")
	if err := errors.Join(err1, err2, err3, err4, err5); err != nil {
		return e, true, err
	}
	if int64(start) < 0 || int64(end) < 0 || start == 0 {
		return e, true, fmt.Errorf("a time of %d to %d", start, end)
	}
	e.At, e.Until = int64(start), max(int64(end), int64(start))
	e.PID, e.Addr = int(uint32(pid)), Address(first)
	if last > first {
		e.Bytes = last - first
	}
	return e, true, nil
}

func (t *Trace) record(r profileRecord, family string, line int) error {
	e, ok, err := r.event(family, line)
	switch {
	case err != nil:
		t.Skipped++
		if len(t.Odd) < maxOdd {
			t.Odd = append(t.Odd, fmt.Sprintf("record %d: %v", line, err))
		}
		return nil
	case !ok:
		t.Skipped++
		return nil
	}
	t.Clock = "profiler"
	return t.add(e)
}

func (t *Trace) readProfileCSV(b []byte) error {
	c := csv.NewReader(bytes.NewReader(b))
	c.FieldsPerRecord, c.LazyQuotes, c.TrimLeadingSpace = -1, true, true
	header, err := c.Read()
	if err != nil {
		return fmt.Errorf("trace: %w", err)
	}
	for line := 2; ; line++ {
		fields, err := c.Read()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("trace: %w", err)
		}
		r := profileRecord{}
		for i, f := range fields {
			if i < len(header) {
				r[plainName(header[i])] = strings.TrimSpace(f)
			}
		}
		if err := t.record(r, "", line); err != nil {
			return err
		}
	}
}

func (t *Trace) readProfileJSON(b []byte) error {
	if len(b) > maxJSON {
		return fmt.Errorf("trace: JSON of more than %d MiB", maxJSON>>20)
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return fmt.Errorf("trace: %w", err)
	}
	return t.walk(v, "")
}

// walk finds the arrays of records under names that begin with kfd.
func (t *Trace) walk(v any, family string) error {
	switch v := v.(type) {
	case map[string]any:
		if _, ok := v["operation"]; ok && family != "" {
			return t.record(flat(v), family, len(t.Events)+t.Skipped+1)
		}
		for _, k := range slices.Sorted(maps.Keys(v)) {
			f := family
			if name := plainName(k); strings.HasPrefix(name, "kfd") {
				f = name
			}
			if err := t.walk(v[k], f); err != nil {
				return err
			}
		}
	case []any:
		for _, x := range v {
			if err := t.walk(x, family); err != nil {
				return err
			}
		}
	}
	return nil
}

// flat are a record's scalars by plain name, those of its members too.
func flat(v map[string]any) profileRecord {
	r := profileRecord{}
	for _, k := range slices.Sorted(maps.Keys(v)) {
		switch x := v[k].(type) {
		case string:
			r[plainName(k)] = x
		case json.Number:
			r[plainName(k)] = x.String()
		case map[string]any:
			for _, name := range []string{"value", "handle"} {
				if n, ok := x[name].(json.Number); ok {
					r[plainName(k)] = n.String()
				}
			}
		}
	}
	return r
}
