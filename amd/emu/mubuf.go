package emu

import (
	"math/bits"
	"strings"

	"github.com/holdfast-llm/holdfast/amd/isa"
)

// MUBUF: memory through a buffer descriptor, and the cache operations. Not
// modelled: swizzled buffers. A load with tfe puts its fault status behind the
// data: 0, because no buffer here is partly resident.

// descriptor is a buffer descriptor (V#).
type descriptor struct {
	base     uint64
	stride   uint32
	swizzled bool
	records  uint32
	addTid   bool
	check    uint32 // how an access is out of range: OOB_SELECT
	format   uint32 // of elements, for operations that convert
	selects  uint32 // what x, y, z and w are, 3 bits each: 4 to 7 for in order
}

// selectsInOrder says whether the first n components are x, y, z, w.
func (d *descriptor) selectsInOrder(n int) bool {
	return (d.selects^0o7654)&(1<<(3*n)-1) == 0
}

// The values of OOB_SELECT.
const (
	oobStructured = iota // by index, and by the offset in the record
	oobIndex             // by index
	oobEmpty             // only if there are no records
	oobRaw               // by the byte offset
)

func descriptorAt(w *wave, reg uint16) descriptor {
	var v [4]uint32
	for i := range v {
		v[i] = w.sgpr[(reg+uint16(i))&127]
	}
	return descriptor{
		base:     uint64(v[1]&0xffff)<<32 | uint64(v[0]),
		stride:   v[1] >> 16 & 0x3fff,
		swizzled: v[1]>>30 != 0,
		records:  v[2],
		addTid:   v[3]>>23&1 != 0,
		check:    v[3] >> 28 & 3,
		format:   v[3] >> 12 & 0x3f,
		selects:  v[3] & 0xfff,
	}
}

// outOfRange says whether n bytes at an offset of a record are not the
// buffer's.
func (d *descriptor) outOfRange(index, offset uint64, n int) bool {
	records := uint64(d.records)
	switch d.check {
	case oobStructured:
		return index >= records || d.stride > 0 && offset+uint64(n) > uint64(d.stride)
	case oobIndex:
		return index >= records
	case oobEmpty:
		return records == 0
	}
	return index*uint64(d.stride)+offset+uint64(n) > records
}

// bufferOp is a buffer operation, resolved.
type bufferOp struct {
	memOp
	rsrc        uint16
	index, voff int // registers; -1 for none
	soff        scalarSource

	formatted  bool // it converts
	conversion conversion
}

func addMUBUF(h *handler, op *isa.Op) {
	_, name, _ := strings.Cut(op.Name, "buffer_") // buffer_, tbuffer_
	switch name {
	case "gl0_inv":
		h.run = func(w *wave, _ *inst) { w.invalidate(InvalidateL0) }
		return
	case "gl1_inv":
		h.run = func(w *wave, _ *inst) { w.invalidate(InvalidateL1) }
		return
	}
	if m, c, ok := parseFormatted(name); ok {
		addFormatted(h, op, m, c)
		return
	}
	m, ok := h.parseAccess(strings.TrimPrefix(name, "atomic_"))
	if !ok {
		return
	}
	h.prepare = func(in *inst) error { return prepareBuffer(in, m) }
}

func prepareBuffer(in *inst, m memOp) error {
	tfe := in.Mods.Flags&isa.TFE != 0
	if tfe && m.kind != Load {
		return &Unsupported{PC: in.PC, Text: in.Inst.String()}
	}
	p := &bufferOp{memOp: m, index: -1, voff: -1}
	p.offset = int64(in.Mods.Offset)
	p.flags(in)
	args := in.Args()
	data := reg(&args[0])
	switch {
	case m.kind == Load:
		p.dst = data
		if tfe {
			p.status = data + int(args[0].N) - 1
		}
	case m.kind == Store:
		p.data = data
	default:
		p.data = data
		p.second(&args[0])
		if p.glc {
			p.dst, p.returns = data, true
		}
	}
	addr := reg(&args[1])
	if in.Mods.Flags&isa.IdxEn != 0 {
		p.index = addr
		addr++
	}
	if in.Mods.Flags&isa.OffEn != 0 {
		p.voff = addr
	}
	p.rsrc = args[2].Reg
	if args[2].Kind == isa.TTMP {
		p.rsrc += isaTTMP0
	}
	if err := p.soff.set(in, &args[3]); err != nil {
		return err
	}
	in.aux, in.run = p, runBuffer
	return nil
}

func runBuffer(w *wave, in *inst) {
	p := in.aux.(*bufferOp)
	d := descriptorAt(w, p.rsrc)
	if d.swizzled {
		panic(&Unsupported{PC: in.PC, Text: in.Inst.String() + " of a swizzled buffer"})
	}
	m := &p.memOp
	if p.formatted {
		m = p.inFormat(in, &d)
	}
	a := w.begin(in, m, Global)
	soff := uint64(p.soff.get32(w))
	var inside, outside uint64
	for lanes := a.Lanes; lanes != 0; lanes &= lanes - 1 {
		lane := bits.TrailingZeros64(lanes)
		offset, index := uint64(p.offset), uint64(0)
		if p.voff >= 0 {
			offset += uint64(w.vgpr[p.voff][lane])
		}
		if p.index >= 0 {
			index = uint64(w.vgpr[p.index][lane])
		}
		if d.addTid {
			index += uint64(lane)
		}
		raw := offset
		if d.check == oobRaw {
			raw += soff
		}
		if d.outOfRange(index, raw, m.bytes) {
			outside |= 1 << lane
			continue
		}
		inside |= 1 << lane
		a.Addr[lane] = d.base + soff + index*uint64(d.stride) + offset
	}
	if a.Lanes = inside; inside != 0 {
		w.global(m, a)
	}
	// Hardware drops a store out of range and loads 0.
	if a.Lanes = outside; outside != 0 && m.dst >= 0 {
		w.zeros(m, a)
	}
}

// zeros is a load of zeros.
func (w *wave) zeros(m *memOp, a *Access) {
	if w.late() {
		l := newPendingLoad(m, a)
		l.known = true
		w.pending.addLoad(l)
		return
	}
	var none [16]byte
	for lanes := a.Lanes; lanes != 0; lanes &= lanes - 1 {
		m.load(w, bits.TrailingZeros64(lanes), none[:])
	}
}

// invalidate drops what a cache holds.
func (w *wave) invalidate(op CacheOp) {
	if w.relaxed != nil {
		w.relaxed.invalidate(w, op)
	}
	if w.obs != nil {
		w.obs.Cache(Wave{w}, op)
	}
}
