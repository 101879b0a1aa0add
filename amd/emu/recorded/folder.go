package recorded

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/holdfast-llm/holdfast/amd/emu"
)

// format is the version of the folder's format.
const format = 1

// file is dispatch.json.
type file struct {
	Format      int          `json:"format"`
	Data        string       `json:"data"`
	Object      string       `json:"object"`
	Kernel      string       `json:"kernel"`
	Grid        [3]uint32    `json:"grid"`
	Workgroup   [3]uint32    `json:"workgroup"`
	DynamicLDS  uint32       `json:"dynamic_lds"`
	Kernarg     string       `json:"kernarg"`
	Allocations []allocation `json:"allocations"`
}

type allocation struct {
	Name      string `json:"name"`
	Address   string `json:"address"`
	Bytes     int    `json:"bytes"`
	Residency string `json:"residency"`
	ReadOnly  bool   `json:"read_only"`
	Before    string `json:"before"`
	After     string `json:"after,omitempty"`
}

// The places of the data folder, relative to a dispatch's.
const (
	inside = "data"
	beside = "../data"
)

// Limits against folders that lie: of dispatch.json and of a content file.
const (
	maxJSON    = 64 << 20
	maxContent = 8 << 30
)

// Write writes a dispatch to a new folder dir. With shared, content goes to the
// folder data beside it, where other dispatches' may be; otherwise into it.
func (d *Dispatch) Write(dir string, shared bool) error {
	f := file{
		Format: format, Data: inside, Kernel: d.Kernel, Grid: d.Grid, Workgroup: d.Workgroup,
		DynamicLDS: d.DynamicLDS, Kernarg: hex.EncodeToString(d.Kernarg), Allocations: []allocation{},
	}
	if shared {
		f.Data = beside
	}
	if err := os.Mkdir(dir, 0o777); err != nil {
		return err
	}
	data := filepath.Join(dir, f.Data)
	if err := os.MkdirAll(data, 0o777); err != nil {
		return err
	}
	var err error
	if f.Object, err = keep(data, d.Object); err != nil {
		return err
	}
	for i := range d.Allocations {
		a := &d.Allocations[i]
		x := allocation{
			Name: a.Name, Address: fmt.Sprintf("%#x", a.Addr), Bytes: len(a.Before),
			Residency: a.Residency.String(), ReadOnly: a.ReadOnly,
		}
		if x.Before, err = keep(data, a.Before); err != nil {
			return err
		}
		if a.After != nil {
			if x.After, err = keep(data, a.After); err != nil {
				return err
			}
		}
		f.Allocations = append(f.Allocations, x)
	}
	b, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "dispatch.json"), append(b, '\n'), 0o666)
}

// keep writes content to its file in the data folder, unless it is there.
func keep(data string, content []byte) (name string, err error) {
	sum := sha256.Sum256(content)
	name = hex.EncodeToString(sum[:])
	path := filepath.Join(data, name)
	if info, err := os.Stat(path); err == nil && info.Size() == int64(len(content)) {
		return name, nil
	}
	return name, os.WriteFile(path, content, 0o666)
}

// Read reads a dispatch from a folder. Errors name the file and what is wrong
// with it: not JSON, another format, numbers that do not fit, content that is
// missing, of another size, or not what its name says.
func Read(dir string) (*Dispatch, error) {
	path := filepath.Join(dir, "dispatch.json")
	b, err := readFile(path, maxJSON)
	if err != nil {
		return nil, err
	}
	d, err := parse(b, func(data, name string) ([]byte, error) {
		return readFile(filepath.Join(dir, data, name), maxContent)
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return d, nil
}

func readFile(path string, limit int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > limit {
		return nil, fmt.Errorf("%s: %d bytes, more than %d", path, info.Size(), limit)
	}
	return os.ReadFile(path)
}

// parse reads dispatch.json; content gives files of the data folder.
func parse(b []byte, content func(data, name string) ([]byte, error)) (*Dispatch, error) {
	var f file
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&f); err != nil {
		return nil, err
	}
	switch {
	case f.Format != format:
		return nil, fmt.Errorf("format %d, want %d", f.Format, format)
	case f.Data != inside && f.Data != beside:
		return nil, fmt.Errorf("data folder %q, want %q or %q", f.Data, inside, beside)
	}
	d := &Dispatch{Kernel: f.Kernel, Grid: f.Grid, Workgroup: f.Workgroup, DynamicLDS: f.DynamicLDS}
	var err error
	if d.Kernarg, err = hex.DecodeString(f.Kernarg); err != nil {
		return nil, fmt.Errorf("kernarg: %w", err)
	}
	get := func(what, name string, size int) ([]byte, error) {
		if sum, err := hex.DecodeString(name); err != nil || len(sum) != sha256.Size {
			return nil, fmt.Errorf("%s: %q is no SHA-256", what, name)
		}
		c, err := content(f.Data, name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", what, err)
		}
		if size >= 0 && len(c) != size {
			return nil, fmt.Errorf("%s: content of %d bytes, want %d", what, len(c), size)
		}
		if sum := sha256.Sum256(c); hex.EncodeToString(sum[:]) != name {
			return nil, fmt.Errorf("%s: content is not what its name %s says", what, name)
		}
		return c, nil
	}
	if d.Object, err = get("object", f.Object, -1); err != nil {
		return nil, err
	}
	for i := range f.Allocations {
		x := &f.Allocations[i]
		what := fmt.Sprintf("allocation %d, %q", i, x.Name)
		a := Allocation{Name: x.Name, ReadOnly: x.ReadOnly}
		if a.Addr, err = strconv.ParseUint(x.Address, 0, 64); err != nil {
			return nil, fmt.Errorf("%s: address %q", what, x.Address)
		}
		if a.Residency, err = residency(x.Residency); err != nil {
			return nil, fmt.Errorf("%s: %w", what, err)
		}
		if x.Bytes < 0 {
			return nil, fmt.Errorf("%s: %d bytes", what, x.Bytes)
		}
		if a.Before, err = get(what+" before", x.Before, x.Bytes); err != nil {
			return nil, err
		}
		if x.After != "" {
			if a.After, err = get(what+" after", x.After, x.Bytes); err != nil {
				return nil, err
			}
		}
		d.Allocations = append(d.Allocations, a)
	}
	return d, d.apart()
}

func residency(name string) (emu.Residency, error) {
	for _, r := range []emu.Residency{emu.Pageable, emu.Pinned, emu.NonMigratable} {
		if r.String() == name {
			return r, nil
		}
	}
	return 0, fmt.Errorf("residency %q", name)
}

// apart says which allocations overlap, if two do.
func (d *Dispatch) apart() error {
	all := make([]*Allocation, len(d.Allocations))
	for i := range d.Allocations {
		all[i] = &d.Allocations[i]
	}
	slices.SortFunc(all, func(a, b *Allocation) int { return cmp.Compare(a.Addr, b.Addr) })
	for i := 1; i < len(all); i++ {
		a, b := all[i-1], all[i]
		if b.Addr-a.Addr < uint64(len(a.Before)) {
			return fmt.Errorf("allocation %q of %d bytes at %#x overlaps %q at %#x", a.Name, len(a.Before), a.Addr, b.Name, b.Addr)
		}
	}
	if len(all) > 0 && all[0].Addr == 0 {
		return errors.New("allocation " + strconv.Quote(all[0].Name) + " has no address")
	}
	return nil
}
