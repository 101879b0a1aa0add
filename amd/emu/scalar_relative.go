package emu

import "github.com/holdfast-llm/holdfast/amd/isa"

// Moves between scalar registers whose numbers M0 changes, and jumps to
// addresses in registers.

// scalarAt is the index of a register moved by n, of which count are accessed.
func scalarAt(reg uint16, n uint32, count int) int {
	i := int64(reg) + int64(int32(n))
	if i < 0 || i+int64(count) > isa.RegVCCHi+1 {
		raise(LimitFault, "s%d moved by m0 = %d is no scalar register", reg, int32(n))
	}
	return int(i)
}

// prepareScalarRelative is for a move of count registers from a relative source
// or to a relative destination.
func prepareScalarRelative(dst bool, count int) func(in *inst) error {
	return func(in *inst) error {
		p, err := newScalarPlan(in)
		if err != nil {
			return err
		}
		in.aux = p
		in.run = func(w *wave, in *inst) {
			p := in.aux.(*scalarPlan)
			m0 := w.sgpr[isa.RegM0]
			v, to := p.src[0].get64(w), p.dst
			if dst {
				to = uint16(scalarAt(p.dst, m0, count))
			} else {
				from := scalarAt(p.src[0].lo, m0, count)
				v = uint64(w.sgpr[from])
				if count == 2 {
					v |= uint64(w.sgpr[from+1]) << 32
				}
			}
			if count == 2 {
				w.set64(to, v)
			} else {
				w.set32(to, uint32(v))
			}
		}
		return nil
	}
}

// prepareScalarRelative2 is for a move of which both registers are relative:
// the source by the low half of M0, the destination by the high half, 10 bits
// of each.
func prepareScalarRelative2(in *inst) error {
	p, err := newScalarPlan(in)
	if err != nil {
		return err
	}
	if p.src[0].lo == isa.RegNull {
		return &Unsupported{PC: in.PC, Text: in.Inst.String()} // a constant has no neighbours
	}
	in.aux = p
	in.run = func(w *wave, in *inst) {
		p := in.aux.(*scalarPlan)
		m0 := w.sgpr[isa.RegM0]
		from := scalarAt(p.src[0].lo, m0&0x3ff, 1)
		w.set32(uint16(scalarAt(p.dst, m0>>16&0x3ff, 1)), w.sgpr[from])
	}
	return nil
}

// prepareSetPC is for s_setpc_b64 and s_swappc_b64.
func prepareSetPC(in *inst) error {
	p, err := newScalarPlan(in)
	if err != nil {
		return err
	}
	in.aux = p
	in.run = func(w *wave, in *inst) {
		p := in.aux.(*scalarPlan)
		to := p.src[0].get64(w)
		w.set64(p.dst, w.pc)
		w.jump(to)
	}
	return nil
}

// jump goes on at an address that a program computed.
func (w *wave) jump(to uint64) {
	if to&3 != 0 || w.d.kernel.text(to) == nil {
		raise(CodeFault, "a jump to %#x, which is no instruction's address", to)
	}
	w.pc = to
}
