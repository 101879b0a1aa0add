package hsaco

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"sort"
	"strings"
)

const (
	ehdrBytes = 64
	shdrBytes = 64
	phdrBytes = 56
	symBytes  = 24
	relaBytes = 24

	osabiHSA      = 64      // ELFOSABI_AMDGPU_HSA
	nameBytesMax  = 1 << 16 // of a symbol; mangled C++ names reach some thousands
	imageBytesMax = 1 << 40 // addresses and sizes of segments; keeps sums far from overflow
)

var le = binary.LittleEndian

// Section is one section of the file.
type Section struct {
	Name   string
	Type   elf.SectionType
	Flags  elf.SectionFlag
	Addr   uint64 // where it is loaded; 0 in a relocatable object
	Offset uint64 // in the file
	Size   uint64 // in bytes
	Data   []byte // a window into the file; nil for SHT_NOBITS

	link, info uint32
	entSize    uint64
	headerAt   uint64
}

// Contains reports whether the n bytes from addr lie within the section.
func (s *Section) Contains(addr, n uint64) bool {
	return addr >= s.Addr && addr-s.Addr <= s.Size && n <= s.Size-(addr-s.Addr)
}

// Segment is a part of the file that is loaded: Data, then zeros up to
// MemBytes, at Vaddr plus the base that the loader chooses.
type Segment struct {
	Vaddr    uint64
	MemBytes uint64
	Align    uint64
	Flags    elf.ProgFlag
	Offset   uint64 // of Data in the file
	Data     []byte // a window into the file
}

// Symbol is one entry of a symbol table.
type Symbol struct {
	Name    string
	Value   uint64 // an address; an offset in its section in a relocatable object
	Size    uint64 // in bytes
	Type    elf.SymType
	Bind    elf.SymBind
	Vis     elf.SymVis
	Section elf.SectionIndex // an index into Object.Sections, or one of the special ones
	at      uint64           // of the entry in the file
}

// A file is the ELF side of an object while it is read.
type file struct {
	b        []byte
	typ      elf.Type
	version  int // of the code object
	flags    uint32
	sections []Section
	segments []Segment
	text     []int // sections with code by address, apart; of a linked object
}

// span returns n bytes from off, or false if the file has not that many.
func (f *file) span(off, n uint64) ([]byte, bool) {
	size := uint64(len(f.b))
	if off > size || n > size-off {
		return nil, false
	}
	return f.b[off : off+n : off+n], true
}

func (f *file) readHeader() *Error {
	b := f.b
	if len(b) < 4 || string(b[:4]) != elf.ELFMAG {
		switch {
		case len(b) > 0 && len(b) < 4 && strings.HasPrefix(elf.ELFMAG, string(b)):
			return refuse(Truncated, 0, "%d bytes of the magic", len(b))
		case bytes.HasPrefix(b, []byte("__CLANG_OFFLOAD_BUNDLE__")), bytes.HasPrefix(b, []byte("CCOB")):
			return refuse(NotELF, 0, "an offload bundle; clang-offload-bundler -unbundle takes the code objects out of it")
		}
		return refuse(NotELF, 0, "it starts with %q", b[:min(len(b), 8)])
	}
	if len(b) < ehdrBytes {
		return refuse(Truncated, 0, "%d bytes, an ELF header has %d", len(b), ehdrBytes)
	}
	f.typ = elf.Type(le.Uint16(b[16:]))
	f.flags = le.Uint32(b[48:])
	class, data, machine := elf.Class(b[elf.EI_CLASS]), elf.Data(b[elf.EI_DATA]), elf.Machine(le.Uint16(b[18:]))
	switch {
	case class != elf.ELFCLASS64 || data != elf.ELFDATA2LSB:
		return refuse(NotAMDGPU, elf.EI_CLASS, "%v, %v; want 64 bits, little-endian", class, data)
	case machine != elf.EM_AMDGPU:
		return refuse(NotAMDGPU, 18, "machine %v, want EM_AMDGPU", machine)
	case b[elf.EI_OSABI] != osabiHSA:
		return refuse(NotAMDGPU, elf.EI_OSABI, "OS ABI %d, want %d (AMDGPU HSA)", b[elf.EI_OSABI], osabiHSA)
	case f.typ != elf.ET_DYN && f.typ != elf.ET_REL:
		return refuse(NotAMDGPU, 16, "%v; want a shared object or a relocatable one", f.typ)
	}
	// The ABI version is 0 for V2 and counts from there.
	f.version = int(b[elf.EI_ABIVERSION]) + 2
	if f.version < 3 || f.version > 6 {
		return refuse(BadVersion, elf.EI_ABIVERSION, "ABI version %d is code object version %d; versions 3 to 6 are read", b[elf.EI_ABIVERSION], f.version)
	}
	return nil
}

// table returns the count entries of at least size bytes at off.
func (f *file) table(what string, off, count, entry, size uint64) ([]byte, *Error) {
	if count == 0 {
		return nil, nil
	}
	if entry < size {
		return nil, refuse(BadSize, off, "%s entries of %d bytes, want %d", what, entry, size)
	}
	// count and entry are at most 32 and 16 bits, so the product is exact.
	b, ok := f.span(off, count*entry)
	if !ok {
		return nil, refuse(Truncated, off, "%d %s entries of %d bytes end past file size %d", count, what, entry, len(f.b))
	}
	return b, nil
}

func (f *file) readSections() *Error {
	off, entry := le.Uint64(f.b[40:]), uint64(le.Uint16(f.b[58:]))
	count, names := uint64(le.Uint16(f.b[60:])), uint64(le.Uint16(f.b[62:]))
	if off == 0 && count == 0 {
		return nil
	}
	first, ok := f.span(off, shdrBytes)
	if !ok {
		return refuse(Truncated, off, "section headers at %#x, file size %d", off, len(f.b))
	}
	// Numbers that do not fit 16 bits are in the first section header.
	if count == 0 {
		count = le.Uint64(first[32:])
	}
	if names == uint64(elf.SHN_XINDEX) {
		names = uint64(le.Uint32(first[40:]))
	}
	if count > uint64(len(f.b))/shdrBytes {
		return refuse(Truncated, off, "%d section headers do not fit file size %d", count, len(f.b))
	}
	table, err := f.table("section header", off, count, entry, shdrBytes)
	if err != nil {
		return err
	}
	f.sections = make([]Section, count)
	for i := range f.sections {
		h := table[uint64(i)*entry:]
		s := &f.sections[i]
		*s = Section{
			Type: elf.SectionType(le.Uint32(h[4:])), Flags: elf.SectionFlag(le.Uint64(h[8:])),
			Addr: le.Uint64(h[16:]), Offset: le.Uint64(h[24:]), Size: le.Uint64(h[32:]),
			link: le.Uint32(h[40:]), info: le.Uint32(h[44:]), entSize: le.Uint64(h[56:]),
			headerAt: off + uint64(i)*entry,
		}
		if s.Type == elf.SHT_NULL {
			s.Size = 0 // the first header's may be the number of sections
			continue
		}
		if s.Addr > imageBytesMax || s.Size > imageBytesMax {
			return refuse(BadSize, s.headerAt, "section %d: %d bytes at %#x, past the limit of %#x", i, s.Size, s.Addr, uint64(imageBytesMax))
		}
		if s.Type == elf.SHT_NOBITS {
			continue
		}
		var ok bool
		if s.Data, ok = f.span(s.Offset, s.Size); !ok {
			return refuse(Truncated, s.headerAt, "section %d: %d bytes from %#x end past file size %d", i, s.Size, s.Offset, len(f.b))
		}
	}
	if count == 0 || names == 0 {
		return nil
	}
	if names >= count {
		return refuse(BadSize, 62, "section names in section %d of %d", names, count)
	}
	str := newStrings(f.sections[names].Data)
	for i := range f.sections {
		name, ok := str.at(le.Uint32(table[uint64(i)*entry:]))
		if !ok {
			return refuse(BadSize, f.sections[i].headerAt, "section %d: no name at %d of the %d bytes of names", i, le.Uint32(table[uint64(i)*entry:]), len(str))
		}
		f.sections[i].Name = name
	}
	return nil
}

func (f *file) readSegments() *Error {
	off, entry, count := le.Uint64(f.b[32:]), uint64(le.Uint16(f.b[54:])), uint64(le.Uint16(f.b[56:]))
	table, err := f.table("program header", off, count, entry, phdrBytes)
	if err != nil {
		return err
	}
	var end uint64
	for i := range count {
		h, at := table[i*entry:], off+i*entry
		if elf.ProgType(le.Uint32(h)) != elf.PT_LOAD {
			continue
		}
		s := Segment{
			Flags: elf.ProgFlag(le.Uint32(h[4:])), Offset: le.Uint64(h[8:]), Vaddr: le.Uint64(h[16:]),
			MemBytes: le.Uint64(h[40:]), Align: le.Uint64(h[48:]),
		}
		fileBytes := le.Uint64(h[32:])
		var ok bool
		s.Data, ok = f.span(s.Offset, fileBytes)
		switch {
		case !ok:
			return refuse(Truncated, at, "segment %d: %d bytes from %#x end past file size %d", i, fileBytes, s.Offset, len(f.b))
		case s.MemBytes < fileBytes:
			return refuse(BadSize, at, "segment %d: %d bytes in memory, %d in the file", i, s.MemBytes, fileBytes)
		case s.Vaddr > imageBytesMax || s.MemBytes > imageBytesMax:
			return refuse(BadSize, at, "segment %d: %d bytes at %#x, past the limit of %#x", i, s.MemBytes, s.Vaddr, uint64(imageBytesMax))
		case s.Vaddr < end:
			return refuse(BadSize, at, "segment %d: starts at %#x, the one before ends at %#x", i, s.Vaddr, end)
		case s.Align > 1 && s.Align&(s.Align-1) != 0:
			return refuse(BadSize, at, "segment %d: alignment %d is not a power of two", i, s.Align)
		}
		end = s.Vaddr + s.MemBytes
		f.segments = append(f.segments, s)
	}
	return nil
}

// segmentAt returns the segment that has the byte at addr, or nil. Segments ascend.
func segmentAt(segments []Segment, addr uint64) *Segment {
	i := sort.Search(len(segments), func(i int) bool {
		return segments[i].Vaddr+segments[i].MemBytes > addr
	})
	if i == len(segments) || addr < segments[i].Vaddr {
		return nil
	}
	return &segments[i]
}

// symbols reads a symbol table. Relocations count positions in it, so the null
// symbol at 0 stays.
func (f *file) symbols(s *Section) ([]Symbol, *Error) {
	if s.entSize != symBytes || s.Size%symBytes != 0 {
		return nil, refuse(BadSize, s.headerAt, "section %q: %d bytes of symbols in entries of %d, want %d", s.Name, s.Size, s.entSize, symBytes)
	}
	if uint64(s.link) >= uint64(len(f.sections)) {
		return nil, refuse(BadSize, s.headerAt, "section %q: symbol names in section %d of %d", s.Name, s.link, len(f.sections))
	}
	str := newStrings(f.sections[s.link].Data)
	syms := make([]Symbol, len(s.Data)/symBytes)
	for i := range syms {
		e, at := s.Data[i*symBytes:], s.Offset+uint64(i)*symBytes
		name, ok := str.at(le.Uint32(e))
		if !ok {
			return nil, refuse(BadSize, at, "symbol %d of %q: no name at %d of the %d bytes of names", i, s.Name, le.Uint32(e), len(str))
		}
		syms[i] = Symbol{
			Name: name, Type: elf.ST_TYPE(e[4]), Bind: elf.ST_BIND(e[4]), Vis: elf.ST_VISIBILITY(e[5]),
			Section: elf.SectionIndex(le.Uint16(e[6:])), Value: le.Uint64(e[8:]), Size: le.Uint64(e[16:]), at: at,
		}
	}
	return syms, nil
}

// section returns the section that defines sym, or nil.
func (f *file) section(sym *Symbol) *Section {
	if sym.Section == elf.SHN_UNDEF || int(sym.Section) >= len(f.sections) || sym.Section >= elf.SHN_LORESERVE {
		return nil
	}
	return &f.sections[sym.Section]
}

// A stringTable is a table of NUL-terminated strings. Its strings share its
// memory, so that many symbols with one long name cost nothing.
type stringTable string

func newStrings(b []byte) stringTable { return stringTable(b) }

// at returns the string at off; false if it is outside, has no end or is
// longer than any name.
func (t stringTable) at(off uint32) (string, bool) {
	if off == 0 && len(t) == 0 {
		return "", true
	}
	if uint64(off) >= uint64(len(t)) {
		return "", false
	}
	s := string(t[off:])
	if len(s) > nameBytesMax {
		s = s[:nameBytesMax]
	}
	n := strings.IndexByte(s, 0)
	if n < 0 {
		return "", false
	}
	return s[:n], true
}
