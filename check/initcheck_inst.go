package check

import (
	"math/bits"
	"strings"

	"github.com/holdfast-llm/holdfast/amd/emu"
	"github.com/holdfast-llm/holdfast/amd/isa"
)

// initInst is how what is undefined goes through an instruction, worked out once.
type initInst struct {
	*usage
	readsSCC, writesSCC bool
	// follow does the instruction on shadows if something that it reads may be
	// undefined.
	follow func(d *initcheck, w emu.Wave, s *initWave)
	always bool       // also if all that it reads is defined: it writes other lanes than the active ones
	parts  []initPart // of vector and scalar operations: two of VOPD
	// Of memory instructions: which operands are data and which registers are
	// addresses.
	data    []int
	address regSet
	matrix  bool // all lanes are written
	partly  bool // DPP may leave lanes as they are
	load    int  // the operand that is loaded into, or -1
}

// initPart is an operation on operands.
type initPart struct {
	name    string // without v_ or s_ and the encoding
	sources []int  // operands
	dst     int    // an operand; -1 for none
	mask    int    // an operand that is a lane mask and is written, or -1
	flow    flow   // nil: all that is read is undefined in all that is written
	moves   bool   // the result is the sources' bits
	packed  bool   // two results of halves
	cmpx    bool   // the mask is exec
	compare bool   // the mask is the result
	vcc     bool   // a lane's bit of vcc is read, though no operand
	mix     bool   // sources may be halves
	selects bool   // one of two sources by a third
	nothing bool   // the result does not depend on the sources: x ^ x
}

// cancels says whether the operation takes a register from itself.
func (x *initPart) cancels(in *isa.Inst) bool {
	name, _, _ := strings.Cut(x.name, "_")
	if name != "xor" && name != "sub" && name != "subrev" || len(x.sources) != 2 || in.Mods.DPP != isa.NoDPP || strings.HasSuffix(x.name, "_f32") || strings.HasSuffix(x.name, "_f16") {
		return false
	}
	if half := in.Mods.OpSel & 3; half != 0 && half != 3 { // its two halves
		return false
	}
	a, b := in.Operands[x.sources[0]], in.Operands[x.sources[1]]
	return a.Kind == b.Kind && a.Reg == b.Reg && a.N == b.N && a.Mods == b.Mods && !a.IsConst()
}

// written is the lanes of vector registers that the instruction writes.
func (p *initInst) written(w emu.Wave) uint64 {
	exec := w.Exec()
	switch {
	case p.matrix:
		return allLanes(w)
	case p.partly: // by DPP
		lanes := uint64(0)
		for m := exec; m != 0; m &= m - 1 {
			lane := bits.TrailingZeros64(m)
			if _, _, writes := emu.DPPSource(&p.in.Mods, exec, w.Lanes(), lane); writes {
				lanes |= 1 << lane
			}
		}
		return lanes
	}
	return exec
}

func newInitInst(in *isa.Inst) *initInst {
	p := &initInst{usage: usageOf(in), load: -1}
	in = &p.in
	name := in.Op.Name
	m := &in.Mods
	p.partly = m.DPP == isa.DPP16 && (m.RowMask != 15 || m.BankMask != 15 || m.Flags&isa.BoundCtrl == 0)
	for i := range in.Args() {
		if o := &in.Operands[i]; o.Kind == isa.Special && o.Reg == isa.RegSCC {
			p.readsSCC = true
		}
	}
	switch f := in.Op.Format; {
	case strings.HasPrefix(name, "ds_") && (strings.Contains(name, "permute") || strings.Contains(name, "swizzle")):
		p.follow = p.exchange
	case f == isa.SMEM || f >= isa.DS && f <= isa.MTBUF:
		p.memory()
	case f <= isa.SOPP:
		p.scalar()
	default:
		p.vector()
	}
	return p
}

// memory sorts a memory instruction's operands.
func (p *initInst) memory() {
	in := &p.in
	p.follow = p.followMemory
	loads := in.Op.Format == isa.SMEM
	_, verb, _ := strings.Cut(in.Op.Name, "_")
	verb = strings.TrimPrefix(verb, "buffer_")
	loads = loads || strings.HasPrefix(verb, "load")
	stores := strings.HasPrefix(verb, "store")
	nth := 0 // of the operands that are no destination
	for i := range in.Args() {
		o := &in.Operands[i]
		isMUBUF := in.Op.Format == isa.MUBUF || in.Op.Format == isa.MTBUF
		if o.Access&isa.Write != 0 {
			p.load = i
			if isMUBUF && !loads {
				p.data = append(p.data, i) // an atomic that returns
			}
			continue
		}
		var isData bool
		switch {
		case loads:
		case isMUBUF:
			isData = i == 0
		case in.Op.Format == isa.DS:
			isData = nth > 0 || strings.Contains(in.Op.Name, "addtid")
		default:
			isData = nth == 1 && !strings.Contains(in.Op.Name, "addtid") || nth == 0 && strings.Contains(in.Op.Name, "addtid") && stores
		}
		nth++
		if isData && o.Kind == isa.VGPR {
			p.data = append(p.data, i)
		} else {
			p.address.add(o, whole)
		}
	}
	if p.reads.s[1]>>(isa.RegM0-64)&1 != 0 {
		p.address.addS(isa.RegM0, 1)
	}
}

// scalar prepares SOP1, SOP2, SOPC, SOPK and SOPP.
func (p *initInst) scalar() {
	in, name := &p.in, strings.TrimPrefix(p.in.Op.Name, "s_")
	p.follow, p.always = p.followScalar, p.relative
	if strings.HasPrefix(name, "getreg") || strings.HasPrefix(name, "setreg") || strings.HasPrefix(name, "waitcnt") {
		p.follow = p.followNothing
	}
	part := initPart{name: name, dst: -1, mask: -1}
	for i := range in.Args() {
		o := &in.Operands[i]
		if o.Access&isa.Write != 0 {
			part.dst = i
		}
		if o.Access&isa.Read != 0 {
			part.sources = append(part.sources, i)
		}
	}
	part.flow, part.moves = flowOf(name)
	part.mix = strings.HasPrefix(name, "fma_mix")
	part.nothing = part.cancels(in)
	part.selects = strings.HasPrefix(name, "cndmask") || strings.HasPrefix(name, "cselect")
	p.parts = []initPart{part}
	has := func(prefixes ...string) bool {
		for _, x := range prefixes {
			if strings.HasPrefix(name, x) {
				return true
			}
		}
		return false
	}
	p.readsSCC = p.readsSCC || has("addc", "subb", "cselect", "cmov", "cbranch_scc")
	switch in.Op.Format {
	case isa.SOPC:
		p.writesSCC = true
	case isa.SOPK:
		p.writesSCC = has("cmpk", "addk")
	case isa.SOP2:
		p.writesSCC = !has("mul_", "bfm", "cselect", "pack") && !strings.HasSuffix(name, "_f32") && !strings.HasSuffix(name, "_f16")
	case isa.SOP1:
		p.writesSCC = has("not_", "wqm", "quadmask", "bcnt", "abs") || strings.Contains(name, "exec")
	}
}

// vector prepares what lanes run.
func (p *initInst) vector() {
	in, name := &p.in, p.in.Op.Name
	p.follow = p.followVector
	switch {
	case p.relative:
		p.follow, p.always = p.followRelative, true
		return
	case strings.HasPrefix(name, "v_wmma"):
		p.follow, p.matrix = p.followWMMA, true
		return
	case strings.HasPrefix(name, "v_readlane"), strings.HasPrefix(name, "v_readfirstlane"):
		p.follow = p.followRead
		return
	case strings.HasPrefix(name, "v_writelane"):
		p.follow, p.always = p.followWrite, true
		return
	case strings.HasPrefix(name, "v_permlane"):
		p.follow, p.always = p.followPermlane, true
		return
	case strings.HasPrefix(name, "v_swap_"):
		p.follow = p.followSwap
		return
	case in.Op.Format == isa.VOPD:
		x, y := in.Op.Halves()
		p.parts = []initPart{p.part(strings.TrimPrefix(x.Name, "v_dual_"), 0, x.Args), p.part(strings.TrimPrefix(y.Name, "v_dual_"), x.Args, x.Args+y.Args)}
		return
	}
	p.parts = []initPart{p.part(strings.TrimPrefix(name, "v_"), 0, int(in.N))}
}

// part prepares an operation whose operands are from first to end.
func (p *initInst) part(name string, first, end int) initPart {
	in := &p.in
	part := initPart{name: name, dst: -1, mask: -1}
	for i := first; i < end; i++ {
		o := &in.Operands[i]
		if o.Access&isa.Write != 0 {
			if o.Kind == isa.VGPR {
				part.dst = i
			} else {
				part.mask = i
			}
		}
		if o.Access&isa.Read != 0 {
			part.sources = append(part.sources, i)
		}
	}
	part.flow, part.moves = flowOf(name)
	part.mix = strings.HasPrefix(name, "fma_mix")
	part.nothing = part.cancels(in)
	part.selects = strings.HasPrefix(name, "cndmask") || strings.HasPrefix(name, "cselect")
	part.cmpx = strings.HasPrefix(name, "cmpx")
	part.compare = strings.HasPrefix(name, "cmp")
	part.vcc = strings.HasPrefix(name, "div_fmas") || in.Op.Format == isa.VOPD && strings.HasPrefix(name, "cndmask")
	part.packed = strings.HasPrefix(name, "pk_") && in.Op.Format == isa.VOP3P && !strings.HasSuffix(name, "_f32")
	return part
}
