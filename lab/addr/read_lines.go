package addr

import (
	"encoding/csv"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

var mapsLine = regexp.MustCompile(`^([0-9a-f]{1,16})-([0-9a-f]{1,16}) ([r-][w-][x-][sp]) [0-9a-f]+ \S+ \d+\s*(.*)$`)

// mapsLine reads a line of /proc/PID/maps.
func (m *Map) mapsLine(line string, n int) (bool, error) {
	x := mapsLine.FindStringSubmatch(line)
	if x == nil {
		return false, nil
	}
	start, _ := strconv.ParseUint(x[1], 16, 64)
	end, _ := strconv.ParseUint(x[2], 16, 64)
	if end < start {
		return false, fmt.Errorf("addr: a mapping from %#x to %#x", start, end)
	}
	name := x[4]
	if name == "" {
		name = "anonymous"
	}
	return true, m.add(Range{Name: name, Start: start, Bytes: end - start, Detail: x[3]})
}

// csvReader reads CSV with or without a header.
type csvReader struct {
	m       *Map
	columns map[string]int // nil before the first line
}

// csvNames are the names that a header may give columns.
var csvNames = map[string]string{
	"name": "name", "buffer": "name", "tensor": "name", "label": "name",
	"address": "address", "addr": "address", "start": "address", "base": "address", "va": "address", "ptr": "address",
	"bytes": "bytes", "size": "bytes", "length": "bytes", "end": "end",
	"stride": "stride", "freed": "freed", "free": "freed", "allocated": "allocated", "alloc": "allocated", "detail": "detail",
}

func (c *csvReader) line(line string, n int) (bool, error) {
	r := csv.NewReader(strings.NewReader(line))
	r.TrimLeadingSpace = true
	fields, err := r.Read()
	if err != nil || len(fields) < 2 {
		if c.columns != nil && err != nil {
			return false, fmt.Errorf("addr: %w", err)
		}
		return false, nil
	}
	if c.columns == nil {
		header := map[string]int{}
		for i, f := range fields {
			if name, ok := csvNames[strings.ToLower(strings.TrimSpace(f))]; ok {
				header[name] = i
			}
		}
		_, address := header["address"]
		_, bytes := header["bytes"]
		_, end := header["end"]
		if address && (bytes || end) {
			c.columns = header
			return true, nil
		}
		if len(fields) < 3 {
			return false, nil
		}
		plain := map[string]int{"name": 0, "address": 1, "bytes": 2}
		if len(fields) > 3 {
			plain["freed"] = 3
		}
		if _, err := number(fields[1]); err != nil {
			return false, nil
		}
		if _, err := number(fields[2]); err != nil {
			return false, nil
		}
		c.columns = plain
	}
	return true, c.row(fields, n)
}

func (c *csvReader) row(fields []string, n int) error {
	get := func(name string) string {
		if i, ok := c.columns[name]; ok && i < len(fields) {
			return strings.TrimSpace(fields[i])
		}
		return ""
	}
	x := Range{Name: get("name"), Detail: get("detail"), Allocated: get("allocated"), FreedAt: get("freed"), order: n}
	if x.Name == "" {
		x.Name = fmt.Sprintf("line %d", n)
	}
	switch x.FreedAt {
	case "", "0", "no", "false", "-":
		x.FreedAt = ""
	default:
		x.Freed = true
	}
	var err error
	if x.Start, err = number(get("address")); err != nil {
		return fmt.Errorf("addr: address: %w", err)
	}
	if s := get("stride"); s != "" {
		if x.Stride, err = number(s); err != nil {
			return fmt.Errorf("addr: stride: %w", err)
		}
	}
	if s := get("bytes"); s != "" {
		x.Bytes, err = number(s)
	} else {
		var end uint64
		if end, err = number(get("end")); err == nil && end < x.Start {
			err = fmt.Errorf("%#x is before the start, %#x", end, x.Start)
		}
		x.Bytes = end - x.Start
	}
	if err != nil {
		return fmt.Errorf("addr: size: %w", err)
	}
	return c.m.add(x)
}

// number is a number in decimal, or in hexadecimal with 0x.
func number(s string) (uint64, error) {
	x, err := strconv.ParseUint(strings.ReplaceAll(s, "_", ""), 0, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is no number", s)
	}
	return x, nil
}

// traceReader reads what runtimes print of allocations and frees.
type traceReader struct {
	m    *Map
	live map[uint64]int // by start, in m.Ranges
}

var (
	traceFree  = regexp.MustCompile(`(?i)(^|[^a-z])(free|freed|release|released|dealloc\w*|unmap\w*|destroy\w*)([^a-z]|$)`)
	traceAlloc = regexp.MustCompile(`(?i)(^|[^a-z])(alloc|allocs|allocated?|allocation|allocate_buffer|malloc|map|mapped|reserve|new|grow)([^a-z]|$)`)
	traceAddr  = regexp.MustCompile(`(?i)(?:^|[\s(\[,@=:>])(?:(\w+)\s*[=:]\s*)?(0x[0-9a-f]{5,16})\b`)
	traceSpan  = regexp.MustCompile(`(?i)(0x[0-9a-f]{5,16})\s*(?:\.\.|-|,|to)\s*(0x[0-9a-f]{5,16})`)
	traceSize  = regexp.MustCompile(`(?i)\b(?:size|bytes|length|len|capacity)\s*[=:]?\s*(0x[0-9a-f]+|\d+)|\b(\d+)\s*(?:bytes|B)\b`)
	traceName  = regexp.MustCompile(`(?i)\b(?:name|label|buffer|value|id|tag)\s*[=:]\s*("[^"]*"|[^\s,;)\]]+)`)
	traceTime  = regexp.MustCompile(`^\[?\s*(\d+\.\d+|\d{6,})\]?[\s:]`)
	// traceOther are names of addresses that are not the allocation's.
	traceOther = regexp.MustCompile(`(?i)^(type|usage|flags|access|affinity|params|queue|device|allocator|host|host_ptr|handle)$`)
)

func (t *traceReader) line(line string, n int) (bool, error) {
	free := traceFree.MatchString(line)
	if !free && !traceAlloc.MatchString(line) {
		return false, nil
	}
	var start uint64
	found := false
	for _, x := range traceAddr.FindAllStringSubmatch(line, -1) {
		if !traceOther.MatchString(x[1]) {
			start, _ = strconv.ParseUint(x[2], 0, 64)
			found = true
			break
		}
	}
	if !found {
		return false, nil
	}
	when := fmt.Sprintf("line %d", n)
	if x := traceTime.FindStringSubmatch(line); x != nil {
		when = x[1] + " (" + when + ")"
	}
	if free {
		i, ok := t.live[start]
		if !ok {
			t.m.Unmatched++
			return true, nil
		}
		r := &t.m.Ranges[i]
		r.Freed, r.FreedAt, r.order = true, when, n
		delete(t.live, start)
		return true, nil
	}
	bytes, ok := traceBytes(line, start)
	if !ok {
		return false, nil
	}
	name := fmt.Sprintf("allocation of line %d", n)
	if x := traceName.FindStringSubmatch(line); x != nil {
		name = strings.Trim(x[1], `"`)
	}
	// A second allocation at an address that was not freed takes its place: the
	// trace lost the free.
	if i, ok := t.live[start]; ok {
		r := &t.m.Ranges[i]
		r.Freed, r.FreedAt, r.order = true, "before "+when, n
	}
	if err := t.m.add(Range{Name: name, Start: start, Bytes: bytes, Allocated: when, order: n}); err != nil {
		return false, err
	}
	if bytes > 0 {
		t.live[start] = len(t.m.Ranges) - 1
	}
	return true, nil
}

// traceBytes is the size that a line says, as a number or as the end of a span.
func traceBytes(line string, start uint64) (uint64, bool) {
	if x := traceSize.FindStringSubmatch(line); x != nil {
		n, err := strconv.ParseUint(x[1]+x[2], 0, 64)
		return n, err == nil
	}
	if x := traceSpan.FindStringSubmatch(line); x != nil {
		end, err := strconv.ParseUint(x[2], 0, 64)
		return end - start, err == nil && end >= start
	}
	return 0, false
}
