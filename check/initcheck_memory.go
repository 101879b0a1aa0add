package check

import (
	"fmt"
	"math/bits"
	"strings"

	"github.com/holdfast-llm/holdfast/amd/emu"
	"github.com/holdfast-llm/holdfast/amd/isa"
)

// What is undefined, into memory and out of it.

// followMemory judges the addresses of a memory instruction. What it loads counts
// as defined until Access says what was there.
func (p *initInst) followMemory(d *initcheck, w emu.Wave, s *initWave) {
	for i := range p.address.s {
		for m := p.address.s[i] & s.bad.s[i]; m != 0; m &= m - 1 {
			n := 64*i + bits.TrailingZeros64(m)
			d.find(UninitAddress, w, -1, d.scalarTaint(s, n), Finding{Message: fmt.Sprintf("%s is undefined and part of an address", scalarName(n))})
			s.setScalar(n, taint{})
		}
	}
	exec := w.Exec()
	for i := range p.address.v {
		for m := p.address.v[i] & s.bad.v[i]; m != 0; m &= m - 1 {
			n := (64*i + bits.TrailingZeros64(m)) / 2
			if lanes := (s.lanes[2*n] | s.lanes[2*n+1]) & exec; lanes != 0 {
				lane := bits.TrailingZeros64(lanes)
				d.find(UninitAddress, w, lane, d.vectorTaint(s, n, lane), Finding{Message: fmt.Sprintf("v%d is undefined in %d lanes and part of an address", n, bits.OnesCount64(lanes))})
				s.clearV(n, whole, exec)
			}
		}
	}
	if p.load >= 0 && len(p.data) == 0 { // an atomic's old value replaces its data later
		s.define(&p.writes, exec)
	}
}

// shadow is what is known of the memory that an access is to.
type shadow struct {
	d     *initcheck
	s     *initWave
	space emu.MemorySpace
}

// get is the shadow of n bytes for a lane, at most 64, in buf; false if all are
// defined.
func (m *shadow) get(lane int, addr uint64, n int, buf *[64]shadowByte) ([]shadowByte, bool) {
	b := buf[:n]
	switch m.space {
	case emu.LDS:
		b = m.s.group.lds[addr:][:n]
	case emu.Scratch:
		b = m.s.scratch[uint64(lane*m.s.perLane)+addr:][:n]
	default:
		g := m.d.buffer(addr)
		if g == nil || g.clean() && g.first == written {
			return nil, false
		}
		for i := range b {
			b[i] = g.at(addr - g.Addr + uint64(i))
		}
	}
	return b, !allWritten(b)
}

// set changes the shadow of n bytes for a lane; with nil all are defined.
func (m *shadow) set(lane int, addr uint64, n int, to []shadowByte) {
	var b []shadowByte
	switch m.space {
	case emu.LDS:
		b = m.s.group.lds[addr:][:n]
	case emu.Scratch:
		b = m.s.scratch[uint64(lane*m.s.perLane)+addr:][:n]
	default:
		g := m.d.buffer(addr)
		if g == nil || g.clean() && g.first == written && to == nil {
			return
		}
		for i := range n {
			v := written
			if to != nil {
				v = to[i]
			}
			g.set(addr-g.Addr+uint64(i), v)
		}
		return
	}
	if to == nil {
		clear(b)
		return
	}
	copy(b, to)
}

// buffer is the shadow of the buffer at an address.
func (d *initcheck) buffer(addr uint64) *initBuffer {
	if addr-d.last.Addr < uint64(len(d.last.Data)) {
		return d.last
	}
	b := d.launched.Device.Space().Find(addr, 1)
	if b == nil {
		return nil
	}
	d.last = d.shadowOf(b)
	return d.last
}

// shadowOf is the shadow of a buffer.
func (d *initcheck) shadowOf(b *emu.Buffer) *initBuffer {
	g := d.buffers[b]
	if g == nil {
		g = &initBuffer{Buffer: b}
		if b.Uninitialised {
			g.first = neverWritten
		}
		d.buffers[b] = g
	}
	return g
}

// host notes what the host writes.
func (d *initcheck) host(b *emu.Buffer, op emu.HostOp, offset, n int) {
	if op != emu.HostWrites || !b.Uninitialised && d.buffers[b] == nil {
		return
	}
	g := d.shadowOf(b)
	for i := range n {
		g.set(uint64(offset+i), written)
	}
}

// taintOf is what is undefined in up to 8 bytes that are loaded.
func (d *initcheck) taintOf(a *emu.Access, b []shadowByte, at uint64) taint {
	var t taint
	for i, v := range b {
		if v == written {
			continue
		}
		t.bits |= uint64(v&0xff) << (8 * (i & 7))
		t.depth = max(t.depth, v.depth(a.Space == emu.LDS || a.Space == emu.Scratch))
	}
	if t.bits != 0 {
		t.origin = d.loaded(a, b, at)
	}
	return t
}

// loaded is the origin of what an access reads.
func (d *initcheck) loaded(a *emu.Access, b []shadowByte, at uint64) uint32 {
	pc := a.Wave.PC()
	if n, ok := d.loads[pc]; ok {
		return n
	}
	i := 0
	for i < len(b) && b[i] == written {
		i++
	}
	name, off := d.where(a.Space, at+uint64(i))
	why := "that nobody has written"
	if b[i] != neverWritten {
		why = "to which something undefined was stored"
	}
	d.loads[pc] = uint32(len(d.origins))
	d.origins = append(d.origins, initOrigin{pc: pc, place: placeOf(a.Wave), text: fmt.Sprintf("byte %d of %q, %s", off, name, why)})
	return d.loads[pc]
}

// where names the byte at an address.
func (d *initcheck) where(space emu.MemorySpace, at uint64) (string, int64) {
	switch space {
	case emu.LDS:
		return "LDS", int64(at)
	case emu.Scratch:
		return "scratch", int64(at)
	}
	if g := d.buffer(at); g != nil {
		return g.Name, int64(at - g.Addr)
	}
	return "", int64(at)
}

// Access moves what is undefined between registers and memory.
func (d *initcheck) Access(a *emu.Access) {
	s := d.wave(a.Wave)
	p := s.inst
	nth := s.nth
	s.nth++
	if p == nil || a.Lanes == 0 {
		return
	}
	m := shadow{d, s, a.Space}
	switch {
	case a.Space == emu.Scalar:
		d.loadScalar(a, s, &m, nth)
	case a.Kind == emu.Load:
		d.load(a, s, &m)
	case a.Kind == emu.Store:
		d.store(a, s, &m)
	default:
		d.atomic(a, s, &m)
	}
}

// loadScalar is for scalar loads; a buffer load makes an access for each word.
func (d *initcheck) loadScalar(a *emu.Access, s *initWave, m *shadow, nth int) {
	var buf [64]shadowByte
	b, bad := m.get(0, a.Addr[0], a.Bytes, &buf)
	first, ok := scalarNumber(&s.inst.in.Operands[0])
	if !bad || !ok {
		return
	}
	for i := 0; i+4 <= len(b); i += 4 {
		s.setScalar(first+nth+i/4, d.taintOf(a, b[i:i+4], a.Addr[0]+uint64(i)))
	}
}

// second says whether an access is to the second place of an instruction that names
// two.
func (p *initInst) second(a *emu.Access, s *initWave) bool {
	if !strings.Contains(p.in.Op.Name, "_2addr") {
		return false
	}
	return s.nth > 1
}

// load gives registers what memory has.
func (d *initcheck) load(a *emu.Access, s *initWave, m *shadow) {
	p := s.inst
	if p.load < 0 || a.Space == emu.Global && d.allClean(a) {
		return
	}
	o := &p.in.Operands[p.load]
	first := int(o.Reg)
	if p.second(a, s) {
		first += (a.Bytes + 3) / 4
	}
	h, _ := halvesOf(&p.in)
	converts, signed := strings.Contains(p.in.Op.Name, "_format_"), strings.Contains(p.in.Op.Name, "load_i") || strings.Contains(p.in.Op.Name, "_i8") || strings.Contains(p.in.Op.Name, "_i16")
	var buf [64]shadowByte
	for lanes := a.Lanes; lanes != 0; lanes &= lanes - 1 {
		lane := bits.TrailingZeros64(lanes)
		b, bad := m.get(lane, a.Addr[lane], a.Bytes, &buf)
		if !bad {
			continue
		}
		if converts {
			t := d.taintOf(a, b, a.Addr[lane])
			t.bits, t.depth = ones(32), fromResult
			for i := range int(o.N) {
				s.setVector(first+i, lane, h, t)
			}
			continue
		}
		for i := 0; i < len(b); i += 4 {
			t := d.taintOf(a, b[i:min(i+4, len(b))], a.Addr[lane]+uint64(i))
			if signed && t.bits>>(8*a.Bytes-1)&1 != 0 {
				t.bits = ones(32)&^(1<<(8*a.Bytes-1)-1) | t.bits
			}
			if h == high {
				t.bits <<= 16
			}
			s.setVector(first+i/4, lane, h, t)
		}
	}
}

// allClean says that an access is to one buffer of which all is defined.
func (d *initcheck) allClean(a *emu.Access) bool {
	g := d.buffer(a.Addr[bits.TrailingZeros64(a.Lanes)])
	if g == nil || g.first != written || !g.clean() {
		return false
	}
	for lanes := a.Lanes; lanes != 0; lanes &= lanes - 1 {
		if a.Addr[bits.TrailingZeros64(lanes)]-g.Addr >= uint64(len(g.Data)) {
			return false
		}
	}
	return true
}

// store gives memory what registers have.
func (d *initcheck) store(a *emu.Access, s *initWave, m *shadow) {
	p := s.inst
	if len(p.data) == 0 {
		return
	}
	o := &p.in.Operands[p.data[0]]
	if p.second(a, s) && len(p.data) > 1 {
		o = &p.in.Operands[p.data[1]]
	}
	var regs regSet
	regs.add(o, whole)
	bad := s.bad.meets(&regs)
	if !bad && a.Space == emu.Global && d.allClean(a) {
		return
	}
	h, _ := halvesOf(&p.in)
	converts := strings.Contains(p.in.Op.Name, "_format_")
	var undefined uint64 // lanes that store what is a finding
	var why taint
	var buf [16]shadowByte
	for lanes := a.Lanes; lanes != 0; lanes &= lanes - 1 {
		lane := bits.TrailingZeros64(lanes)
		if !bad {
			m.set(lane, a.Addr[lane], a.Bytes, nil)
			continue
		}
		to := buf[:min(a.Bytes, len(buf))]
		clear(to)
		var worst taint
		missing := 0
		for i := range (len(to) + 3) / 4 {
			t := d.vectorTaint(s, int(o.Reg)+i, lane)
			if h == high {
				t.bits >>= 16
			}
			if converts && t.bits != 0 {
				t.bits, t.depth = ones(32), fromResult
			}
			for k := 4 * i; k < min(4*i+4, len(to)); k++ {
				if to[k] = stored(uint8(t.bits>>(8*(k&3))), t.depth); to[k] != written {
					missing++
				}
			}
			if len(to)-4*i < 4 {
				t.bits &= 1<<(8*(len(to)-4*i)) - 1
			}
			worst.join(t)
		}
		if a.Space == emu.Global && missing > 0 && (worst.depth == fromResult || worst.depth == fromOwn && missing == len(to)) {
			undefined |= 1 << lane
			why.join(worst)
			clear(to)
		}
		if missing == len(to) && worst.depth == fromOwn { // a value, not what lies between values
			for k := range to {
				to[k] = stored(uint8(to[k]), fromResult)
			}
		}
		m.set(lane, a.Addr[lane], a.Bytes, to)
	}
	if undefined != 0 {
		lane := bits.TrailingZeros64(undefined)
		f := Finding{Bytes: a.Bytes}
		f.Buffer, f.Offset = d.where(a.Space, a.Addr[lane])
		f.Message = fmt.Sprintf("%d bytes stored to %q + %d by %d lanes are undefined", a.Bytes, f.Buffer, f.Offset, bits.OnesCount64(undefined))
		d.find(UninitStore, a.Wave, lane, why, f)
	}
}

// atomic judges the data and the memory of an atomic.
func (d *initcheck) atomic(a *emu.Access, s *initWave, m *shadow) {
	p := s.inst
	var buf [64]shadowByte
	for lanes := a.Lanes; lanes != 0; lanes &= lanes - 1 {
		lane := bits.TrailingZeros64(lanes)
		for _, i := range p.data {
			o := &p.in.Operands[i]
			t := d.source(a.Wave, s, &isa.Operand{Kind: isa.VGPR, Reg: o.Reg, N: o.N}, lane).t
			if t.bits == 0 {
				continue
			}
			f := Finding{Bytes: a.Bytes}
			f.Buffer, f.Offset = d.where(a.Space, a.Addr[lane])
			f.Message = fmt.Sprintf("an atomic on %q + %d has undefined data", f.Buffer, f.Offset)
			d.find(UninitAtomic, a.Wave, lane, t, f)
		}
		b, bad := m.get(lane, a.Addr[lane], a.Bytes, &buf)
		if !bad {
			continue
		}
		t := d.taintOf(a, b, a.Addr[lane])
		f := Finding{Bytes: a.Bytes}
		f.Buffer, f.Offset = d.where(a.Space, a.Addr[lane])
		f.Message = fmt.Sprintf("an atomic changes %d bytes at %q + %d that are undefined", a.Bytes, f.Buffer, f.Offset)
		d.find(UninitAtomic, a.Wave, lane, t, f)
		m.set(lane, a.Addr[lane], a.Bytes, nil)
	}
	s.define(&p.writes, a.Wave.Exec())
}
