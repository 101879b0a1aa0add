package emu

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"strings"
	"sync"

	"github.com/holdfast-llm/holdfast/amd/isa"
)

func addMemory(t *[isa.NumIDs]handler) {
	for _, op := range isa.Ops() {
		h := &t[op.ID]
		switch op.Format {
		case isa.SMEM:
			addSMEM(h, op)
		case isa.DS:
			addDS(h, op)
			localOnly(h)
		case isa.FLAT, isa.GLOBAL, isa.SCRATCH:
			addFlat(h, op)
		case isa.MUBUF, isa.MTBUF:
			addMUBUF(h, op)
		}
	}
}

// regHalf says which half of a register a load of 16 bits or fewer changes.
type regHalf uint8

const (
	wholeRegister regHalf = iota
	lowHalf
	highHalf
)

// memOp is a vector memory operation, resolved: what is moved between which
// registers and memory.
type memOp struct {
	kind    AccessKind
	bytes   int     // at each lane's address
	signed  bool    // a load sign extends
	half    regHalf // of a load's register; of a store's, highHalf if the data is there
	atomic  atomicFunc
	returns bool
	wide    bool // an atomic of 64 bits

	dst, data, data2 int // first registers; -1 for none
	addr             int // first address register; -1 for none
	addrPair         bool
	saddr            scalarSource
	hasS             bool
	offset           int64
	glc, slc, dlc    bool
	convert          *conversion // between memory and registers, or nil
	status           int         // a load's register for a fault status; 0 for none, it never is v0
}

// parseMem reads the operation's name: load_b32, load_d16_hi_u8, store_b128,
// load_u8_d16, ... It is false for one that is none of these.
func parseMem(name string) (m memOp, ok bool) {
	m.dst, m.data, m.data2, m.addr = -1, -1, -1, -1
	verb, rest, _ := strings.Cut(name, "_")
	switch verb {
	case "load":
		m.kind = Load
	case "store":
		m.kind = Store
	default:
		return m, false
	}
	var typ string
	for part := range strings.SplitSeq(rest, "_") {
		switch part {
		case "d16":
			m.half = lowHalf
		case "hi":
			m.half = highHalf
		default:
			typ = part
		}
	}
	size, ok := map[string]int{"8": 1, "16": 2, "32": 4, "64": 8, "96": 12, "128": 16}[strings.TrimLeft(typ, "uib")]
	m.bytes, m.signed = size, strings.HasPrefix(typ, "i")
	return m, ok
}

// parseAccess reads the name of a load, a store or an atomic, and notes how an
// atomic differs from hardware. It is false for an operation that is none of
// them.
func (h *handler) parseAccess(name string) (m memOp, ok bool) {
	if m, ok = parseMem(name); ok {
		return m, true
	}
	var float bool
	m.kind = Atomic
	if m.atomic, m.wide, float, ok = parseAtomic(name); !ok {
		return m, false
	}
	m.bytes = 4
	if m.wide {
		m.bytes = 8
	}
	if float {
		h.fidelity.Approximate = approximateFloatAtomic
	}
	return m, true
}

// words is how many registers the data takes.
func (m *memOp) words() int { return (m.bytes + 3) / 4 }

func reg(o *isa.Operand) int {
	if o.Kind == isa.VGPR {
		return int(o.Reg)
	}
	return -1
}

// begin counts an instruction that accesses memory, and describes the access.
func (w *wave) begin(in *inst, m *memOp, space MemorySpace) *Access {
	w.counted = w.pending.pendingCounts
	w.pending.count(in.Op.Format, m)
	return w.describe(in, m, space)
}

// describe starts the description of an access, which the observer may see. It
// is part of the wave so that nothing is allocated.
func (w *wave) describe(in *inst, m *memOp, space MemorySpace) *Access {
	a := &w.access
	a.Wave, a.Inst, a.Space, a.Kind, a.Returns, a.Bytes = Wave{w}, &in.Inst, space, m.kind, m.returns, m.bytes
	a.Lanes = w.active()
	a.GLC, a.SLC, a.DLC = m.glc, m.slc, m.dlc
	return a
}

// see tells the observer, if there is one.
func (w *wave) see(a *Access) {
	if w.obs != nil {
		w.obs.Access(a)
	}
}

// load puts the bytes at src into the lane's registers.
func (m *memOp) load(w *wave, lane int, src []byte) {
	if m.status > 0 {
		w.vgpr[m.status][lane] = 0
	}
	if m.convert != nil {
		m.convert.load(w, m, lane, src)
		return
	}
	switch m.bytes {
	case 1, 2:
		v := uint32(src[0])
		if m.bytes == 2 {
			v = uint32(binary.LittleEndian.Uint16(src))
		}
		if m.signed {
			shift := 32 - 8*m.bytes
			v = uint32(int32(v<<shift) >> shift)
		}
		r := &w.vgpr[m.dst][lane]
		switch m.half {
		case wholeRegister:
			*r = v
		case lowHalf:
			*r = *r&0xffff0000 | v&0xffff
		case highHalf:
			*r = *r&0xffff | v<<16
		}
	default:
		for i := range m.words() {
			w.vgpr[m.dst+i][lane] = binary.LittleEndian.Uint32(src[4*i:])
		}
	}
}

// store puts the lane's registers into the bytes at dst.
func (m *memOp) store(w *wave, lane int, dst []byte) {
	if m.convert != nil {
		m.convert.store(w, m, lane, dst)
		return
	}
	v := w.vgpr[m.data][lane]
	if m.half == highHalf {
		v >>= 16
	}
	switch m.bytes {
	case 1:
		dst[0] = byte(v)
	case 2:
		binary.LittleEndian.PutUint16(dst, uint16(v))
	default:
		for i := range m.words() {
			binary.LittleEndian.PutUint32(dst[4*i:], w.vgpr[m.data+i][lane])
		}
	}
}

// modify is an atomic on the bytes at p.
func (m *memOp) modify(w *wave, lane int, p []byte) {
	if !m.wide {
		old := binary.LittleEndian.Uint32(p)
		new := m.atomic(uint64(old), uint64(w.vgpr[m.data][lane]), uint64(m.second32(w, lane)))
		binary.LittleEndian.PutUint32(p, uint32(new))
		if m.dst >= 0 {
			w.vgpr[m.dst][lane] = old
		}
		return
	}
	old := binary.LittleEndian.Uint64(p)
	second := uint64(0)
	if m.data2 >= 0 {
		second = w.pair(m.data2, lane)
	}
	binary.LittleEndian.PutUint64(p, m.atomic(old, w.pair(m.data, lane), second))
	if m.dst >= 0 {
		w.vgpr[m.dst][lane], w.vgpr[m.dst+1][lane] = uint32(old), uint32(old>>32)
	}
}

func (m *memOp) second32(w *wave, lane int) uint32 {
	if m.data2 < 0 {
		return 0
	}
	return w.vgpr[m.data2][lane]
}

// pair is two registers of a lane as 64 bits.
func (w *wave) pair(r, lane int) uint64 {
	return uint64(w.vgpr[r+1][lane])<<32 | uint64(w.vgpr[r][lane])
}

// global carries out an access to global memory whose addresses are in a.
func (w *wave) global(m *memOp, a *Access) {
	if m.quick(w, a) {
		return
	}
	var bad uint64
	for lanes := a.Lanes; lanes != 0; lanes &= lanes - 1 {
		lane := bits.TrailingZeros64(lanes)
		if w.find(a.Addr[lane], uint64(m.bytes), m, lane) == nil {
			bad |= 1 << lane
		}
	}
	if bad != 0 && !w.drop(m, a, bad) {
		return
	}
	w.see(a)
	if w.relaxed != nil {
		w.relaxed.global(w, m, a)
		return
	}
	b := w.last
	for lanes := a.Lanes; lanes != 0; lanes &= lanes - 1 {
		lane := bits.TrailingZeros64(lanes)
		addr := a.Addr[lane]
		off := addr - b.Addr
		if off >= uint64(len(b.Data)) || uint64(len(b.Data))-off < uint64(m.bytes) {
			b = w.find(addr, uint64(m.bytes), m, lane)
			off = addr - b.Addr
		}
		p := b.Data[off : off+uint64(m.bytes)]
		switch m.kind {
		case Load:
			m.load(w, lane, p)
		case Store:
			m.store(w, lane, p)
		case Atomic:
			l := &w.d.dev.atomics[addr>>6%uint64(len(w.d.dev.atomics))]
			l.Lock()
			m.modify(w, lane, p)
			l.Unlock()
		}
	}
}

// atomicLocks make atomics of workgroups on different goroutines atomic.
type atomicLocks [64]sync.Mutex

// find is the buffer of an access, which is a fault if there is none or if it
// is not allowed; nil if that is forgiven.
func (w *wave) find(addr, n uint64, m *memOp, lane int) *Buffer {
	b := w.last
	if off := addr - b.Addr; off > uint64(len(b.Data)) || n > uint64(len(b.Data))-off {
		if b = w.d.dev.space.Find(addr, n); b == nil {
			w.badAccess(addr, n, m.kind, lane, "")
			return nil
		}
		w.last = b
	}
	if m.kind != Load && b.ReadOnly {
		w.badAccess(addr, n, m.kind, lane, fmt.Sprintf("%q is read only", b.Name))
		return nil
	}
	if m.kind == Atomic && addr%n != 0 {
		w.badAccess(addr, n, m.kind, lane, "an atomic must be aligned to its size")
		return nil
	}
	w.touch(addr, n, m.kind != Load)
	return b
}

// badAccess raises the fault of an access to global memory, unless it is
// forgiven.
func (w *wave) badAccess(addr, n uint64, kind AccessKind, lane int, why string) {
	if why == "" {
		why = w.d.dev.space.around(addr)
	}
	space := Global
	if lane < 0 {
		space = Scalar
	}
	if w.forgiven(&BadAccess{Space: space, Kind: kind, Lane: lane, Addr: addr, Bytes: int(n), Why: why}) {
		return
	}
	f := &Fault{
		Kind: MemoryFault, Addr: addr, HasAddr: true,
		Detail: fmt.Sprintf("%s of %d bytes at %#x: %s", kind, n, addr, why),
	}
	if lane >= 0 {
		f.Lane, f.HasLane = lane, true
	}
	panic(f)
}

func (k AccessKind) String() string {
	return [...]string{"load", "store", "atomic"}[k]
}

// around says where an address lies among the buffers.
func (s *Space) around(addr uint64) string {
	n, ok := s.Near(addr)
	of := fmt.Sprintf("%q (%d bytes at %#x)", n.Name, n.Bytes, n.Addr)
	switch off := addr - n.Addr; {
	case !ok:
		return "nothing is mapped"
	case n.Freed:
		return fmt.Sprintf("byte %d of %s, which was freed", off, of)
	case addr < n.Addr:
		return fmt.Sprintf("%d bytes before %s", n.Addr-addr, of)
	case off < n.Bytes:
		return "reaches past the end of " + of
	default:
		return fmt.Sprintf("%d bytes past the end of %s", off-n.Bytes, of)
	}
}

// window carries out an access to memory of the wave's own: LDS or a lane's
// scratch. bytes gives the memory that a lane's address is an offset in.
func (w *wave) window(m *memOp, a *Access, bytes func(lane int) []byte) {
	if bad := w.outside(m, a, bytes); bad != 0 && !w.drop(m, a, bad) {
		return
	}
	w.see(a)
	if a.Space == LDS && w.relaxed != nil {
		w.relaxed.lds(w, m, a)
		return
	}
	if m.kind == Load && w.late() { // of scratch, which nobody else changes
		l := newPendingLoad(m, a)
		l.known = true
		for i := range l.lanes {
			p := &l.lanes[i]
			copy(p.data[:m.bytes], bytes(int(p.lane))[p.addr:])
		}
		w.pending.addLoad(l)
		w.deliver(pendingMost)
		return
	}
	old := w.registersOf(m)
	for lanes := a.Lanes; lanes != 0; lanes &= lanes - 1 {
		lane := bits.TrailingZeros64(lanes)
		p := bytes(lane)[a.Addr[lane]:][:m.bytes]
		switch m.kind {
		case Load:
			m.load(w, lane, p)
		case Store:
			m.store(w, lane, p)
		case Atomic:
			m.modify(w, lane, p)
		}
	}
	if l, ok := w.postpone(m, a.Lanes, old); ok {
		w.pending.addLoad(l)
		w.deliver(pendingMost)
	}
}
