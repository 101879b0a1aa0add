package emu

import (
	"math/bits"
	"strings"

	"github.com/holdfast-llm/holdfast/amd/isa"
)

// FLAT, GLOBAL and SCRATCH.

func addFlat(h *handler, op *isa.Op) {
	_, name, _ := strings.Cut(op.Name, "_") // flat_, global_, scratch_
	run := runGlobal
	switch op.Format {
	case isa.FLAT:
		run = runFlat
	case isa.SCRATCH:
		run = runScratch
	}
	if strings.HasSuffix(name, "_addtid_b32") {
		run = runAddTid
		name = strings.Replace(name, "_addtid", "", 1)
	}
	m, ok := h.parseAccess(strings.TrimPrefix(name, "atomic_"))
	if !ok {
		return
	}
	h.prepare = func(in *inst) error {
		p := m
		if err := p.flatOperands(in); err != nil {
			return err
		}
		in.aux, in.run = &p, run
		return nil
	}
}

// flatOperands resolves the operands of an instruction: [dst] [addr] [data]
// [saddr], as the operation has them.
func (m *memOp) flatOperands(in *inst) error {
	m.offset = int64(in.Mods.Offset)
	m.flags(in)
	args := in.Args()
	i := 0
	next := func() *isa.Operand { i++; return &args[i-1] }
	if args[0].Access&isa.Write != 0 {
		m.dst = reg(next())
		m.returns = m.kind == Atomic
	}
	if !strings.Contains(in.Op.Name, "addtid") {
		o := next()
		m.addr, m.addrPair = reg(o), o.Type == isa.B64
	}
	if m.kind != Load {
		o := next()
		m.data = reg(o)
		m.second(o)
	}
	if i < len(args) && args[i].Kind != isa.Off {
		m.hasS = true
		return m.saddr.set(in, &args[i])
	}
	return nil
}

// second is where a compare-and-swap, whose data o is of two values, finds what
// it compares with: behind the new value.
func (m *memOp) second(o *isa.Operand) {
	if m.kind == Atomic && 4*o.Type.Dwords() == 2*m.bytes {
		m.data2 = m.data + m.words()
	}
}

func (m *memOp) flags(in *inst) {
	f := in.Mods.Flags
	m.glc, m.slc, m.dlc = f&isa.GLC != 0, f&isa.SLC != 0, f&isa.DLC != 0
}

// addresses fills in each lane's address: the scalar base, the vector part,
// the offset.
func (m *memOp) addresses(w *wave, a *Access) {
	base := uint64(m.offset)
	if m.hasS {
		base += m.saddr.get64(w)
	}
	switch {
	case m.addr < 0:
		for i := range w.n {
			a.Addr[i] = base
		}
	case m.addrPair:
		lo, hi := &w.vgpr[m.addr], &w.vgpr[m.addr+1]
		for i := range w.n {
			a.Addr[i] = base + (uint64(hi[i])<<32 | uint64(lo[i]))
		}
	default:
		lo := &w.vgpr[m.addr]
		for i := range w.n {
			a.Addr[i] = base + uint64(lo[i])
		}
	}
}

func runGlobal(w *wave, in *inst) {
	m := in.aux.(*memOp)
	a := &w.access
	a.Lanes = w.active()
	if a.Lanes == 0 {
		w.pending.count(isa.GLOBAL, m)
		return
	}
	m.addresses(w, a)
	if !m.quick(w, a) {
		w.global(m, w.begin(in, m, Global))
	}
}

// runAddTid has the scalar address plus four times the lane.
func runAddTid(w *wave, in *inst) {
	m := in.aux.(*memOp)
	a := w.begin(in, m, Global)
	m.addresses(w, a)
	for i := range w.n {
		a.Addr[i] += 4 * uint64(i)
	}
	w.global(m, a)
}

// runScratch has offsets in each lane's own memory, which wrap at 32 bits.
func runScratch(w *wave, in *inst) {
	m := in.aux.(*memOp)
	a := w.begin(in, m, Scratch)
	m.addresses(w, a)
	for i := range w.n {
		a.Addr[i] = uint64(uint32(a.Addr[i]))
	}
	w.window(m, a, w.privateOf)
}

// privateOf is a lane's scratch.
func (w *wave) privateOf(lane int) []byte { return w.scratch[lane*w.lane : (lane+1)*w.lane] }

func (w *wave) ldsOf(int) []byte { return w.group.lds }

// runFlat sorts the lanes by the aperture that their address is in.
func runFlat(w *wave, in *inst) {
	m := in.aux.(*memOp)
	a := w.begin(in, m, Global)
	m.addresses(w, a)
	var shared, private uint64
	for lanes := a.Lanes; lanes != 0; lanes &= lanes - 1 {
		lane := bits.TrailingZeros64(lanes)
		switch a.Addr[lane] >> apertureShift {
		case SharedBase >> apertureShift:
			shared |= 1 << lane
		case PrivateBase >> apertureShift:
			private |= 1 << lane
		default:
			continue
		}
		a.Addr[lane] = uint64(uint32(a.Addr[lane]))
	}
	all := a.Lanes
	for _, part := range []struct {
		space MemorySpace
		lanes uint64
	}{{Global, all &^ (shared | private)}, {LDS, shared}, {Scratch, private}} {
		if part.lanes == 0 {
			continue
		}
		a.Space, a.Lanes = part.space, part.lanes
		switch part.space {
		case Global:
			w.global(m, a)
		case LDS:
			w.window(m, a, w.ldsOf)
		case Scratch:
			w.window(m, a, w.privateOf)
		}
	}
}
