package check

import (
	"math/bits"
	"strings"

	"github.com/holdfast-llm/holdfast/amd/emu"
	"github.com/holdfast-llm/holdfast/amd/isa"
)

// Instructions that move values between lanes, and matrices.

// followRead is for v_readlane and v_readfirstlane.
func (p *initInst) followRead(d *initcheck, w emu.Wave, s *initWave) {
	lane := 0
	if exec := w.Exec(); exec != 0 {
		lane = bits.TrailingZeros64(exec)
	}
	var t taint
	if p.in.Op.Name != "v_readfirstlane_b32" {
		k := d.source(w, s, &p.in.Operands[2], 0)
		lane = int(k.v) & (w.Lanes() - 1)
		if k.t.bits&uint64(w.Lanes()-1) != 0 {
			t = taint{ones(32), fromResult, k.t.origin}
		}
	}
	if t.bits == 0 {
		t = d.source(w, s, &p.in.Operands[1], lane).t
	}
	d.write(w, s, &p.in.Operands[0], t)
}

// followWrite is for v_writelane.
func (p *initInst) followWrite(d *initcheck, w emu.Wave, s *initWave) {
	dst := int(p.in.Operands[0].Reg)
	value, k := d.source(w, s, &p.in.Operands[1], 0), d.source(w, s, &p.in.Operands[2], 0)
	if k.t.bits&uint64(w.Lanes()-1) != 0 { // any lane may be the one
		for lane := range w.Lanes() {
			s.setVector(dst, lane, whole, taint{ones(32), fromResult, k.t.origin})
		}
		return
	}
	s.setVector(dst, int(k.v)&(w.Lanes()-1), whole, value.t)
}

// move gives the active lanes of register dst what lanes of register src have.
// from is negative for a lane that is written 0, and for one that stays as it is
// less than -1.
func (d *initcheck) move(w emu.Wave, s *initWave, dst, src int, from func(lane int) int) {
	out := &d.results[0]
	exec, kept := w.Exec(), uint64(0)
	for m := exec; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros64(m)
		switch j := from(lane); {
		case j >= 0:
			out[lane] = d.vectorTaint(s, src, j&63)
		case j == -1:
			out[lane] = taint{}
		default:
			kept |= 1 << lane
		}
	}
	for m := exec &^ kept; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros64(m)
		s.setVector(dst, lane, whole, out[lane])
	}
}

// followPermlane is for v_permlane16, v_permlanex16 and v_permlane64.
func (p *initInst) followPermlane(d *initcheck, w emu.Wave, s *initWave) {
	in := &p.in
	dst, src := int(in.Operands[0].Reg), int(in.Operands[1].Reg)
	if strings.HasPrefix(in.Op.Name, "v_permlane64") {
		if w.Lanes() == 64 {
			d.move(w, s, dst, src, func(lane int) int { return lane ^ 32 })
		}
		return
	}
	across := 0
	if strings.HasPrefix(in.Op.Name, "v_permlanex16") {
		across = 16
	}
	lo, hi := d.source(w, s, &in.Operands[2], 0), d.source(w, s, &in.Operands[3], 0)
	choice, exec := hi.v<<32|lo.v&ones(32), w.Exec()
	d.move(w, s, dst, src, func(lane int) int {
		j := (lane&^15 ^ across) | int(choice>>(4*(lane&15))&15)
		switch {
		case in.Mods.OpSel&1 != 0 || exec>>j&1 != 0:
			return j
		case in.Mods.OpSel&2 != 0:
			return -1
		}
		return -2
	})
}

// exchange is for the exchanges of lanes through LDS: ds_permute, ds_bpermute,
// ds_swizzle.
func (p *initInst) exchange(d *initcheck, w emu.Wave, s *initWave) {
	in, exec := &p.in, w.Exec()
	dst, off := int(in.Operands[0].Reg), uint32(in.Mods.Offset)
	active := func(j int) int {
		if exec>>j&1 == 0 {
			return -1
		}
		return j
	}
	index := func(lane int) int { return lane&^31 | int((w.VGPR(int(in.Operands[1].Reg), lane)+off)>>2&31) }
	switch in.Op.Name {
	case "ds_bpermute_b32":
		p.indices(d, w, s)
		d.move(w, s, dst, int(in.Operands[2].Reg), func(lane int) int { return active(index(lane)) })
	case "ds_permute_b32":
		p.indices(d, w, s)
		var to [64]int
		for i := range to {
			to[i] = -1
		}
		for m := exec; m != 0; m &= m - 1 {
			lane := bits.TrailingZeros64(m)
			to[index(lane)] = lane
		}
		d.move(w, s, dst, int(in.Operands[2].Reg), func(lane int) int { return to[lane] })
	default:
		d.move(w, s, dst, int(in.Operands[1].Reg), func(lane int) int { return active(lane&^31 | swizzled(lane&31, off)) })
	}
}

// indices judges the lanes that an exchange names: an undefined one is an
// undefined address.
func (p *initInst) indices(d *initcheck, w emu.Wave, s *initWave) {
	n := int(p.in.Operands[1].Reg)
	for m := w.Exec(); m != 0; m &= m - 1 {
		lane := bits.TrailingZeros64(m)
		if t := d.vectorTaint(s, n, lane); t.bits&0x7c != 0 {
			d.find(UninitAddress, w, lane, t, Finding{Message: "the lane to exchange with is undefined"})
			s.clearV(n, whole, w.Exec())
			return
		}
	}
}

// swizzled is the lane of 32 that a lane reads in ds_swizzle.
func swizzled(lane int, off uint32) int {
	i := uint32(lane)
	low, mid, high := off&31, off>>5&31, off>>10&31
	switch off &= 0xffff; {
	case off >= 0xe000: // a transform's order
		return int((bits.Reverse32(i)>>27>>bits.OnesCount32(low) | i&low) & 31)
	case off >= 0xc000: // a rotation
		if high&1 != 0 {
			mid = -mid
		}
		return int((i&low | (i+mid)&^low) & 31)
	case off >= 0x8000: // within four
		return int(i&^3 | off>>(2*(i&3))&3)
	}
	return int((i&low | mid ^ high) & 31)
}

// followSwap is for v_swap.
func (p *initInst) followSwap(d *initcheck, w emu.Wave, s *initWave) {
	x, y := &p.in.Operands[0], &p.in.Operands[1]
	for m := w.Exec(); m != 0; m &= m - 1 {
		lane := bits.TrailingZeros64(m)
		a, b := d.source(w, s, x, lane).t, d.source(w, s, y, lane).t
		d.writeVector(s, x, lane, b)
		d.writeVector(s, y, lane, a)
	}
}

// followRelative is for moves whose registers m0 counts on.
func (p *initInst) followRelative(d *initcheck, w emu.Wave, s *initWave) {
	if t := d.scalarTaint(s, isa.RegM0); t.bits != 0 {
		d.find(UninitAddress, w, -1, t, Finding{Message: "m0 is undefined and says which register is moved"})
		s.setScalar(isa.RegM0, taint{})
	}
	to, from := p.moved(w)
	switch {
	case strings.Contains(p.in.Op.Name, "swaprel"):
		for m := w.Exec(); m != 0; m &= m - 1 {
			lane := bits.TrailingZeros64(m)
			a, b := d.source(w, s, &to, lane).t, d.source(w, s, &from, lane).t
			d.writeVector(s, &to, lane, b)
			d.writeVector(s, &from, lane, a)
		}
	case to.Kind != isa.VGPR:
		d.write(w, s, &to, d.source(w, s, &from, 0).t)
	default:
		for m := w.Exec(); m != 0; m &= m - 1 {
			lane := bits.TrailingZeros64(m)
			d.writeVector(s, &to, lane, d.source(w, s, &from, lane).t)
		}
	}
}

// followWMMA is for products of matrices: what is undefined in a row of the first
// or a column of the second is so in that row or column of the result.
func (p *initInst) followWMMA(d *initcheck, w emu.Wave, s *initWave) {
	in := &p.in
	dst, a, b, c := &in.Operands[0], &in.Operands[1], &in.Operands[2], &in.Operands[3]
	side := func(o *isa.Operand) (lines uint32, t taint) {
		for lane := range w.Lanes() {
			if k := d.source(w, s, o, lane); k.t.bits != 0 {
				lines |= 1 << (lane & 15)
				t.join(k.t)
			}
		}
		return lines, t
	}
	rows, rowTaint := side(a)
	columns, columnTaint := side(b)
	rowTaint.join(columnTaint)
	h, used := whole, ones(32)
	if strings.HasPrefix(in.Op.Name, "v_wmma_f16") || strings.HasPrefix(in.Op.Name, "v_wmma_bf16") {
		if h, used = low, 0xffff; in.Mods.OpSel&4 != 0 {
			h, used = high, 0xffff0000
		}
	}
	per := w.Lanes() / 16
	for i := range int(dst.N) {
		for lane := range w.Lanes() {
			var t taint
			if c.Kind == isa.VGPR {
				t = d.vectorTaint(s, int(c.Reg)+i, lane)
				t.bits &= used
			}
			if rows>>(per*i+lane/16)&1 != 0 || columns>>(lane&15)&1 != 0 {
				t.join(rowTaint)
			}
			if t.bits != 0 {
				t.bits, t.depth = ones(32), fromResult
			}
			s.setVector(int(dst.Reg)+i, lane, h, t)
		}
	}
}
