package emu

import (
	"fmt"
	"math/bits"

	"github.com/holdfast-llm/holdfast/amd/isa"
)

// Moves: within a lane, between lanes, to and from scalar registers, and
// between registers whose numbers m0 changes.

var moveOperations = map[string]operation{
	"v_nop":               {custom: prepareNop},
	"v_pipeflush":         {custom: prepareNop},
	"v_mov_b32":           {run: movB32},
	"v_mov_b16":           {run: movB32},
	"v_cndmask_b32":       {custom: prepareSelect},
	"v_cndmask_b16":       {custom: prepareSelect},
	"v_readfirstlane_b32": {custom: prepareReadFirst},
	"v_readlane_b32":      {custom: prepareRead},
	"v_writelane_b32":     {custom: prepareWrite},
	"v_swap_b32":          {custom: prepareSwap},
	"v_swap_b16":          {custom: prepareSwap},
	"v_permlane16_b32":    {custom: preparePermlane(0)},
	"v_permlanex16_b32":   {custom: preparePermlane(16)},
	"v_permlane64_b32":    {custom: preparePermlane64},
	"v_movreld_b32":       {custom: prepareMoveRelative(true, false, false)},
	"v_movrels_b32":       {custom: prepareMoveRelative(false, true, false)},
	"v_movrelsd_b32":      {custom: prepareMoveRelative(true, true, false)},
	"v_movrelsd_2_b32":    {custom: prepareMoveRelative(true, true, true)},
	"v_swaprel_b32":       {custom: prepareSwapRelative},
}

func prepareNop(in *inst) error {
	in.run = func(*wave, *inst) {}
	return nil
}

func movB32(w *wave, d, a, _, _ *lanes) { copy(d[:w.n], a[:w.n]) }

// prepareSelect is for v_cndmask: b where the mask has a 1, a elsewhere.
func prepareSelect(in *inst) error {
	p, err := newPlan(in)
	if err != nil {
		return err
	}
	in.aux, in.run = p, runSelect
	return nil
}

func runSelect(w *wave, in *inst) {
	p := in.aux.(*plan)
	a, b, _, active := p.operands(w)
	m := p.maskIn.scalar(w)
	d := &w.vec.dst
	whole := !p.half && active == w.all()
	if whole {
		d = &w.vgpr[p.dst]
	}
	ds, as, bs := d[:w.n], a[:w.n], b[:w.n]
	for i := range ds {
		take := -uint32(m & 1)
		m >>= 1
		x := as[i]
		ds[i] = x ^ (x^bs[i])&take
	}
	if !whole {
		p.write(w, d, active)
	}
}

// prepareReadFirst is for v_readfirstlane_b32: a lane's value to a scalar
// register, of the first active lane, or lane 0 if there is none.
func prepareReadFirst(in *inst) error {
	dst, src := scalarIndex(&in.Operands[0]), in.Operands[1].Reg
	if in.Operands[1].Kind != isa.VGPR {
		return &Unsupported{PC: in.PC, Text: in.Inst.String()}
	}
	in.run = func(w *wave, _ *inst) {
		lane := 0
		if m := w.active(); m != 0 {
			lane = bits.TrailingZeros64(m)
		}
		w.setScalar(dst, w.vgpr[src][lane&63])
	}
	return nil
}

// setScalar writes a scalar register; null drops it.
func (w *wave) setScalar(reg uint16, v uint32) {
	if reg != isa.RegNull {
		w.sgpr[reg] = v
	}
}

// prepareRead is for v_readlane_b32, which ignores exec.
func prepareRead(in *inst) error {
	dst, src := scalarIndex(&in.Operands[0]), in.Operands[1].Reg
	if in.Operands[1].Kind != isa.VGPR {
		return &Unsupported{PC: in.PC, Text: in.Inst.String()}
	}
	lane, err := newSource(in, &in.Operands[2], 1)
	if err != nil {
		return err
	}
	in.run = func(w *wave, _ *inst) {
		w.setScalar(dst, w.vgpr[src][lane.word(w)&uint32(w.n-1)])
	}
	return nil
}

// prepareWrite is for v_writelane_b32, which ignores exec.
func prepareWrite(in *inst) error {
	dst := in.Operands[0].Reg
	value, err := newSource(in, &in.Operands[1], 0)
	if err != nil {
		return err
	}
	lane, err := newSource(in, &in.Operands[2], 1)
	if err != nil {
		return err
	}
	in.run = func(w *wave, _ *inst) {
		w.vgpr[dst][lane.word(w)&uint32(w.n-1)] = value.word(w)
	}
	return nil
}

// word is the value of a scalar source or constant of 32 bits.
func (s *source) word(w *wave) uint32 {
	if s.kind == fromConstant {
		return uint32(s.value)
	}
	return uint32(s.apply(s.scalar(w)))
}

// prepareSwap is for v_swap: two registers, or halves of them, change places.
func prepareSwap(in *inst) error {
	x, y := in.Operands[0], in.Operands[1]
	shift := func(o isa.Operand) uint32 {
		if o.Mods&isa.High != 0 {
			return 16
		}
		return 0
	}
	mask := ^uint32(0)
	if x.Mods&isa.Half != 0 {
		mask = 0xffff
	}
	sx, sy := shift(x), shift(y)
	in.run = func(w *wave, _ *inst) {
		p, q := &w.vgpr[x.Reg], &w.vgpr[y.Reg]
		for m := w.active(); m != 0; m &= m - 1 {
			i := bits.TrailingZeros64(m) & 63
			u, v := p[i]>>sx&mask, q[i]>>sy&mask
			p[i] = p[i]&^(mask<<sx) | v<<sx
			q[i] = q[i]&^(mask<<sy) | u<<sy
		}
	}
	return nil
}

// preparePermlane is for v_permlane16_b32 and, with across 16,
// v_permlanex16_b32: within a row, or from the other row of two, lane i takes
// the lane that the i-th four bits of two scalar sources say. op_sel has two
// flags: inactive lanes are sources too, and without the first, what an
// inactive lane would give is 0 (second set) or not written.
func preparePermlane(across int) func(in *inst) error {
	return func(in *inst) error {
		dst, src := in.Operands[0].Reg, in.Operands[1].Reg
		lo, err := newSource(in, &in.Operands[2], 1)
		if err != nil {
			return err
		}
		hi, err := newSource(in, &in.Operands[3], 2)
		if err != nil {
			return err
		}
		inactive, zero := in.Mods.OpSel&1 != 0, in.Mods.OpSel&2 != 0
		in.run = func(w *wave, _ *inst) {
			from := &w.vec.moved
			*from = w.vgpr[src]
			choice := uint64(hi.word(w))<<32 | uint64(lo.word(w))
			active, d := w.active(), &w.vgpr[dst]
			for m := active; m != 0; m &= m - 1 {
				i := bits.TrailingZeros64(m) & 63
				j := (i&^15 ^ across) | int(choice>>(4*(i&15))&15)
				switch {
				case inactive || active>>j&1 != 0:
					d[i] = from[j&63]
				case zero:
					d[i] = 0
				}
			}
		}
		return nil
	}
}

// preparePermlane64 is for v_permlane64_b32, which exchanges the halves of a
// wave64 and does nothing in wave32.
func preparePermlane64(in *inst) error {
	dst, src := in.Operands[0].Reg, in.Operands[1].Reg
	in.run = func(w *wave, _ *inst) {
		if w.n != 64 {
			return
		}
		from := &w.vec.moved
		*from = w.vgpr[src]
		d := &w.vgpr[dst]
		for m := w.active(); m != 0; m &= m - 1 {
			i := bits.TrailingZeros64(m) & 63
			d[i] = from[i^32]
		}
	}
	return nil
}

// relative is the register that reg and an offset from m0 name.
func (w *wave) relative(in *inst, reg uint16, offset uint32) *lanes {
	n := uint64(reg) + uint64(offset)
	if n >= uint64(len(w.vgpr)) {
		panic(&Fault{PC: in.PC, Text: in.Inst.String(), Detail: fmt.Sprintf("v%d of %d vector registers", n, len(w.vgpr))})
	}
	return &w.vgpr[n]
}

// prepareMoveRelative is for moves whose destination, source or both are
// counted from m0; apart says that m0 has an offset for each.
func prepareMoveRelative(toDst, toSrc, apart bool) func(in *inst) error {
	return func(in *inst) error {
		p, err := newPlan(in)
		if err != nil {
			return err
		}
		in.run = func(w *wave, in *inst) {
			src, dst := w.relativeOffsets(toDst, toSrc, apart)
			var from *lanes
			if toSrc {
				from = w.relative(in, in.Operands[1].Reg, src)
			} else {
				from = p.src[0].get(w, &w.vec.src[0])
			}
			active := w.active()
			if p.move != nil {
				active &= p.move.apply(w, &w.vec.moved, from)
				from = &w.vec.moved
			}
			w.relative(in, p.dst, dst).merge(from, active)
		}
		return nil
	}
}

// relativeOffsets are what m0 adds to the numbers of source and destination.
func (w *wave) relativeOffsets(toDst, toSrc, apart bool) (src, dst uint32) {
	m0 := w.sgpr[isa.RegM0]
	src, dst = m0, m0
	if apart {
		src, dst = m0&0x3ff, m0>>16&0x3ff
	}
	if !toSrc {
		src = 0
	}
	if !toDst {
		dst = 0
	}
	return src, dst
}

// prepareSwapRelative is for v_swaprel_b32.
func prepareSwapRelative(in *inst) error {
	in.run = func(w *wave, in *inst) {
		src, dst := w.relativeOffsets(true, true, true)
		p, q := w.relative(in, in.Operands[0].Reg, dst), w.relative(in, in.Operands[1].Reg, src)
		for m := w.active(); m != 0; m &= m - 1 {
			i := bits.TrailingZeros64(m) & 63
			p[i], q[i] = q[i], p[i]
		}
	}
	return nil
}
