package emu

import (
	"fmt"
	"math/bits"
)

// Forgiver is an observer that may let a dispatch go on after an access that is
// a fault: the lane then loads zeros, its stores and atomics are left out.
type Forgiver interface {
	Observer
	// Forgive is asked before any lane of the instruction accesses memory.
	Forgive(*BadAccess) bool
}

// BadAccess is a lane's access to memory that is not there, or not allowed.
type BadAccess struct {
	Wave  Wave
	Space MemorySpace
	Kind  AccessKind
	Lane  int    // -1 for a scalar load
	Addr  uint64 // an offset in LDS and scratch
	Bytes int
	Limit int    // the bytes that there are of LDS or scratch
	Why   string // as a fault would say it
}

// forgiven asks the observer, if there is one that may be asked.
func (w *wave) forgiven(b *BadAccess) bool {
	f, ok := w.obs.(Forgiver)
	if !ok {
		return false
	}
	b.Wave = Wave{w}
	return f.Forgive(b)
}

// drop takes lanes out of an access: they load zeros. It is false if none are
// left.
func (w *wave) drop(m *memOp, a *Access, lanes uint64) bool {
	if lanes != 0 {
		left := a.Lanes &^ lanes
		if a.Lanes = lanes; m.dst >= 0 {
			w.zeros(m, a)
		}
		a.Lanes = left
	}
	return a.Lanes != 0
}

// outside is the lanes of an access to LDS or scratch that go beyond it, which
// is a fault if it is not forgiven.
func (w *wave) outside(m *memOp, a *Access, bytes func(lane int) []byte) (bad uint64) {
	for lanes := a.Lanes; lanes != 0; lanes &= lanes - 1 {
		lane := bits.TrailingZeros64(lanes)
		n, addr := uint64(len(bytes(lane))), a.Addr[lane]
		if addr <= n && uint64(m.bytes) <= n-addr {
			continue
		}
		what := "LDS"
		if a.Space == Scratch {
			what = "scratch"
		}
		why := fmt.Sprintf("%s of %d bytes at %s offset %#x, of which there are %d", m.kind, m.bytes, what, addr, n)
		if !w.forgiven(&BadAccess{Space: a.Space, Kind: m.kind, Lane: lane, Addr: addr, Bytes: m.bytes, Limit: int(n), Why: why}) {
			panic(&Fault{Kind: LimitFault, Addr: addr, HasAddr: true, Lane: lane, HasLane: true, Detail: why})
		}
		bad |= 1 << lane
	}
	return bad
}
