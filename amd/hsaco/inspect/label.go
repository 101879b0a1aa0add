package inspect

import (
	"cmp"
	"debug/elf"
	"slices"

	"github.com/holdfast-llm/holdfast/amd/hsaco"
	"github.com/holdfast-llm/holdfast/amd/isa"
)

// A spot is an address in a section.
type spot struct {
	section int
	addr    uint64
}

func (a spot) compare(b spot) int {
	return cmp.Or(cmp.Compare(a.section, b.section), cmp.Compare(a.addr, b.addr))
}

// A label names a spot in a section with code.
type label struct {
	spot
	name  string
	wave  isa.Wave // of the code that follows
	data  bool     // data follows
	place bool     // a symbol without a type: a place within a function
}

// labels lists the symbols in sections with code, kernels that have no symbol
// and sections that do not start with one, by spot and name.
func labels(o *hsaco.Object) []label {
	var list []label
	seen := make(map[spot]bool)
	add := func(name string, at spot, t elf.SymType) {
		if at.section < len(o.Sections) && holdsCode(&o.Sections[at.section]) && o.Sections[at.section].Contains(at.addr, 1) {
			seen[at] = true
			list = append(list, label{spot: at, name: name, data: t == elf.STT_OBJECT, place: t == elf.STT_NOTYPE})
		}
	}
	for i := range o.Symbols {
		s := &o.Symbols[i]
		switch s.Type {
		case elf.STT_FUNC, elf.STT_OBJECT, elf.STT_NOTYPE:
			if s.Name != "" {
				add(s.Name, spot{int(s.Section), s.Value}, s.Type)
			}
		}
	}
	for i := range o.Kernels {
		if k := &o.Kernels[i]; !seen[spot{k.Section, k.Entry}] {
			add(k.Name, spot{k.Section, k.Entry}, elf.STT_FUNC)
		}
	}
	for i := range o.Sections {
		if sec := &o.Sections[i]; !seen[spot{i, sec.Addr}] {
			add(sec.Name, spot{i, sec.Addr}, elf.STT_FUNC)
		}
	}
	slices.SortFunc(list, func(a, b label) int { return cmp.Or(a.compare(b.spot), cmp.Compare(a.name, b.name)) })
	setWaves(list, o.Kernels)
	return list
}

func holdsCode(s *hsaco.Section) bool {
	return len(s.Data) > 0 && s.Flags&elf.SHF_EXECINSTR != 0
}

// setWaves gives every label the wave size of the kernel that it is in, or of
// the first kernel, as code that several may call is taken to run.
func setWaves(list []label, kernels []hsaco.Kernel) {
	wave := isa.Wave32
	if len(kernels) > 0 {
		wave = isa.Wave(kernels[0].Descriptor.WavefrontSize())
	}
	byEntry := slices.Clone(kernels)
	entry := func(k *hsaco.Kernel) spot { return spot{k.Section, k.Entry} }
	slices.SortFunc(byEntry, func(a, b hsaco.Kernel) int { return entry(&a).compare(entry(&b)) })
	next := 0
	for i := range list {
		f := &list[i]
		for next < len(byEntry) && entry(&byEntry[next]).compare(f.spot) <= 0 {
			next++
		}
		f.wave = wave
		if next == 0 {
			continue
		}
		if k := &byEntry[next-1]; k.Section == f.section && f.addr-k.Entry < uint64(len(k.Code)) {
			f.wave = isa.Wave(k.Descriptor.WavefrontSize())
		}
	}
}
