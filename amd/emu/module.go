package emu

import (
	"debug/elf"
	"encoding/binary"
	"fmt"

	"github.com/holdfast-llm/holdfast/amd/hsaco"
)

// Module is a code object that is loaded on a device.
type Module struct {
	Object  *hsaco.Object
	Base    uint64    // added to the object's addresses
	Buffers []*Buffer // its segments, ascending
	dev     *Device
	texts   []*Buffer // the executable ones
}

// LoadError is why a code object cannot be loaded.
type LoadError struct {
	Object string
	Reason hsaco.Reason
	Detail string
}

func (e *LoadError) Error() string {
	return fmt.Sprintf("emu: load %s: %s: %s", e.Object, e.Reason, e.Detail)
}

// moduleBytesMax bounds what a code object may take of memory.
const moduleBytesMax = 1 << 30

// Load places a code object in the device's memory and relocates it. Code and
// constants are read-only. Errors are *LoadError: an object for another chip,
// one that is not linked, symbols that it leaves to others, relocations outside
// of it, or more than 1 GiB.
func (d *Device) Load(o *hsaco.Object) (*Module, error) {
	refuse := func(r hsaco.Reason, format string, args ...any) (*Module, error) {
		return nil, &LoadError{o.Name, r, fmt.Sprintf(format, args...)}
	}
	if !o.Target.GFX11() {
		return refuse(hsaco.OtherChip, "code for %s, the device is gfx11", o.Target)
	}
	if o.Relocatable {
		return refuse(hsaco.NotApplied, "the object is not linked (ld.lld -shared)")
	}
	if len(o.Segments) == 0 {
		return refuse(hsaco.BadSize, "no segment to load")
	}
	var align, end uint64 = 4096, 0
	first := o.Segments[0].Vaddr
	for i := range o.Segments {
		s := &o.Segments[i]
		if s.MemBytes > moduleBytesMax || s.Vaddr-first > moduleBytesMax || s.Align > moduleBytesMax {
			return refuse(hsaco.BadSize, "segment %d: %d bytes at %#x, alignment %d: more than %d bytes", i, s.MemBytes, s.Vaddr, s.Align, moduleBytesMax)
		}
		align = max(align, s.Align)
		end = max(end, s.Vaddr+s.MemBytes)
	}
	if align&(align-1) != 0 {
		return refuse(hsaco.BadSize, "a segment's alignment %d is no power of two", align)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	low := first &^ (align - 1)
	start := d.space.gap(d.next, end-low, Placement{Align: align, Guard: 4096})
	m := &Module{Object: o, Base: start - low, dev: d}
	for i := range o.Segments {
		s := &o.Segments[i]
		data := make([]byte, s.MemBytes)
		copy(data, s.Data)
		name := fmt.Sprintf("%s: segment %d", o.Name, i)
		if s.Flags&elf.PF_X != 0 {
			name = fmt.Sprintf("%s: code", o.Name)
		}
		m.Buffers = append(m.Buffers, &Buffer{
			Name: name, Addr: m.Base + s.Vaddr, Data: data, Residency: NonMigratable,
			ReadOnly: s.Flags&elf.PF_W == 0,
		})
		if s.Flags&elf.PF_X != 0 {
			m.texts = append(m.texts, m.Buffers[i])
		}
	}
	if err := m.relocate(); err != nil {
		return nil, err
	}
	for i, b := range m.Buffers {
		if err := d.space.add(b); err != nil {
			for _, b := range m.Buffers[:i] {
				_ = d.space.remove(b)
			}
			return nil, &LoadError{o.Name, hsaco.BadSize, err.Error()}
		}
	}
	d.next = m.Base + end + 4096
	return m, nil
}

// relocate applies the dynamic relocations.
func (m *Module) relocate() error {
	o := m.Object
	symbols := make(map[string]*hsaco.Symbol, len(o.Dynamic))
	for i := range o.Dynamic {
		symbols[o.Dynamic[i].Name] = &o.Dynamic[i]
	}
	for _, r := range o.Relocs {
		if r.Section != "" || r.Type == hsaco.RelocNone {
			continue
		}
		refuse := func(reason hsaco.Reason, format string, args ...any) error {
			return &LoadError{o.Name, reason, fmt.Sprintf("%v at %#x: ", r.Type, r.Offset) + fmt.Sprintf(format, args...)}
		}
		value := m.Base + uint64(r.Addend)
		switch r.Type {
		case hsaco.RelocRelative64:
		case hsaco.RelocAbs64:
			s := symbols[r.Symbol]
			if s == nil || s.Section == elf.SHN_UNDEF {
				return refuse(hsaco.NotApplied, "symbol %q is not defined in the object", r.Symbol)
			}
			value += s.Value
			if s.Section == elf.SHN_ABS {
				value -= m.Base
			}
		default:
			return refuse(hsaco.NotApplied, "not a relocation of a linked object")
		}
		word := m.bytes(m.Base+r.Offset, 8)
		if word == nil {
			return refuse(hsaco.BadSize, "8 bytes outside of the segments")
		}
		binary.LittleEndian.PutUint64(word, value)
	}
	return nil
}

// bytes are n bytes of the loaded object, or nil.
func (m *Module) bytes(addr, n uint64) []byte {
	for _, b := range m.Buffers {
		if off, size := addr-b.Addr, uint64(len(b.Data)); addr >= b.Addr && off <= size && n <= size-off {
			return b.Data[off : off+n]
		}
	}
	return nil
}

// Unload frees the module's memory. Its kernels cannot be run any more.
func (m *Module) Unload() error {
	for _, b := range m.Buffers {
		if err := m.dev.Free(b); err != nil {
			return err
		}
	}
	return nil
}

// Symbol is the address at which a symbol of the object is loaded.
func (m *Module) Symbol(name string) (addr, size uint64, ok bool) {
	for _, list := range [][]hsaco.Symbol{m.Object.Symbols, m.Object.Dynamic} {
		for i := range list {
			if s := &list[i]; s.Name == name && s.Section != elf.SHN_UNDEF {
				return m.Base + s.Value, s.Size, true
			}
		}
	}
	return 0, 0, false
}

// Kernel prepares a kernel of the module to run. Errors: there is none of that
// name; one that needs what the device does not have.
func (m *Module) Kernel(name string) (*Kernel, error) {
	k, ok := m.Object.Kernel(name)
	if !ok {
		return nil, fmt.Errorf("emu: no kernel %q in %s (%d kernels)", name, m.Object.Name, len(m.Object.Kernels))
	}
	return newKernel(m, k)
}

// Kernels are the names of the module's kernels.
func (m *Module) Kernels() []string {
	names := make([]string, len(m.Object.Kernels))
	for i := range names {
		names[i] = m.Object.Kernels[i].Name
	}
	return names
}
