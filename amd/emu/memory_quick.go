package emu

import (
	"encoding/binary"
	"math/bits"
)

// Quick accesses: loads and stores whose lanes are all within one buffer or
// within LDS, in coherent memory, with nobody looking on. That is nearly all of
// them.

// quick carries out the access if it is such a one; otherwise it does nothing
// and says so.
func (m *memOp) quick(w *wave, a *Access) bool {
	if m.kind == Atomic || m.convert != nil || m.status > 0 || w.obs != nil || w.relaxed != nil || w.pages != nil || a.Lanes == 0 {
		return false
	}
	first, last := ^uint64(0), uint64(0)
	if a.Lanes == w.all() {
		for _, addr := range a.Addr[:w.n] {
			first, last = min(first, addr), max(last, addr)
		}
	} else {
		for lanes := a.Lanes; lanes != 0; lanes &= lanes - 1 {
			addr := a.Addr[bits.TrailingZeros64(lanes)&63]
			first, last = min(first, addr), max(last, addr)
		}
	}
	n := last - first + uint64(m.bytes)
	if n < uint64(m.bytes) {
		return false
	}
	b := w.last
	if off := first - b.Addr; off > uint64(len(b.Data)) || n > uint64(len(b.Data))-off {
		if b = w.d.dev.space.Find(first, n); b == nil {
			return false
		}
		w.last = b
	}
	if m.kind == Store {
		if b.ReadOnly {
			return false
		}
		m.quickStore(w, a, b.Data, b.Addr)
		return true
	}
	m.quickLoad(w, a, b.Data, b.Addr)
	return true
}

func (m *memOp) quickLoad(w *wave, a *Access, mem []byte, base uint64) {
	if m.bytes < 4 {
		m.quickLoadPart(w, a, mem, base)
		return
	}
	for i := range m.words() {
		dst := &w.vgpr[m.dst+i]
		if a.Lanes == w.all() {
			for lane, addr := range a.Addr[:w.n] {
				dst[lane&63] = binary.LittleEndian.Uint32(mem[addr-base:])
			}
		} else {
			for lanes := a.Lanes; lanes != 0; lanes &= lanes - 1 {
				lane := bits.TrailingZeros64(lanes) & 63
				dst[lane] = binary.LittleEndian.Uint32(mem[a.Addr[lane]-base:])
			}
		}
		base -= 4
	}
}

// quickLoadPart loads bytes and halves: all lanes alike, as a word of which some
// bits are kept and some replaced.
func (m *memOp) quickLoadPart(w *wave, a *Access, mem []byte, base uint64) {
	dst := &w.vgpr[m.dst]
	keep, put := uint32(0), uint(0)
	switch m.half {
	case lowHalf:
		keep = 0xffff0000
	case highHalf:
		keep, put = 0xffff, 16
	}
	extend := 32 - 8*uint(m.bytes)
	for lanes := a.Lanes; lanes != 0; lanes &= lanes - 1 {
		lane := bits.TrailingZeros64(lanes) & 63
		p := mem[a.Addr[lane]-base:]
		v := uint32(p[0])
		if m.bytes == 2 {
			v = uint32(binary.LittleEndian.Uint16(p))
		}
		if m.signed {
			v = uint32(int32(v<<(extend&31)) >> (extend & 31))
		}
		dst[lane] = dst[lane]&keep | v<<(put&31)&^keep
	}
}

func (m *memOp) quickStore(w *wave, a *Access, mem []byte, base uint64) {
	for lanes := a.Lanes; lanes != 0; lanes &= lanes - 1 {
		lane := bits.TrailingZeros64(lanes) & 63
		p := mem[a.Addr[lane]-base:]
		if m.bytes == 4 {
			binary.LittleEndian.PutUint32(p, w.vgpr[m.data][lane])
		} else {
			m.store(w, lane, p)
		}
	}
}

// quickLDS is quick for words of LDS at the addresses in addr, all lanes active.
// addr may be the destination.
func (m *memOp) quickLDS(w *wave, addr *lanes) bool {
	if m.bytes&3 != 0 || m.kind == Atomic || w.obs != nil || w.relaxed != nil || w.active() != w.all() {
		return false
	}
	mem, offset := w.group.lds, uint32(m.offset)
	top := uint32(0)
	for _, a := range addr[:w.n] {
		top = max(top, a+offset)
	}
	if uint64(top)+uint64(m.bytes) > uint64(len(mem)) {
		return false
	}
	if m.kind == Store {
		for i := range m.words() {
			src := &w.vgpr[m.data+i]
			for lane, a := range addr[:w.n] {
				binary.LittleEndian.PutUint32(mem[a+offset:], src[lane&63])
			}
			offset += 4
		}
		return true
	}
	if m.bytes > 4 { // the address may be one of several registers
		w.vec.moved = *addr
		addr = &w.vec.moved
	}
	for i := range m.words() {
		dst := &w.vgpr[m.dst+i]
		for lane, a := range addr[:w.n] {
			dst[lane&63] = binary.LittleEndian.Uint32(mem[a+offset:])
		}
		offset += 4
	}
	return true
}
