package gfx11

import (
	"github.com/holdfast-llm/holdfast/device"
	"github.com/holdfast-llm/holdfast/device/kernel"
	"github.com/holdfast-llm/holdfast/op"
)

func add(c *device.Compile, o *op.Op) ([]device.Launch, *device.Decline) {
	a, b, y := o.In[0], o.In[1], o.Out[0]
	return []device.Launch{launch(c, o, o.In, o.Out, command{
		rows: y,
		launch: func(at addresses, rows int) kernel.Launch {
			return kernel.Add{A: at(a), B: at(b), Out: at(y), N: uint32(y.Cols)}.Launch(rows)
		},
	})}, nil
}

func swiGLU(c *device.Compile, o *op.Op) ([]device.Launch, *device.Decline) {
	gate, up, y := o.In[0], o.In[1], o.Out[0]
	return []device.Launch{launch(c, o, o.In, o.Out, command{
		rows: y,
		launch: func(at addresses, rows int) kernel.Launch {
			return kernel.SwiGLU{Gate: at(gate), Up: at(up), Out: at(y), N: uint32(y.Cols)}.Launch(rows)
		},
	})}, nil
}

// swiGLUNext is a SwiGLU that only the product behind it reads, and that
// product: the kernel packs what it computes.
func swiGLUNext(s *device.Site) (*device.Match, *device.Decline) {
	o := s.Op()
	gate, up, y := o.In[0], o.In[1], o.Out[0]
	if len(s.Ops) < 2 || !multiplies(s.Ops[1], y) || len(s.Users(y, 2)) > 0 {
		return nil, no(device.ReasonFusion, "%s is not read by the product behind it alone", y.Name)
	}
	next := s.Ops[1]
	if refused := takesPacked(next); refused != nil {
		return nil, refused
	}
	n := next.In[1].Cols // of a vector; a row may hold several
	packed := s.Temp(y.Name+"."+packName(y, n), y.Cols/n*kernel.Q8_1Bytes(n)*s.Rows(y))
	first := launch(s.Compile, o, o.In, []*op.Value{packed}, command{
		rows: y,
		launch: func(at addresses, rows int) kernel.Launch {
			return kernel.SwiGLUQ8{Gate: at(gate), Up: at(up), Q8: at(packed), N: uint32(n)}.Launch(rows * (y.Cols / n))
		},
	})
	second, refused := product(s.Compile, next, packed)
	if refused != nil {
		return nil, refused
	}
	return &device.Match{Launches: []device.Launch{first, second}, Covers: 2}, nil
}

func moeSum(c *device.Compile, o *op.Op) ([]device.Launch, *device.Decline) {
	x, weights, y := o.In[0], o.In[1], o.Out[0]
	return []device.Launch{launch(c, o, o.In, o.Out, command{
		rows: y,
		launch: func(at addresses, rows int) kernel.Launch {
			return kernel.MoESum{X: at(x), Weights: at(weights), Out: at(y), N: uint32(y.Cols), Used: uint32(o.Attr.Used)}.Launch(rows)
		},
	})}, nil
}
