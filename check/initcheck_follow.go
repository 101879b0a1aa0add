package check

import (
	"fmt"
	"math/bits"
	"strings"

	"github.com/holdfast-llm/holdfast/amd/emu"
	"github.com/holdfast-llm/holdfast/amd/isa"
)

// What instructions make of undefined sources. Shadows are changed before the
// instruction runs: a wave's registers still have the values from before.

// source is an operand as a lane reads it.
func (d *initcheck) source(w emu.Wave, s *initWave, o *isa.Operand, lane int) operand {
	switch {
	case o.IsConst():
		return operand{v: o.Bits(), bits: 32 * max(o.Type.Dwords(), 1)}
	case o.Kind == isa.VGPR:
		k := operand{v: uint64(w.VGPR(int(o.Reg), lane)), t: d.vectorTaint(s, int(o.Reg), lane), bits: 32}
		if o.Mods&isa.Half != 0 {
			if o.Mods&isa.High != 0 {
				k.v >>= 16
				k.t.bits >>= 16
			}
			k.v &= 0xffff
			k.t.bits &= 0xffff
			k.bits = 16
		}
		for i := 1; i < int(o.N); i++ {
			t := d.vectorTaint(s, int(o.Reg)+i, lane)
			if i == 1 {
				t.bits <<= 32
				k.v |= uint64(w.VGPR(int(o.Reg)+1, lane)) << 32
				k.bits = 64
			}
			k.t.join(t)
		}
		return k
	case o.Kind == isa.Special && o.Reg == isa.RegSCC:
		k := operand{t: d.sccTaint(s), bits: 32}
		if w.SCC() {
			k.v = 1
		}
		return k
	}
	n, ok := scalarNumber(o)
	if !ok {
		return operand{bits: 32 * int(max(o.N, 1))}
	}
	return d.scalarSource(w, s, n, int(o.N))
}

// scalarSource is n scalar registers.
func (d *initcheck) scalarSource(w emu.Wave, s *initWave, first, n int) operand {
	k := operand{bits: 32 * min(max(n, 1), 2)}
	for i := range max(n, 1) {
		if first+i > isa.RegExecHi {
			break
		}
		t := d.scalarTaint(s, first+i)
		if i < 2 {
			k.v |= uint64(w.SGPR(first+i)) << (32 * i)
			t.bits <<= 32 * i
		}
		k.t.join(t)
	}
	return k
}

// vectorTaint is what is undefined in a lane of a vector register, and from where.
func (d *initcheck) vectorTaint(s *initWave, n, lane int) taint {
	t := s.vector(n, lane)
	if t.bits != 0 && t.origin == 0 {
		t.origin = d.neverWritten(n, func() string { return fmt.Sprintf("v%d", n) })
	}
	return t
}

// scalarTaint is vectorTaint for a scalar register.
func (d *initcheck) scalarTaint(s *initWave, n int) taint {
	t := s.scalars[n]
	if t.bits != 0 && t.origin == 0 {
		t.origin = d.neverWritten(256+n, func() string { return scalarName(n) })
	}
	return t
}

// sccTaint is vectorTaint for scc.
func (d *initcheck) sccTaint(s *initWave) taint {
	t := s.scc
	if t.bits != 0 && t.origin == 0 {
		t.origin = d.neverWritten(256+isa.RegSCC, func() string { return "scc" })
	}
	return t
}

// result is what is undefined in a result of n bits.
func (x *initPart) result(src []operand, n int) (t taint, v uint64) {
	for i := range src {
		t.join(src[i].t)
	}
	if t.bits == 0 || x.nothing {
		if x.flow != nil {
			_, v = x.flow(src)
		}
		return taint{}, v
	}
	if !x.moves || x.selects && src[2].t.bits != 0 {
		t.depth = fromResult
	}
	if x.flow == nil {
		t.bits = ones(n)
		return t, 0
	}
	u, v := x.flow(src)
	if x.selects && src[2].t.bits == 0 {
		t = src[min(src[2].v, 1)].t
	}
	t.bits = u & ones(n)
	return t, v
}

// followNothing is for what reads registers and does nothing that matters.
func (p *initInst) followNothing(_ *initcheck, w emu.Wave, s *initWave) {
	s.define(&p.writes, p.written(w))
}

// followScalar is for scalar operations and branches.
func (p *initInst) followScalar(d *initcheck, w emu.Wave, s *initWave) {
	x := &p.parts[0]
	name := x.name
	switch {
	case strings.HasPrefix(name, "cbranch_scc"):
		if s.scc.bits != 0 {
			d.branch(w, d.sccTaint(s), "scc")
			s.scc = taint{}
		}
		return
	case strings.HasPrefix(name, "cbranch_vcc"):
		k := d.scalarSource(w, s, isa.RegVCCLo, w.Lanes()/32)
		if k.v&^k.t.bits == 0 { // no bit that is known to be set
			d.branch(w, k.t, "vcc")
			s.define(&regSet{s: [2]uint64{1: 3 << (isa.RegVCCLo - 64)}}, 0)
		}
		return
	case name == "setpc_b64", name == "swappc_b64":
		k := d.source(w, s, &p.in.Operands[p.in.N-1], 0)
		if k.t.bits != 0 {
			d.branch(w, k.t, "the address to go on at")
		}
		s.define(&p.reads, 0)
		s.define(&p.writes, 0)
		return
	case p.relative:
		p.followRelative(d, w, s)
		return
	}
	var buf [4]operand
	src := buf[:0]
	for _, i := range x.sources {
		src = append(src, d.source(w, s, &p.in.Operands[i], 0))
	}
	if strings.HasPrefix(name, "cselect") {
		src[0], src[1] = src[1], src[0] // as v_cndmask has them
	}
	if strings.Contains(name, "exec") {
		p.followExec(d, w, s, src[0])
		return
	}
	if p.readsSCC && len(src) < len(buf) && !strings.Contains(name, "_scc") {
		scc := operand{t: d.sccTaint(s), bits: 32}
		if w.SCC() {
			scc.v = 1
		}
		src = append(src, scc)
	}
	n := 32
	if x.dst >= 0 {
		n = 32 * int(max(p.in.Operands[x.dst].N, 1))
	}
	t, v := x.result(src, min(n, 64))
	if x.dst >= 0 {
		d.write(w, s, &p.in.Operands[x.dst], t)
	}
	if p.writesSCC {
		s.scc = taint{}
		if t.bits != 0 && (!x.moves || v&^t.bits&ones(min(n, 64)) == 0) {
			s.scc = taint{1, t.depth, t.origin}
		}
	}
}

// write changes a scalar destination. Undefined bits in exec are a finding.
func (d *initcheck) write(w emu.Wave, s *initWave, o *isa.Operand, t taint) {
	n, ok := scalarNumber(o)
	if !ok {
		return
	}
	for i := range int(max(o.N, 1)) {
		part := t
		if i < 2 {
			part.bits = t.bits >> (32 * i) & ones(32)
		} else if t.bits != 0 {
			part.bits = ones(32)
		}
		if part.bits != 0 && (n+i == isa.RegExecLo || n+i == isa.RegExecHi && w.Lanes() == 64) {
			d.exec(w, part)
			part = taint{}
		}
		s.setScalar(n+i, part)
	}
}

// followExec is for s_and_saveexec and its like.
func (p *initInst) followExec(d *initcheck, w emu.Wave, s *initWave, src operand) {
	exec, name := w.Exec(), p.parts[0].name
	u := src.t.bits & allLanes(w)
	switch op, _, _ := strings.Cut(strings.TrimSuffix(strings.TrimSuffix(name, "_b32"), "_b64"), "_saveexec"); op {
	case "and", "nand", "and_not0", "and_not0_wrexec":
		u &= exec
	case "and_not1", "and_not1_wrexec":
		u &^= exec
	case "or", "nor", "or_not0":
		u &^= exec
	case "or_not1":
		u &= exec
	}
	s.define(&p.writes, 0) // the old exec, which is defined
	s.scc = taint{}
	if u != 0 {
		t := src.t
		t.bits = u
		d.exec(w, t)
	}
}

// badLanes is the active lanes in which a source of an operation may be undefined.
func (p *initInst) badLanes(w emu.Wave, s *initWave) uint64 {
	exec := w.Exec()
	if p.in.Mods.DPP != isa.NoDPP || s.bad.meetsScalar(&p.reads) || s.scc.bits != 0 && p.readsSCC {
		return exec
	}
	var lanes uint64
	for i := range p.reads.v {
		for m := p.reads.v[i] & s.bad.v[i]; m != 0; m &= m - 1 {
			lanes |= s.lanes[64*i+bits.TrailingZeros64(m)]
		}
	}
	return lanes & exec
}

// followVector is for operations that lanes run by themselves.
func (p *initInst) followVector(d *initcheck, w emu.Wave, s *initWave) {
	bad, skipped := p.badLanes(w, s), uint64(0)
	var masks [2]taint
	for i := range p.parts {
		for m := bad; m != 0; m &= m - 1 {
			lane := bits.TrailingZeros64(m)
			t, ok := p.parts[i].lane(d, p, w, s, lane)
			if !ok {
				skipped |= 1 << lane
				t = taint{}
			}
			d.results[i][lane] = t
			if t.bits != 0 {
				mask := t
				mask.bits = 1 << lane
				masks[i].join(mask)
			}
		}
	}
	s.define(&p.writes, w.Exec()&^skipped)
	for i := range p.parts {
		x := &p.parts[i]
		if x.dst >= 0 {
			o := &p.in.Operands[x.dst]
			for m := bad &^ skipped; m != 0; m &= m - 1 {
				lane := bits.TrailingZeros64(m)
				if t := d.results[i][lane]; t.bits != 0 {
					d.writeVector(s, o, lane, t)
				}
			}
		}
		if masks[i].bits == 0 {
			continue
		}
		switch {
		case x.cmpx:
			d.exec(w, masks[i])
		case x.mask >= 0:
			d.write(w, s, &p.in.Operands[x.mask], masks[i])
		}
	}
}

// lane is what is undefined in a lane's result; false if the lane is not written.
func (x *initPart) lane(d *initcheck, p *initInst, w emu.Wave, s *initWave, lane int) (taint, bool) {
	var buf [6]operand
	src := buf[:0]
	nth := -1 // of the sources, without a destination that is added to
	for _, i := range x.sources {
		o := &p.in.Operands[i]
		if o.Access&isa.Write == 0 {
			nth++
		} else if x.mix {
			continue // half of it stays, none of it is read
		}
		if x.isMask(p, i) {
			src = append(src, d.maskBit(w, s, o, lane))
			continue
		}
		from := lane
		if nth == 0 && o.Access&isa.Write == 0 && p.in.Mods.DPP != isa.NoDPP {
			j, reads, writes := emu.DPPSource(&p.in.Mods, w.Exec(), w.Lanes(), lane)
			if !writes {
				return taint{}, false
			}
			if !reads {
				src = append(src, operand{bits: 32})
				continue
			}
			from = j
		}
		k := d.source(w, s, o, from)
		if !x.mix && o.Kind != isa.VGPR && (o.Type == isa.B16 || o.Type == isa.F16 || o.Type == isa.BF16) {
			k = p.half(k, nth)
		}
		if x.mix && p.in.Mods.OpSelHi>>nth&1 != 0 { // a half is read
			k.t.bits = k.t.bits >> (p.in.Mods.OpSel >> nth & 1 * 16) & 0xffff
		}
		src = append(src, k)
	}
	if x.vcc {
		src = append(src, d.maskBit(w, s, &isa.Operand{Kind: isa.Special, Reg: isa.RegVCCLo, N: uint8(w.Lanes() / 32)}, lane))
	}
	if x.packed {
		return x.halves(p, src), true
	}
	n := 32
	if x.dst >= 0 {
		switch o := &p.in.Operands[x.dst]; {
		case o.Mods&isa.Half != 0:
			n = 16
		case o.N > 1:
			n = 64
		}
	}
	t, _ := x.result(src, n)
	return t, true
}

// half is the half of a scalar source or a constant that an operation of 16 bits
// reads: op_sel may take the high one.
func (p *initInst) half(k operand, nth int) operand {
	if p.in.Op.Format == isa.VOP3 && p.in.Op.Flags&isa.OpSel != 0 && p.in.Mods.OpSel>>nth&1 != 0 {
		k.v >>= 16
		k.t.bits >>= 16
	}
	k.v &= 0xffff
	k.t.bits &= 0xffff
	k.bits = 16
	return k
}

// halves is of a packed operation: each half of the result comes from one of
// each source.
func (x *initPart) halves(p *initInst, src []operand) (t taint) {
	for i := range src {
		t.join(src[i].t)
	}
	if t.bits == 0 {
		return t
	}
	t.bits, t.depth = 0, fromResult
	for i := range src {
		o := &p.in.Operands[x.sources[i]]
		u := src[i].t.bits
		if o.Access&isa.Write != 0 { // added to: half by half
			t.bits |= u
			continue
		}
		if u>>(p.in.Mods.OpSel>>i&1*16)&0xffff != 0 {
			t.bits |= 0xffff
		}
		if u>>(p.in.Mods.OpSelHi>>i&1*16)&0xffff != 0 {
			t.bits |= 0xffff0000
		}
	}
	return t
}

// isMask says whether operand i is a lane mask of which a lane reads its bit.
func (x *initPart) isMask(p *initInst, i int) bool {
	return p.in.Op.Format != isa.VOPD && i < len(p.in.Op.Args) && p.in.Op.Args[i].Type == isa.Mask
}

// maskBit is a lane's bit of a lane mask.
func (d *initcheck) maskBit(w emu.Wave, s *initWave, o *isa.Operand, lane int) operand {
	k := d.source(w, s, o, lane)
	k.v, k.t.bits, k.bits = k.v>>lane&1, k.t.bits>>lane&1, 32
	return k
}

// writeVector changes a lane of a vector destination.
func (d *initcheck) writeVector(s *initWave, o *isa.Operand, lane int, t taint) {
	if h, _ := halvesOf(&s.inst.in); h != whole {
		s.setVector(int(o.Reg), lane, h, t)
		return
	}
	if o.Mods&isa.Half != 0 {
		h := low
		if o.Mods&isa.High != 0 {
			h = high
			t.bits <<= 16
		}
		s.setVector(int(o.Reg), lane, h, t)
		return
	}
	for i := range int(max(o.N, 1)) {
		part := t
		if i < 2 {
			part.bits = t.bits >> (32 * i) & ones(32)
		} else {
			part.bits = ones(32)
		}
		s.setVector(int(o.Reg)+i, lane, whole, part)
	}
}
