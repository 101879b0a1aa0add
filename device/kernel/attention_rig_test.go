package kernel

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/holdfast-llm/holdfast/attn"
	"github.com/holdfast-llm/holdfast/gguf/quant"
)

// attention is a problem for the attention kernels: random operands, and what
// is in the cache where no row looks is NaN and infinities.
type attention struct {
	kvHeads, group, headDim, vDim int
	pos, slot                     []int32 // slots are all different
	window                        int
	mask                          []float32 // [rows][maskKeys] or nil
	maskF32                       bool

	context  int
	q        []float32
	k, v     []uint16
	seed     uint64
	reserved int // splits beyond those that the rows need
	once     sync.Once
	whole    []expected // of all keys of each row and query head, once check needs it
}

func (p *attention) rows() int     { return len(p.pos) }
func (p *attention) channels() int { return p.kvHeads * p.group * p.vDim }
func (p *attention) maskKeys() int { return p.context }
func (p *attention) scale() float32 {
	return float32(1 / math.Sqrt(float64(p.headDim)))
}

// span is the keys of a row.
func (p *attention) span(row int) (first, end int) {
	end = int(p.pos[row]) + 1
	if p.window > 0 {
		first = max(0, end-p.window)
	}
	return first, end
}

// splits is the most of a row, and room for a few more.
func (p *attention) splits() int {
	most := 0
	for row := range p.pos {
		most = max(most, attn.Splits(p.span(row)))
	}
	return most + p.reserved
}

// keys is the most of a row.
func (p *attention) keys() int {
	most := 0
	for _, pos := range p.pos {
		most = max(most, int(pos)+1)
	}
	return most
}

// attends reports whether a row sees a key.
func (p *attention) attends(row, key int) bool {
	first, end := p.span(row)
	return key >= first && key < end && (p.mask == nil || !math.IsInf(float64(p.mask[row*p.maskKeys()+key]), -1))
}

// fill makes the operands. Each row has a slot, and the context is as long as
// the longest needs and three keys more.
func (p *attention) fill() *attention {
	rng := rand.New(rand.NewPCG(p.seed, 0))
	p.context = p.keys() + 3
	p.slot = nil
	for _, s := range rng.Perm(p.rows()) {
		p.slot = append(p.slot, int32(s))
	}
	p.q = normals(rng, p.rows()*p.kvHeads*p.group*p.headDim)
	fill := func(dim int) []uint16 {
		x := make([]uint16, p.rows()*p.kvHeads*p.context*dim)
		for i := range x {
			x[i] = [...]uint16{0xffff, 0x7c00, 0xfc00}[i%3]
		}
		for row := range p.pos {
			for head := range p.kvHeads {
				for key := range p.context {
					if !p.attends(row, key) {
						continue
					}
					at := ((int(p.slot[row])*p.kvHeads+head)*p.context + key) * dim
					for i := range dim {
						x[at+i] = quant.F32ToF16(float32(rng.NormFloat64()))
					}
				}
			}
		}
		return x
	}
	p.k, p.v = fill(p.headDim), fill(p.vDim)
	return p
}

// withMask gives each row a mask in which a key is left out with some chance,
// and so is every key for which out says so. The numbers are halfs.
func (p *attention) withMask(chance float64, out func(row, key int) bool) *attention {
	rng := rand.New(rand.NewPCG(p.seed, 1))
	p.context = p.keys() + 3
	p.mask = make([]float32, p.rows()*p.maskKeys())
	for i := range p.mask {
		p.mask[i] = quant.F16ToF32(quant.F32ToF16(float32(rng.NormFloat64())))
		if rng.Float64() < chance || out != nil && out(i/p.maskKeys(), i%p.maskKeys()) {
			p.mask[i] = float32(math.Inf(-1))
		}
	}
	return p
}

// expected is the reference of one query head and what errors are measured by.
type expected struct {
	max, sum float64   // of the scores, natural logarithms
	out      []float64 // unnormalised, relative to max
	size     []float64 // the same of the values' magnitudes
	products float64   // the greatest sum of magnitudes of a score's products
	top      float64   // the greatest magnitude of a value
	keys     int       // attended
}

// reference is the attention of a row's query head to keys [lo, hi), in float64
// by definition.
func (p *attention) reference(row, head, lo, hi int) expected {
	kvHead := head / p.group
	q := p.q[(row*p.kvHeads*p.group+head)*p.headDim:][:p.headDim]
	base := (int(p.slot[row])*p.kvHeads + kvHead) * p.context
	e := expected{max: math.Inf(-1), out: make([]float64, p.vDim), size: make([]float64, p.vDim)}
	scores := make([]float64, hi-lo)
	for key := lo; key < hi; key++ {
		scores[key-lo] = math.Inf(-1)
		if !p.attends(row, key) {
			continue
		}
		e.keys++
		sum, size := 0.0, 0.0
		for i, h := range p.k[(base+key)*p.headDim:][:p.headDim] {
			x := float64(q[i]) * half(h)
			sum, size = sum+x, size+math.Abs(x)
		}
		s := sum * float64(p.scale())
		if p.mask != nil {
			s += float64(p.mask[row*p.maskKeys()+key])
		}
		scores[key-lo] = s
		e.max, e.products = max(e.max, s), max(e.products, size*float64(p.scale())+math.Abs(s))
	}
	for key := lo; key < hi; key++ {
		if !p.attends(row, key) {
			continue
		}
		w := math.Exp(scores[key-lo] - e.max)
		e.sum += w
		for i, h := range p.v[(base+key)*p.vDim:][:p.vDim] {
			v := half(h)
			e.out[i] += w * v
			e.size[i] += w * math.Abs(v)
			e.top = max(e.top, math.Abs(v))
		}
	}
	return e
}

// halves are the numbers of all halfs.
var halves = func() []float64 {
	x := make([]float64, 1<<16)
	for i := range x {
		x[i] = float64(quant.F16ToF32(uint16(i)))
	}
	return x
}()

func half(h uint16) float64 { return halves[h] }

// arithmetic is how exact a kernel is.
type arithmetic struct {
	score float64 // relative error of each product of a score
	p     float64 // and of each probability
	floor float64 // absolute error of a probability
}

var (
	inF32 = arithmetic{p: 4 * 0x1p-24}
	// On matrix units queries and probabilities are halfs, to the nearest.
	inF16 = arithmetic{score: 0x1p-11, p: 0x1p-11 + 4*0x1p-24, floor: 0x1p-25}
)

// bounds are how far a state may be from e: of its maximum, its sum, and an
// element of its output. A score is a sum of headDim products of which each is
// rounded, in some order, and scaled; an error of it is one of its exponential's
// exponent. Sums over keys are of n terms, each rescaled and merged a few times.
func (p *attention) bounds(e expected, a arithmetic) (max, sum float64, out func(i int) float64) {
	const u = 0x1p-24
	max = e.products * (a.score + float64(p.headDim+8)*u)
	each := 2*max + a.p + float64(e.keys+16)*u
	return max, e.sum * each, func(i int) float64 { return e.size[i]*each + a.floor*float64(e.keys)*e.top }
}

// operands are the buffers of a problem.
type operands struct {
	q, k, v, mask, pos, slot Pointer
}

func (r *rig) operands(t testing.TB, p *attention) operands {
	t.Helper()
	u16 := func(x []uint16) []byte {
		b := make([]byte, 0, 2*len(x))
		for _, v := range x {
			b = binary.LittleEndian.AppendUint16(b, v)
		}
		return b
	}
	o := operands{
		q: r.floats(t, "q", p.q).ptr(), k: r.bytes(t, "k", u16(p.k)).ptr(), v: r.bytes(t, "v", u16(p.v)).ptr(),
		pos: r.ints(t, "pos", p.pos).ptr(), slot: r.ints(t, "slot", p.slot).ptr(),
	}
	switch {
	case p.mask != nil && p.maskF32:
		o.mask = r.floats(t, "mask", p.mask).ptr()
	case p.mask != nil:
		x := make([]uint16, len(p.mask))
		for i, v := range p.mask {
			x[i] = quant.F32ToF16(v)
		}
		o.mask = r.bytes(t, "mask", u16(x)).ptr()
	}
	return o
}

func (p *attention) maskFlag() uint32 {
	if p.maskF32 {
		return 1
	}
	return 0
}

// produce are the arguments of the first launch.
func (p *attention) produce(o operands, states Pointer) AttentionProduce {
	return AttentionProduce{
		Q: o.q, K: o.k, V: o.v, Mask: o.mask, Pos: o.pos, Slot: o.slot, States: states,
		KVHeads: uint32(p.kvHeads), Group: uint32(p.group), HeadDim: uint32(p.headDim), VDim: uint32(p.vDim),
		Context: uint32(p.context), Window: uint32(p.window), Splits: uint32(p.splits()),
		MaskKeys: uint32(p.maskKeys()), MaskF32: p.maskFlag(), Scale: p.scale(),
	}
}

// stateBytes is the size of all states.
func (p *attention) stateBytes() int {
	return 4 * p.rows() * p.kvHeads * p.splits() * attn.StateFloats(p.group, p.vDim)
}

// check holds results against the reference.
func (p *attention) check(t *testing.T, got []float32, a arithmetic) {
	t.Helper()
	if len(got) != p.rows()*p.channels() {
		t.Fatalf("%d results, want %d", len(got), p.rows()*p.channels())
	}
	p.once.Do(func() {
		for row := range p.rows() {
			first, end := p.span(row)
			for head := range p.kvHeads * p.group {
				p.whole = append(p.whole, p.reference(row, head, first, end))
			}
		}
	})
	want, bound := make([]float64, len(got)), make([]float64, len(got))
	for head, e := range p.whole {
		if e.sum == 0 {
			continue
		}
		_, sum, out := p.bounds(e, a)
		for i := range p.vDim {
			at := head*p.vDim + i
			want[at] = e.out[i] / e.sum
			bound[at] = (out(i)+math.Abs(want[at])*sum)/e.sum + 0x1p-24*math.Abs(want[at])
		}
	}
	near(t, "attention", got, want, bound)
}
