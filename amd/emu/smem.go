package emu

import (
	"encoding/binary"

	"github.com/holdfast-llm/holdfast/amd/isa"
)

// SMEM: loads of 1 to 16 words through the scalar cache, and the cache
// operations.

// scalarLoad is a load, resolved.
type scalarLoad struct {
	dst    uint16
	words  int
	base   scalarSource // an address, or a descriptor's first register
	buffer bool
	soff   scalarSource
	hasOff bool
	offset int64
	op     memOp
}

func addSMEM(h *handler, op *isa.Op) {
	switch op.Name {
	case "s_gl1_inv":
		h.run = func(w *wave, _ *inst) { w.invalidate(InvalidateL1) }
	case "s_dcache_inv":
		h.run = func(w *wave, _ *inst) { w.invalidate(InvalidateScalar) }
	case "s_atc_probe", "s_atc_probe_buffer":
		h.run = func(*wave, *inst) {} // a hint for address translation
	default:
		h.prepare = prepareScalarLoad
	}
}

func prepareScalarLoad(in *inst) error {
	args := in.Args()
	l := &scalarLoad{dst: scalarDst(&args[0]), words: args[0].Type.Dwords(), buffer: args[1].Type == isa.B128, offset: int64(in.Mods.Offset)}
	l.op = memOp{kind: Load, bytes: 4 * l.words}
	l.op.flags(in)
	if err := l.base.set(in, &args[1]); err != nil {
		return err
	}
	if o := &args[2]; !(o.Kind == isa.Special && o.Reg == isa.RegNull) && o.Kind != isa.Off {
		l.hasOff = true
		if err := l.soff.set(in, o); err != nil {
			return err
		}
	}
	in.aux, in.run = l, runScalarLoad
	return nil
}

func runScalarLoad(w *wave, in *inst) {
	l := in.aux.(*scalarLoad)
	off := uint64(l.offset)
	if l.hasOff {
		off += uint64(l.soff.get32(w))
	}
	if l.buffer {
		l.loadBuffer(w, in, off)
		return
	}
	addr := (l.base.get64(w) + off) &^ 3
	n := uint64(4 * l.words)
	b := w.d.dev.space.Find(addr, n)
	if b == nil {
		w.badAccess(addr, n, Load, -1, "")
		w.counted = w.pending.pendingCounts
		l.deliver(w, [16]uint32{})
		return
	}
	w.counted = w.pending.pendingCounts
	w.touch(addr, n, false)
	w.seeScalar(in, l, addr)
	p := b.Data[addr-b.Addr:][:n]
	if w.relaxed != nil {
		p = w.relaxed.scalar(w, addr, int(n))
	}
	if w.timing == nil {
		for i := range l.words {
			l.set(w, i, binary.LittleEndian.Uint32(p[4*i:]))
		}
		return
	}
	var data [16]uint32
	for i := range l.words {
		data[i] = binary.LittleEndian.Uint32(p[4*i:])
	}
	l.deliver(w, data)
}

// deliver puts data into the registers, or has it wait there.
func (l *scalarLoad) deliver(w *wave, data [16]uint32) {
	if w.late() {
		w.pending.scalars = append(w.pending.scalars, pendingScalar{l, data})
		w.drainScalars(pendingMost)
		return
	}
	for i := range l.words {
		l.set(w, i, data[i])
	}
}

// set puts word i into its register; a load into NULL changes none.
func (l *scalarLoad) set(w *wave, i int, v uint32) {
	if l.dst != isa.RegNull {
		w.set32(l.dst+uint16(i), v)
	}
}

func (w *wave) seeScalar(in *inst, l *scalarLoad, addr uint64) {
	if w.obs == nil {
		return
	}
	a := w.begin(in, &l.op, Scalar)
	a.Addr[0], a.Lanes = addr, 1
	w.obs.Access(a)
}

// loadBuffer is a load through a descriptor: words beyond it are 0.
func (l *scalarLoad) loadBuffer(w *wave, in *inst, off uint64) {
	d := descriptorAt(w, l.base.lo)
	size := uint64(d.records)
	if d.stride > 0 {
		size *= uint64(d.stride)
	}
	w.counted = w.pending.pendingCounts
	for i := range l.words { // all of it, before the observer sees any
		if at := off&^3 + 4*uint64(i); at+4 <= size {
			w.touch((d.base+at)&^3, 4, false)
		}
	}
	var data [16]uint32
	for i := range l.words {
		at := off&^3 + 4*uint64(i)
		if at+4 <= size {
			addr := (d.base + at) &^ 3
			b := w.d.dev.space.Find(addr, 4)
			if b == nil {
				w.badAccess(addr, 4, Load, -1, "")
				continue
			}
			one := *l
			one.op.bytes = 4
			w.seeScalar(in, &one, addr)
			p := b.Data[addr-b.Addr:][:4]
			if w.relaxed != nil {
				p = w.relaxed.scalar(w, addr, 4)
			}
			data[i] = binary.LittleEndian.Uint32(p)
		}
	}
	l.deliver(w, data)
}
