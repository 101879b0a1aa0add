package addr

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
)

// programDump is what a map needs of a program as dispatch.Dump writes it, and of
// a launch as package recorded does.
type programDump struct {
	Arena    struct{ Bytes uint64 }
	Commands []struct {
		Kernel   string
		Stage    int
		Bindings []struct {
			Value   string
			Buffer  string
			Offset  uint64
			Bytes   uint64
			Address string
		}
	}
	Transients []struct {
		Name  string
		First int `json:"first_stage"`
		Last  int `json:"last_stage"`
	}
	Allocations []struct {
		Name      string
		Address   string
		Bytes     uint64
		Residency string
		ReadOnly  bool `json:"read_only"`
	}
}

// isDispatch says whether b is one of the JSON files on one line.
func isDispatch(b []byte) bool {
	return bytes.HasPrefix(b, []byte("{")) && (bytes.Contains(b, []byte(`"commands"`)) || bytes.Contains(b, []byte(`"allocations"`))) && json.Valid(b)
}

func readJSON(b []byte) (*Map, error) {
	var d programDump
	if err := json.Unmarshal(b, &d); err != nil {
		return nil, fmt.Errorf(" addr: %w", err)
	}
	m := &Map{Format: "dispatch"}
	for i, a := range d.Allocations {
		detail := a.Residency
		if a.ReadOnly {
			detail += ", read only"
		}
		start, err := strconv.ParseUint(a.Address, 0, 64)
		if err == nil {
			err = m.add(Range{Name: a.Name, Start: start, Bytes: a.Bytes, Detail: detail})
		}
		if err != nil {
			return nil, fmt.Errorf(" addr: allocation %d, %q: %w", i, a.Name, err)
		}
	}
	if len(d.Commands) == 0 {
		return m, nil
	}
	m.Format = "program"
	return m, m.bindings(&d)
}

// bindings adds what a program's commands bind, a value once at its first byte with
// all the bytes that any command binds of it there.
func (m *Map) bindings(d *programDump) error {
	life := map[string]string{}
	for _, t := range d.Transients {
		life[t.Name] = fmt.Sprintf("transient, stages %d to %d", t.First, t.Last)
	}
	type place struct {
		name  string
		start uint64
	}
	seen := map[place]int{}
	unplaced := 0
	var arena *Range
	for _, c := range d.Commands {
		for _, b := range c.Bindings {
			if b.Address == "" {
				unplaced++
				continue
			}
			start, err := strconv.ParseUint(b.Address, 0, 64)
			if err != nil {
				return fmt.Errorf(" addr: %s: binding %q: address %q is no number", c.Kernel, b.Value, b.Address)
			}
			if i, ok := seen[place{b.Value, start}]; ok {
				r := &m.Ranges[i]
				if start+b.Bytes >= start {
					r.Bytes = max(r.Bytes, b.Bytes)
				}
				continue
			}
			detail := b.Buffer
			if b.Buffer == "arena" {
				if detail = life[b.Value]; detail == "" {
					detail = "arena"
				}
				if arena == nil && b.Offset <= start {
					arena = &Range{Name: "the arena", Start: start - b.Offset, Bytes: d.Arena.Bytes, Detail: "of all transients"}
				}
			}
			if err := m.add(Range{Name: b.Value, Start: start, Bytes: b.Bytes, Detail: detail}); err != nil {
				return fmt.Errorf(" addr: %s: %w", c.Kernel, err)
			}
			if b.Bytes > 0 {
				seen[place{b.Value, start}] = len(m.Ranges) - 1
			}
		}
	}
	if len(m.Ranges) == 0 && unplaced > 0 {
		return fmt.Errorf(" addr: none of %d bindings has an address: the device that the program was dumped on does not say them (gfx11 does)", unplaced)
	}
	if arena != nil {
		return m.add(*arena)
	}
	m.Ranges = slices.Clip(m.Ranges)
	return nil
}
