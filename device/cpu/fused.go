package cpu

import (
	"github.com/holdfast-llm/holdfast/device"
	"github.com/holdfast-llm/holdfast/device/cpu/simd"
	"github.com/holdfast-llm/holdfast/op"
)

// Fused registrations run what would be several launches with a wait between
// them as one. Each computes what its parts would, in the same order: the bits
// are the same.

// fused is a registration above the single ones.
func fused(name string, priority int, m func(*device.Site) (*device.Match, *device.Decline)) device.Registration {
	return device.Registration{Name: name, Priority: priority, Match: m}
}

// nextPacks is the packed forms of v, the result of the site's first n
// operations, that those behind them want: all of them must be matrix products
// that take rows one by one.
func (d *Device) nextPacks(s *device.Site, v *op.Value, n int) ([]pack, *device.Decline) {
	var packs []pack
	for _, u := range s.Users(v, n) {
		product := u.Kind == op.MulMat || u.Kind == op.MulMatID && u.In[1].Cols == v.Cols
		if !product || u.In[0] != v {
			return nil, no(device.ReasonFusion, "%s is read by %s, a %s", v.Name, u.Name, u.Kind)
		}
		if n := s.Rows(v); n >= gemmRows {
			return nil, no(device.ReasonFusion, "%s multiplies up to %d rows at once", u.Name, n)
		}
		kern, ok := simd.MatVecFor(d.level, u.In[1].Type)
		if !ok {
			return nil, no(device.ReasonFusion, "%s is %s", u.In[1].Name, u.In[1].Type)
		}
		if p, fresh := s.DerivedRows(v, kern.ActID, kern.ActBytes(v.Cols)); fresh {
			packs = append(packs, pack{kern, p, kern.ActBytes(v.Cols)})
		}
	}
	if packs == nil {
		return nil, no(device.ReasonFusion, "no product takes %s", v.Name)
	}
	return packs, nil
}

// pack is a packed form of a row that a matrix product behind it wants.
type pack struct {
	kern  simd.MatVec
	value *op.Value
	bytes int // of a row
}

// packsIn is the memory of packed forms.
type packsIn struct {
	packs []pack
	mem   [][]byte
}

func packValues(packs []pack) []*op.Value {
	vs := make([]*op.Value, len(packs))
	for i, p := range packs {
		vs[i] = p.value
	}
	return vs
}

func bindPacks(packs []pack, mem func(*op.Value) []byte) packsIn {
	b := packsIn{packs: packs}
	for _, p := range packs {
		b.mem = append(b.mem, mem(p.value))
	}
	return b
}

// write packs one row.
func (b packsIn) write(row int, x []float32) {
	for i, p := range b.packs {
		p.kern.Pack(b.mem[i][row*p.bytes:(row+1)*p.bytes], x)
	}
}

// wholeRow declines a norm of groups within the row.
func wholeRow(o *op.Op) *device.Decline {
	if o.In[0].Cols != o.In[1].Cols {
		return no(device.ReasonShape, "%s normalises groups of %d of %d", o.Name, o.In[1].Cols, o.In[0].Cols)
	}
	return nil
}

// matchNormNext is a norm with the packs for the products behind it.
func (d *Device) matchNormNext(s *device.Site) (*device.Match, *device.Decline) {
	o := s.Op()
	if refused := wholeRow(o); refused != nil {
		return nil, refused
	}
	packs, refused := d.nextPacks(s, o.Out[0], 1)
	if refused != nil {
		return nil, refused
	}
	l := d.normRows(s.Compile, o.Name+".pack", nil, o, packs)
	return &device.Match{Launches: []device.Launch{l}, Covers: 1}, nil
}

// matchAddNormNext is a sum, its norm, and the packs.
func (d *Device) matchAddNormNext(s *device.Site) (*device.Match, *device.Decline) {
	add := s.Op()
	if len(s.Ops) < 2 || s.Ops[1].Kind != op.RMSNorm || s.Ops[1].In[0] != add.Out[0] {
		return nil, no(device.ReasonFusion, "%s is not followed by its norm", add.Name)
	}
	norm := s.Ops[1]
	if refused := wholeRow(norm); refused != nil {
		return nil, refused
	}
	packs, refused := d.nextPacks(s, norm.Out[0], 2)
	if refused != nil {
		return nil, refused
	}
	l := d.normRows(s.Compile, add.Name+"."+norm.Name+".pack", add, norm, packs)
	return &device.Match{Launches: []device.Launch{l}, Covers: 2}, nil
}

// normRows has a task for each row: the sum if there is one, the norm, the
// packs.
func (d *Device) normRows(c *device.Compile, name string, add, norm *op.Op, packs []pack) device.Launch {
	reads := []*op.Value{norm.In[0], norm.In[1]}
	writes := append([]*op.Value{norm.Out[0]}, packValues(packs)...)
	if add != nil {
		reads = append(reads, add.In...)
		writes = append(writes, add.Out...)
	}
	return launch(c, name, reads, writes, func(mem func(*op.Value) []byte) kernel {
		x, gain, y := floats(mem(norm.In[0])), floats(mem(norm.In[1])), floats(mem(norm.Out[0]))
		var a, b []float32
		if add != nil {
			a, b = floats(mem(add.In[0])), floats(mem(add.In[1]))
		}
		to, k := bindPacks(packs, mem), norm.In[0].Cols
		return kernel{tasks: count(norm.Out[0]), run: func(_ *worker, _ *batch, row int) {
			lo, hi := row*k, (row+1)*k
			if add != nil {
				d.elem.Add(x[lo:hi], a[lo:hi], b[lo:hi])
			}
			d.elem.RMSNorm(y[lo:hi], x[lo:hi], gain, norm.Attr.Eps)
			to.write(row, y[lo:hi])
		}}
	})
}

// qk is what becomes of a projection's queries or keys before they are used:
// the norm of each head if there is one, and the rotation.
type qk struct {
	norm, rope *op.Op // norm may be nil
	heads, dim int
}

func (k *qk) in() *op.Value {
	if k.norm != nil {
		return k.norm.In[0]
	}
	return k.rope.In[0]
}

// matchRopeStore is the rotation of queries and keys and the store of keys and
// values, which need not wait for each other head by head; before them the
// norms of queries and keys, if the site begins with these.
func (d *Device) matchRopeStore(s *device.Site) (*device.Match, *device.Decline) {
	ops, covers := s.Ops, 0
	take := func(kinds ...op.Kind) bool {
		for i, k := range kinds {
			if covers+i >= len(ops) || ops[covers+i].Kind != k {
				return false
			}
		}
		covers += len(kinds)
		return true
	}
	var q, k qk
	if take(op.RMSNorm, op.RMSNorm) {
		q.norm, k.norm = ops[0], ops[1]
	}
	if !take(op.Rope, op.Rope, op.KVStore) {
		return nil, no(device.ReasonFusion, "%s is not followed by the rotations of queries and keys and their store", s.Op().Name)
	}
	store := ops[covers-1]
	q.rope, k.rope = ops[covers-3], ops[covers-2]
	for _, x := range []*qk{&q, &k} {
		x.heads, x.dim = x.rope.Attr.Heads, x.rope.Attr.HeadDim
		if x.norm != nil && (x.norm.Out[0] != x.rope.In[0] || x.norm.In[1].Cols != x.dim) {
			return nil, no(device.ReasonFusion, "%s is no norm of the heads that %s rotates", x.norm.Name, x.rope.Name)
		}
	}
	if store.In[0] != k.rope.Out[0] || q.rope.In[1] != k.rope.In[1] {
		return nil, no(device.ReasonFusion, "%s does not store what %s rotates", store.Name, k.rope.Name)
	}
	storeK, okK := d.encode(store.Out[0].Type)
	storeV, okV := d.encode(store.Out[1].Type)
	if !okK || !okV {
		return nil, no(device.ReasonType, "caches are %s and %s", store.Out[0].Type, store.Out[1].Type)
	}
	v, a, table := store.In[1], store.Attr, q.rope.In[1]
	reads := []*op.Value{q.in(), k.in(), v, table}
	for _, x := range []*qk{&q, &k} {
		if x.norm != nil {
			reads = append(reads, x.norm.In[1])
		}
	}
	writes := []*op.Value{q.rope.Out[0], k.rope.Out[0], store.Out[0], store.Out[1]}
	l := launch(s.Compile, q.rope.Name+".store", reads, writes, func(mem func(*op.Value) []byte) kernel {
		headQ, headK, values := d.headKernel(&q, mem), d.headKernel(&k, mem), floats(mem(v))
		perRow := q.heads + a.KVHeads
		return kernel{
			tasks: func(b *batch) int { return v.Count(b.n, b.m) * perRow },
			run: func(_ *worker, b *batch, task int) {
				row, h := task/perRow, task%perRow
				if h < q.heads {
					headQ(row, h)
					return
				}
				h -= q.heads
				slot, pos := int(b.Slot[row]), int(b.Pos[row])
				storeK(cacheRow(store.Out[0], slot, h, pos), headK(row, h))
				storeV(cacheRow(store.Out[1], slot, h, pos), values[(row*a.KVHeads+h)*a.VDim:][:a.VDim])
			},
		}
	})
	return &device.Match{Launches: []device.Launch{l}, Covers: covers}, nil
}

// headKernel is the function that makes one head of a row ready and returns
// it.
func (d *Device) headKernel(x *qk, mem func(*op.Value) []byte) func(row, head int) []float32 {
	rotate, half := d.rotation(x.rope), len(x.rope.Attr.Rotary.InvFreq)
	src, dst, table := floats(mem(x.in())), floats(mem(x.rope.Out[0])), floats(mem(x.rope.In[1]))
	var gain []float32
	if x.norm != nil {
		gain = floats(mem(x.norm.In[1]))
	}
	return func(row, head int) []float32 {
		at := (row*x.heads + head) * x.dim
		y := dst[at : at+x.dim]
		if gain != nil {
			d.elem.RMSNorm(y, src[at:at+x.dim], gain, x.norm.Attr.Eps)
		}
		cos, sin := table[row*2*half:row*2*half+half], table[row*2*half+half:(row+1)*2*half]
		rotate(y, cos, sin)
		return y
	}
}
