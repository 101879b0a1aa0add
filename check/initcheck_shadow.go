package check

import (
	"math/bits"

	"github.com/holdfast-llm/holdfast/amd/emu"
	"github.com/holdfast-llm/holdfast/amd/isa"
)

// What is undefined in the registers of a wave, and in memory.

// depth says how bad undefined bits are, the worse the greater.
type depth uint8

const (
	fromGlobal depth = iota // moved from global memory that nobody has written
	fromOwn                 // moved from LDS, scratch or registers that the kernel has not written
	fromResult              // an operation's result
)

// shadowByte is the shadow of a byte of memory: its undefined bits, and above them where
// they are from.
type shadowByte uint16

const (
	written      shadowByte = 0
	neverWritten shadowByte = 0xff | 1<<8
)

// stored is the shadow of a byte that was stored with undefined bits.
func stored(bits uint8, d depth) shadowByte {
	if bits == 0 {
		return written
	}
	return shadowByte(bits) | (2+shadowByte(d))<<8
}

// depth is how bad the undefined bits are; what was never written is worse in
// memory of the kernel's own.
func (c shadowByte) depth(own bool) depth {
	switch {
	case c>>8 >= 2:
		return depth(c>>8 - 2)
	case own:
		return fromOwn
	}
	return fromGlobal
}

// taint is what is undefined in a value.
type taint struct {
	bits   uint64
	depth  depth
	origin uint32 // where it comes from: initcheck.origins; 0 for a register's beginning
}

// join is what is undefined in a value that comes from two.
func (t *taint) join(o taint) {
	switch {
	case o.bits == 0:
	case t.bits == 0:
		*t = o
	default:
		t.bits |= o.bits
		t.depth = max(t.depth, o.depth)
	}
}

// initWave is the shadow of a wave's registers and scratch.
type initWave struct {
	group *initGroup
	inst  *initInst // that runs
	nth   int       // of its accesses to memory

	// bad is a superset of what is undefined: those of which a lane may be.
	bad regSet
	// Lanes of which a half of a vector register has undefined bits: all of the
	// half if the register has no bits.
	lanes  [512]uint64
	depths [256][2]uint64 // lanes whose depth is at least fromOwn, fromResult
	bits   [256]*[64]uint32
	origin [256]uint32

	scalars [128]taint
	scc     taint

	scratch []shadowByte // by lane, each's bytes together
	perLane int
}

// begin makes all undefined but what a wave is given: its first scalar registers
// and v0.
func (s *initWave) begin(l *emu.Launched, w emu.Wave) {
	for i := range s.lanes {
		s.lanes[i] = ^uint64(0)
	}
	for i := range s.depths {
		s.depths[i] = [2]uint64{^uint64(0), 0}
	}
	s.bits, s.origin = [256]*[64]uint32{}, [256]uint32{}
	s.bad = regSet{v: [8]uint64{^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0)}}
	s.clearV(0, whole, ^uint64(0))
	s.scalars, s.scc = [128]taint{}, taint{bits: 1, depth: fromOwn}
	d := &l.Kernel.Descriptor
	given := d.UserSGPRCount()
	for _, id := range d.WorkgroupIDs() {
		if id {
			given++
		}
	}
	if d.WorkgroupInfo() {
		given++
	}
	unset := func(from, to int) {
		for i := from; i <= to; i++ {
			s.scalars[i] = taint{bits: 1<<32 - 1, depth: fromOwn}
			s.bad.addS(i, 1)
		}
	}
	unset(given, isa.RegVCCHi)
	unset(isa.RegM0, isa.RegM0)
	if w.Lanes() == 32 {
		unset(isa.RegExecHi, isa.RegExecHi)
	}
	s.perLane = int(l.Scratch)
	n := w.Lanes() * s.perLane
	if cap(s.scratch) < n {
		s.scratch = make([]shadowByte, n)
	}
	s.scratch = s.scratch[:n]
	for i := range s.scratch {
		s.scratch[i] = neverWritten
	}
}

// clearV makes halves of a vector register defined in lanes.
func (s *initWave) clearV(n int, h halves, lanes uint64) {
	for i := range 2 {
		if h>>i&1 == 0 {
			continue
		}
		if at := 2*n + i; s.lanes[at] != 0 {
			if s.lanes[at] &^= lanes; s.lanes[at] == 0 {
				s.bad.v[at>>6] &^= 1 << (at & 63)
			}
		}
	}
}

// define makes registers defined, the vector ones in lanes.
func (s *initWave) define(r *regSet, lanes uint64) {
	for i := range r.v {
		for m := r.v[i] & s.bad.v[i]; m != 0; m &= m - 1 {
			at := 64*i + bits.TrailingZeros64(m)
			s.clearV(at>>1, 1<<(at&1), lanes)
		}
	}
	for i := range r.s {
		for m := r.s[i] & s.bad.s[i]; m != 0; m &= m - 1 {
			s.setScalar(64*i+bits.TrailingZeros64(m), taint{})
		}
	}
}

// anyBad says whether one of the registers is undefined in one of the lanes.
func (s *initWave) anyBad(r *regSet, lanes uint64) bool {
	if s.bad.meetsScalar(r) {
		return true
	}
	for i := range r.v {
		for m := r.v[i] & s.bad.v[i]; m != 0; m &= m - 1 {
			if s.lanes[64*i+bits.TrailingZeros64(m)]&lanes != 0 {
				return true
			}
		}
	}
	return false
}

// vector is what is undefined in a lane of a vector register.
func (s *initWave) vector(n, lane int) taint {
	var u uint32
	if s.lanes[2*n]>>lane&1 != 0 {
		u = 0xffff
	}
	if s.lanes[2*n+1]>>lane&1 != 0 {
		u |= 0xffff0000
	}
	if u == 0 {
		return taint{}
	}
	if b := s.bits[n]; b != nil {
		u &= b[lane]
	}
	return taint{uint64(u), depth(s.depths[n][0]>>lane&1 + s.depths[n][1]>>lane&1), s.origin[n]}
}

// setVector changes what is undefined in halves of a lane of a vector register.
func (s *initWave) setVector(n, lane int, h halves, t taint) {
	old := s.vector(n, lane)
	kept := uint32(old.bits)
	if h&low != 0 {
		kept &^= 0xffff
	}
	if h&high != 0 {
		kept &= 0xffff
	}
	u := kept
	if h&low != 0 {
		u |= uint32(t.bits) & 0xffff
	}
	if h&high != 0 {
		u |= uint32(t.bits) &^ 0xffff
	}
	for i, part := range [2]uint32{u & 0xffff, u >> 16} {
		at := 2*n + i
		if part == 0 {
			s.clearV(n, 1<<i, 1<<lane)
			continue
		}
		s.lanes[at] |= 1 << lane
		s.bad.v[at>>6] |= 1 << (at & 63)
		if part != 0xffff && s.bits[n] == nil {
			s.bits[n] = new([64]uint32)
			for l := range s.bits[n] {
				s.bits[n][l] = ^uint32(0)
			}
		}
	}
	if s.bits[n] != nil {
		s.bits[n][lane] = u
	}
	if u == 0 {
		return
	}
	d := t.depth
	if kept != 0 {
		d = max(d, old.depth)
	}
	for i := range s.depths[n] {
		s.depths[n][i] &^= 1 << lane
		if d > depth(i) {
			s.depths[n][i] |= 1 << lane
		}
	}
	if t.bits != 0 {
		s.origin[n] = t.origin
	}
}

// setScalar changes what is undefined in a scalar register.
func (s *initWave) setScalar(n int, t taint) {
	if n == isa.RegNull || n > isa.RegExecHi {
		return
	}
	t.bits &= 1<<32 - 1
	s.scalars[n] = t
	if t.bits == 0 {
		s.bad.s[n>>6] &^= 1 << (n & 63)
	} else {
		s.bad.s[n>>6] |= 1 << (n & 63)
	}
}

// initGroup is the shadow of a workgroup's LDS.
type initGroup struct {
	live int
	lds  []shadowByte
}

// initBuffer is the shadow of a buffer: by pages, nil where all is as it was at
// first.
type initBuffer struct {
	*emu.Buffer
	first shadowByte
	pages []*[initPage]shadowByte
}

const initPage = 4096

// clean says that nothing of the buffer is undefined, or ever was.
func (b *initBuffer) clean() bool { return b.pages == nil }

// at is the shadow of a byte, to be read.
func (b *initBuffer) at(off uint64) shadowByte {
	if b.pages == nil {
		return b.first
	}
	if p := b.pages[off/initPage]; p != nil {
		return p[off%initPage]
	}
	return b.first
}

// set changes the shadow of a byte.
func (b *initBuffer) set(off uint64, v shadowByte) {
	if b.pages == nil {
		if v == b.first {
			return
		}
		b.pages = make([]*[initPage]shadowByte, (len(b.Data)+initPage-1)/initPage)
	}
	p := b.pages[off/initPage]
	if p == nil {
		if v == b.first {
			return
		}
		p = new([initPage]shadowByte)
		if b.first != 0 {
			for i := range p {
				p[i] = b.first
			}
		}
		b.pages[off/initPage] = p
	}
	p[off%initPage] = v
}

// allWritten says whether the bytes of some shadow are defined.
func allWritten(shadow []shadowByte) bool {
	var any shadowByte
	for _, c := range shadow {
		any |= c
	}
	return any == 0
}
