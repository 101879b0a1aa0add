package emu

import (
	"fmt"

	"github.com/holdfast-llm/holdfast/amd/isa"
)

// The scalar ALU. An operation is a function of up to three sources; where they
// come from and where the result goes is decided when an instruction is loaded.
// A destination that is also read is the source after the others.

// scalarOp is how a scalar operation computes. One of the functions is set.
type scalarOp struct {
	// run32 is for operations whose operands all have up to 32 bits.
	run32 func(w *wave, a, b, c uint32) uint32
	// run64 is for those with an operand of 64 bits: the others are zero
	// extended.
	run64 func(w *wave, a, b, c uint64) uint64
	// pure32 and pure64 are the same for operations that look only at two
	// sources; those with logic set SCC to whether the result is not zero.
	pure32 func(a, b uint32) uint32
	pure64 func(a, b uint64) uint64
	logic  bool
	// test32 and test64 give SCC.
	test32 func(w *wave, a, b uint32) bool
	test64 func(w *wave, a, b uint64) bool
	// run is an operation without operands that matter, or one that looks at
	// the instruction itself.
	run func(w *wave, in *inst)
	// prepare is for instructions like no other.
	prepare func(in *inst) error

	approximate string // Fidelity.Approximate
}

// scalarPlan is a scalar instruction, resolved.
type scalarPlan struct {
	scalarOp
	src [3]scalarSource
	dst uint16 // RegNull for none
}

// scalarSource is a source operand, resolved: registers or-ed with a constant,
// of which one is zero, NULL being the register that is.
type scalarSource struct {
	lo, hi uint16
	value  uint64
	state  uint16 // a register that is not in the file, or 0
}

// maps of the encodings, in their files.
func scalarOperations() [isa.SOPP + 1]map[string]scalarOp {
	return [isa.SOPP + 1]map[string]scalarOp{
		isa.SOP1: sop1Operations(), isa.SOP2: sop2Operations(), isa.SOPC: sopcOperations(),
		isa.SOPK: sopkOperations(), isa.SOPP: soppOperations(),
	}
}

func addScalar(t *[isa.NumIDs]handler) {
	all := scalarOperations()
	for _, op := range isa.Ops() {
		if op.Format > isa.SOPP {
			continue
		}
		o, ok := all[op.Format][op.Name]
		if !ok {
			continue
		}
		h := &t[op.ID]
		h.fidelity.Approximate = o.approximate
		h.prepare = func(in *inst) error { return o.load(in) }
	}
}

// load chooses how an instruction of the operation runs.
func (o *scalarOp) load(in *inst) error {
	switch {
	case o.prepare != nil:
		return o.prepare(in)
	case o.run != nil:
		in.run = o.run
		return nil
	}
	p, err := newScalarPlan(in)
	if err != nil {
		return err
	}
	p.scalarOp = *o
	in.aux = p
	narrow := in.Operands[0].Type.Dwords() == 1 // a 32-bit result of 64-bit sources
	switch {
	case o.run32 != nil:
		in.run = runScalar32
	case o.run64 != nil:
		in.run = runScalar64
		if narrow {
			in.run = runScalarNarrow
		}
	case o.pure32 != nil && o.logic:
		in.run = runScalarLogic32
	case o.pure32 != nil:
		in.run = runScalarPure32
	case o.pure64 != nil && narrow:
		in.run = runScalarPureNarrow
	case o.pure64 != nil:
		in.run = runScalarPure64
	case o.test32 != nil:
		in.run = runScalarTest32
	case o.test64 != nil:
		in.run = runScalarTest64
	}
	for i := range p.src {
		if p.src[i].state != 0 {
			return p.readState(in)
		}
	}
	return nil
}

// readState is for instructions with a source that is not in the register file:
// its value becomes the constant of a copy.
func (p *scalarPlan) readState(in *inst) error {
	run := in.run
	in.run = func(w *wave, in *inst) {
		now := *p
		for i := range now.src {
			if reg := now.src[i].state; reg != 0 {
				now.src[i].value = stateValue(w, reg)
			}
		}
		run(w, &inst{Inst: in.Inst, aux: &now})
	}
	return nil
}

// newScalarPlan resolves the operands of an instruction.
func newScalarPlan(in *inst) (*scalarPlan, error) {
	p := &scalarPlan{dst: isa.RegNull}
	for i := range p.src {
		p.src[i].lo, p.src[i].hi = isa.RegNull, isa.RegNull
	}
	n := 0
	args := in.Args()
	var both *isa.Operand
	for i := range args {
		o := &args[i]
		if o.Access&isa.Write != 0 {
			p.dst = scalarDst(o)
			if o.Access&isa.Read != 0 {
				both = o
			}
			continue
		}
		if err := p.src[n].set(in, o); err != nil {
			return nil, err
		}
		n++
	}
	if both != nil {
		return p, p.src[n].set(in, both)
	}
	return p, nil
}

// scalarDst is the register that a result goes to: RegNull if nobody sees it,
// which is also so of trap temporaries, that only a trap handler may write.
func scalarDst(o *isa.Operand) uint16 {
	if o.Kind == isa.SGPR || o.Kind == isa.Special {
		return o.Reg
	}
	return isa.RegNull
}

// set resolves operand o.
func (s *scalarSource) set(in *inst, o *isa.Operand) error {
	reg := o.Reg
	switch o.Kind {
	case isa.SGPR:
	case isa.TTMP:
		reg += isaTTMP0
	case isa.Special:
		if o.Reg == isa.RegLDSDirect || o.Reg == isa.RegPopsExitingWave {
			return &Unsupported{PC: in.PC, Text: in.Inst.String()}
		}
		if o.Reg >= isa.RegSharedBase {
			s.state = o.Reg
			return nil
		}
	default:
		s.value = o.Bits()
		return nil
	}
	s.lo = reg
	if o.Type.Dwords() >= 2 && reg != isa.RegNull {
		s.hi = reg + 1
	}
	return nil
}

func (s *scalarSource) get32(w *wave) uint32 { return w.sgpr[s.lo&127] | uint32(s.value) }

func (s *scalarSource) get64(w *wave) uint64 {
	return uint64(w.sgpr[s.hi&127])<<32 | uint64(w.sgpr[s.lo&127]) | s.value
}

func (w *wave) set32(reg uint16, v uint32) {
	if reg != isa.RegNull {
		w.sgpr[reg&127] = v
	}
}

func (w *wave) set64(reg uint16, v uint64) {
	if reg != isa.RegNull {
		w.sgpr[reg&127], w.sgpr[(reg+1)&127] = uint32(v), uint32(v>>32)
	}
}

func runScalar32(w *wave, in *inst) {
	p := in.aux.(*scalarPlan)
	w.set32(p.dst, p.run32(w, p.src[0].get32(w), p.src[1].get32(w), p.src[2].get32(w)))
}

func runScalar64(w *wave, in *inst) {
	p := in.aux.(*scalarPlan)
	w.set64(p.dst, p.run64(w, p.src[0].get64(w), p.src[1].get64(w), p.src[2].get64(w)))
}

func runScalarNarrow(w *wave, in *inst) {
	p := in.aux.(*scalarPlan)
	w.set32(p.dst, uint32(p.run64(w, p.src[0].get64(w), p.src[1].get64(w), p.src[2].get64(w))))
}

func runScalarPure32(w *wave, in *inst) {
	p := in.aux.(*scalarPlan)
	w.set32(p.dst, p.pure32(p.src[0].get32(w), p.src[1].get32(w)))
}

func runScalarLogic32(w *wave, in *inst) {
	p := in.aux.(*scalarPlan)
	v := p.pure32(p.src[0].get32(w), p.src[1].get32(w))
	w.scc = v != 0
	w.set32(p.dst, v)
}

func runScalarPure64(w *wave, in *inst) {
	p := in.aux.(*scalarPlan)
	v := p.pure64(p.src[0].get64(w), p.src[1].get64(w))
	if p.logic {
		w.scc = v != 0
	}
	w.set64(p.dst, v)
}

func runScalarPureNarrow(w *wave, in *inst) {
	p := in.aux.(*scalarPlan)
	v := uint32(p.pure64(p.src[0].get64(w), p.src[1].get64(w)))
	if p.logic {
		w.scc = v != 0
	}
	w.set32(p.dst, v)
}

func runScalarTest32(w *wave, in *inst) {
	p := in.aux.(*scalarPlan)
	w.scc = p.test32(w, p.src[0].get32(w), p.src[1].get32(w))
}

func runScalarTest64(w *wave, in *inst) {
	p := in.aux.(*scalarPlan)
	w.scc = p.test64(w, p.src[0].get64(w), p.src[1].get64(w))
}

// The ways in which operations of two sources set SCC: to whether the result is
// not zero, or not at all.

func logic32(f func(a, b uint32) uint32) scalarOp { return scalarOp{pure32: f, logic: true} }

func logic64(f func(a, b uint64) uint64) scalarOp { return scalarOp{pure64: f, logic: true} }

func plain32(f func(a, b uint32) uint32) scalarOp { return scalarOp{pure32: f} }

func plain64(f func(a, b uint64) uint64) scalarOp { return scalarOp{pure64: f} }

// raise is a fault of the instruction that runs.
func raise(kind FaultKind, format string, args ...any) {
	panic(&Fault{Kind: kind, Detail: fmt.Sprintf(format, args...)})
}
