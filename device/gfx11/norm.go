package gfx11

import (
	"github.com/holdfast-llm/holdfast/device"
	"github.com/holdfast-llm/holdfast/device/kernel"
	"github.com/holdfast-llm/holdfast/gguf/quant"
	"github.com/holdfast-llm/holdfast/op"
)

// shortNorm is the largest group that one wave normalises better than eight.
const shortNorm = 512

func rmsNorm(c *device.Compile, o *op.Op) ([]device.Launch, *device.Decline) {
	x, w, y := o.In[0], o.In[1], o.Out[0]
	if refused := floats(w); refused != nil {
		return nil, refused
	}
	groups := x.Cols / w.Cols
	return []device.Launch{launch(c, o, o.In, o.Out, command{
		rows: y,
		launch: func(at addresses, rows int) kernel.Launch {
			a := kernel.RMSNorm{X: at(x), Weight: at(w), Out: at(y), N: uint32(w.Cols), Eps: o.Attr.Eps}
			if w.Cols <= shortNorm {
				return kernel.RMSNormShort(a).Launch(rows * groups)
			}
			return a.Launch(rows * groups)
		},
	})}, nil
}

// normNext is a norm that also packs its result for the products behind it.
func normNext(s *device.Site) (*device.Match, *device.Decline) {
	o := s.Op()
	x, w, y := o.In[0], o.In[1], o.Out[0]
	packed, refused := normPack(s, o, 1)
	if refused != nil {
		return nil, refused
	}
	l := launch(s.Compile, o, o.In, []*op.Value{y, packed}, command{
		rows: y,
		launch: func(at addresses, rows int) kernel.Launch {
			return kernel.RMSNormQ8{X: at(x), Weight: at(w), Out: at(y), Q8: at(packed), N: uint32(w.Cols), Eps: o.Attr.Eps}.Launch(rows)
		},
	})
	return &device.Match{Launches: []device.Launch{l}, Covers: 1}, nil
}

// addNormNext is a sum, its norm, and the pack of that.
func addNormNext(s *device.Site) (*device.Match, *device.Decline) {
	sum := s.Op()
	if len(s.Ops) < 2 || s.Ops[1].Kind != op.RMSNorm || s.Ops[1].In[0] != sum.Out[0] {
		return nil, no(device.ReasonFusion, "%s is not followed by its norm", sum.Name)
	}
	norm := s.Ops[1]
	packed, refused := normPack(s, norm, 2)
	if refused != nil {
		return nil, refused
	}
	a, b, x, w, y := sum.In[0], sum.In[1], sum.Out[0], norm.In[1], norm.Out[0]
	l := launch(s.Compile, sum, []*op.Value{a, b, w}, []*op.Value{x, y, packed}, command{
		rows: y,
		launch: func(at addresses, rows int) kernel.Launch {
			return kernel.AddRMSNorm{
				A: at(a), B: at(b), Weight: at(w), Sum: at(x), Out: at(y), Q8: at(packed), N: uint32(w.Cols), Eps: norm.Attr.Eps,
			}.Launch(rows)
		},
	})
	return &device.Match{Launches: []device.Launch{l}, Covers: 2}, nil
}

// normPack is the packed form of a norm's result that the operations behind the
// site's first n want. It declines norms of groups within rows.
func normPack(s *device.Site, norm *op.Op, n int) (*op.Value, *device.Decline) {
	x, w := norm.In[0], norm.In[1]
	if refused := floats(w); refused != nil {
		return nil, refused
	}
	if x.Cols != w.Cols {
		return nil, no(device.ReasonShape, "%s normalises groups of %d of %d", norm.Name, w.Cols, x.Cols)
	}
	return nextPack(s, norm.Out[0], n)
}

// floats declines a vector that is not of F32.
func floats(w *op.Value) *device.Decline {
	if w.Type != quant.F32 {
		return no(device.ReasonType, "%s is %s, want F32", w.Name, w.Type)
	}
	return nil
}
