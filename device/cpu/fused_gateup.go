package cpu

import (
	"github.com/holdfast-llm/holdfast/device"
	"github.com/holdfast-llm/holdfast/device/cpu/simd"
	"github.com/holdfast-llm/holdfast/op"
)

// gateUp is silu(gate x) * (up x): two products, dense or of experts, and what
// joins them, with nothing of the products kept.
type gateUp struct {
	gate, up, act *op.Op
	g, u          *op.Value // weights
	kg, ku        simd.MatVec
}

// gateUpAt is the one that a site begins with.
func (d *Device) gateUpAt(s *device.Site) (*gateUp, *device.Decline) {
	kind := s.Op().Kind
	if len(s.Ops) < 3 || s.Ops[1].Kind != kind || s.Ops[2].Kind != op.SwiGLU {
		return nil, no(device.ReasonFusion, "%s is not followed by another product and swiglu", s.Op().Name)
	}
	f := &gateUp{gate: s.Ops[0], up: s.Ops[1], act: s.Ops[2]}
	gate, up, act := f.gate, f.up, f.act
	f.g, f.u = gate.In[1], up.In[1]
	switch {
	case up.In[0] != gate.In[0] || act.In[0] != gate.Out[0] || act.In[1] != up.Out[0]:
		return nil, no(device.ReasonFusion, "%s, %s and %s are not of one input", gate.Name, up.Name, act.Name)
	case kind == op.MulMatID && up.In[2] != gate.In[2]:
		return nil, no(device.ReasonFusion, "%s and %s are of different experts", gate.Name, up.Name)
	case kind == op.MulMat && (len(gate.In) > 2 || len(up.In) > 2):
		return nil, no(device.ReasonFusion, "%s or %s has a bias", gate.Name, up.Name)
	case len(s.Users(gate.Out[0], 3)) > 0 || len(s.Users(up.Out[0], 3)) > 0:
		return nil, no(device.ReasonFusion, "%s or %s is read again", gate.Name, up.Name)
	case s.Rows(act.Out[0]) >= gemmRows:
		return nil, no(device.ReasonShape, "up to %d rows, takes %d", s.Rows(act.Out[0]), gemmRows-1)
	}
	var okG, okU bool
	f.kg, okG = simd.MatVecFor(d.level, f.g.Type)
	f.ku, okU = simd.MatVecFor(d.level, f.u.Type)
	if !okG || !okU {
		return nil, no(device.ReasonType, "%s is %s, %s is %s", f.g.Name, f.g.Type, f.u.Name, f.u.Type)
	}
	return f, nil
}

// pieces cuts the rows of the two matrices into tasks of whole vectors of
// swiglu: what does not fill one is computed otherwise, with other bits.
func (f *gateUp) pieces() pieces {
	return cut(f.g.Height, max(16, chunkRows(f.g.RowBytes()+f.u.RowBytes())&^15))
}

// rows sets y to rows [lo, hi) of the result, for activations that both
// matrices take packed; ups holds as many elements.
func (f *gateUp) rows(d *Device, y, ups []float32, wg, wu, actG, actU []byte, lo, hi int) {
	bytesG, bytesU, k := f.g.RowBytes(), f.u.RowBytes(), f.g.Cols
	ups = ups[:hi-lo]
	f.kg.Dot(y, wg[lo*bytesG:hi*bytesG], actG, k)
	f.ku.Dot(ups, wu[lo*bytesU:hi*bytesU], actU, k)
	d.elem.SwiGLU(y, y, ups)
}

// matchGateUp runs a dense gateUp, row range by row range.
func (d *Device) matchGateUp(s *device.Site) (*device.Match, *device.Decline) {
	f, refused := d.gateUpAt(s)
	if refused != nil {
		return nil, refused
	}
	x, y := f.gate.In[0], f.act.Out[0]
	packG, ls := d.packRows(f.gate, x, x.Cols, 1, &f.kg, s.Compile)
	packU, more := d.packRows(f.up, x, x.Cols, 1, &f.ku, s.Compile)
	ls = append(ls, more...)
	p := f.pieces()
	ls = append(ls, launch(s.Compile, f.act.Name+"."+f.kg.Name, []*op.Value{packG, packU, f.g, f.u}, []*op.Value{y}, func(mem func(*op.Value) []byte) kernel {
		actG, actU, wg, wu, dst := mem(packG), mem(packU), mem(f.g), mem(f.u), floats(mem(y))
		sizeG, sizeU := f.kg.ActBytes(x.Cols), f.ku.ActBytes(x.Cols)
		return kernel{
			scratch: 4 * p.size,
			tasks:   func(*batch) int { return p.perRow },
			run: func(w *worker, b *batch, task int) {
				_, lo, hi := p.at(task)
				for i := range y.Count(b.n, b.m) {
					f.rows(d, dst[i*y.Cols+lo:i*y.Cols+hi], floats(w.scratch), wg, wu, actG[i*sizeG:(i+1)*sizeG], actU[i*sizeU:(i+1)*sizeU], lo, hi)
				}
			},
		}
	}))
	return &device.Match{Launches: ls, Covers: 3}, nil
}

// matchGateUpID runs the gateUp of each row's experts.
func (d *Device) matchGateUpID(s *device.Site) (*device.Match, *device.Decline) {
	f, refused := d.gateUpAt(s)
	if refused != nil {
		return nil, refused
	}
	x, ids, y, used, k := f.gate.In[0], f.gate.In[2], f.act.Out[0], f.gate.Attr.Used, f.g.Cols
	if x.Cols != k {
		return nil, no(device.ReasonShape, "each expert of %s has a row of its own", f.gate.Name)
	}
	if f.g.Height%16 != 0 {
		return nil, no(device.ReasonShape, "experts of %d rows, takes multiples of 16: swiglu would start within a vector", f.g.Height)
	}
	packG, ls := d.packRows(f.gate, x, k, 1, &f.kg, s.Compile)
	packU, more := d.packRows(f.up, x, k, 1, &f.ku, s.Compile)
	ls = append(ls, more...)
	p := f.pieces()
	ls = append(ls, launch(s.Compile, f.act.Name+"."+f.kg.Name, []*op.Value{packG, packU, f.g, f.u, ids}, []*op.Value{y}, func(mem func(*op.Value) []byte) kernel {
		actG, actU, wg, wu, idv, dst := mem(packG), mem(packU), mem(f.g), mem(f.u), ints(mem(ids)), floats(mem(y))
		sizeG, sizeU := f.kg.ActBytes(k), f.ku.ActBytes(k)
		return kernel{
			scratch: 4 * p.size,
			tasks:   func(b *batch) int { return y.Count(b.n, b.m) * used * p.perRow },
			run: func(w *worker, _ *batch, task int) {
				pair, lo, hi := p.at(task)
				i, at := pair/used, pair*f.g.Height
				eg, eu := expert(f.g, wg, idv[pair]), expert(f.u, wu, idv[pair])
				f.rows(d, dst[at+lo:at+hi], floats(w.scratch), eg, eu, actG[i*sizeG:(i+1)*sizeG], actU[i*sizeU:(i+1)*sizeU], lo, hi)
			},
		}
	}))
	return &device.Match{Launches: ls, Covers: 3}, nil
}
