package gfx11

import (
	"github.com/holdfast-llm/holdfast/device"
	"github.com/holdfast-llm/holdfast/device/kernel"
	"github.com/holdfast-llm/holdfast/op"
)

// gateUp is two products with the same vectors and the SwiGLU of them in one
// launch, with one before it that packs the vectors if they are not yet.
func gateUp(s *device.Site) (*device.Match, *device.Decline) {
	gate := s.Op()
	if len(s.Ops) < 3 || s.Ops[1].Kind != gate.Kind || s.Ops[2].Kind != op.SwiGLU {
		return nil, no(device.ReasonFusion, "%s is not followed by another product and their SwiGLU", gate.Name)
	}
	up, act := s.Ops[1], s.Ops[2]
	x, g, u := gate.In[0], gate.In[1], up.In[1]
	switch {
	case act.In[0] != gate.Out[0] || act.In[1] != up.Out[0] || up.In[0] != x:
		return nil, no(device.ReasonFusion, "%s is not the SwiGLU of %s and %s of the same vectors", act.Name, gate.Name, up.Name)
	case gate.Kind == op.MulMat && (len(gate.In) > 2 || len(up.In) > 2):
		return nil, no(device.ReasonFusion, "%s or %s has a bias", gate.Name, up.Name)
	case gate.Kind == op.MulMatID && gate.In[2] != up.In[2]:
		return nil, no(device.ReasonFusion, "%s and %s are by different ids", gate.Name, up.Name)
	case g.Type != u.Type:
		return nil, no(device.ReasonType, "%s is %s, %s is %s", g.Name, g.Type, u.Name, u.Type)
	case g.Cols != u.Cols || g.Experts != u.Experts:
		return nil, no(device.ReasonShape, "%s is %d of %d columns, %s %d of %d", g.Name, g.Experts, g.Cols, u.Name, u.Experts, u.Cols)
	}
	in, ls, refused := vectors(s.Compile, gate)
	if refused != nil {
		return nil, refused
	}
	if refused := shaped(g); refused != nil {
		return nil, refused
	}
	cmd := denseGateUp(in, g, u, act.Out[0])
	if gate.Kind == op.MulMatID {
		cmd = chosenGateUp(gate, in, g, u, act.Out[0])
	}
	reads := append([]*op.Value{in, g, u}, gate.In[2:]...)
	return &device.Match{Launches: append(ls, launch(s.Compile, act, reads, act.Out, cmd)), Covers: 3}, nil
}

func denseGateUp(x, g, u, y *op.Value) command {
	return command{
		rows: y,
		launch: func(at addresses, rows int) kernel.Launch {
			return matched(kernel.MatVecSwiGLU{
				Gate: at(g), Up: at(u), X: at(x), Out: at(y), Cols: uint32(g.Cols), Height: uint32(g.Height),
			}.Launch(g.Type, rows))
		},
	}
}

func chosenGateUp(o *op.Op, x, g, u, y *op.Value) command {
	c := newChoice(o)
	return command{
		rows: y,
		own:  c.own(),
		launch: func(at addresses, rows int) kernel.Launch {
			return matched(kernel.MatVecSwiGLUID{
				Gate: at(g), Up: at(u), X: at(x), Chosen: at(c.ids), Out: at(y), Status: at(c.status),
				Cols: uint32(g.Cols), Height: uint32(g.Height), Experts: uint32(g.Experts), Share: uint32(c.share),
			}.Launch(g.Type, rows*c.used))
		},
		check: c.check,
	}
}
