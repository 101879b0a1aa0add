package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/holdfast-llm/holdfast/attn"
)

// states are made-up partial states, some of them identities.
type states struct {
	p *attention
	x []float32
}

func randomStates(p *attention, seed uint64) states {
	rng := rand.New(rand.NewPCG(seed, 3))
	s := states{p, make([]float32, p.stateBytes()/4)}
	for i := range s.x {
		s.x[i] = float32(math.NaN()) // what no row has
	}
	for row := range p.rows() {
		for head := range p.kvHeads * p.group {
			for split := range attn.Splits(p.span(row)) {
				m, l, o := s.at(row, head, split)
				*m, *l = float32(20*rng.NormFloat64()), 1+64*rng.Float32()
				for i := range o {
					o[i] = *l * float32(rng.NormFloat64())
				}
				if rng.IntN(4) == 0 || head == 0 { // head 0 attends nothing
					*m, *l = float32(math.Inf(-1)), 0
					clear(o)
				}
			}
		}
	}
	return s
}

// at is a head's maximum, sum and outputs.
func (s states) at(row, head, split int) (m, l *float32, o []float32) {
	p, g := s.p, head%s.p.group
	size := attn.StateFloats(p.group, p.vDim)
	x := s.x[((row*p.kvHeads+head/p.group)*p.splits()+split)*size:][:size]
	return &x[g], &x[p.group+g], x[2*p.group+g*p.vDim:][:p.vDim]
}

// reference merges in float64, by definition.
func (s states) reference() (want, bound []float64) {
	p := s.p
	want, bound = make([]float64, p.rows()*p.channels()), make([]float64, p.rows()*p.channels())
	for row := range p.rows() {
		n := attn.Splits(p.span(row))
		for head := range p.kvHeads * p.group {
			top, sum := math.Inf(-1), 0.0
			for i := range n {
				m, _, _ := s.at(row, head, i)
				top = max(top, float64(*m))
			}
			if math.IsInf(top, -1) {
				continue
			}
			out, size := want[(row*p.kvHeads*p.group+head)*p.vDim:][:p.vDim], bound[(row*p.kvHeads*p.group+head)*p.vDim:][:p.vDim]
			for i := range n {
				m, l, o := s.at(row, head, i)
				f := math.Exp2(float64(*m) - top)
				sum += f * float64(*l)
				for d, v := range o {
					out[d] += f * float64(v)
					size[d] += f * math.Abs(float64(v))
				}
			}
			for d := range out {
				out[d] /= sum
				// n products and additions each above and below, their factors'
				// exponents rounded at magnitudes of up to 128, and a division.
				size[d] = (size[d]/sum + math.Abs(out[d])) * float64(n+128+8) * 0x1p-24
			}
		}
	}
	return want, bound
}

// reducers are the forms, by the most keys that they take.
var reducers = []struct {
	name string
	keys int
	f32  func(AttentionReduce) Args
	q8   func(AttentionReduceQ8) Args
}{
	{"direct", attn.DirectBlocks * attn.BlockKeys, func(a AttentionReduce) Args { return AttentionReduceDirect(a) }, func(a AttentionReduceQ8) Args { return AttentionReduceDirectQ8(a) }},
	{"cooperative", attn.CooperativeBlocks * attn.BlockKeys, func(a AttentionReduce) Args { return AttentionReduceCooperative(a) }, func(a AttentionReduceQ8) Args { return AttentionReduceCooperativeQ8(a) }},
	{"multipass", math.MaxInt, func(a AttentionReduce) Args { return AttentionReduceMultipass(a) }, func(a AttentionReduceQ8) Args { return AttentionReduceMultipassQ8(a) }},
}

// Every form merges any states as float64 does, whatever the heads' sizes, and
// all that take a depth give the same bits.
func TestReducersAreTheReferenceAndGiveTheSameBits(t *testing.T) {
	shapes := []attention{
		{kvHeads: 2, group: 2, vDim: 64, pos: []int32{0, 63, 255}},
		{kvHeads: 1, group: 5, vDim: 48, pos: []int32{256, 100}, reserved: 3},
		{kvHeads: 3, group: 1, vDim: 144, pos: []int32{2047, 300, 1}},
		{kvHeads: 1, group: 17, vDim: 16, pos: []int32{2048, 5000}},
		{kvHeads: 1, group: 2, vDim: 32, pos: []int32{40000}}, // more states than a turn of the multipass form
		{kvHeads: 1, group: 2, vDim: 128, pos: []int32{4999, 99}, window: 700},
	}
	for _, wave := range []int{32, 64} {
		everyMode(t, wave, func(t *testing.T, r *rig) {
			for i := range shapes {
				p := &shapes[i]
				s := randomStates(p, uint64(i))
				want, bound := s.reference()
				from, pos := r.floats(t, "states", s.x).ptr(), r.ints(t, "pos", p.pos).ptr()
				var first []float32
				for _, form := range reducers {
					if p.keys() > form.keys {
						continue
					}
					for _, q8 := range []bool{false, true} {
						t.Run(fmt.Sprintf("%d heads of %d, %d keys/%s/q8=%t", p.kvHeads*p.group, p.vDim, p.keys(), form.name, q8), func(t *testing.T) {
							out := r.garbage(t, "out", 4*p.rows()*p.channels())
							a := AttentionReduceQ8{
								States: from, Pos: pos, Out: out.ptr(),
								KVHeads: uint32(p.kvHeads), Group: uint32(p.group), VDim: uint32(p.vDim), Window: uint32(p.window), Splits: uint32(p.splits()),
							}
							if q8 {
								packed := r.garbage(t, "q8", p.rows()*Q8_1Bytes(p.channels()))
								a.Q8 = packed.ptr()
								r.run(t, a.of(form.q8(a), p.rows()))
								p.samePacks(t, packed, out.asFloats())
							} else {
								f := AttentionReduce{a.States, a.Pos, a.Out, a.KVHeads, a.Group, a.VDim, a.Window, a.Splits}
								r.run(t, f.of(form.f32(f), p.rows()))
							}
							got := out.asFloats()
							near(t, "merged", got, want, bound)
							if first == nil {
								first = got
							}
							if !identical(got, first) {
								t.Error("other bits than the first form's")
							}
						})
					}
				}
			}
		})
	}
}

// A NaN in any state of a head is a NaN in all of its results and in no other's.
func TestANaNAmongStatesIsSeen(t *testing.T) {
	everyMode(t, 32, func(t *testing.T, r *rig) {
		for _, form := range reducers {
			p := &attention{kvHeads: 1, group: 2, vDim: 64, pos: []int32{199}}
			s := randomStates(p, 9)
			m, l, _ := s.at(0, 1, 2)
			*m, *l = float32(math.Inf(-1)), float32(math.NaN()) // as scores of NaN leave it
			out, q8 := r.garbage(t, "out", 4*p.channels()), r.garbage(t, "q8", Q8_1Bytes(p.channels()))
			a := AttentionReduceQ8{
				States: r.floats(t, "states", s.x).ptr(), Pos: r.ints(t, "pos", p.pos).ptr(), Out: out.ptr(), Q8: q8.ptr(),
				KVHeads: 1, Group: 2, VDim: 64, Splits: uint32(p.splits()),
			}
			r.run(t, a.of(form.q8(a), 1))
			for i, x := range out.asFloats() {
				if math.IsNaN(float64(x)) != (i >= 64) {
					t.Fatalf("%s: element %d is %v", form.name, i, x)
				}
			}
			p.samePacks(t, q8, out.asFloats())
		}
	})
}
