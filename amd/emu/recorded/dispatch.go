package recorded

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/holdfast-llm/holdfast/amd/emu"
	"github.com/holdfast-llm/holdfast/amd/hsaco"
)

// Dispatch is a launch of a kernel with the memory that it sees.
type Dispatch struct {
	Object      []byte // an ELF file
	Kernel      string
	Grid        [3]uint32 // work-items
	Workgroup   [3]uint32
	DynamicLDS  uint32 // bytes
	Kernarg     []byte
	Allocations []Allocation
}

// Allocation is memory that a kernel may touch.
type Allocation struct {
	Name      string
	Addr      uint64
	Residency emu.Residency
	ReadOnly  bool
	Before    []byte // the content when the dispatch began
	After     []byte // and when it had ended; nil if that is not known
}

// Loaded is a dispatch on a device.
type Loaded struct {
	emu.Dispatch
	Buffers []*emu.Buffer // of Dispatch.Allocations
	module  *emu.Module
	dev     *emu.Device
}

// Load puts a dispatch on a device: the allocations, at their addresses, each a
// buffer of its own with its content, and the code object, wherever there is
// room.
func (d *Dispatch) Load(dev *emu.Device) (*Loaded, error) {
	l := &Loaded{dev: dev}
	err := d.load(l)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("recorded dispatch of %q: %w", d.Kernel, err), l.Unload())
	}
	return l, nil
}

func (d *Dispatch) load(l *Loaded) error {
	o, err := hsaco.Parse("recorded object", d.Object)
	if err != nil {
		return err
	}
	for i := range d.Allocations {
		a := &d.Allocations[i]
		if a.Addr == 0 {
			return fmt.Errorf("allocation %q has no address", a.Name)
		}
		b, err := l.dev.Map(a.Name, bytes.Clone(a.Before), emu.Placement{Addr: a.Addr, Residency: a.Residency})
		if err != nil {
			return err
		}
		b.ReadOnly = a.ReadOnly
		l.Buffers = append(l.Buffers, b)
	}
	if l.module, err = l.dev.Load(o); err != nil {
		return err
	}
	k, err := l.module.Kernel(d.Kernel)
	if err != nil {
		return err
	}
	l.Dispatch = emu.Dispatch{Kernel: k, Grid: d.Grid, Workgroup: d.Workgroup, Kernarg: d.Kernarg, DynamicLDS: d.DynamicLDS}
	return nil
}

// Unload takes the dispatch off its device.
func (l *Loaded) Unload() error {
	var errs []error
	for _, b := range l.Buffers {
		errs = append(errs, l.dev.Free(b))
	}
	if l.module != nil {
		errs = append(errs, l.module.Unload())
	}
	return errors.Join(errs...)
}

// Difference is where an allocation is not what was recorded.
type Difference struct {
	Allocation string
	Offset     int // of the first byte that differs
	Bytes      int // how many differ
	Got, Want  []byte
}

func (d Difference) String() string {
	return fmt.Sprintf("%s: %d bytes differ, the first at offset %d: % x, recorded % x", d.Allocation, d.Bytes, d.Offset, d.Got, d.Want)
}

// shown is how many bytes of a difference are kept.
const shown = 8

// Differences compares the buffers of a dispatch that has run with what was
// recorded of its end, where it was: known says of how many.
func (d *Dispatch) Differences(l *Loaded) (diffs []Difference, known int) {
	for i := range d.Allocations {
		a := &d.Allocations[i]
		if a.After == nil {
			continue
		}
		known++
		got, x := l.Buffers[i].Data, Difference{Allocation: a.Name}
		for j := range a.After {
			if got[j] == a.After[j] {
				continue
			}
			if x.Bytes == 0 {
				end := min(j+shown, len(a.After))
				x.Offset, x.Got, x.Want = j, bytes.Clone(got[j:end]), a.After[j:end]
			}
			x.Bytes++
		}
		if x.Bytes > 0 {
			diffs = append(diffs, x)
		}
	}
	return diffs, known
}

// Record runs a dispatch on its device and returns it as it was and as it
// ended. regions are what it may touch, apart from each other; each must lie in
// a buffer of the device. The error is the run's; what is recorded is complete
// even then.
func Record(ctx context.Context, dev *emu.Device, l emu.Dispatch, object []byte, regions []Region) (*Dispatch, *emu.Report, error) {
	d := &Dispatch{
		Object: object, Kernel: l.Kernel.Name, Grid: l.Grid, Workgroup: l.Workgroup,
		DynamicLDS: l.DynamicLDS, Kernarg: bytes.Clone(l.Kernarg),
	}
	contents := make([][]byte, len(regions))
	for i, r := range regions {
		b := dev.Space().Find(r.Addr, r.Bytes)
		if b == nil {
			return nil, nil, fmt.Errorf("recorded dispatch of %q: %d bytes at %#x for %q are in no buffer", d.Kernel, r.Bytes, r.Addr, r.Name)
		}
		at := r.Addr - b.Addr
		contents[i] = b.Data[at : at+r.Bytes]
		d.Allocations = append(d.Allocations, Allocation{
			Name: r.Name, Addr: r.Addr, Residency: b.Residency, ReadOnly: r.ReadOnly, Before: bytes.Clone(contents[i]),
		})
	}
	report, err := dev.Run(ctx, l)
	for i := range d.Allocations {
		if a := &d.Allocations[i]; !a.ReadOnly {
			a.After = bytes.Clone(contents[i])
		}
	}
	return d, report, err
}

// Region is memory that a kernel may touch: of a buffer, some bytes.
type Region struct {
	Name     string
	Addr     uint64
	Bytes    uint64
	ReadOnly bool
}
