package cpu

import (
	"fmt"
	"math"

	"github.com/holdfast-llm/holdfast/attn/kv"
	"github.com/holdfast-llm/holdfast/device"
	"github.com/holdfast-llm/holdfast/device/cpu/simd"
	"github.com/holdfast-llm/holdfast/gguf/quant"
	"github.com/holdfast-llm/holdfast/op"
)

// attention offers, for up to splitRows query rows, the split lanes: one for
// each range of depths, each also in a form that packs its result for the
// projection behind it. The serial lane beneath takes anything.
func (d *Device) attention() []device.Registration {
	var rs []device.Registration
	for _, s := range splitLanes {
		rs = append(rs,
			device.Registration{Name: s.name + ".next_q8", Priority: 2, Match: s.match(d, true)},
			device.Registration{Name: s.name, Priority: 1, Match: s.match(d, false)})
	}
	return append(rs, single("attention.serial", 0, d.matchSerial))
}

// attend is an attention operation with its kernels: what the lanes share.
type attend struct {
	op    *op.Op
	kern  simd.Attention
	elem  *simd.Elem
	group int // query heads of a KV head
	heads int // KV heads

	headDim, vDim  int
	kBytes, vBytes int // of a cache row
	kc, vc         *op.Value
	mask           *op.Value // nil: none
}

func (d *Device) newAttend(o *op.Op) (*attend, *device.Decline) {
	a := &attend{
		op: o, elem: d.elem, group: o.Attr.Heads / o.Attr.KVHeads, heads: o.Attr.KVHeads,
		headDim: o.Attr.HeadDim, vDim: o.Attr.VDim, kc: o.In[1], vc: o.In[2],
	}
	var ok bool
	if a.kern, ok = simd.AttentionFor(d.level, a.kc.Type, a.vc.Type, a.headDim, a.vDim); !ok {
		return nil, no(device.ReasonType, "keys of %s in heads of %d, values of %s in heads of %d", a.kc.Type, a.headDim, a.vc.Type, a.vDim)
	}
	a.kBytes, a.vBytes = a.kc.Type.RowBytes(a.headDim), a.vc.Type.RowBytes(a.vDim)
	if len(o.In) > 3 {
		a.mask = o.In[3]
		if a.mask.Type != quant.F16 && a.mask.Type != quant.F32 {
			return nil, no(device.ReasonType, "mask of %s, want F16 or F32", a.mask.Type)
		}
	}
	return a, nil
}

// span is the keys that the row at a position attends, masked ones included.
func (a *attend) span(pos int) (first, end int) {
	end = pos + 1
	if w := a.op.Attr.Window; w > 0 {
		first = max(0, end-w)
	}
	return first, end
}

// queries is one row of all heads.
func (a *attend) queries(q []float32, row int) []float32 {
	n := a.heads * a.group * a.headDim
	return q[row*n : (row+1)*n]
}

// scale writes the queries of one row and KV head, times the score scale.
func (a *attend) scale(dst, queries []float32, row, head int) {
	n := a.group * a.headDim
	clear(dst[:n])
	a.elem.AXPY(dst[:n], a.op.Attr.Scale, queries[row*a.heads*n+head*n:][:n])
}

// partial is the state of a group of heads, as attn.State has it for one.
type partial struct {
	m, l []float32 // [group]
	o    []float32 // [group][vDim]
}

// partialIn lays a state out in attn.StateFloats(group, vDim) floats.
func (a *attend) partialIn(f []float32) partial {
	g := a.group
	return partial{m: f[:g], l: f[g : 2*g], o: f[2*g : 2*g+g*a.vDim]}
}

func (p partial) reset() {
	for i := range p.m {
		p.m[i] = float32(math.Inf(-1))
	}
	clear(p.l)
	clear(p.o)
}

// maskChunk is the number of keys whose mask is looked at at once: a multiple
// of simd.BlockKeys, so that an unmasked run gives the bits it has without a
// mask.
const maskChunk = 16 * simd.BlockKeys

// foldFloats is the scratch of fold.
func (a *attend) foldFloats() int { return maskChunk + a.kern.ScratchFloats(a.group) }

// fold takes keys [lo, hi) of a row into its state. Keys that the mask leaves
// out are skipped: neither they nor their values are read. Where k goes on
// behind hi, its next rows are fetched into the cache, for whoever folds them.
func (a *attend) fold(p partial, q []float32, k, v []byte, lo, hi int, mask maskRow, scratch []float32) {
	bias, scratch := scratch[:maskChunk], scratch[maskChunk:]
	if mask.bits == nil {
		a.kern.Accumulate(p.o, p.m, p.l, q, a.group, k[lo*a.kBytes:], v[lo*a.vBytes:], hi-lo, nil, scratch)
		return
	}
	for lo < hi {
		n, zero := mask.run(bias, lo, min(hi, lo+maskChunk))
		switch {
		case n == 0:
			lo++ // left out
			continue
		case zero:
			a.kern.Accumulate(p.o, p.m, p.l, q, a.group, k[lo*a.kBytes:], v[lo*a.vBytes:], n, nil, scratch)
		default:
			a.kern.Accumulate(p.o, p.m, p.l, q, a.group, k[lo*a.kBytes:], v[lo*a.vBytes:], n, bias, scratch)
		}
		lo += n
	}
}

// maskRow is what is added to the scores of one query row.
type maskRow struct {
	bits []byte
	f32  bool
}

func (a *attend) maskRow(mask []byte, row int) maskRow {
	if a.mask == nil {
		return maskRow{}
	}
	n := a.mask.RowBytes()
	return maskRow{mask[row*n : (row+1)*n], a.mask.Type == quant.F32}
}

func (m maskRow) at(key int) float32 {
	if m.f32 {
		return floats(m.bits)[key]
	}
	return quant.F16ToF32(halves(m.bits)[key])
}

// run copies the mask of keys [lo, hi) to bias until one is left out. It
// returns their number and whether all are 0.
func (m maskRow) run(bias []float32, lo, hi int) (n int, zero bool) {
	zero = true
	for ; lo < hi; lo++ {
		b := m.at(lo)
		if math.IsInf(float64(b), -1) {
			break
		}
		bias[n] = b
		zero = zero && b == 0
		n++
	}
	return n, zero
}

// rows is the keys and values of one head in a slot.
func (a *attend) rows(slot, head int) (k, v []byte) {
	return kv.Rows(a.kc, slot, head), kv.Rows(a.vc, slot, head)
}

// check panics if a finished row is not all numbers: the fault that a wrong
// key, value or partial state ends as is named here, not layers later. queries
// are the row's: if they are no numbers either, the fault is not attention's.
func (d *Device) check(result, queries []float32, what string, row int) {
	if i := d.elem.NonFinite(result); i >= 0 {
		panic(&notFinite{
			what: fmt.Sprintf("%s row %d, element %d", what, row, i), value: result[i],
			inherited: d.elem.NonFinite(queries) >= 0,
		})
	}
}

// notFinite is a result that should be a number and is not.
type notFinite struct {
	what      string
	value     float32
	inherited bool // it came in with the operands
}

func (e *notFinite) Error() string { return fmt.Sprintf("%s is %v", e.what, e.value) }
