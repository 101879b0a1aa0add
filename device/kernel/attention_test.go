package kernel

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/holdfast-llm/holdfast/amd/emu"
	"github.com/holdfast-llm/holdfast/attn"
)

// lane is a way to compute attention: one launch or two.
type lane struct {
	name  string
	exact arithmetic
	q8    bool
	takes func(p *attention) bool
	run   func(t *testing.T, r *rig, p *attention, o operands, out, q8 buffer)
}

// deep leaves out lanes whose parts are those of others where computing takes
// long: those without the pack, and scalar arithmetic in one launch.
func (l lane) deep(p *attention) bool {
	return l.takes(p) && (p.keys() < 300 || !p.packed() || l.name == "serial" || l.name == "split q8" || l.exact == inF16 && l.name != "fused tile")
}

func always(*attention) bool      { return true }
func (p *attention) tiled() bool  { return p.headDim == p.vDim && (p.headDim == 64 || p.headDim == 128) }
func (p *attention) packed() bool { return p.group*p.vDim%128 == 0 }

var lanes = []lane{
	{"serial", inF32, false, always, func(t *testing.T, r *rig, p *attention, o operands, out, _ buffer) {
		r.run(t, p.serial(o, out))
	}},
	{"split", inF32, false, always, runSplit(false, false)},
	{"split q8", inF32, true, always, runSplit(false, true)},
	{"split tile", inF16, false, (*attention).tiled, runSplit(true, false)},
	{"fused", inF32, false, always, runFused(false, false)},
	{"fused q8", inF32, true, (*attention).packed, runFused(false, true)},
	{"fused tile", inF16, false, (*attention).tiled, runFused(true, false)},
	{"fused tile q8", inF16, true, func(p *attention) bool { return p.tiled() && p.packed() }, runFused(true, true)},
}

// serial is the launch of the serial kernel.
func (p *attention) serial(o operands, out buffer) Launch {
	return AttentionSerial{
		Q: o.q, K: o.k, V: o.v, Mask: o.mask, Pos: o.pos, Slot: o.slot, Out: out.ptr(),
		KVHeads: uint32(p.kvHeads), Group: uint32(p.group), HeadDim: uint32(p.headDim), VDim: uint32(p.vDim),
		Context: uint32(p.context), Window: uint32(p.window),
		MaskKeys: uint32(p.maskKeys()), MaskF32: p.maskFlag(), Scale: p.scale(),
	}.Launch(p.rows())
}

// reduceQ8 is the launch of the reducer that the depth asks for.
func (p *attention) reduceQ8(o operands, states, out, q8 buffer) Launch {
	return AttentionReduceQ8{
		States: states.ptr(), Pos: o.pos, Out: out.ptr(), Q8: q8.ptr(),
		KVHeads: uint32(p.kvHeads), Group: uint32(p.group), VDim: uint32(p.vDim), Window: uint32(p.window), Splits: uint32(p.splits()),
	}.Launch(p.rows(), p.keys())
}

// runSplit is a produce launch and the reducer that the depth asks for.
func runSplit(tile, q8 bool) func(*testing.T, *rig, *attention, operands, buffer, buffer) {
	return func(t *testing.T, r *rig, p *attention, o operands, out, packed buffer) {
		states := r.garbage(t, "states", p.stateBytes())
		a := p.produce(o, states.ptr())
		l, ok := a.Launch(p.rows()), true
		if tile {
			l, ok = a.LaunchTile(p.rows())
		}
		if !ok {
			t.Fatal("no kernel on matrix units")
		}
		r.run(t, l)
		if q8 {
			r.run(t, p.reduceQ8(o, states, out, packed))
			return
		}
		r.run(t, AttentionReduce{states.ptr(), o.pos, out.ptr(), a.KVHeads, a.Group, a.VDim, a.Window, a.Splits}.Launch(p.rows(), p.keys()))
	}
}

// runFused is one launch; the counters and the status are 0 behind it, too.
func runFused(tile, q8 bool) func(*testing.T, *rig, *attention, operands, buffer, buffer) {
	return func(t *testing.T, r *rig, p *attention, o operands, out, packed buffer) {
		states := r.garbage(t, "states", p.stateBytes())
		counters := r.bytes(t, "counters", make([]byte, 4*p.rows()*p.kvHeads))
		status := r.bytes(t, "status", make([]byte, 4))
		l, ok := p.fused(o, states, counters, status, out, packed, tile, q8)
		if !ok {
			t.Fatal("no kernel on matrix units")
		}
		r.run(t, l)
		if !bytes.Equal(counters.Data, make([]byte, len(counters.Data))) || !bytes.Equal(status.Data, make([]byte, 4)) {
			t.Errorf("counters % x, status % x", counters.Data, status.Data)
		}
	}
}

// fused is the fused launch of a form.
func (p *attention) fused(o operands, states, counters, status, out, packed buffer, tile, q8 bool) (Launch, bool) {
	a := p.produce(o, states.ptr())
	f := AttentionFused{
		a.Q, a.K, a.V, a.Mask, a.Pos, a.Slot, a.States, counters.ptr(), status.ptr(), out.ptr(),
		a.KVHeads, a.Group, a.HeadDim, a.VDim, a.Context, a.Window, a.Splits, a.MaskKeys, a.MaskF32, a.Scale,
	}
	g := AttentionFusedQ8{
		f.Q, f.K, f.V, f.Mask, f.Pos, f.Slot, f.States, f.Counters, f.Status, f.Out, packed.ptr(),
		f.KVHeads, f.Group, f.HeadDim, f.VDim, f.Context, f.Window, f.Splits, f.MaskKeys, f.MaskF32, f.Scale,
	}
	switch {
	case tile && q8:
		return g.LaunchTile(p.rows())
	case tile:
		return f.LaunchTile(p.rows())
	case q8:
		return g.Launch(p.rows()), true
	}
	return f.Launch(p.rows()), true
}

// attend runs a lane and holds its results against the reference, and its pack
// against that of its own results.
func (l lane) attend(t *testing.T, r *rig, p *attention) {
	t.Helper()
	out := r.garbage(t, "out", 4*p.rows()*p.channels())
	q8 := r.garbage(t, "q8", p.rows()*Q8_1Bytes(p.channels()))
	l.run(t, r, p, r.operands(t, p), out, q8)
	got := out.asFloats()
	p.check(t, got, l.exact)
	if l.q8 {
		p.samePacks(t, q8, got)
	}
}

// samePacks holds packed rows against packs of the floats.
func (p *attention) samePacks(t *testing.T, q8 buffer, out []float32) {
	t.Helper()
	n, size := p.channels(), Q8_1Bytes(p.channels())
	for row := range p.rows() {
		samePack(t, fmt.Sprintf("row %d", row), q8.Data[row*size:(row+1)*size], out[row*n:(row+1)*n])
	}
}

// smallShapes are problems that run in every memory mode.
func smallShapes() map[string]*attention {
	left := func(row, key int) bool { return key < 64 || key >= 128 && key < 192 }
	return map[string]*attention{
		"2 heads a KV head of 64, rows of 1, 63 and 65 keys": {kvHeads: 2, group: 2, headDim: 64, vDim: 64, pos: []int32{0, 62, 64}},
		"5 heads a KV head of 16, no multiple of 128":        {kvHeads: 1, group: 5, headDim: 16, vDim: 16, pos: []int32{63, 256}, reserved: 2},
		"values shorter than keys":                           {kvHeads: 1, group: 3, headDim: 48, vDim: 32, pos: []int32{69}},
		"values longer than a tile":                          {kvHeads: 1, group: 1, headDim: 32, vDim: 144, pos: []int32{65}},
		"a window inside the first splits":                   {kvHeads: 1, group: 2, headDim: 64, vDim: 64, pos: []int32{9, 150, 300}, window: 100},
		"a mask of halfs with blocks left out":               (&attention{kvHeads: 1, group: 2, headDim: 64, vDim: 64, pos: []int32{199, 63, 130}}).withMask(0.3, left),
		"a mask of floats":                                   (&attention{kvHeads: 1, group: 7, headDim: 64, vDim: 64, pos: []int32{79}, maskF32: true}).withMask(0.1, nil),
	}
}

func TestEveryLaneIsTheReference(t *testing.T) {
	problems := smallShapes()
	for _, p := range problems {
		p.seed = 1
		p.fill()
	}
	for _, wave := range []int{32, 64} {
		everyMode(t, wave, func(t *testing.T, r *rig) {
			for name, p := range problems {
				for _, l := range lanes {
					if l.takes(p) {
						t.Run(name+"/"+l.name, func(t *testing.T) { l.attend(t, r, p) })
					}
				}
			}
		})
	}
}

// States are compared themselves, split by split, those of blocks that are left
// out altogether to the bit.
func TestPartialStatesAreTheReferences(t *testing.T) {
	for _, wave := range []int{32, 64} {
		everyMode(t, wave, func(t *testing.T, r *rig) {
			for name, p := range smallShapes() {
				p.seed = 2
				p.fill()
				for _, tile := range []bool{false, true} {
					if tile && !p.tiled() {
						continue
					}
					t.Run(fmt.Sprintf("%s/tile=%t", name, tile), func(t *testing.T) {
						states := r.garbage(t, "states", p.stateBytes())
						a := p.produce(r.operands(t, p), states.ptr())
						exact, l := inF32, a.Launch(p.rows())
						if tile {
							exact = inF16
							l, _ = a.LaunchTile(p.rows())
						}
						r.run(t, l)
						p.checkStates(t, states.asFloats(), exact)
					})
				}
			}
		})
	}
}

// The kernels' splits are package attn's, wherever their lengths change.
func TestSplitsAreThoseOfPackageAttn(t *testing.T) {
	deep(t, func(t *testing.T, r *rig) {
		for _, window := range []int{0, 1500} {
			p := (&attention{kvHeads: 1, group: 1, headDim: 64, vDim: 64, pos: []int32{2047, 2048, 3100}, window: window, seed: 8}).fill()
			for tile, exact := range map[bool]arithmetic{false: inF32, true: inF16} {
				states := r.garbage(t, "states", p.stateBytes())
				a := p.produce(r.operands(t, p), states.ptr())
				l := a.Launch(p.rows())
				if tile {
					l, _ = a.LaunchTile(p.rows())
				}
				r.run(t, l)
				p.checkStates(t, states.asFloats(), exact)
			}
		}
	})
}

// checkStates holds all states against the reference. Those of splits that a row
// has not are as they were.
func (p *attention) checkStates(t *testing.T, got []float32, a arithmetic) {
	t.Helper()
	size := attn.StateFloats(p.group, p.vDim)
	for row := range p.rows() {
		first, end := p.span(row)
		for head := range p.kvHeads * p.group {
			for split := range p.splits() {
				g := head % p.group
				s := got[((row*p.kvHeads+head/p.group)*p.splits()+split)*size:][:size]
				m, l, o := float64(s[g]), float64(s[p.group+g]), s[2*p.group+g*p.vDim:][:p.vDim]
				where := fmt.Sprintf("row %d, head %d, split %d", row, head, split)
				if split >= attn.Splits(first, end) {
					if !math.IsNaN(m) || !math.IsNaN(l) {
						t.Fatalf("%s: written, the row has no such split", where)
					}
					continue
				}
				base := attn.SplitOf(first) + split
				e := p.reference(row, head, max(first, attn.SplitStart(base)), min(end, attn.SplitStart(base+1)))
				if e.keys == 0 {
					if !math.IsInf(m, -1) || l != 0 || !identical(o, make([]float32, p.vDim)) {
						t.Fatalf("%s: maximum %v, sum %v of no keys", where, m, l)
					}
					continue
				}
				mBound, lBound, oBound := p.bounds(e, a)
				m *= math.Ln2
				if d := math.Abs(m - e.max); !(d <= mBound+math.Abs(m)*0x1p-23) {
					t.Fatalf("%s: maximum %v, want %v within %v", where, m, e.max, mBound)
				}
				shift := math.Exp(m - e.max) // the reference is relative to its own maximum
				if d := math.Abs(l*shift - e.sum); !(d <= lBound) {
					t.Fatalf("%s: sum %v, want %v within %v", where, l*shift, e.sum, lBound)
				}
				for i, x := range o {
					if d := math.Abs(float64(x)*shift - e.out[i]); !(d <= oBound(i)) {
						t.Fatalf("%s: output %d is %v, want %v within %v", where, i, float64(x)*shift, e.out[i], oBound(i))
					}
				}
			}
		}
	}
}

func identical(a, b []float32) bool {
	for i := range a {
		if math.Float32bits(a[i]) != math.Float32bits(b[i]) {
			return false
		}
	}
	return len(a) == len(b)
}

// deep runs f on a device with coherent memory, of each wave size.
func deep(t *testing.T, f func(t *testing.T, r *rig)) {
	for _, wave := range []int{32, 64} {
		t.Run(fmt.Sprintf("wave%d", wave), func(t *testing.T) {
			t.Parallel()
			dev, err := emu.New(emu.Config{Mode: emu.Coherent, Seed: 1, Poison: true})
			if err != nil {
				t.Fatal(err)
			}
			f(t, &rig{dev: dev, kernels: map[string]*emu.Kernel{}, wave: wave})
		})
	}
}

// Every lane at the depths where blocks, splits and reducers change.
func TestEveryLaneIsTheReferenceAtEveryDepth(t *testing.T) {
	depths := []int{1, 63, 64, 65, 256, 257, 2048, 2049, 2113, 2304, 4097, 32769}
	problems := map[int]*attention{}
	for _, keys := range depths {
		problems[keys] = (&attention{kvHeads: 1, group: 2, headDim: 64, vDim: 64, pos: []int32{int32(keys - 1)}, seed: uint64(keys)}).fill()
	}
	deep(t, func(t *testing.T, r *rig) {
		for keys, p := range problems {
			if testing.Short() && keys > 4097 {
				continue
			}
			for _, l := range lanes {
				if l.deep(p) {
					t.Run(fmt.Sprintf("%d keys/%s", keys, l.name), func(t *testing.T) { l.attend(t, r, p) })
				}
			}
		}
	})
}

// Every lane for the head shapes of real models, at a depth for each reducer.
func TestEveryLaneIsTheReferenceForTheHeadsOfModels(t *testing.T) {
	shapes := []struct {
		name                    string
		kvHeads, group, headDim int
		keys                    []int
	}{
		{"16 heads, 8 KV heads of 128", 8, 2, 128, []int{65, 257}},
		{"32 heads, 4 KV heads of 128", 4, 8, 128, []int{256, 2113}},
		{"8 heads, 2 KV heads of 64", 2, 4, 64, []int{64, 2048, 2304}},
		{"1 head a KV head", 2, 1, 128, []int{257}},
		{"5 heads a KV head", 1, 5, 128, []int{257}},
		{"7 heads a KV head", 1, 7, 64, []int{257}},
		{"16 heads a KV head", 1, 16, 128, []int{65}},
		{"17 heads a KV head", 1, 17, 64, []int{65}},
		{"heads of 576 over values of 512", 1, 16, 576, []int{70}},
	}
	problems := map[string]*attention{}
	for _, s := range shapes {
		for _, keys := range s.keys {
			p := &attention{kvHeads: s.kvHeads, group: s.group, headDim: s.headDim, vDim: min(s.headDim, 512), pos: []int32{int32(keys - 1)}, seed: uint64(keys)}
			problems[fmt.Sprintf("%s, %d keys", s.name, keys)] = p.fill()
		}
	}
	deep(t, func(t *testing.T, r *rig) {
		for name, p := range problems {
			for _, l := range lanes {
				if l.deep(p) {
					t.Run(name+"/"+l.name, func(t *testing.T) { l.attend(t, r, p) })
				}
			}
		}
	})
}

// A mask may have numbers so low that they are infinite in base 2: they weigh
// keys, and only infinity leaves one out.
func TestTheLowestMaskIsNoInfinity(t *testing.T) {
	deep(t, func(t *testing.T, r *rig) {
		for _, mask := range []float32{-math.MaxFloat32, float32(math.Inf(-1))} {
			p := &attention{kvHeads: 1, group: 2, headDim: 64, vDim: 64, pos: []int32{19}, maskF32: true}
			p.withMask(0, nil)
			for i := range p.mask {
				p.mask[i] = mask
			}
			p.fill()
			for _, l := range lanes {
				out, q8 := r.garbage(t, "out", 4*p.channels()), r.garbage(t, "q8", Q8_1Bytes(p.channels()))
				l.run(t, r, p, r.operands(t, p), out, q8)
				for i, x := range out.asFloats() {
					want := 0.0 // nothing is attended, or every key alike
					for key := 0; mask > float32(math.Inf(-1)) && key < 20; key++ {
						want += half(p.v[key*64+i%64]) / 20
					}
					if math.Abs(float64(x)-want) > 0x1p-10 {
						t.Fatalf("%s, mask %v: element %d is %v, want %v", l.name, mask, i, x, want)
					}
				}
			}
		}
	})
}

// What is wrong with an attended key or value, or with a query, is not lost.
func TestWhatIsNoNumberShowsInTheResult(t *testing.T) {
	deep(t, func(t *testing.T, r *rig) {
		spoil := map[string]func(p *attention){
			"a key of NaN":        func(p *attention) { p.k[70*64+3] = 0x7e00 },
			"a key of infinity":   func(p *attention) { p.k[70*64+3] = 0x7c00 },
			"a value of NaN":      func(p *attention) { fill(p.v[70*64:][:64], 0x7e00) },
			"a value of infinity": func(p *attention) { fill(p.v[70*64:][:64], 0x7c00) },
			"a query of NaN":      func(p *attention) { p.q[5] = float32(math.NaN()) },
		}
		for name, f := range spoil {
			p := (&attention{kvHeads: 1, group: 1, headDim: 64, vDim: 64, pos: []int32{99}, seed: 4}).fill()
			p.q[3] = 1 // an infinite key gives an infinite score
			f(p)
			for _, l := range lanes {
				if !l.takes(p) {
					continue
				}
				out, q8 := r.garbage(t, "out", 4*p.channels()), r.garbage(t, "q8", Q8_1Bytes(p.channels()))
				l.run(t, r, p, r.operands(t, p), out, q8)
				for i, x := range out.asFloats() {
					if x-x == 0 {
						t.Fatalf("%s, %s: element %d is %v", name, l.name, i, x)
					}
				}
			}
		}
	})
}

func fill(x []uint16, v uint16) {
	for i := range x {
		x[i] = v
	}
}

// A counter that is not 0 before the launch is not 0 after it, or the status is
// not, whatever it was.
func TestAWrongCounterIsReported(t *testing.T) {
	for _, wave := range []int{32, 64} {
		everyMode(t, wave, func(t *testing.T, r *rig) {
			p := (&attention{kvHeads: 2, group: 1, headDim: 64, vDim: 64, pos: []int32{191, 10}, seed: 5}).fill()
			const splits = 3
			o := r.operands(t, p)
			for _, tile := range []bool{false, true} {
				for _, wrong := range []uint32{1, splits - 1, splits, math.MaxUint32 - 1, math.MaxUint32} {
					counters := make([]byte, 4*4)
					binary.LittleEndian.PutUint32(counters[4:], wrong)
					out, count, status := r.garbage(t, "out", 4*p.rows()*p.channels()), r.bytes(t, "counters", counters), r.bytes(t, "status", make([]byte, 4))
					l, _ := p.fused(o, r.garbage(t, "states", p.stateBytes()), count, status, out, buffer{&emu.Buffer{}}, tile, false)
					r.run(t, l)
					s, c := binary.LittleEndian.Uint32(status.Data), count.asInts()
					if s != 0 && s != 2 {
						t.Errorf("counter %d: status %d, want 2 or 0", wrong, s)
					}
					if s == 0 && c[1] == 0 {
						t.Errorf("counter %d: nothing is reported", wrong)
					}
					if c[0] != 0 || c[2] != 0 || c[3] != 0 {
						t.Errorf("counter %d: the others are %v", wrong, c)
					}
				}
			}
		})
	}
}

// The last workgroup reads what others, interleaved with it, have just stored.
func TestTheLastWorkgroupSeesEveryState(t *testing.T) {
	p := (&attention{kvHeads: 1, group: 4, headDim: 64, vDim: 64, pos: []int32{199}, seed: 6}).fill()
	for _, wave := range []int{32, 64} {
		for seed := range uint64(4) {
			dev, err := emu.New(emu.Config{
				Mode: emu.Relaxed, Seed: seed, Poison: true, ComputeUnits: 4,
				Schedule: emu.Schedule{Waves: emu.Random, Groups: emu.Shuffled, Quantum: 8, Resident: 8},
			})
			if err != nil {
				t.Fatal(err)
			}
			r := &rig{dev: dev, kernels: map[string]*emu.Kernel{}, wave: wave}
			for _, l := range lanes {
				if strings.HasPrefix(l.name, "fused") {
					t.Run(fmt.Sprintf("wave%d/seed=%d/%s", wave, seed, l.name), func(t *testing.T) { l.attend(t, r, p) })
				}
			}
		}
	}
}
