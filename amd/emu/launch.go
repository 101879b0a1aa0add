package emu

import (
	"math/bits"

	"github.com/holdfast-llm/holdfast/amd/isa"
)

// The state in which waves start.

// groupID is the id of the index-th workgroup, x fastest.
func (d *dispatch) groupID(index uint64) [3]uint32 {
	x, y := uint64(d.Groups[0]), uint64(d.Groups[1])
	return [3]uint32{uint32(index % x), uint32(index / x % y), uint32(index / x / y)}
}

// newGroup makes the index-th workgroup, in memory of one that has ended if
// there is one. Its size is smaller at the far ends of a grid that is not a
// multiple of the workgroup; work-items are then numbered within that size.
func (d *dispatch) newGroup(index uint64, old *group) *group {
	g := old
	if g == nil {
		g = &group{d: d, lds: make([]byte, d.LDS)}
	}
	g.index, g.id = int(index), d.groupID(index)
	g.waiting, g.started = g.waiting[:0], 0
	threads := uint32(1)
	for i := range 3 {
		g.size[i] = min(d.Workgroup[i], d.Grid[i]-g.id[i]*d.Workgroup[i])
		threads *= g.size[i]
	}
	n := uint32(d.kernel.wave)
	waves := int((threads + n - 1) / n)
	for len(g.waves) < waves {
		g.waves = append(g.waves, d.newWave(g))
	}
	g.waves = g.waves[:waves]
	g.live = waves
	d.fillLDS(g)
	for i, w := range g.waves {
		w.reset(i)
	}
	return g
}

func (d *dispatch) newWave(g *group) *wave {
	k := d.kernel
	w := &wave{
		n: int(k.wave), d: d, group: g, obs: d.obs,
		vgpr: make([]lanes, k.vgprs), lane: int(d.Scratch),
	}
	w.scratch = make([]byte, int(d.Scratch)*w.n)
	return w
}

func (d *dispatch) fillLDS(g *group) {
	if !d.dev.config.Poison {
		clear(g.lds)
		return
	}
	s := poison(d.dev.config.Seed, uint64(g.index), 1<<32)
	for i := range g.lds {
		g.lds[i] = byte(s.next() >> 24)
	}
}

// reset gives the wave the state in which the i-th wave of its workgroup
// starts.
func (w *wave) reset(i int) {
	d, g := w.d, w.group
	desc := &d.kernel.Descriptor
	w.id = i
	w.pc, w.at, w.block = d.kernel.EntryPC(), d.kernel.EntryPC(), &noBlock
	w.scc, w.mode, w.trapStatus, w.flags = false, d.mode, 0, 0
	w.status, w.total, w.aside = running, 0, false
	w.held, w.replaying = w.held[:0], false
	w.setBreaks(d.dev.config.Schedule.Preempt)
	w.sgpr = [128]uint32{}
	if d.dev.config.Poison {
		w.poison()
	} else {
		clear(w.vgpr)
		clear(w.scratch)
	}
	w.place()
	w.memoryReset()

	for _, u := range d.user {
		w.sgpr[u.reg] = u.value
	}
	reg := desc.UserSGPRCount()
	for j, wanted := range desc.WorkgroupIDs() {
		if wanted {
			w.sgpr[reg] = g.id[j]
			reg++
		}
	}
	if desc.WorkgroupInfo() {
		w.sgpr[reg] = w.info()
	}

	threads := g.size[0] * g.size[1] * g.size[2]
	first := uint32(i * w.n)
	w.setExec(w.all())
	if rest := threads - first; rest < uint32(w.n) {
		w.setExec(1<<rest - 1)
	}
	ids := desc.WorkitemIDs()
	for m := w.exec(); m != 0 && len(w.vgpr) > 0; m &= m - 1 {
		l := uint32(bits.TrailingZeros64(m))
		t := first + l
		v := t % g.size[0]
		if ids > 1 {
			v |= t / g.size[0] % g.size[1] << 10
		}
		if ids > 2 {
			v |= t / g.size[0] / g.size[1] << 20
		}
		w.vgpr[0][l] = v
	}
}

// info is the SGPR with information on the workgroup: whether this is its first
// wave, and how many waves there are.
func (w *wave) info() uint32 {
	v := uint32(len(w.group.waves))
	if w.id == 0 {
		v |= 1 << 31
	}
	return v
}

// place puts the wave on a compute unit. In WGP mode a workgroup is on a pair of
// them and its waves alternate.
func (w *wave) place() {
	units := w.d.dev.config.ComputeUnits
	if w.d.kernel.Descriptor.WGPMode() {
		w.cu = w.group.index%(units/2)*2 + w.id&1
		return
	}
	w.cu = w.group.index % units
}

// poison fills registers and scratch with a pattern.
func (w *wave) poison() {
	s := poison(w.d.dev.config.Seed, uint64(w.group.index), uint64(w.id))
	for i := range isa.RegVCCHi + 1 {
		w.sgpr[i] = uint32(s.next())
	}
	for i := range w.vgpr {
		for l := range w.vgpr[i][:w.n] {
			w.vgpr[i][l] = uint32(s.next())
		}
	}
	for i := range w.scratch {
		w.scratch[i] = byte(s.next() >> 24)
	}
}

// random is a small generator (splitmix64): its whole state is one number.
type random uint64

func (r *random) next() uint64 {
	*r += 0x9e3779b97f4a7c15
	z := uint64(*r)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// below is a number from 0 to n-1.
func (r *random) below(n int) int {
	hi, _ := bits.Mul64(r.next(), uint64(n))
	return int(hi)
}

// poison is a generator for the registers of a wave.
func poison(seed, group, wave uint64) random {
	r := random(seed)
	r = random(r.next() ^ group)
	r = random(r.next() ^ wave)
	return r
}
