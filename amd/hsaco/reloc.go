package hsaco

import (
	"debug/elf"
	"fmt"
)

// RelocType is how a relocation changes what it points at.
type RelocType uint32

// The relocations of AMDGPU. Those of a linked object are Abs64 and Relative64.
const (
	RelocNone       RelocType = 0
	RelocAbs32Lo    RelocType = 1
	RelocAbs32Hi    RelocType = 2
	RelocAbs64      RelocType = 3
	RelocRel32      RelocType = 4
	RelocRel64      RelocType = 5
	RelocAbs32      RelocType = 6
	RelocGotPCRel   RelocType = 7
	RelocGotPC32Lo  RelocType = 8
	RelocGotPC32Hi  RelocType = 9
	RelocRel32Lo    RelocType = 10
	RelocRel32Hi    RelocType = 11
	RelocRelative64 RelocType = 13
	RelocRel16      RelocType = 14
)

var relocNames = map[RelocType]string{
	RelocNone: "R_AMDGPU_NONE", RelocAbs32Lo: "R_AMDGPU_ABS32_LO", RelocAbs32Hi: "R_AMDGPU_ABS32_HI",
	RelocAbs64: "R_AMDGPU_ABS64", RelocRel32: "R_AMDGPU_REL32", RelocRel64: "R_AMDGPU_REL64",
	RelocAbs32: "R_AMDGPU_ABS32", RelocGotPCRel: "R_AMDGPU_GOTPCREL", RelocGotPC32Lo: "R_AMDGPU_GOTPCREL32_LO",
	RelocGotPC32Hi: "R_AMDGPU_GOTPCREL32_HI", RelocRel32Lo: "R_AMDGPU_REL32_LO", RelocRel32Hi: "R_AMDGPU_REL32_HI",
	RelocRelative64: "R_AMDGPU_RELATIVE64", RelocRel16: "R_AMDGPU_REL16",
}

func (t RelocType) String() string {
	if s, ok := relocNames[t]; ok {
		return s
	}
	return fmt.Sprintf("R_AMDGPU_%d", uint32(t))
}

// size is how many bytes a relocation of the type changes.
func (t RelocType) size() uint64 {
	switch t {
	case RelocNone:
		return 0
	case RelocAbs64, RelocRel64, RelocRelative64:
		return 8
	case RelocRel16:
		return 2
	}
	return 4
}

// Reloc is one relocation with an addend. None is applied by this package.
type Reloc struct {
	Section string // that it changes; "" for a dynamic one, which the loader applies
	Offset  uint64 // an address; an offset in Section in a relocatable object
	Type    RelocType
	Symbol  string // "" for none, or one without a name
	Addend  int64
}

// readRelocs reads every SHT_RELA section. tables holds the symbols by the
// index of their section.
func (f *file) readRelocs(tables map[uint32][]Symbol) ([]Reloc, *Error) {
	var relocs []Reloc
	for i := range f.sections {
		s := &f.sections[i]
		if s.Type == elf.SHT_REL {
			return nil, refuse(BadSize, s.headerAt, "section %q: relocations without addends, which AMDGPU has not", s.Name)
		}
		if s.Type != elf.SHT_RELA {
			continue
		}
		if s.entSize != relaBytes || s.Size%relaBytes != 0 {
			return nil, refuse(BadSize, s.headerAt, "section %q: %d bytes of relocations in entries of %d, want %d", s.Name, s.Size, s.entSize, relaBytes)
		}
		var target *Section
		if f.typ == elf.ET_REL {
			if uint64(s.info) >= uint64(len(f.sections)) {
				return nil, refuse(BadSize, s.headerAt, "section %q: for section %d of %d", s.Name, s.info, len(f.sections))
			}
			target = &f.sections[s.info]
		}
		symbols := tables[s.link]
		for at := uint64(0); at < s.Size; at += relaBytes {
			b := s.Data[at:]
			info := le.Uint64(b[8:])
			r := Reloc{Offset: le.Uint64(b), Type: RelocType(uint32(info)), Addend: int64(le.Uint64(b[16:]))}
			if sym := info >> 32; sym != 0 {
				if sym >= uint64(len(symbols)) {
					return nil, refuse(BadSize, s.Offset+at, "relocation at %#x: symbol %d of %d", r.Offset, sym, len(symbols))
				}
				r.Symbol = f.symbolName(&symbols[sym])
			}
			n := r.Type.size()
			var inside bool
			if target != nil {
				r.Section = target.Name
				inside = r.Offset <= target.Size && n <= target.Size-r.Offset
			} else {
				inside = f.loaded(r.Offset, n)
			}
			if !inside {
				return nil, refuse(BadSize, s.Offset+at, "relocation %v changes %d bytes at %#x, outside of what is there", r.Type, n, r.Offset)
			}
			relocs = append(relocs, r)
		}
	}
	return relocs, nil
}

// symbolName is the symbol's name; a section's symbol goes by the section's.
func (f *file) symbolName(s *Symbol) string {
	if sec := f.section(s); s.Name == "" && s.Type == elf.STT_SECTION && sec != nil {
		return sec.Name
	}
	return s.Name
}

// loaded reports whether a segment has the n bytes at addr.
func (f *file) loaded(addr, n uint64) bool {
	s := segmentAt(f.segments, addr)
	return n == 0 || s != nil && n <= s.MemBytes-(addr-s.Vaddr)
}
