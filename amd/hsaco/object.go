package hsaco

import (
	"debug/elf"
	"fmt"
	"os"
	"slices"
	"sync"
)

// fileBytesMax bounds what Open reads; the largest libraries have some 100 MiB.
const fileBytesMax = 1 << 30

// Object is a code object that has been read and checked.
type Object struct {
	Name        string // as given to Open or Parse
	Version     int    // of the code object, 3 to 6
	Target      Target
	Relocatable bool      // not linked: addresses are offsets in sections, nothing can be loaded
	Metadata    *Metadata // nil if there is none; then no kernel has any either
	Kernels     []Kernel  // by address of their descriptors
	Sections    []Section
	Segments    []Segment // ascending, apart; none in a relocatable object
	Symbols     []Symbol  // of .symtab, or of .dynsym if that is all
	Dynamic     []Symbol  // of .dynsym
	Relocs      []Reloc   // none is applied
	Warnings    []*Error  // what the object lacks

	lines struct {
		once  sync.Once
		table *lineTable
		err   *Error
	}
}

// Open reads the code object at path. Errors: those of reading a file, or an
// [*Error].
func Open(path string) (*Object, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("hsaco: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("hsaco: %s is not a regular file", path)
	}
	if info.Size() > fileBytesMax {
		return nil, &Error{Name: path, Reason: BadSize, Detail: fmt.Sprintf("%d bytes, past the limit of %d", info.Size(), fileBytesMax)}
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("hsaco: %w", err)
	}
	return Parse(path, b)
}

// Parse reads a code object that is in memory. It keeps b, which must not
// change; name is for errors. The error is an [*Error].
func Parse(name string, b []byte) (*Object, error) {
	o := &Object{Name: name}
	if err := o.parse(&file{b: b}); err != nil {
		err.Name = name
		return nil, err
	}
	for _, w := range o.Warnings {
		w.Name = name
	}
	return o, nil
}

func (o *Object) parse(f *file) *Error {
	if err := f.readHeader(); err != nil {
		return err
	}
	o.Version, o.Relocatable = f.version, f.typ == elf.ET_REL
	o.Target = parseTarget(f.flags, f.version)
	if !o.Target.GFX11() {
		return refuse(OtherChip, 48, "the code is for %v; only gfx11 is read", o.Target)
	}
	if err := f.readSections(); err != nil {
		return err
	}
	if !o.Relocatable {
		if err := f.readSegments(); err != nil {
			return err
		}
	}
	o.Sections, o.Segments = f.sections, f.segments
	tables := make(map[uint32][]Symbol)
	for i := range f.sections {
		s := &f.sections[i]
		if s.Type != elf.SHT_SYMTAB && s.Type != elf.SHT_DYNSYM {
			continue
		}
		own := &o.Symbols
		if s.Type == elf.SHT_DYNSYM {
			own = &o.Dynamic
		}
		if *own != nil {
			return refuse(BadSize, s.headerAt, "section %q: a second symbol table", s.Name)
		}
		syms, err := f.symbols(s)
		if err != nil {
			return err
		}
		*own, tables[uint32(i)] = syms, syms
	}
	if o.Symbols == nil {
		o.Symbols = o.Dynamic
	}
	var err *Error
	if o.Relocs, err = f.readRelocs(tables); err != nil {
		return err
	}
	if err := o.readKernels(f); err != nil {
		return err
	}
	o.warnUnresolved()
	return nil
}

// warnUnresolved says what a loader has still to do.
func (o *Object) warnUnresolved() {
	if o.Relocatable {
		o.Warnings = append(o.Warnings, refuse(NotApplied, 16, "a relocatable object: %d relocations are not applied; ld.lld -shared links it", len(o.Relocs)))
		return
	}
	if n := len(o.Relocs); n > 0 {
		o.Warnings = append(o.Warnings, refuse(NotApplied, 0, "%d dynamic relocations are not applied, the first is %v at %#x", n, o.Relocs[0].Type, o.Relocs[0].Offset))
	}
	undefined := func(s Symbol) bool { return s.Section == elf.SHN_UNDEF && s.Name != "" }
	if i := slices.IndexFunc(o.Dynamic, undefined); i >= 0 {
		s := o.Dynamic[i]
		o.Warnings = append(o.Warnings, refuse(NotApplied, s.at, "symbol %.256q is not defined here", s.Name))
	}
}

// Kernel returns the kernel of that name, without the suffix .kd.
func (o *Object) Kernel(name string) (*Kernel, bool) {
	for i := range o.Kernels {
		if o.Kernels[i].Name == name {
			return &o.Kernels[i], true
		}
	}
	return nil, false
}

// At returns n bytes of the file that are loaded at addr, before relocation;
// false if they are not all in the file part of one segment.
func (o *Object) At(addr, n uint64) ([]byte, bool) {
	s := segmentAt(o.Segments, addr)
	if s == nil {
		return nil, false
	}
	off, size := addr-s.Vaddr, uint64(len(s.Data))
	if off > size || n > size-off {
		return nil, false
	}
	return s.Data[off : off+n : off+n], true
}
