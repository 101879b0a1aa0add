package check

import (
	"fmt"
	"math/bits"
	"strings"

	"github.com/holdfast-llm/holdfast/amd/emu"
	"github.com/holdfast-llm/holdfast/amd/isa"
)

// regSet is a set of registers: halves of vector registers, and scalar registers
// by their source number (s0 is 0, vcc 106, ttmp0 108, m0 125, exec 126).
type regSet struct {
	v [8]uint64 // bit 2n is the low half of v[n], 2n+1 its high one
	s [2]uint64
}

// halves says which of a vector register's are meant.
type halves uint8

const (
	low halves = 1 << iota
	high
	whole = low | high
)

// firstTTMP is the source number of ttmp0.
const firstTTMP = 108

func (r *regSet) addV(first, n int, h halves) {
	for i := first; i < min(first+n, 256); i++ {
		r.v[i>>5] |= uint64(h) << (2 * (i & 31))
	}
}

func (r *regSet) addS(first, n int) {
	for i := first; i < min(first+n, 128); i++ {
		if i != isa.RegNull {
			r.s[i>>6] |= 1 << (i & 63)
		}
	}
}

// add adds the registers of an operand; of vector registers those halves that
// are h.
func (r *regSet) add(o *isa.Operand, h halves) {
	n := int(max(o.N, 1))
	if o.Kind == isa.VGPR {
		switch o.Mods & (isa.Half | isa.High) {
		case isa.Half:
			h = low
		case isa.Half | isa.High:
			h = high
		}
		r.addV(int(o.Reg), n, h)
	} else if first, ok := scalarNumber(o); ok {
		r.addS(first, n)
	}
}

// halvesOf is which halves of an operand an instruction moves, if not both, and
// which operand that is: of the data of a memory instruction.
func halvesOf(in *isa.Inst) (h halves, operand int) {
	switch { // results that are a half, though no operand says so
	case strings.HasPrefix(in.Op.Name, "v_fma_mixlo"):
		return low, 0
	case strings.HasPrefix(in.Op.Name, "v_fma_mixhi"):
		return high, 0
	}
	if in.Op.Format < isa.DS || in.Op.Format > isa.MTBUF || strings.Contains(in.Op.Name, "_format_") {
		return whole, -1
	}
	small := strings.Contains(in.Op.Name, "store_b8") || strings.Contains(in.Op.Name, "store_b16")
	switch {
	case strings.Contains(in.Op.Name, "d16_hi"):
		h = high
	case small, strings.Contains(in.Op.Name, "d16"):
		h = low
	default:
		return whole, -1
	}
	if strings.Contains(in.Op.Name, "store") && in.Op.Format <= isa.SCRATCH {
		return h, 1 // behind the address
	}
	return h, 0
}

// scalarNumber is the source number of a scalar operand's first register; false
// if it is no register or one that instructions do not write (the apertures), or
// scc.
func scalarNumber(o *isa.Operand) (int, bool) {
	switch {
	case o.Kind == isa.SGPR, o.Kind == isa.Special && o.Reg < 128:
		return int(o.Reg), true
	case o.Kind == isa.TTMP:
		return firstTTMP + int(o.Reg), true
	case o.Kind == isa.Special && o.Reg == isa.RegVCCZ:
		return isa.RegVCCLo, true
	case o.Kind == isa.Special && o.Reg == isa.RegExecZ:
		return isa.RegExecLo, true
	}
	return 0, false
}

func (r *regSet) meets(x *regSet) bool {
	common := r.s[0]&x.s[0] | r.s[1]&x.s[1]
	for i := range r.v {
		common |= r.v[i] & x.v[i]
	}
	return common != 0
}

func (r *regSet) meetsScalar(x *regSet) bool {
	return r.s[0]&x.s[0]|r.s[1]&x.s[1] != 0
}

func (r *regSet) join(x *regSet) {
	for i := range r.v {
		r.v[i] |= x.v[i]
	}
	for i := range r.s {
		r.s[i] |= x.s[i]
	}
}

// common names the first register of both sets, which meet.
func (r *regSet) common(x *regSet) (name string, vector bool) {
	for i := range r.v {
		if m := r.v[i] & x.v[i]; m != 0 {
			return fmt.Sprintf("v%d", 32*i+bits.TrailingZeros64(m)/2), true
		}
	}
	for i := range r.s {
		if m := r.s[i] & x.s[i]; m != 0 {
			return scalarName(64*i + bits.TrailingZeros64(m)), false
		}
	}
	return "", false
}

// scalarName is a scalar register as the disassembler names it.
func scalarName(n int) string {
	switch n {
	case isa.RegVCCLo:
		return "vcc_lo"
	case isa.RegVCCHi:
		return "vcc_hi"
	case isa.RegM0:
		return "m0"
	case isa.RegExecLo:
		return "exec_lo"
	case isa.RegExecHi:
		return "exec_hi"
	}
	if n >= firstTTMP {
		return fmt.Sprintf("ttmp%d", n-firstTTMP)
	}
	return fmt.Sprintf("s%d", n)
}

// usage is what an instruction does with registers, worked out once. Registers
// that the text does not name are among them, scc is not.
type usage struct {
	in            isa.Inst
	reads, writes regSet
	lanes         laneRule
	// counted has a bit for each order of waitcheck that the instruction has a
	// number in; returns for those that must be waited for before what it writes
	// is there.
	counted, returns uint8
	relative         bool // m0 says which registers: see touched
}

// laneRule says which lanes of vector registers an instruction looks at.
type laneRule uint8

const (
	activeLanes laneRule = iota
	firstLane            // the first active one
	anyLanes             // also those that are not active
)

// usageOf works out an instruction's registers.
func usageOf(in *isa.Inst) *usage {
	u := &usage{in: *in}
	moves, at := halvesOf(in)
	mix := strings.HasPrefix(in.Op.Name, "v_fma_mix")
	for i := range in.Args() {
		o, h := &in.Operands[i], whole
		switch {
		case i == at:
			h = moves
		case mix && i > 0 && in.Mods.OpSelHi>>(i-1)&1 != 0: // source i-1 is a half
			h = low << (in.Mods.OpSel >> (i - 1) & 1)
		}
		// A load of a half keeps the other one: that is not reading it.
		if o.Access&isa.Read != 0 && !(h != whole && o.Access&isa.Write != 0) {
			u.reads.add(o, h)
		}
		if o.Access&isa.Write != 0 {
			u.writes.add(o, h)
		}
	}
	name, mask := in.Op.Name, int(in.Wave)/32
	has := func(parts ...string) bool {
		for _, p := range parts {
			if strings.Contains(name, p) {
				return true
			}
		}
		return false
	}
	switch {
	case has("v_dual_cndmask", "v_div_fmas", "s_cbranch_vcc"):
		u.reads.addS(isa.RegVCCLo, mask)
	case has("v_cmpx"):
		u.writes.addS(isa.RegExecLo, mask)
	case has("saveexec", "wrexec"):
		u.reads.addS(isa.RegExecLo, mask)
		u.writes.addS(isa.RegExecLo, mask)
	case has("movrel", "swaprel"):
		u.reads.addS(isa.RegM0, 1)
		u.relative = true
	case has("_addtid_b32", "ds_append", "ds_consume"):
		u.reads.addS(isa.RegM0, 1)
	}
	switch {
	case has("v_readfirstlane"):
		u.lanes = firstLane
	case has("v_readlane", "v_writelane", "v_permlane", "v_wmma"), in.Mods.DPP != isa.NoDPP:
		u.lanes = anyLanes
	}
	c := countersOf(in)
	if c&countsLoads != 0 {
		u.counted |= 1 << waitVector
	}
	if c&countsLocal != 0 {
		u.counted |= 1 << waitLocal
	}
	if c&countsScalar != 0 || has("s_sendmsg_rtn") {
		u.counted |= 1 << waitScalar
	}
	if u.writes != (regSet{}) {
		u.returns = u.counted
	}
	if in.Op.Format >= isa.DS {
		u.reads.addS(isa.RegExecLo, mask)
	}
	return u
}

// touched is the registers that the instruction reads and writes when a wave is
// at it.
func (u *usage) touched(w emu.Wave) (reads, writes regSet) {
	if !u.relative {
		return u.reads, u.writes
	}
	to, from := u.moved(w)
	name := u.in.Op.Name
	writes.add(&to, whole)
	reads.add(&from, whole)
	reads.addS(isa.RegM0, 1)
	if strings.Contains(name, "swaprel") {
		reads.add(&to, whole)
		writes.add(&from, whole)
	}
	return reads, writes
}

// moved is the destination and the source of a move that m0 counts on.
func (u *usage) moved(w emu.Wave) (to, from isa.Operand) {
	m0, name := int(w.SGPR(isa.RegM0)), u.in.Op.Name
	src, dst := m0, m0
	if strings.Contains(name, "_2_") || strings.Contains(name, "swaprel") {
		src, dst = m0&0x3ff, m0>>16&0x3ff
	}
	if strings.Contains(name, "movreld_") {
		src = 0
	}
	if strings.Contains(name, "movrels_") {
		dst = 0
	}
	count := func(o isa.Operand, by int) isa.Operand {
		if r := int(o.Reg) + by; !o.IsConst() && r < 256 {
			o.Reg = uint16(r)
		}
		return o
	}
	return count(u.in.Operands[0], dst), count(u.in.Operands[1], src)
}

// of is the lanes of vector registers that an instruction looks at when a wave
// is at it.
func (r laneRule) of(w emu.Wave) uint64 {
	switch r {
	case firstLane:
		if exec := w.Exec(); exec != 0 {
			return exec & -exec
		}
		return 1
	case anyLanes:
		return allLanes(w)
	}
	return w.Exec()
}

// instTable keeps something for each instruction of a kernel, by address.
type instTable[T any] struct {
	kernel *emu.Kernel
	pages  map[uint64]*[instPage]*T
	page   *[instPage]*T
	number uint64 // of page
}

// instPage is how many words of code a page is for.
const instPage = 1 << 10

// begin empties the table if it is for another kernel.
func (t *instTable[T]) begin(k *emu.Kernel) {
	if t.kernel != k {
		*t = instTable[T]{kernel: k, pages: map[uint64]*[instPage]*T{}, number: ^uint64(0)}
	}
}

// at is where what is kept for the instruction at pc is.
func (t *instTable[T]) at(pc uint64) **T {
	if n := pc / (4 * instPage); n != t.number {
		p := t.pages[n]
		if p == nil {
			p = new([instPage]*T)
			t.pages[n] = p
		}
		t.page, t.number = p, n
	}
	return &t.page[pc/4%instPage]
}

// wavesPerGroup is the waves of a whole workgroup.
func wavesPerGroup(l *emu.Launched) int {
	items, lanes := int(l.Workgroup[0]*l.Workgroup[1]*l.Workgroup[2]), l.Kernel.Descriptor.WavefrontSize()
	return (items + lanes - 1) / lanes
}
