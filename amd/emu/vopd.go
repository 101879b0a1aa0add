package emu

import (
	"strings"

	"github.com/holdfast-llm/holdfast/amd/isa"
)

// VOPD: two operations at once. Both read their sources before either writes.

// dual is inst.aux of a VOPD instruction.
type dual struct {
	x, y  plan
	apart bool // Y does not read what X writes
}

// prepareDual makes ready an instruction of two of the operations.
func prepareDual(all map[string]operation) func(in *inst) error {
	return func(in *inst) error {
		hx, hy := in.Op.Halves()
		d := &dual{apart: true}
		if err := d.x.setHalf(all, in, hx, 0); err != nil {
			return err
		}
		if err := d.y.setHalf(all, in, hy, hx.Args); err != nil {
			return err
		}
		for i := range d.y.src {
			if s := &d.y.src[i]; s.kind == fromRegister && s.reg == d.x.dst {
				d.apart = false
			}
		}
		in.aux, in.run = d, runDual
		return nil
	}
}

// singleName is the name of the operation that a half is.
func singleName(h isa.VOPDHalf) string { return strings.Replace(h.Name, "v_dual_", "v_", 1) }

// setHalf makes the plan of the half whose operands begin at first.
func (p *plan) setHalf(all map[string]operation, in *inst, h isa.VOPDHalf, first int) error {
	name := singleName(h)
	o, ok := all[name]
	p.kernel = o.run
	if name == "v_cndmask_b32" {
		p.kernel, ok = selectVCC, true
	}
	if !ok {
		return &Unsupported{PC: in.PC, Text: in.Inst.String()}
	}
	p.dst = in.Operands[first].Reg
	n := 0
	for i := first + 1; i < first+h.Args; i++ {
		var err error
		if p.src[n], err = newSource(in, &in.Operands[i], n); err != nil {
			return err
		}
		n++
	}
	if in.Operands[first].Access&isa.Read != 0 {
		p.src[n] = source{kind: fromRegister, reg: p.dst}
	}
	return nil
}

// selectVCC is v_cndmask_b32 by vcc.
func selectVCC(w *wave, d, a, b, _ *lanes) {
	m := w.vcc()
	ds, as, bs := d[:w.n], a[:w.n], b[:w.n]
	for i := range ds {
		take := -uint32(m & 1)
		m >>= 1
		x := as[i]
		ds[i] = x ^ (x^bs[i])&take
	}
}

// compute runs a half's kernel with the destination dst.
func (p *plan) compute(w *wave, dst *lanes) {
	s := &w.vec
	a := p.src[0].get(w, &s.src[0])
	b := p.src[1].get(w, &s.src[1])
	c := p.src[2].get(w, &s.src[2])
	p.kernel(w, dst, a, b, c)
}

func runDual(w *wave, in *inst) {
	d := in.aux.(*dual)
	active, all := w.active(), w.all()
	if active == all && d.apart {
		d.x.compute(w, &w.vgpr[d.x.dst])
		d.y.compute(w, &w.vgpr[d.y.dst])
		return
	}
	if active == 0 {
		return
	}
	s := &w.vec
	d.x.compute(w, &s.dst)
	if active == all {
		d.y.compute(w, &w.vgpr[d.y.dst])
		copy(w.vgpr[d.x.dst][:w.n], s.dst[:w.n])
		return
	}
	d.y.compute(w, &s.moved)
	w.vgpr[d.x.dst].merge(&s.dst, active)
	w.vgpr[d.y.dst].merge(&s.moved, active)
}
