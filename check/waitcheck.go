package check

import (
	"fmt"
	"math/bits"

	"github.com/holdfast-llm/holdfast/amd/emu"
	"github.com/holdfast-llm/holdfast/amd/isa"
)

// What waitcheck finds.
const (
	// UseBeforeWait: an instruction reads a register that a load has not filled.
	UseBeforeWait Kind = "wait-use"
	// OverwriteBeforeWait: an instruction writes a register that a load will fill
	// later.
	OverwriteBeforeWait Kind = "wait-overwrite"
)

var waitcheckKinds = map[Kind]KindInfo{
	UseBeforeWait: {
		Waitcheck, "a register is read while the load that fills it need not have returned",
		"wait for the load's counter before the instruction",
	},
	OverwriteBeforeWait: {
		Waitcheck, "a register is written while a load that has not returned may still fill it",
		"wait for the load's counter before the instruction, or use another register",
	},
}

// waitcheck finds registers that are used while something is on its way into
// them. What is on its way, and until when:
//
//   - vector loads, and atomics that return (vmcnt): they return in order, so
//     that a wait for all but n covers each that n others came after;
//   - LDS (lgkmcnt): in order among themselves. With scalar loads under way too a
//     wait for all but n still leaves at most n of LDS;
//   - scalar loads and s_sendmsg_rtn (lgkmcnt): in any order, so that only a wait
//     for none covers one;
//   - flat loads count in vmcnt and in lgkmcnt; which of the two must be waited for
//     is seen from where their addresses are.
//
// An in-order load into what an earlier one of its kind will fill is no finding:
// it fills it later. Only lanes that the load fills and the instruction looks at
// matter. The registers that an instruction reads, a store's data and all
// addresses, are read when it is issued on gfx11: they can be overwritten at
// once. (exports and LDS-direct loads, which expcnt is for, are instructions of
// graphics that the device does not run.)
//
// After a finding the load counts as waited for, and all that such a wait would
// have covered with it: there is one finding for each wait that is missing.
type waitcheck struct {
	emu.NopObserver
	c     *Checker
	table instTable[usage]
	waves []*waitWave // by number in the dispatch
	free  []*waitWave
	per   int // waves of a whole workgroup
}

// waitWave is what a wave has under way.
type waitWave struct {
	issued [waitOrders]uint64
	loads  []waitLoad
	busy   regSet // all that the loads fill
	flat   bool   // the last load is a flat one whose addresses are not known yet
}

// The orders in which loads return.
const (
	waitVector = iota
	waitLocal
	waitScalar // none at all
	waitOrders
)

// waitLoad is a load that has not been waited for.
type waitLoad struct {
	place
	fills regSet
	lanes uint64
	// needs has a bit for each order whose wait is still needed, number is the
	// load's in it.
	needs  uint8
	number [waitOrders]uint64
}

func newWaitcheck(c *Checker, _ Options) detector { return &waitcheck{c: c} }

// DispatchBegin forgets what was.
func (d *waitcheck) DispatchBegin(l *emu.Launched) {
	d.table.begin(l.Kernel)
	d.per = wavesPerGroup(l)
	clear(d.waves)
}

// WaveBegin starts to follow a wave.
func (d *waitcheck) WaveBegin(w emu.Wave) {
	n := w.GroupIndex()*d.per + w.Index()
	for len(d.waves) <= n {
		d.waves = append(d.waves, nil)
	}
	v := &waitWave{}
	if n := len(d.free); n > 0 {
		v, d.free = d.free[n-1], d.free[:n-1]
		*v = waitWave{loads: v.loads[:0]}
	}
	d.waves[n] = v
}

// WaveEnd lets go of a wave: nobody can use its registers any more.
func (d *waitcheck) WaveEnd(w emu.Wave) {
	at := &d.waves[w.GroupIndex()*d.per+w.Index()]
	d.free = append(d.free, *at)
	*at = nil
}

// Instruction compares registers with those that are to be filled, and notes what
// it starts.
func (d *waitcheck) Instruction(w emu.Wave, in *isa.Inst) {
	at := d.table.at(w.PC())
	u := *at
	if u == nil {
		u = usageOf(in)
		*at = u
	}
	v := d.waves[w.GroupIndex()*d.per+w.Index()]
	if len(v.loads) > 0 && (u.relative || v.busy.meets(&u.reads) || v.busy.meets(&u.writes)) {
		d.compare(w, v, u)
	}
	if u.counted != 0 {
		v.start(w, u)
	}
}

// start counts an instruction, and notes what it fills.
func (v *waitWave) start(w emu.Wave, u *usage) {
	v.flat = false
	l := waitLoad{needs: u.returns}
	for order := range waitOrders {
		if u.counted&(1<<order) != 0 {
			v.issued[order]++
		}
	}
	if u.returns == 0 {
		return
	}
	l.lanes = w.Exec()
	if u.returns == 1<<waitScalar {
		l.lanes = ^uint64(0)
	}
	if l.lanes == 0 {
		return
	}
	l.place, l.fills, l.number = placeOf(w), u.writes, v.issued
	v.flat = u.in.Op.Format == isa.FLAT
	if v.flat {
		l.needs = 0
	}
	v.loads = append(v.loads, l)
	v.busy.join(&l.fills)
}

// Access says where a flat load's addresses are.
func (d *waitcheck) Access(a *emu.Access) {
	if a.Inst.Op.Format != isa.FLAT {
		return
	}
	v := d.waves[a.Wave.GroupIndex()*d.per+a.Wave.Index()]
	if !v.flat {
		return
	}
	order := waitVector
	if a.Space == emu.LDS {
		order = waitLocal
	}
	v.loads[len(v.loads)-1].needs |= 1 << order
}

// Wait completes what was waited for.
func (d *waitcheck) Wait(w emu.Wave, n emu.Counters) {
	v := d.waves[w.GroupIndex()*d.per+w.Index()]
	if len(v.loads) == 0 {
		return
	}
	v.waited(waitVector, n.Loads)
	v.waited(waitLocal, n.Scalar)
	if n.Scalar == 0 {
		v.waited(waitScalar, 0)
	}
	v.settle()
}

// waited leaves at most n of an order under way; n < 0 leaves all.
func (v *waitWave) waited(order, n int) {
	if n < 0 {
		return
	}
	for i := range v.loads {
		if l := &v.loads[i]; l.number[order]+uint64(n) <= v.issued[order] {
			l.needs &^= 1 << order
		}
	}
}

// settle forgets the loads that have returned.
func (v *waitWave) settle() {
	kept := v.loads[:0]
	v.busy = regSet{}
	for _, l := range v.loads {
		if l.needs != 0 {
			kept = append(kept, l)
			v.busy.join(&l.fills)
		}
	}
	v.loads = kept
}

// compare judges an instruction whose registers are among those to be filled.
func (d *waitcheck) compare(w emu.Wave, v *waitWave, u *usage) {
	reads, writes := u.touched(w)
	lanes := u.lanes.of(w)
	for again := true; again; {
		again = false
		for i := range v.loads {
			l := &v.loads[i]
			kind, regs := UseBeforeWait, &reads
			if !l.meets(regs, lanes) {
				kind, regs = OverwriteBeforeWait, &writes
				if !l.meets(regs, lanes) || l.before(u) {
					continue
				}
			}
			d.found(w, v, u, l, kind, regs, lanes)
			again = true
			break
		}
	}
}

// meets says whether the load fills one of the registers in one of the lanes.
func (l *waitLoad) meets(r *regSet, lanes uint64) bool {
	if l.needs == 0 || !l.fills.meets(r) {
		return false
	}
	return l.lanes&lanes != 0 || l.fills.meetsScalar(r)
}

// before says that the load fills its registers before the instruction u does,
// since they return in one order.
func (l *waitLoad) before(u *usage) bool {
	return u.returns != 0 && l.needs == u.returns && l.needs&(l.needs-1) == 0 && l.needs != 1<<waitScalar
}

// found reports a load that has not returned, and goes on as if the wait that is
// missing were there.
func (d *waitcheck) found(w emu.Wave, v *waitWave, u *usage, l *waitLoad, kind Kind, regs *regSet, lanes uint64) {
	missing := ""
	for order := range waitOrders {
		if l.needs&(1<<order) == 0 {
			continue
		}
		if missing != "" {
			missing += " "
		}
		counter := "lgkmcnt"
		if order == waitVector {
			counter = "vmcnt"
		}
		missing += fmt.Sprintf("%s(%d)", counter, v.left(l, order))
	}
	if !d.c.known(Waitcheck, kind, w.PC(), l.pc) {
		name, vector := l.fills.common(regs)
		verb, lane := "read", -1
		if kind == OverwriteBeforeWait {
			verb = "overwritten"
		}
		if vector {
			lane = bits.TrailingZeros64(l.lanes & lanes)
		}
		load := "load"
		if in, ok := d.c.inst(l.pc); ok {
			load = in.Op.Name
		}
		d.c.report(Finding{
			Tool: Waitcheck, Kind: kind,
			Message: fmt.Sprintf("%s is %s while the %s at %#x, which fills it, need not have returned", name, verb, load, d.c.pc(l.place)),
			Sites:   []Site{d.c.site(w, lane), d.c.siteOf(l.place, -1)},
			Missing: fmt.Sprintf("s_waitcnt %s before the %s at %#x", missing, u.in.Op.Name, d.c.pc(placeOf(w))),
		})
	}
	needs, number := l.needs, l.number
	for order := range waitOrders {
		if needs&(1<<order) != 0 {
			v.waited(order, int(v.issued[order]-number[order]))
			if order == waitScalar { // which waits for all of LDS too
				v.waited(waitLocal, 0)
			}
		}
	}
	v.settle()
}

// left is how many of an order may be under way when a load has returned.
func (v *waitWave) left(l *waitLoad, order int) uint64 {
	if order == waitScalar {
		return 0
	}
	return v.issued[order] - l.number[order]
}
