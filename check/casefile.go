package check

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/holdfast-llm/holdfast/internal/tomlfile"
)

// Case is a kernel, how to launch it, and what is to come of it. It is read from
// a TOML file:
//
//	about = "the pack reads what another wave has just stored"
//	source = "pack.cpp"            # or object = "pack.hsaco"
//	flags = ["-mcumode"]           # of the compiler
//	kernel = "pack"
//	grid = [4, 1, 1]               # workgroups; items = [1000] counts work-items
//	block = 256                    # work-items of a workgroup
//	tools = ["racecheck"]          # all, if absent
//	mode = ["all"]                 # coherent, relaxed, all
//	schedule = ["in-order"]        # in-order, reverse, round-robin, random, all
//	seeds = 4
//
//	[[arg]]                        # one for each parameter, in order
//	name = "x"
//	type = "f32"
//	count = 1024                   # a buffer of so many
//	fill = "random 7"              # see Fill; "zero" if absent
//	read_only = true               # or write_only
//
//	[[arg]]
//	name = "out"
//	type = "f32"
//	count = 1024
//	fill = "poison"
//	want = "expr x[i] * 2"         # what is there afterwards
//	tolerance = 1e-6               # relative, absolute below 1
//
//	[[arg]]
//	name = "n"
//	type = "u32"
//	value = 1024                   # a scalar
//
//	[[host]]                       # what the host does, in order
//	when = "queued"                # before the launch, queued (before it is
//	do = "read"                    # waited for) or after; read, write, flush,
//	arg = "out"                    # invalidate
//	offset = 0                     # elements; all, if count is absent
//	count = 4
//
//	[[finding]]                    # what is to be found, and nothing else
//	tool = "racecheck"
//	kind = "missing release"
//	at = "q[i] = "                 # in the source line of the first instruction;
//	line = 12                      # its number; pc = 0x1234; also other_at,
//	                               # other_line, other_pc of the second
//
// Without a finding the case is a negative: nothing is to be found.
type Case struct {
	About    string   `toml:"about"`
	Object   string   `toml:"object"`
	Source   string   `toml:"source"`
	Flags    []string `toml:"flags"`
	Kernel   string   `toml:"kernel"`
	Grid     extent   `toml:"grid"`
	Items    extent   `toml:"items"`
	Block    extent   `toml:"block"`
	Tools    []string `toml:"tools"`
	Mode     []string `toml:"mode"`
	Schedule []string `toml:"schedule"`
	Seed     uint64   `toml:"seed"`
	Seeds    int      `toml:"seeds"`
	Budget   uint64   `toml:"budget"` // instructions
	Args     []Arg    `toml:"arg"`
	Host     []Step   `toml:"host"`
	Expected []Expect `toml:"finding"`
	// Fault is what stops the dispatch, as emu.FaultKind says it; empty if nothing
	// does.
	Fault string `toml:"fault"`

	// Name is the file's without its extension.
	Name string `toml:"-"`
	// Dir is where relative paths start.
	Dir string `toml:"-"`
}

// Arg is an argument: a buffer if it has a count, LDS if it has lds, a null
// pointer with null, otherwise a scalar.
type Arg struct {
	Name        string  `toml:"name"`
	Type        string  `toml:"type"`
	Count       int64   `toml:"count"`
	Fill        string  `toml:"fill"`
	ReadOnly    bool    `toml:"read_only"`
	WriteOnly   bool    `toml:"write_only"`   // nothing is to be read from it
	NonCoherent bool    `toml:"non_coherent"` // host and device see it only after a flush or an invalidate
	Align       uint64  `toml:"align"`        // of the address; 0 means 256
	Offset      uint64  `toml:"offset"`       // added to the aligned address
	Want        string  `toml:"want"`
	Tolerance   float64 `toml:"tolerance"`
	Value       any     `toml:"value"`
	LDS         uint32  `toml:"lds"` // bytes of dynamic LDS
	Null        bool    `toml:"null"`
}

// extent is up to three numbers; the others are 1.
type extent [3]uint32

// UnmarshalTOML implements toml.Unmarshaler.
func (e *extent) UnmarshalTOML(v any) error {
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	if len(list) == 0 || len(list) > 3 {
		return fmt.Errorf("%d numbers, want 1 to 3", len(list))
	}
	*e = extent{1, 1, 1}
	for i, x := range list {
		n, ok := x.(int64)
		if !ok || n < 1 || n > math.MaxUint32 {
			return fmt.Errorf("%v is not from 1 to %d", x, uint32(math.MaxUint32))
		}
		e[i] = uint32(n)
	}
	return nil
}

// caseBytesMax bounds a case file.
const caseBytesMax = 1 << 20

// ReadCase reads a case file. Errors name the file and the line: syntax, keys that
// there are none of, values that do not fit.
func ReadCase(path string) (*Case, error) {
	b, err := readSmall(path)
	if err != nil {
		return nil, err
	}
	return ParseCase(path, b)
}

func readSmall(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > caseBytesMax {
		return nil, fmt.Errorf("%s: not a regular file of at most %d bytes", path, caseBytesMax)
	}
	return os.ReadFile(path)
}

// ParseCase reads a case file that is in memory. Relative paths in it start from
// the folder of path.
func ParseCase(path string, text []byte) (*Case, error) {
	c := &Case{Name: strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)), Dir: filepath.Dir(path)}
	if err := tomlfile.Decode(path, string(text), c); err != nil {
		return nil, err
	}
	if err := c.Check(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

// Check says what is wrong with a case before anything is built or run.
func (c *Case) Check() error {
	none := extent{}
	switch {
	case (c.Object == "") == (c.Source == ""):
		return errors.New("want either object or source")
	case c.Kernel == "":
		return errors.New("no kernel")
	case c.Block == none:
		return errors.New("no block: how many work-items a workgroup has")
	case (c.Grid == none) == (c.Items == none):
		return errors.New("want either grid (workgroups) or items (work-items)")
	case c.Object != "" && len(c.Flags) > 0:
		return errors.New("flags are for a source")
	case c.Seeds < 0 || c.Seeds > seedsMax:
		return fmt.Errorf("%d seeds, want 0 to %d", c.Seeds, seedsMax)
	}
	if _, err := c.grid(); err != nil {
		return err
	}
	if _, err := c.sweep(); err != nil {
		return err
	}
	for _, t := range c.Tools {
		if !slices.Contains(Tools(), Tool(t)) {
			return fmt.Errorf("no tool %q, there are %v%s", t, Tools(), tomlfile.Meant(t, Tools()))
		}
	}
	total := int64(0)
	for i := range c.Args {
		a := &c.Args[i]
		if err := a.check(); err != nil {
			return fmt.Errorf("argument %d, %q: %w", i, a.Name, err)
		}
		if total += a.bytes(); total > bytesMax {
			return fmt.Errorf("argument %d, %q: %d bytes of buffers, at most %d", i, a.Name, total, int64(bytesMax))
		}
	}
	for i := range c.Host {
		if err := c.Host[i].check(c); err != nil {
			return fmt.Errorf("host %d: %w", i, err)
		}
	}
	for i := range c.Expected {
		if err := c.Expected[i].check(); err != nil {
			return fmt.Errorf("finding %d: %w", i, err)
		}
	}
	return nil
}

// Limits of a case.
const (
	seedsMax = 1 << 20
	bytesMax = 4 << 30 // of all buffers
)

// grid is the case's number of work-items.
func (c *Case) grid() ([3]uint32, error) {
	if c.Grid == (extent{}) {
		return c.Items, nil
	}
	var g [3]uint32
	for i := range g {
		n := uint64(c.Grid[i]) * uint64(c.Block[i])
		if n > math.MaxUint32 {
			return g, fmt.Errorf("grid %v of blocks %v: %d work-items along %c, at most %d", c.Grid, c.Block, n, "xyz"[i], uint32(math.MaxUint32))
		}
		g[i] = uint32(n)
	}
	return g, nil
}

// sweep is how the case says it is run.
func (c *Case) sweep() (Sweep, error) {
	s, err := NewSweep(c.Mode, c.Schedule, c.Seed, c.Seeds)
	s.Budget = c.Budget
	return s, err
}

// FindCases are the case files that an argument names: itself, those in a folder,
// or with /... behind it those below one. Errors: there are none.
func FindCases(arg string) ([]string, error) {
	dir, deep := strings.CutSuffix(arg, "...")
	if deep {
		dir = filepath.Clean(dir)
	}
	info, err := os.Stat(dir)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{arg}, nil
	}
	var paths []string
	err = filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && path != dir && !deep:
			return filepath.SkipDir
		case !e.IsDir() && filepath.Ext(path) == ".toml":
			paths = append(paths, path)
		}
		return nil
	})
	if err == nil && len(paths) == 0 {
		err = fmt.Errorf("%s: no case file (.toml)", arg)
	}
	return paths, err
}
