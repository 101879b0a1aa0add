package emu

import (
	"math/bits"

	"github.com/holdfast-llm/holdfast/amd/isa"
)

// plan is how one vector instruction runs: inst.aux.
type plan struct {
	src    [3]source
	maskIn source // a lane mask that is read

	dst     uint16 // the first VGPR of the result
	pair    bool   // 64 bits: that register and the next
	half    bool   // 16 bits: the other half stays
	high    bool
	maskOut uint16 // a scalar register, by source number, for a lane mask
	toExec  bool   // v_cmpx: the mask goes to exec

	kernel   kernel
	wide     wideKernel
	test     test
	wideTest wideTest
	negate   bool

	move  *permutation // DPP
	clamp bool
	omod  uint8
	typ   isa.Type // of the result
}

// newPlan resolves the operands of an instruction.
func newPlan(in *inst) (*plan, error) {
	p := &plan{maskOut: isa.RegNull, toExec: true, move: newPermutation(&in.Mods)}
	n := 0
	add := func(o *isa.Operand) error {
		if n == len(p.src) {
			return &Unsupported{PC: in.PC, Text: in.Inst.String()}
		}
		var err error
		p.src[n], err = newSource(in, o, n)
		n++
		return err
	}
	for i := range in.Args() {
		o, a := &in.Operands[i], &in.Op.Args[i]
		switch {
		case a.Type == isa.Mask && a.Access&isa.Write != 0:
			p.maskOut, p.toExec = scalarIndex(o), false
		case a.Type == isa.Mask && o.Kind == isa.VGPR: // decodes, but means nothing
			return nil, &Unsupported{PC: in.PC, Text: in.Inst.String()}
		case a.Type == isa.Mask:
			var err error
			if p.maskIn, err = newSource(in, o, n); err != nil {
				return nil, err
			}
		case a.Access&isa.Write != 0:
			p.dst, p.typ, p.toExec = o.Reg, o.Type, false
			p.pair = o.Type.Dwords() == 2
			p.half, p.high = o.Mods&isa.Half != 0, o.Mods&isa.High != 0
		default:
			if err := add(o); err != nil {
				return nil, err
			}
		}
	}
	for i := range in.Args() { // v_fmac: what is added to comes last
		o, a := &in.Operands[i], &in.Op.Args[i]
		if a.Access == isa.Read|isa.Write && a.Type != isa.Mask {
			if err := add(o); err != nil {
				return nil, err
			}
		}
	}
	p.clamp = in.Mods.Flags&isa.Clamp != 0
	p.omod = in.Mods.Omod
	return p, nil
}

// scalarIndex is the index in wave.sgpr of a scalar register operand.
func scalarIndex(o *isa.Operand) uint16 {
	if o.Kind == isa.TTMP {
		return isaTTMP0 + o.Reg
	}
	return o.Reg
}

// plain says whether the kernel can write the register itself.
func (p *plan) plain() bool {
	return !p.half && !p.clamp && p.omod == 0 && p.move == nil
}

// active is the mask of lanes that the instruction writes.
func (w *wave) active() uint64 { return w.exec() & w.all() }

// all is the mask of the wave's lanes.
func (w *wave) all() uint64 { return ^uint64(0) >> (64 - uint(w.n)) }

// setMask writes a lane mask to a scalar register, a pair in wave64.
func (w *wave) setMask(reg uint16, m uint64) {
	if reg == isa.RegNull {
		return
	}
	w.sgpr[reg] = uint32(m)
	if w.n == 64 {
		w.sgpr[reg+1] = uint32(m >> 32)
	}
}

// operands makes the sources ready, and says which lanes are written.
func (p *plan) operands(w *wave) (a, b, c *lanes, active uint64) {
	s := &w.vec
	a = p.src[0].get(w, &s.src[0])
	b = p.src[1].get(w, &s.src[1])
	c = p.src[2].get(w, &s.src[2])
	active = w.active()
	if p.move != nil {
		active &= p.move.apply(w, &s.moved, a)
		a = &s.moved
	}
	return a, b, c, active
}

// runPlain runs an operation of up to 32 bits without output modifiers.
func runPlain(w *wave, in *inst) {
	p := in.aux.(*plan)
	s := &w.vec
	a := p.src[0].get(w, &s.src[0])
	b := p.src[1].get(w, &s.src[1])
	c := p.src[2].get(w, &s.src[2])
	active, all := w.active(), w.all()
	if active == all {
		p.kernel(w, &w.vgpr[p.dst], a, b, c)
		return
	}
	if active == 0 {
		return
	}
	p.kernel(w, &s.dst, a, b, c)
	w.vgpr[p.dst].merge(&s.dst, active)
}

// merge takes the lanes of the mask from src.
func (l *lanes) merge(src *lanes, mask uint64) {
	for ; mask != 0; mask &= mask - 1 {
		i := bits.TrailingZeros64(mask)
		l[i&63] = src[i&63]
	}
}

// mergeHalf takes one half of the lanes of the mask from src's low halves.
func (l *lanes) mergeHalf(src *lanes, mask uint64, high bool) {
	shift, keep := 0, uint32(0xffff0000)
	if high {
		shift, keep = 16, 0xffff
	}
	for ; mask != 0; mask &= mask - 1 {
		i := bits.TrailingZeros64(mask) & 63
		l[i] = l[i]&keep | src[i]&0xffff<<shift
	}
}

// runLanes runs an operation of up to 32 bits with anything.
func runLanes(w *wave, in *inst) {
	p := in.aux.(*plan)
	a, b, c, active := p.operands(w)
	if active == 0 {
		return
	}
	p.kernel(w, &w.vec.dst, a, b, c)
	p.write(w, &w.vec.dst, active)
}

// write writes a result of up to 32 bits as the output modifiers say.
func (p *plan) write(w *wave, r *lanes, active uint64) {
	if p.omod != 0 || p.clamp {
		p.modifyResult(w, r)
	}
	d := &w.vgpr[p.dst]
	switch whole := active == w.all(); {
	case p.half && whole && !p.high:
		for i, v := range r[:w.n] {
			d[i&63] = d[i&63]&0xffff0000 | v&0xffff
		}
	case p.half:
		d.mergeHalf(r, active, p.high)
	case whole:
		copy(d[:w.n], r[:w.n])
	default:
		d.merge(r, active)
	}
}

// runWide runs an operation with an operand of 64 bits.
func runWide(w *wave, in *inst) {
	p := in.aux.(*plan)
	s := &w.vec
	a := p.src[0].readyWide(w, &s.wideSrc[0])
	b := p.src[1].readyWide(w, &s.wideSrc[1])
	c := p.src[2].readyWide(w, &s.wideSrc[2])
	p.wide(w, &s.wideDst, a, b, c)
	p.writeWide(w, &s.wideDst, w.active())
}

// writeWide writes a result of 64 bits, or the low 32 bits of one.
func (p *plan) writeWide(w *wave, r *wide, active uint64) {
	if !p.pair {
		for i, v := range r[:w.n] {
			w.vec.dst[i&63] = uint32(v)
		}
		p.write(w, &w.vec.dst, active)
		return
	}
	if p.omod != 0 || p.clamp {
		p.modifyWide(w, r)
	}
	lo, hi := &w.vgpr[p.dst], &w.vgpr[p.dst+1]
	if active == w.all() {
		for i, v := range r[:w.n] {
			lo[i&63], hi[i&63] = uint32(v), uint32(v>>32)
		}
		return
	}
	for ; active != 0; active &= active - 1 {
		i := bits.TrailingZeros64(active) & 63
		lo[i], hi[i] = uint32(r[i]), uint32(r[i]>>32)
	}
}

// runTest runs a compare: inactive lanes get 0.
func runTest(w *wave, in *inst) {
	p := in.aux.(*plan)
	a, b, _, active := p.operands(w)
	p.writeTest(w, p.test(w, a, b), active)
}

// runWideTest runs a compare of 64 bits.
func runWideTest(w *wave, in *inst) {
	p := in.aux.(*plan)
	s := &w.vec
	a := p.src[0].readyWide(w, &s.wideSrc[0])
	b := p.src[1].readyWide(w, &s.wideSrc[1])
	p.writeTest(w, p.wideTest(w, a, b), w.active())
}

func (p *plan) writeTest(w *wave, m, active uint64) {
	if p.negate {
		m = ^m
	}
	m &= active
	if p.toExec {
		w.setMask(isa.RegExecLo, m)
		return
	}
	w.setMask(p.maskOut, m)
}
