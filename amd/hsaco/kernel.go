package hsaco

import (
	"cmp"
	"debug/elf"
	"fmt"
	"slices"
	"sort"
	"strings"
)

// entryAlign is the alignment of a kernel's first instruction, in bytes.
const entryAlign = 256

// Kernel is one entry point.
type Kernel struct {
	Name       string
	Descriptor Descriptor
	Addr       uint64      // of the descriptor; an offset in its section if relocatable
	Meta       *KernelMeta // nil if the object says nothing about it
	Entry      uint64      // address of the first instruction; an offset in Section if relocatable
	Section    int         // of the code, an index into Object.Sections
	// Code is the kernel's own instructions: as many bytes as its symbol says,
	// or up to the end of the section if it says none. Functions that it calls
	// are elsewhere.
	Code []byte

	at uint64 // of the descriptor in the file
}

// readKernels finds the descriptors by their symbols, then their metadata.
func (o *Object) readKernels(f *file) *Error {
	if err := f.findText(); err != nil {
		return err
	}
	// A linked kernel's function is the symbol at its entry, one with a size if
	// there are several; before linking it is the one of its name.
	byName, byAddr := make(map[string]*Symbol), make(map[uint64]*Symbol)
	for i := range o.Symbols {
		s := &o.Symbols[i]
		switch old := byAddr[s.Value]; {
		case s.Type != elf.STT_FUNC || s.Section == elf.SHN_UNDEF:
		case o.Relocatable:
			byName[s.Name] = s
		case old == nil || old.Size == 0:
			byAddr[s.Value] = s
		}
	}
	seen := make(map[string]bool)
	for _, table := range [][]Symbol{o.Dynamic, o.Symbols} {
		for i := range table {
			s := &table[i]
			name, ok := strings.CutSuffix(s.Name, ".kd")
			if !ok || s.Type != elf.STT_OBJECT || s.Section == elf.SHN_UNDEF || seen[name] {
				continue
			}
			seen[name] = true
			k := Kernel{Name: name}
			if err := k.readDescriptor(f, s); err != nil {
				return err
			}
			function := byAddr[k.Addr+uint64(k.Descriptor.EntryOffset)]
			if o.Relocatable {
				function = byName[name]
			}
			if err := k.readCode(f, function); err != nil {
				return err
			}
			o.Kernels = append(o.Kernels, k)
		}
	}
	slices.SortFunc(o.Kernels, func(a, b Kernel) int {
		return cmp.Or(cmp.Compare(a.Addr, b.Addr), cmp.Compare(a.at, b.at), cmp.Compare(a.Name, b.Name))
	})
	return o.attachMetadata(f)
}

// findText lists the sections with code of a linked object by address.
func (f *file) findText() *Error {
	if f.typ == elf.ET_REL {
		return nil
	}
	for i := range f.sections {
		if s := &f.sections[i]; s.Flags&elf.SHF_EXECINSTR != 0 && len(s.Data) > 0 {
			f.text = append(f.text, i)
		}
	}
	slices.SortFunc(f.text, func(a, b int) int { return cmp.Compare(f.sections[a].Addr, f.sections[b].Addr) })
	for i := 1; i < len(f.text); i++ {
		a, b := &f.sections[f.text[i-1]], &f.sections[f.text[i]]
		if b.Addr < a.Addr+a.Size {
			return refuse(BadSize, b.headerAt, "section %q with code starts at %#x, %q ends at %#x", b.Name, b.Addr, a.Name, a.Addr+a.Size)
		}
	}
	return nil
}

// textAt returns the index of the section with code at addr, or -1.
func (f *file) textAt(addr uint64) int {
	i := sort.Search(len(f.text), func(i int) bool {
		s := &f.sections[f.text[i]]
		return s.Addr+s.Size > addr
	})
	if i == len(f.text) || !f.sections[f.text[i]].Contains(addr, 1) {
		return -1
	}
	return f.text[i]
}

func (k *Kernel) who() string { return fmt.Sprintf("kernel %.256q", k.Name) }

// readDescriptor reads the 64 bytes at the symbol.
func (k *Kernel) readDescriptor(f *file, s *Symbol) *Error {
	sec := f.section(s)
	addr := s.Value
	switch {
	case sec == nil:
		return refuse(BadDescriptor, s.at, "%s: its descriptor is in section %d of %d", k.who(), s.Section, len(f.sections))
	case s.Size != descriptorBytes:
		return refuse(BadDescriptor, s.at, "%s: a descriptor of %d bytes, want %d", k.who(), s.Size, descriptorBytes)
	case sec.Data == nil || !sec.Contains(addr, descriptorBytes):
		return refuse(BadDescriptor, s.at, "%s: its descriptor at %#x is outside section %q, %d bytes at %#x", k.who(), addr, sec.Name, len(sec.Data), sec.Addr)
	case addr%descriptorBytes != 0:
		return refuse(BadDescriptor, s.at, "%s: its descriptor at %#x is not aligned to %d", k.who(), addr, descriptorBytes)
	}
	k.Addr, k.at = addr, sec.Offset+addr-sec.Addr
	k.Descriptor = parseDescriptor(sec.Data[addr-sec.Addr:])
	return k.Descriptor.check(k.at, k.who())
}

// readCode finds the kernel's code. In a linked object the descriptor says
// where it starts; in a relocatable one only the function's symbol does.
func (k *Kernel) readCode(f *file, function *Symbol) *Error {
	k.Section = -1
	if f.typ == elf.ET_REL {
		if function == nil {
			return refuse(BadEntry, k.at, "%s: there is no function of that name", k.who())
		}
		if f.section(function) != nil {
			k.Section = int(function.Section)
		}
		k.Entry = function.Value
	} else {
		k.Entry = k.Addr + uint64(k.Descriptor.EntryOffset)
		k.Section = f.textAt(k.Entry)
	}
	if k.Section < 0 {
		return refuse(BadEntry, k.at+16, "%s: it starts at %#x, outside of every section with code", k.who(), k.Entry)
	}
	sec := &f.sections[k.Section]
	switch {
	case sec.Flags&elf.SHF_EXECINSTR == 0 || sec.Data == nil || !sec.Contains(k.Entry, 4):
		return refuse(BadEntry, k.at+16, "%s: it starts at %#x, outside of the code in section %q, %d bytes at %#x", k.who(), k.Entry, sec.Name, len(sec.Data), sec.Addr)
	case k.Entry%entryAlign != 0:
		return refuse(BadEntry, k.at+16, "%s: it starts at %#x, which is not aligned to %d", k.who(), k.Entry, entryAlign)
	}
	k.Code = sec.Data[k.Entry-sec.Addr:]
	if function != nil && function.Size != 0 {
		if function.Size > uint64(len(k.Code)) {
			return refuse(BadEntry, function.at, "%s: %d bytes of code, section %q has %d from there", k.who(), function.Size, sec.Name, len(k.Code))
		}
		k.Code = k.Code[:function.Size:function.Size]
	}
	if f.typ == elf.ET_DYN {
		s := segmentAt(f.segments, k.Entry)
		if s == nil || s.Flags&elf.PF_X == 0 || k.Entry-s.Vaddr >= uint64(len(s.Data)) {
			return refuse(BadEntry, k.at+16, "%s: it starts at %#x, which no executable segment loads", k.who(), k.Entry)
		}
	}
	return nil
}

// attachMetadata gives each kernel its metadata and compares the two.
func (o *Object) attachMetadata(f *file) *Error {
	desc, at, err := f.metadataNote()
	if err != nil {
		return err
	}
	if desc == nil {
		o.Warnings = append(o.Warnings, refuse(NoMetadata, 0, "no metadata note; kernels are known by their descriptors only"))
		return nil
	}
	md, metas, err := readMetadata(desc, at)
	if err != nil {
		return err
	}
	o.Metadata = md
	if want := "amdgcn-amd-amdhsa--" + o.Target.String(); md.Target != "" && md.Target != want {
		return refuse(Mismatch, at, "metadata for %.256q, e_flags for %q", md.Target, want)
	}
	bySymbol := make(map[string]*KernelMeta, len(metas))
	for i := range metas {
		m := &metas[i]
		if bySymbol[m.Symbol] != nil {
			return refuse(BadMetadata, at, "two kernels with the symbol %.256q", m.Symbol)
		}
		bySymbol[m.Symbol] = m
	}
	for i := range o.Kernels {
		k := &o.Kernels[i]
		k.Meta = bySymbol[k.Name+".kd"]
		delete(bySymbol, k.Name+".kd")
		if k.Meta == nil {
			o.Warnings = append(o.Warnings, refuse(NoMetadata, k.at, "%s: the metadata does not list it", k.who()))
			continue
		}
		if err := k.compare(o.Version); err != nil {
			return err
		}
	}
	for i := range metas { // the first in the metadata's order, not the map's
		if m := &metas[i]; bySymbol[m.Symbol] != nil {
			return refuse(Mismatch, at, "kernel %.256q: there is no descriptor %.256q", m.Name, m.Symbol)
		}
	}
	return nil
}

// compare checks that metadata and descriptor say the same.
func (k *Kernel) compare(version int) *Error {
	m, d := k.Meta, &k.Descriptor
	mode := map[bool]string{false: "CU mode", true: "WGP mode"}
	var what string
	var meta, desc any
	switch {
	case m.LDSBytes != d.LDSBytes:
		what, meta, desc = "bytes of LDS", m.LDSBytes, d.LDSBytes
	case m.ScratchBytes != d.ScratchBytes:
		what, meta, desc = "bytes of scratch", m.ScratchBytes, d.ScratchBytes
	case m.KernargBytes != d.KernargBytes && !(version == 3 && d.KernargBytes == 0):
		what, meta, desc = "bytes of arguments", m.KernargBytes, d.KernargBytes
	case m.WavefrontSize != d.WavefrontSize():
		what, meta, desc = "lanes in a wave", m.WavefrontSize, d.WavefrontSize()
	case m.VGPRs > d.VGPRs():
		what, meta, desc = "VGPRs", m.VGPRs, d.VGPRs()
	case m.DynamicStack != d.DynamicStack() && version >= 5:
		what, meta, desc = "a dynamic stack", m.DynamicStack, d.DynamicStack()
	case m.WGPMode != nil && *m.WGPMode != d.WGPMode():
		what, meta, desc = "the mode", mode[*m.WGPMode], mode[d.WGPMode()]
	case m.SGPRs > SGPRsMax:
		return refuse(OverLimit, k.at, "%s: %d SGPRs, a wave has %d", k.who(), m.SGPRs, SGPRsMax)
	default:
		return nil
	}
	return refuse(Mismatch, k.at, "%s: %s: the metadata says %v, the descriptor %v", k.who(), what, meta, desc)
}
