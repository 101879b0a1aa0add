package check

import (
	"fmt"
	"math/bits"

	"github.com/holdfast-llm/holdfast/amd/emu"
	"github.com/holdfast-llm/holdfast/amd/isa"
)

// What initcheck finds.
const (
	// UninitStore: a result that depends on undefined bits is stored to global
	// memory.
	UninitStore Kind = "uninit-store"
	// UninitAddress: undefined bits are in an address of memory.
	UninitAddress Kind = "uninit-address"
	// UninitBranch: undefined bits decide where the wave goes on.
	UninitBranch Kind = "uninit-branch"
	// UninitExec: undefined bits decide which lanes are active.
	UninitExec Kind = "uninit-exec"
	// UninitAtomic: an atomic has undefined data, or works on memory that nobody
	// has written.
	UninitAtomic Kind = "uninit-atomic"
)

var initcheckKinds = map[Kind]KindInfo{
	UninitStore: {
		Initcheck, "what is stored to global memory depends on registers or memory that nobody has written",
		"write them first, or leave the lanes and elements out that have no data",
	},
	UninitAddress: {
		Initcheck, "an address depends on registers or memory that nobody has written",
		"write the index before it is used",
	},
	UninitBranch: {
		Initcheck, "a branch depends on registers or memory that nobody has written",
		"write what is compared first",
	},
	UninitExec: {
		Initcheck, "which lanes are active depends on registers or memory that nobody has written",
		"write what is compared first, or leave lanes without data out of the comparison",
	},
	UninitAtomic: {
		Initcheck, "an atomic has undefined data, or changes memory that nobody has written",
		"set counters and accumulators before the kernel that adds to them",
	},
}

// initcheck finds what depends on registers and memory that nobody has written,
// where that matters. Reading them does not by itself: loads wider than their
// data, the rest of a tile, lanes that are masked off later. So what is undefined
// is followed, bit by bit in registers and byte by byte in memory, and a finding
// is
//
//   - an address, of any memory, with undefined bits;
//   - a branch on, or a jump to, what is undefined, and undefined bits of EXEC;
//   - an atomic with undefined data, or on bytes that are;
//   - a store to global memory of an operation's result that depends on undefined
//     bits. Moving bytes is no operation: mov, and, or, shifts, permutations,
//     selects, the ways through LDS, scratch and lanes. Bytes of global memory
//     that are only moved are never a finding, they stay undefined where they
//     are stored. Those that a wave moves out of its own registers, LDS or scratch
//     are one if all bytes that a lane stores are undefined, or were so at a store
//     to LDS or scratch on the way: less is the padding of what is around it.
//
// At first are undefined: registers that a wave is not given (vector registers in
// all lanes but v0, vcc, m0, scc; in wave32 the upper halves of vcc and exec), LDS
// when its workgroup starts, scratch, and global memory that is allocated as
// uninitialised. A bit is defined again where its value cannot matter: and with 0,
// or with 1, a select's other side, xor with itself. Sums and products carry what
// is undefined upward; any other operation's result is undefined as a whole if one
// of the bits that it reads is; matrices row by column. After a finding what it
// was about counts as defined, but for what was stored from registers.
//
// Lanes are judged as they run: a value that a race made undefined in one
// schedule only is racecheck's to find.
type initcheck struct {
	emu.NopObserver
	c        *Checker
	launched *emu.Launched
	table    instTable[initInst]
	waves    []*initWave // by number in the dispatch
	free     []*initWave
	per      int // waves of a whole workgroup
	groups   map[int]*initGroup
	ended    []*initGroup
	buffers  map[*emu.Buffer]*initBuffer
	last     *initBuffer
	origins  []initOrigin
	loads    map[uint64]uint32 // origins that are loads, the first at each pc
	// Origins that are registers: vector ones, and behind them scalar ones.
	registers [512]uint32
	results   [2][64]taint
}

// initOrigin is where something undefined comes from: a load, or a register.
type initOrigin struct {
	pc       uint64 // of a load; 0 for a register
	register string
	place    place
	text     string // what was loaded
}

func newInitcheck(c *Checker, _ Options) detector {
	return &initcheck{c: c, buffers: map[*emu.Buffer]*initBuffer{}, last: &initBuffer{Buffer: &emu.Buffer{Addr: 1 << 63}}}
}

// DispatchBegin forgets the waves before; global memory stays as it was left.
func (d *initcheck) DispatchBegin(l *emu.Launched) {
	d.launched = l
	d.table.begin(l.Kernel)
	d.per = wavesPerGroup(l)
	clear(d.waves)
	d.groups = map[int]*initGroup{}
	d.origins, d.loads, d.registers = append(d.origins[:0], initOrigin{}), map[uint64]uint32{}, [512]uint32{}
	space := l.Device.Space()
	for b := range d.buffers {
		if space.Find(b.Addr, uint64(len(b.Data))) != b {
			delete(d.buffers, b)
		}
	}
	d.last = &initBuffer{Buffer: &emu.Buffer{Addr: 1 << 63}}
}

// WaveBegin starts to follow a wave.
func (d *initcheck) WaveBegin(w emu.Wave) {
	n := w.GroupIndex()*d.per + w.Index()
	for len(d.waves) <= n {
		d.waves = append(d.waves, nil)
	}
	s := &initWave{}
	if n := len(d.free); n > 0 {
		s, d.free = d.free[n-1], d.free[:n-1]
	}
	s.begin(d.launched, w)
	g := d.groups[w.GroupIndex()]
	if g == nil {
		g = d.newGroup(int(d.launched.LDS))
		d.groups[w.GroupIndex()] = g
	}
	g.live++
	s.group = g
	d.waves[n] = s
}

// WaveEnd forgets a wave.
func (d *initcheck) WaveEnd(w emu.Wave) {
	at := &d.waves[w.GroupIndex()*d.per+w.Index()]
	g := (*at).group
	if g.live--; g.live == 0 {
		delete(d.groups, w.GroupIndex())
		d.ended = append(d.ended, g)
	}
	d.free = append(d.free, *at)
	*at = nil
}

// newGroup is a workgroup whose LDS nobody has written, in memory of one that has
// ended if there is one.
func (d *initcheck) newGroup(n int) *initGroup {
	g := &initGroup{}
	if last := len(d.ended) - 1; last >= 0 {
		g, d.ended = d.ended[last], d.ended[:last]
	}
	if cap(g.lds) < n {
		g.lds = make([]shadowByte, n)
	}
	g.lds = g.lds[:n]
	for i := range g.lds {
		g.lds[i] = neverWritten
	}
	return g
}

func (d *initcheck) wave(w emu.Wave) *initWave {
	return d.waves[w.GroupIndex()*d.per+w.Index()]
}

// Instruction follows what is undefined through an instruction. Nearly all read
// what is defined, and write what is.
func (d *initcheck) Instruction(w emu.Wave, in *isa.Inst) {
	at := d.table.at(w.PC())
	p := *at
	if p == nil {
		p = newInitInst(in)
		*at = p
	}
	s := d.wave(w)
	s.inst, s.nth = p, 0
	if !p.always && (!p.readsSCC || s.scc.bits == 0) && (!s.bad.meets(&p.reads) || !s.anyBad(&p.reads, p.lanes.of(w))) {
		if s.bad.meets(&p.writes) {
			s.define(&p.writes, p.written(w))
		}
		if p.writesSCC {
			s.scc = taint{}
		}
		return
	}
	p.follow(d, w, s)
}

// neverWritten is the origin of register n's first state.
func (d *initcheck) neverWritten(n int, name func() string) uint32 {
	if d.registers[n] == 0 {
		d.registers[n] = uint32(len(d.origins))
		d.origins = append(d.origins, initOrigin{register: name()})
	}
	return d.registers[n]
}

// find reports a use of what is undefined.
func (d *initcheck) find(k Kind, w emu.Wave, lane int, t taint, f Finding) {
	o := &d.origins[t.origin]
	if o.pc != 0 && d.c.known(Initcheck, k, w.PC(), o.pc) || o.pc == 0 && d.c.known(Initcheck, k, w.PC()) {
		return
	}
	from := ""
	switch {
	case o.pc != 0:
		from = o.text
	case o.register != "":
		from = o.register + ", which was never written"
	default:
		from = "a register that was never written"
	}
	verb := "it comes from"
	if t.depth == fromResult {
		verb = "it was computed from"
	}
	f.Tool, f.Kind = Initcheck, k
	f.Message += ": " + verb + " " + from
	f.Sites = []Site{d.c.site(w, lane)}
	if o.pc != 0 {
		f.Sites = append(f.Sites, d.c.siteOf(o.place, -1))
	}
	d.c.report(f)
}

// branch reports where the wave goes on what is undefined.
func (d *initcheck) branch(w emu.Wave, t taint, what string) {
	d.find(UninitBranch, w, -1, t, Finding{Message: fmt.Sprintf("%s is undefined and decides where the wave goes on", what)})
}

// exec reports lanes whose being active is undefined.
func (d *initcheck) exec(w emu.Wave, t taint) {
	d.find(UninitExec, w, bits.TrailingZeros64(t.bits), t, Finding{Message: fmt.Sprintf("%d bits of exec are undefined", bits.OnesCount64(t.bits))})
}
