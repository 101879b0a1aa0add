package check

import (
	"fmt"
	"math/bits"

	"github.com/holdfast-llm/holdfast/amd/emu"
)

// What hostcheck finds.
const (
	// HostRace: the host touches bytes that queued work touches too, one of the
	// two to write them.
	HostRace Kind = "host-race"
	// StaleHostRead: the host reads what the device wrote to memory that is not
	// coherent, and has not invalidated what it has cached of it.
	StaleHostRead Kind = "stale-host-read"
	// StaleDeviceRead: the device reads what the host wrote to such memory and has
	// not flushed.
	StaleDeviceRead Kind = "stale-device-read"
	// LostHostWrite: the host invalidates what it wrote and has not flushed.
	LostHostWrite Kind = "lost-host-write"
)

var hostcheckKinds = map[Kind]KindInfo{
	HostRace: {
		Hostcheck, "the host reads or writes bytes that work which is queued or runs writes or reads",
		"wait for the work before the host touches the buffer, or use another buffer meanwhile",
	},
	StaleHostRead: {
		Hostcheck, "the host reads, from memory that is not coherent, what the device wrote without making that visible",
		"invalidate the host's view behind the wait for the work, or allocate coherent memory",
	},
	StaleDeviceRead: {
		Hostcheck, "the device reads, from memory that is not coherent, what the host wrote without making that visible",
		"flush the host's writes before the work is queued, or allocate coherent memory",
	},
	LostHostWrite: {
		Hostcheck, "the host invalidates its view of memory that is not coherent and so loses what it wrote",
		"flush before invalidating",
	},
}

// hostcheck judges what the host does with buffers, through their methods,
// against what dispatches do. Work is queued from Submit until it has run: what
// the host touches in between must be apart from what the work writes, and what
// it writes from what the work reads. Of memory that is not coherent it follows
// each byte that one side wrote until the other can see it.
type hostcheck struct {
	emu.NopObserver
	c *Checker

	queued, begun int         // dispatches since the queue was last empty
	touches       []hostTouch // of the host, while work was queued
	views         map[*emu.Buffer]*hostView
	followed      []*emu.Buffer // that are not coherent, in this dispatch
}

// hostTouch is bytes that the host touched while work was queued.
type hostTouch struct {
	buffer    *emu.Buffer
	op        emu.HostOp
	offset, n int
	queued    int // how many dispatches were queued by then
}

// hostView is what is not visible to the other side, by byte.
type hostView struct {
	device []int32 // one more than the number in stores of who wrote it
	stores []place
	host   []bool
}

func newHostcheck(c *Checker, _ Options) detector {
	return &hostcheck{c: c, views: map[*emu.Buffer]*hostView{}}
}

// submitted counts a dispatch that is queued.
func (h *hostcheck) submitted() { h.queued++ }

// host judges what the host does.
func (h *hostcheck) host(b *emu.Buffer, op emu.HostOp, offset, n int) {
	if h.queued > h.begun && (op == emu.HostReads || op == emu.HostWrites) {
		h.touches = append(h.touches, hostTouch{b, op, offset, n, h.queued})
	}
	if b.Coherent() {
		return
	}
	v := h.view(b)
	switch op {
	case emu.HostReads:
		for i := offset; i < offset+n; i++ {
			if who := v.device[i]; who > 0 {
				h.report(StaleHostRead, b, i, fmt.Sprintf("the host reads byte %d of %q, which the device wrote since it was last invalidated", i, b.Name), &v.stores[who-1])
				return
			}
		}
	case emu.HostWrites:
		for i := offset; i < offset+n; i++ {
			v.host[i] = true
		}
	case emu.HostFlushes:
		clear(v.host)
	case emu.HostInvalidates:
		for i, wrote := range v.host {
			if wrote {
				h.report(LostHostWrite, b, i, fmt.Sprintf("the host invalidates %q and loses byte %d, which it wrote and did not flush", b.Name, i), nil)
				break
			}
		}
		clear(v.host)
		clear(v.device)
		v.stores = v.stores[:0]
	}
}

func (h *hostcheck) view(b *emu.Buffer) *hostView {
	v := h.views[b]
	if v == nil {
		v = &hostView{device: make([]int32, len(b.Data)), host: make([]bool, len(b.Data))}
		h.views[b] = v
	}
	return v
}

// DispatchBegin counts queued dispatches down.
func (h *hostcheck) DispatchBegin(l *emu.Launched) {
	if h.begun < h.queued {
		h.begun++
	}
	h.followed = l.Device.Space().NonCoherent()
}

// DispatchEnd forgets the queue when it is empty.
func (h *hostcheck) DispatchEnd(*emu.Launched, error) {
	if h.begun == h.queued {
		h.queued, h.begun, h.touches = 0, 0, nil
	}
}

// Access compares a dispatch's accesses with the host's.
func (h *hostcheck) Access(a *emu.Access) {
	if len(h.touches) == 0 && len(h.followed) == 0 || a.Space != emu.Global && a.Space != emu.Scalar {
		return
	}
	for lanes := a.Lanes; lanes != 0; lanes &= lanes - 1 {
		addr := a.Addr[bits.TrailingZeros64(lanes)]
		for i := range h.touches {
			h.race(a, addr, &h.touches[i])
		}
		for _, b := range h.followed {
			if off := addr - b.Addr; off < uint64(len(b.Data)) {
				h.follow(a, b, int(off))
			}
		}
	}
}

// race compares an access with what the host touched while it was queued.
func (h *hostcheck) race(a *emu.Access, addr uint64, t *hostTouch) {
	if t.queued < h.begun || a.Kind == emu.Load && t.op == emu.HostReads {
		return
	}
	from := t.buffer.Addr + uint64(t.offset)
	if addr+uint64(a.Bytes) <= from || addr >= from+uint64(t.n) {
		return
	}
	if h.c.known(Hostcheck, HostRace, a.Wave.PC()) {
		return
	}
	at := int(max(addr, from) - t.buffer.Addr)
	p := placeOf(a.Wave)
	h.report(HostRace, t.buffer, at, fmt.Sprintf("%s of %d bytes at byte %d of %q, which the host %ss while the dispatch is queued or runs", a.Kind, a.Bytes, at, t.buffer.Name, t.op), &p)
}

// follow notes what the device writes to memory that is not coherent, and judges
// what it reads.
func (h *hostcheck) follow(a *emu.Access, b *emu.Buffer, offset int) {
	v := h.view(b)
	end := min(offset+a.Bytes, len(b.Data))
	p := placeOf(a.Wave)
	if a.Kind != emu.Store {
		for i := offset; i < end; i++ {
			if v.host[i] {
				h.report(StaleDeviceRead, b, i, fmt.Sprintf("%s of byte %d of %q, which the host wrote and did not flush", a.Kind, i, b.Name), &p)
				break
			}
		}
	}
	if a.Kind == emu.Load {
		return
	}
	if n := len(v.stores); n == 0 || v.stores[n-1] != p {
		v.stores = append(v.stores, p)
	}
	for i := offset; i < end; i++ {
		v.device[i] = int32(len(v.stores))
	}
}

func (h *hostcheck) report(k Kind, b *emu.Buffer, offset int, message string, at *place) {
	f := Finding{Tool: Hostcheck, Kind: k, Message: message, Buffer: b.Name, Offset: int64(offset), Bytes: 1}
	if at != nil {
		f.Sites = []Site{h.c.siteOf(*at, -1)}
	}
	h.c.report(f)
}
