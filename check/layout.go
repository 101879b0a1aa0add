package check

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/holdfast-llm/holdfast/amd/emu"
)

// Layout says where a case's buffers lie.
type Layout struct {
	Base   uint64 // the first is there or just above; 0 lets the device choose
	Align  uint64 // of each, a power of two
	Prefix uint64 // bytes after an aligned address at which each starts
}

func (l Layout) String() string { return fmt.Sprintf("%#x,%d,%d", l.Base, l.Align, l.Prefix) }

// Layouts are those that "all" stands for: each alignment from 256 to 4096 with
// each prefix, low and high in the address space.
func Layouts() (list []Layout) {
	for _, base := range []uint64{0, 0x7f00_0000_0000} {
		for align := uint64(256); align <= 4096; align *= 2 {
			for _, prefix := range []uint64{0, 64, 192} {
				list = append(list, Layout{base, align, prefix})
			}
		}
	}
	return list
}

// ParseLayouts reads "all" or BASE,ALIGN,PREFIX.
func ParseLayouts(s string) ([]Layout, error) {
	if s == "all" {
		return Layouts(), nil
	}
	var n [3]uint64
	parts := strings.Split(s, ",")
	if len(parts) != len(n) {
		return nil, fmt.Errorf("layout %q: want all, or BASE,ALIGN,PREFIX such as 0x7f0000000000,4096,64", s)
	}
	for i, p := range parts {
		var err error
		if n[i], err = strconv.ParseUint(p, 0, 48); err != nil {
			return nil, fmt.Errorf("layout %q: %q is no number below 2^48", s, p)
		}
	}
	if n[1] == 0 || n[1]&(n[1]-1) != 0 {
		return nil, fmt.Errorf("layout %q: the alignment %d is not a power of two", s, n[1])
	}
	return []Layout{{n[0], n[1], n[2]}}, nil
}

// placer gives a case's buffers their places, one after the other.
type placer struct {
	layout *Layout // nil: as the arguments say
	guard  uint64
	next   uint64
}

// place is where a buffer of so many bytes goes.
func (p *placer) place(a *Arg, bytes uint64) emu.Placement {
	if p.layout == nil {
		return emu.Placement{Align: a.Align, Offset: a.Offset, Guard: p.guard}
	}
	l := p.layout
	if l.Base == 0 {
		return emu.Placement{Align: l.Align, Offset: l.Prefix, Guard: p.guard}
	}
	if p.next == 0 {
		p.next = l.Base
	}
	const guard = 4096
	at := (p.next+l.Align-1)&^(l.Align-1) + l.Prefix
	p.next = at + bytes + max(p.guard, guard)
	return emu.Placement{Addr: at, Guard: p.guard}
}
