package check

import (
	"errors"
	"fmt"
	"math/bits"
	"strings"

	"github.com/holdfast-llm/holdfast/amd/emu"
)

// What memcheck finds.
const (
	// OutOfBounds: an access to global memory outside of every buffer.
	OutOfBounds Kind = "out-of-bounds"
	// UseAfterFree: an access to a buffer that was freed.
	UseAfterFree Kind = "use-after-free"
	// NullPage: an access near address 0.
	NullPage Kind = "null-page"
	// ReadOnlyWrite: a store to code, kernel arguments or a read-only buffer.
	ReadOnlyWrite Kind = "write-to-read-only"
	// WriteOnlyRead: a load from a buffer that is declared write-only.
	WriteOnlyRead Kind = "read-of-write-only"
	// Misaligned: an atomic that is not aligned to its size.
	Misaligned Kind = "misaligned"
	// LDSOutOfBounds: an access beyond the workgroup's LDS.
	LDSOutOfBounds Kind = "lds-out-of-bounds"
	// ScratchOutOfBounds: an access beyond the lane's scratch.
	ScratchOutOfBounds Kind = "scratch-out-of-bounds"
	// CodeOutOfBounds: a wave that runs where there is no code.
	CodeOutOfBounds Kind = "code-out-of-bounds"
)

var memcheckKinds = map[Kind]KindInfo{
	OutOfBounds: {
		Memcheck, "bytes outside of every buffer are accessed",
		"check the index against the buffer's length, or allocate what the kernel reads at the edges",
	},
	UseAfterFree: {
		Memcheck, "bytes of a buffer that was freed are accessed",
		"free the buffer after the last dispatch that uses it, or stop handing its address on",
	},
	NullPage: {
		Memcheck, "bytes near address 0 are accessed",
		"set the pointer, or skip the access where it is null",
	},
	ReadOnlyWrite: {
		Memcheck, "code, kernel arguments or a buffer that is read-only is written to",
		"write to a buffer of its own, or declare this one writable",
	},
	WriteOnlyRead: {
		Memcheck, "a buffer that is declared write-only is read",
		"keep what is needed again in registers or LDS, or declare the buffer readable",
	},
	Misaligned: {
		Memcheck, "an atomic's address is not a multiple of its size",
		"align the buffer and the index",
	},
	LDSOutOfBounds: {
		Memcheck, "bytes beyond the workgroup's LDS are accessed",
		"check the index, or give the kernel more LDS (dynamic LDS is set at the launch)",
	},
	ScratchOutOfBounds: {
		Memcheck, "bytes beyond a lane's scratch are accessed",
		"check the index of the local array",
	},
	CodeOutOfBounds: {
		Memcheck, "a wave jumped to where there is no code",
		"see what the branch's target was computed from",
	},
}

// nullPage is how many bytes from address 0 on are never a buffer's.
const nullPage = 1 << 16

// memcheck judges every access against what is allocated: buffers have unmapped
// bytes around them, so that it is exact to the byte. A bad access is reported
// and left out, loads give 0, and the dispatch goes on. Accesses through a buffer
// descriptor that its own range check stops are no findings: the hardware stops
// them too.
type memcheck struct {
	emu.NopObserver
	c        *Checker
	launched *emu.Launched
	last     *emu.Buffer // readable
}

func newMemcheck(c *Checker, _ Options) detector { return &memcheck{c: c} }

// DispatchBegin notes the dispatch.
func (m *memcheck) DispatchBegin(l *emu.Launched) { m.launched, m.last = l, nil }

// forgive reports a bad access.
func (m *memcheck) forgive(b *emu.BadAccess) bool {
	f := Finding{Tool: Memcheck, Bytes: b.Bytes}
	switch b.Space {
	case emu.LDS:
		f.Kind, f.Buffer = LDSOutOfBounds, "LDS"
	case emu.Scratch:
		f.Kind, f.Buffer = ScratchOutOfBounds, "scratch"
	default:
		m.global(&f, b)
	}
	if b.Space == emu.LDS || b.Space == emu.Scratch {
		f.Offset = int64(b.Addr)
		f.Message = fmt.Sprintf("%s of %d bytes %s %s (%d bytes)", b.Kind, b.Bytes, beyond(f.Offset, int64(b.Limit)), f.Buffer, b.Limit)
	}
	if !m.c.known(Memcheck, f.Kind, b.Wave.PC()) {
		f.Sites = []Site{m.c.site(b.Wave, b.Lane)}
		m.c.report(f)
	}
	return true
}

// global fills in the finding of an access to global memory.
func (m *memcheck) global(f *Finding, b *emu.BadAccess) {
	near, ok := m.launched.Device.Space().Near(b.Addr)
	f.Buffer, f.Offset = near.Name, int64(b.Addr-near.Addr)
	what := fmt.Sprintf("%s of %d bytes", b.Kind, b.Bytes)
	size := int64(near.Bytes)
	of := fmt.Sprintf("%q (%d bytes)", near.Name, size)
	switch inside := f.Offset >= 0 && f.Offset < size; {
	case b.Addr < nullPage:
		f.Kind, f.Buffer, f.Offset = NullPage, "", int64(b.Addr)
		f.Message = fmt.Sprintf("%s at address %#x", what, b.Addr)
	case !ok:
		f.Kind, f.Message = OutOfBounds, fmt.Sprintf("%s at address %#x, and nothing is allocated", what, b.Addr)
	case near.Freed:
		f.Kind, f.Message = UseAfterFree, fmt.Sprintf("%s at byte %d of %s, which was freed", what, f.Offset, of)
	case inside && strings.Contains(b.Why, "read only"):
		f.Kind, f.Message = ReadOnlyWrite, fmt.Sprintf("%s to byte %d of %s, which is read-only", what, f.Offset, of)
	case inside && strings.Contains(b.Why, "aligned"):
		f.Kind, f.Message = Misaligned, fmt.Sprintf("%s at byte %d of %s, address %#x", what, f.Offset, of, b.Addr)
	default:
		f.Kind, f.Message = OutOfBounds, fmt.Sprintf("%s %s %s", what, beyond(f.Offset, size), of)
	}
}

// beyond says how an access at an offset misses so many bytes.
func beyond(offset, size int64) string {
	switch {
	case offset < 0:
		return fmt.Sprintf("%d bytes before the start of", -offset)
	case offset < size:
		return fmt.Sprintf("at byte %d reaches past the end of", offset)
	}
	return fmt.Sprintf("%d bytes past the end of", offset-size)
}

// Access judges loads of what is write-only.
func (m *memcheck) Access(a *emu.Access) {
	if a.Kind == emu.Store || a.Space != emu.Global && a.Space != emu.Scalar {
		return
	}
	for lanes := a.Lanes; lanes != 0; lanes &= lanes - 1 {
		lane := bits.TrailingZeros64(lanes)
		addr := a.Addr[lane]
		if m.last != nil && addr-m.last.Addr < uint64(len(m.last.Data)) {
			continue
		}
		b := m.launched.Device.Space().Find(addr, 1)
		if b == nil || !b.WriteOnly {
			m.last = b
			continue
		}
		if a.Space == emu.Scalar {
			lane = -1
		}
		if !m.c.known(Memcheck, WriteOnlyRead, a.Wave.PC()) {
			m.c.report(Finding{
				Tool: Memcheck, Kind: WriteOnlyRead, Bytes: a.Bytes, Buffer: b.Name, Offset: int64(addr - b.Addr),
				Message: fmt.Sprintf("%s of %d bytes at byte %d of %q, which is declared write-only", a.Kind, a.Bytes, addr-b.Addr, b.Name),
				Sites:   []Site{m.c.site(a.Wave, lane)},
			})
		}
	}
}

// DispatchEnd reports a wave that left the code.
func (m *memcheck) DispatchEnd(_ *emu.Launched, err error) {
	var f *emu.Fault
	if errors.As(err, &f) && f.Kind == emu.CodeFault {
		m.c.report(Finding{
			Tool: Memcheck, Kind: CodeOutOfBounds, Message: f.Detail,
			Sites: []Site{m.c.siteOf(place{f.PC, f.Group, f.Wave}, -1)},
		})
	}
}
