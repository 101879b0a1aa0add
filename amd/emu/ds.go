package emu

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"strings"

	"github.com/holdfast-llm/holdfast/amd/isa"
)

// DS: the workgroup's local memory, and exchanges between lanes. Not modelled:
// the global data share, global wave sync (gws), ordered append, ray tracing's
// stack.

func addDS(h *handler, op *isa.Op) {
	name := strings.TrimPrefix(op.Name, "ds_")
	switch name {
	case "swizzle_b32":
		h.prepare = prepareSwizzle
		return
	case "permute_b32":
		h.run = runPermute
		return
	case "bpermute_b32":
		h.run = runBPermute
		return
	case "append":
		h.run = func(w *wave, in *inst) { runAppend(w, in, 1) }
		return
	case "consume":
		h.run = func(w *wave, in *inst) { runAppend(w, in, -1) }
		return
	}
	run := runDS
	if strings.HasSuffix(name, "_addtid_b32") {
		run = runDSAddTid
		name = strings.Replace(name, "_addtid", "", 1)
	}
	if name == "condxchg32_rtn_b64" {
		run = runDSAligned
		name = "condxchg_rtn_b64"
	}
	stride := 0 // of the offsets of two addresses, in elements
	if before, after, ok := strings.Cut(name, "_2addr"); ok {
		name, stride = before+after, 1
		if rest, ok := strings.CutPrefix(after, "_stride64"); ok {
			name, stride = before+rest, 64
		}
	}
	m, ok := h.parseAccess(name)
	if !ok {
		return
	}
	h.prepare = func(in *inst) error {
		p := m
		p.dsOperands(in)
		in.aux, in.run = &p, run
		if stride > 0 {
			pair := &dsPair{first: p, second: p}
			size := int64(p.bytes * stride)
			pair.first.offset, pair.second.offset = int64(in.Mods.Offset0)*size, int64(in.Mods.Offset1)*size
			pair.first.data2, pair.second.data, pair.second.data2 = -1, p.data2, -1
			if p.dst >= 0 {
				pair.second.dst += p.words()
			}
			in.aux, in.run = pair, runDSPair
		}
		return nil
	}
}

// localOnly makes an operation decline the global data share.
func localOnly(h *handler) {
	prepare := h.prepare
	if h.run == nil && prepare == nil {
		return
	}
	h.prepare = func(in *inst) error {
		if in.Mods.Flags&isa.GDS != 0 {
			return &Unsupported{PC: in.PC, Text: in.Inst.String()}
		}
		if prepare == nil {
			return nil
		}
		return prepare(in)
	}
}

// dsOperands resolves [dst] [addr] [data0] [data1].
func (m *memOp) dsOperands(in *inst) {
	m.offset = int64(in.Mods.Offset)
	args := in.Args()
	i := 0
	next := func() int { i++; return reg(&args[i-1]) }
	if args[0].Access&isa.Write != 0 {
		m.dst = next()
		m.returns = m.kind == Atomic
	}
	if !strings.Contains(in.Op.Name, "addtid") {
		m.addr = next()
	}
	if i < len(args) {
		m.data = next()
	}
	if i < len(args) {
		m.data2 = next()
	}
}

// dsPair is an instruction that accesses two places.
type dsPair struct{ first, second memOp }

func (m *memOp) ldsAddresses(w *wave, a *Access) {
	for i := range w.n {
		a.Addr[i] = uint64(uint32(w.vgpr[m.addr][i]) + uint32(m.offset))
	}
}

func runDS(w *wave, in *inst) {
	m := in.aux.(*memOp)
	if m.quickLDS(w, &w.vgpr[m.addr]) {
		return
	}
	a := w.begin(in, m, LDS)
	m.ldsAddresses(w, a)
	w.window(m, a, w.ldsOf)
}

func runDSPair(w *wave, in *inst) {
	p := in.aux.(*dsPair)
	// Both addresses are read before a result replaces the register.
	addr := w.vgpr[p.first.addr]
	for i, m := range [...]*memOp{&p.first, &p.second} {
		if m.quickLDS(w, &addr) {
			continue
		}
		a := w.describe(in, m, LDS)
		if i == 0 { // one instruction
			w.pending.count(in.Op.Format, m)
		}
		for l := range w.n {
			a.Addr[l] = uint64(addr[l] + uint32(m.offset))
		}
		w.window(m, a, w.ldsOf)
	}
}

// runDSAligned has addresses that are cut to a multiple of 8 within 64 KiB.
func runDSAligned(w *wave, in *inst) {
	m := in.aux.(*memOp)
	a := w.begin(in, m, LDS)
	m.ldsAddresses(w, a)
	for i := range w.n {
		a.Addr[i] &= 0xfff8
	}
	w.window(m, a, w.ldsOf)
}

// runDSAddTid has M0 and the offset plus four times the lane.
func runDSAddTid(w *wave, in *inst) {
	m := in.aux.(*memOp)
	a := w.begin(in, m, LDS)
	for i := range w.n {
		a.Addr[i] = uint64(w.sgpr[isa.RegM0]&0xffff + uint32(m.offset) + 4*uint32(i))
	}
	w.window(m, a, w.ldsOf)
}

// runAppend adds n for each active lane to the counter at M0's base plus the
// offset, and gives the old value to all of them.
func runAppend(w *wave, in *inst, n int) {
	m := &memOp{kind: Atomic, bytes: 4, returns: true, dst: reg(&in.Operands[0])}
	a := w.begin(in, m, LDS)
	at := uint64(w.sgpr[isa.RegM0]>>16 + uint32(in.Mods.Offset))
	for i := range w.n {
		a.Addr[i] = at
	}
	if a.Lanes == 0 {
		return
	}
	mem := w.group.lds
	if at+4 > uint64(len(mem)) || at%4 != 0 {
		panic(&Fault{Kind: LimitFault, Addr: at, HasAddr: true, Detail: fmt.Sprintf("atomic of 4 bytes at LDS offset %#x, of which there are %d", at, len(mem))})
	}
	w.see(a)
	w.waitcnt(noWait, noWait, 0) // behind the wave's own stores
	old := binary.LittleEndian.Uint32(mem[at:])
	binary.LittleEndian.PutUint32(mem[at:], old+uint32(n*bits.OnesCount64(a.Lanes)))
	before := w.registersOf(m)
	dst := &w.vgpr[m.dst]
	for lanes := a.Lanes; lanes != 0; lanes &= lanes - 1 {
		dst[bits.TrailingZeros64(lanes)] = old
	}
	if l, ok := w.postpone(m, a.Lanes, before); ok {
		w.pending.addLocal(l)
	}
}

// Exchanges between lanes work within 32, in both halves of a wave64. A source
// lane that is not active gives 0.

// swizzle is the lane within 32 that each lane reads.
type swizzle [32]uint8

// The offsets from which on a swizzle is what its name says.
const (
	swizzleQuads  = 0x8000 // four selectors within each four lanes
	swizzleRotate = 0xc000 // groups of lanes rotate
	swizzleFFT    = 0xe000 // bits of the lane are reversed, as in a transform
)

func prepareSwizzle(in *inst) error {
	s, off := new(swizzle), uint32(in.Mods.Offset)&0xffff
	low, mid, high := off&31, off>>5&31, off>>10&31
	for i := range uint32(len(s)) {
		from := i&low | mid ^ high
		switch {
		case off >= swizzleFFT: // low masks the bits that stay
			from = bits.Reverse32(i)>>27>>bits.OnesCount32(low) | i&low
		case off >= swizzleRotate: // mid lanes, down or up; low as above
			turn := mid
			if high&1 != 0 {
				turn = -turn
			}
			from = i&low | (i+turn)&^low
		case off >= swizzleQuads:
			from = i&^3 | off>>(2*(i&3))&3
		}
		s[i] = uint8(from & 31)
	}
	in.aux, in.run = s, runSwizzle
	return nil
}

func runSwizzle(w *wave, in *inst) { w.exchange(in, swizzleLanes) }

func swizzleLanes(w *wave, in *inst) {
	s := in.aux.(*swizzle)
	exec := w.active()
	src := w.vgpr[reg(&in.Operands[1])]
	dst := &w.vgpr[reg(&in.Operands[0])]
	for m := exec; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros64(m)
		from := lane&^31 | int(s[lane&31])
		v := uint32(0)
		if exec>>from&1 != 0 {
			v = src[from]
		}
		dst[lane] = v
	}
}

func runBPermute(w *wave, in *inst) { w.exchange(in, gatherLanes) }

func gatherLanes(w *wave, in *inst) {
	off := uint32(in.Mods.Offset)
	exec := w.active()
	src := &w.vec.moved
	*src = w.vgpr[reg(&in.Operands[2])]
	for m := ^exec & w.all(); m != 0; m &= m - 1 {
		src[bits.TrailingZeros64(m)&63] = 0
	}
	addr, dst := &w.vgpr[reg(&in.Operands[1])], &w.vgpr[reg(&in.Operands[0])]
	if exec == w.all() {
		for lane := range w.n {
			lane &= 63
			dst[lane] = src[lane&^31|int((addr[lane]+off)>>2&31)]
		}
		return
	}
	for m := exec; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros64(m) & 63
		dst[lane] = src[lane&^31|int((addr[lane]+off)>>2&31)]
	}
}

func runPermute(w *wave, in *inst) { w.exchange(in, scatterLanes) }

// scatterLanes sends each active lane's data to the lane that its address names;
// of several the highest wins, and where nobody sends there is 0.
func scatterLanes(w *wave, in *inst) {
	exec := w.active()
	addr, src := &w.vgpr[reg(&in.Operands[1])], &w.vgpr[reg(&in.Operands[2])]
	var out lanes
	for m := exec; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros64(m)
		out[lane&^31|int((addr[lane]+uint32(in.Mods.Offset))>>2&31)] = src[lane]
	}
	dst := &w.vgpr[reg(&in.Operands[0])]
	for m := exec; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros64(m)
		dst[lane] = out[lane]
	}
}
