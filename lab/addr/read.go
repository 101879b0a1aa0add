package addr

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Bounds of a map.
const (
	maxFile   = 256 << 20
	maxLine   = 1 << 20
	maxRanges = 1 << 20
)

// Read reads a map in one of these formats, which its content tells:
//
//   - a program of holdfast run --dump (JSON), with addresses where the device has
//     them, and the dispatch.json of one launch
//   - /proc/PID/maps
//   - a trace of allocations and frees, a line each, as runtimes print when asked: a
//     line has "alloc" or "free" (or map, release and the like), an address in
//     hexadecimal, and for allocations a size
//   - CSV: name, address, bytes, and if there is a header also end, stride, freed, allocated and
//     detail in any order
//
// An error has the file's name and, where there is one, the line.
func Read(name string, r io.Reader) (*Map, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", name, err)
	case len(b) > maxFile:
		return nil, fmt.Errorf("%s: addr: more than %d MiB", name, maxFile>>20)
	}
	var m *Map
	if bytes.HasPrefix(bytes.TrimSpace(b), []byte("{")) && !bytes.Contains(firstLine(b), []byte("}")) || isDispatch(b) {
		m, err = readJSON(b)
	} else {
		m, err = readLines(b)
	}
	if err != nil {
		return nil, fmt.Errorf("%s:%w", name, err)
	}
	if len(m.Ranges) == 0 {
		return nil, fmt.Errorf("%s: addr: no allocation in %d lines: want a program of --dump, /proc/PID/maps, a trace of allocations, or CSV with name,address,bytes", name, m.Skipped)
	}
	m.sort()
	return m, nil
}

func firstLine(b []byte) []byte {
	line, _, _ := bytes.Cut(bytes.TrimSpace(b), []byte("\n"))
	return line
}

// sort puts outer ranges before those in them.
func (m *Map) sort() {
	slices.SortStableFunc(m.Ranges, func(a, b Range) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.Bytes, a.Bytes))
	})
}

// add appends a range of some bytes whose end is an address.
func (m *Map) add(r Range) error {
	switch {
	case len(m.Ranges) == maxRanges:
		return fmt.Errorf("addr: more than %d ranges", maxRanges)
	case r.Start+r.Bytes < r.Start:
		return fmt.Errorf("addr: %q: %d bytes at %#x end past the last address", r.Name, r.Bytes, r.Start)
	}
	if r.Bytes > 0 { // what is empty holds no address
		m.Ranges = append(m.Ranges, r)
	}
	return nil
}

// readLines reads the formats that have a line for each allocation. The first line
// that any of them reads decides.
func readLines(b []byte) (*Map, error) {
	m := &Map{}
	in := bufio.NewScanner(bytes.NewReader(b))
	in.Buffer(make([]byte, 1<<12), maxLine)
	var read func(line string, n int) (bool, error)
	tables := &csvReader{m: m}
	traces := &traceReader{m: m, live: map[uint64]int{}}
	readers := []struct {
		format string
		read   func(line string, n int) (bool, error)
	}{{"maps", m.mapsLine}, {"csv", tables.line}, {"trace", traces.line}}
	for n := 1; in.Scan(); n++ {
		line := strings.TrimSpace(in.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		if read != nil {
			ok, err := read(line, n)
			if err != nil {
				return nil, fmt.Errorf("%d: %w", n, err)
			}
			if !ok {
				m.Skipped++
			}
			continue
		}
		for _, x := range readers {
			ok, err := x.read(line, n)
			if err != nil {
				return nil, fmt.Errorf("%d: %w", n, err)
			}
			if ok {
				m.Format, read = x.format, x.read
				break
			}
		}
		if read == nil {
			m.Skipped++
		}
	}
	if errors.Is(in.Err(), bufio.ErrTooLong) {
		return nil, fmt.Errorf(" addr: a line of more than %d bytes", maxLine)
	}
	return m, nil
}

// Join adds the ranges of another map.
func (m *Map) Join(o *Map) {
	if m.Format == "" {
		m.Format = o.Format
	}
	m.Ranges = append(m.Ranges, o.Ranges...)
	m.Skipped += o.Skipped
	m.Unmatched += o.Unmatched
	m.sort()
}
