package emu

import "github.com/holdfast-llm/holdfast/amd/isa"

// wide is a 64-bit operand made ready.
type wide [64]uint64

// vectorScratch is where a wave's vector operands are made ready, so that
// nothing is allocated while it runs.
type vectorScratch struct {
	src     [3]lanes
	dst     lanes
	wideSrc [3]wide
	wideDst wide
	moved   lanes    // what a lane permutation reads
	halves  [4]lanes // high halves, or halves as floats
}

// sourceKind says where a source comes from.
type sourceKind uint8

const (
	fromNothing  sourceKind = iota
	fromRegister            // a VGPR as it is
	fromVGPR                // a VGPR with modifiers
	fromSGPR
	fromConstant
	fromState // a special register that is computed: scc, vccz, ...
)

// source is one source operand of a vector instruction, resolved.
type source struct {
	kind  sourceKind
	reg   uint16 // the VGPR, or the index in wave.sgpr, or the special register
	pair  bool   // 64 bits: this register and the next
	fixed bool   // something below has to be done to the value

	shift    uint8  // to the right: 16 for a high half
	and, xor uint64 // abs clears the sign, neg flips it
	pack     bool   // two halves chosen by lo and hi
	lo, hi   uint8  // shifts to the right of the halves of a packed operand

	value uint64 // of a constant, which is in every lane of one of the next
	lanes *lanes
	wide  *wide
}

// newSource resolves operand o, the n-th source.
func newSource(in *inst, o *isa.Operand, n int) (source, error) {
	s := source{pair: o.Type.Dwords() == 2, and: ^uint64(0)}
	s.modify(in, o, n)
	return s, s.resolve(in, o)
}

// resolve finds the register or the constant of a source whose modifiers are
// set.
func (s *source) resolve(in *inst, o *isa.Operand) error {
	s.fixed = s.shift != 0 || ^s.and != 0 || s.xor != 0 || s.pack
	switch o.Kind {
	case isa.VGPR:
		s.kind, s.reg = fromRegister, o.Reg
		if s.fixed {
			s.kind = fromVGPR
		}
	case isa.SGPR:
		s.kind, s.reg = fromSGPR, o.Reg
	case isa.TTMP:
		s.kind, s.reg = fromSGPR, isaTTMP0+o.Reg
	case isa.Special:
		s.kind, s.reg = fromSGPR, o.Reg
		if o.Reg >= isa.RegSharedBase {
			s.kind = fromState
		}
		if o.Reg == isa.RegLDSDirect || o.Reg == isa.RegPopsExitingWave {
			return &Unsupported{PC: in.PC, Text: in.Inst.String()}
		}
	default:
		s.kind = fromConstant
		s.constant(in, constantBits(in, o))
	}
	return nil
}

// isaTTMP0 is the source number of ttmp0.
const isaTTMP0 = 108

// constantBits is the value of a constant operand. v_ldexp_f16 is a float
// instruction in all its operands, and v_pk_fmac_f16 reads an inline constant
// twice.
func constantBits(in *inst, o *isa.Operand) uint64 {
	if in.Op.Format == isa.VOP2 && o.Type == isa.V2F16 && o.Kind != isa.Literal && in.Op.Name == "v_pk_fmac_f16" {
		return o.Bits() & 0xffff * 0x10001
	}
	if o.Type == isa.B16 && in.Op.Name == "v_ldexp_f16" {
		half := *o
		half.Type = isa.F16
		return half.Bits()
	}
	return o.Bits()
}

// constant puts v, with the modifiers applied, into every lane: of 64 bits if
// an operand of the instruction has as many.
func (s *source) constant(in *inst, v uint64) {
	s.value = s.apply(v)
	s.fixed = false
	s.lanes, s.wide = nil, nil
	if !hasWide(in) {
		s.lanes = new(lanes)
		for i := range s.lanes {
			s.lanes[i] = uint32(s.value)
		}
		return
	}
	if !s.pair {
		s.value &= 1<<32 - 1
	}
	s.wide = new(wide)
	for i := range s.wide {
		s.wide[i] = s.value
	}
}

// hasWide says whether the instruction has operands of 64 bits that are no
// masks. Those of VOP3P are matrices.
func hasWide(in *inst) bool {
	if in.Op.Format == isa.VOP3P {
		return false
	}
	for i := range in.Op.Args {
		if t := in.Op.Args[i].Type; t.Dwords() == 2 && t != isa.Mask {
			return true
		}
	}
	return false
}

// modify takes over the modifiers of operand o.
func (s *source) modify(in *inst, o *isa.Operand, n int) {
	high := o.Mods&isa.High != 0
	if in.Op.Format == isa.VOP3 && o.Kind != isa.VGPR && in.Op.Flags&isa.OpSel != 0 && isHalf(o.Type) {
		high = in.Mods.OpSel>>n&1 != 0
	}
	if high {
		s.shift = 16
	}
	sign := signBit(o.Type)
	if o.Mods&isa.Abs != 0 {
		s.and = ^sign
	}
	if o.Mods&isa.Neg != 0 {
		s.xor = sign
	}
	if in.Op.Format == isa.VOP3P && isPacked(o.Type) {
		m := &in.Mods
		s.lo, s.hi = m.OpSel>>n&1*16, m.OpSelHi>>n&1*16
		s.pack = s.lo != 0 || s.hi != 16
		if o.Type != isa.V2B16 {
			s.xor = uint64(m.NegLo>>n&1)<<15 | uint64(m.NegHi>>n&1)<<31
		}
	} else if in.Op.Format == isa.VOP3P && o.Type == isa.F32 && in.Mods.NegLo>>n&1 != 0 {
		s.xor = sign
	}
}

func isHalf(t isa.Type) bool { return t == isa.B16 || t == isa.F16 || t == isa.BF16 }

func isPacked(t isa.Type) bool { return t == isa.V2B16 || t == isa.V2F16 || t == isa.V2BF16 }

// signBit is the sign of a value of the type.
func signBit(t isa.Type) uint64 {
	switch t {
	case isa.F16, isa.BF16, isa.B16:
		return 1 << 15
	case isa.F64, isa.B64, isa.I64:
		return 1 << 63
	case isa.V2F16, isa.V2BF16: // of VOP3, which has one bit for both halves
		return 1<<31 | 1<<15
	}
	return 1 << 31
}

// apply does to one value what the modifiers say.
func (s *source) apply(v uint64) uint64 {
	if s.pack {
		v = v>>s.lo&0xffff | v>>s.hi&0xffff<<16
	}
	return v>>s.shift&s.and ^ s.xor
}

// get returns the source's lanes, which are the register itself or tmp.
func (s *source) get(w *wave, tmp *lanes) *lanes {
	if s.kind == fromRegister {
		return &w.vgpr[s.reg]
	}
	return s.ready(w, tmp)
}

func (s *source) ready(w *wave, tmp *lanes) *lanes {
	switch s.kind {
	case fromVGPR:
		s.fix(tmp, &w.vgpr[s.reg], w.n)
		return tmp
	case fromConstant:
		return s.lanes
	case fromNothing:
		return nil
	}
	tmp.fill(uint32(s.apply(s.scalar(w))), w.n)
	return tmp
}

// fill sets the first n lanes, a multiple of 8.
func (l *lanes) fill(v uint32, n int) {
	for i := 0; i+8 <= n; i += 8 {
		q := (*[8]uint32)(l[i:])
		q[0], q[1], q[2], q[3], q[4], q[5], q[6], q[7] = v, v, v, v, v, v, v, v
	}
}

// fix copies src with the modifiers applied.
func (s *source) fix(dst, src *lanes, n int) {
	if s.pack {
		lo, hi, xor := s.lo, s.hi, uint32(s.xor)
		for i, v := range src[:n] {
			dst[i&63] = (v>>lo&0xffff | v>>hi<<16) ^ xor
		}
		return
	}
	shift, and, xor := s.shift, uint32(s.and), uint32(s.xor)
	for i, v := range src[:n] {
		dst[i&63] = v>>shift&and ^ xor
	}
}

// readyWide is ready for operations with a 64-bit operand.
func (s *source) readyWide(w *wave, tmp *wide) *wide {
	switch s.kind {
	case fromRegister, fromVGPR:
		lo := w.vgpr[s.reg][:w.n]
		if !s.pair {
			for i, v := range lo {
				tmp[i&63] = uint64(v)
			}
		} else {
			hi := w.vgpr[s.reg+1][:len(lo)]
			for i, v := range lo {
				tmp[i&63] = uint64(hi[i])<<32 | uint64(v)
			}
		}
		if s.fixed {
			for i := range tmp[:w.n] {
				tmp[i] = s.apply(tmp[i])
			}
		}
		return tmp
	case fromConstant:
		return s.wide
	case fromNothing:
		return nil
	}
	v := s.apply(s.scalar(w))
	for i := range tmp[:w.n] {
		tmp[i] = v
	}
	return tmp
}

// scalar is the value of a source that all lanes share, without modifiers.
func (s *source) scalar(w *wave) uint64 {
	if s.kind == fromState {
		return stateValue(w, s.reg)
	}
	v := uint64(w.sgpr[s.reg])
	if s.pair && s.reg != isa.RegNull {
		v |= uint64(w.sgpr[s.reg+1]) << 32
	}
	return v
}

// stateValue is the value of a special register that is not in the file: a
// condition, or an aperture's base or limit. A 32-bit source reads the low half
// of an aperture, which is of no use.
func stateValue(w *wave, reg uint16) uint64 {
	switch reg {
	case isa.RegSCC:
		return bit(w.scc)
	case isa.RegVCCZ:
		return bit(w.vcc()&w.all() == 0)
	case isa.RegExecZ:
		return bit(w.active() == 0)
	case isa.RegSharedBase:
		return SharedBase
	case isa.RegSharedLimit:
		return SharedLimit
	case isa.RegPrivateBase:
		return PrivateBase
	case isa.RegPrivateLimit:
		return PrivateLimit
	}
	panic("emu: no special register of that number") // newSource refuses others
}
