package gfx11

import (
	"math/bits"

	"github.com/holdfast-llm/holdfast/amd/emu"
)

// traffic counts the bytes of global memory that a dispatch reads and writes:
// all of them, and each once. The difference is what caches have to save.
type traffic struct {
	emu.NopObserver
	requested uint64
	lines     map[uint64]uint64 // of 64 bytes, which of them were touched
}

const lineBytes = 64

func newTraffic() *traffic { return &traffic{lines: map[uint64]uint64{}} }

// DispatchBegin forgets the dispatch before.
func (t *traffic) DispatchBegin(*emu.Launched) {
	t.requested = 0
	clear(t.lines)
}

// Access counts what an instruction's lanes access.
func (t *traffic) Access(a *emu.Access) {
	switch a.Space {
	case emu.Scalar:
		t.requested += uint64(a.Bytes)
		t.touch(a.Addr[0], uint64(a.Bytes))
	case emu.Global:
		t.requested += uint64(bits.OnesCount64(a.Lanes) * a.Bytes)
		for m := a.Lanes; m != 0; m &= m - 1 {
			t.touch(a.Addr[bits.TrailingZeros64(m)], uint64(a.Bytes))
		}
	}
}

func (t *traffic) touch(addr, n uint64) {
	for n > 0 {
		at := addr % lineBytes
		k := min(n, lineBytes-at)
		t.lines[addr/lineBytes] |= (^uint64(0) >> (lineBytes - k)) << at
		addr, n = addr+k, n-k
	}
}

// touched is how many bytes were accessed, each counted once.
func (t *traffic) touched() (n uint64) {
	for _, mask := range t.lines {
		n += uint64(bits.OnesCount64(mask))
	}
	return n
}
