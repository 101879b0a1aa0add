package gfx11

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/holdfast-llm/holdfast/device"
	"github.com/holdfast-llm/holdfast/device/kernel"
	"github.com/holdfast-llm/holdfast/gguf/quant"
	"github.com/holdfast-llm/holdfast/op"
)

// matVec multiplies vectors by a matrix, or by matrices chosen for each of
// them, with a launch before that packs the vectors if they are wanted packed
// and are not yet.
func matVec(c *device.Compile, o *op.Op) ([]device.Launch, *device.Decline) {
	x, ls, refused := vectors(c, o)
	if refused != nil {
		return nil, refused
	}
	l, refused := product(c, o, x)
	if refused != nil {
		return nil, refused
	}
	return append(ls, l), nil
}

// vectors is a product's vectors in the form that its weights want, with the
// launch that makes it if nothing has yet.
func vectors(c *device.Compile, o *op.Op) (*op.Value, []device.Launch, *device.Decline) {
	x, w := o.In[0], o.In[1]
	t, ok := kernel.Activations(w.Type)
	switch {
	case !ok:
		return nil, nil, no(device.ReasonType, "%s is %s", w.Name, w.Type)
	case t != quant.Q8_1:
		return x, nil, nil
	}
	packed, fresh := pack(c, x, w.Cols)
	if !fresh {
		return packed, nil, nil
	}
	return packed, []device.Launch{quantize(c, o, x, packed, w.Cols)}, nil
}

// shaped declines matrices of a shape that the kernels do not take.
func shaped(w *op.Value) *device.Decline {
	_, err := (kernel.MatVec{Cols: uint32(w.Cols), Height: uint32(w.Height)}).Launch(w.Type, 1)
	if err != nil {
		return no(device.ReasonShape, "%s: %v", w.Name, err)
	}
	return nil
}

// product is matVec of x, the operation's vectors as the weights want them.
func product(c *device.Compile, o *op.Op, x *op.Value) (device.Launch, *device.Decline) {
	if refused := shaped(o.In[1]); refused != nil {
		return device.Launch{}, refused
	}
	cmd := dense
	switch {
	case o.Kind == op.MulMatID:
		cmd = chosen
	case len(o.In) > 2:
		if refused := floats(o.In[2]); refused != nil {
			return device.Launch{}, refused
		}
	}
	reads := append([]*op.Value{x}, o.In[1:]...)
	return launch(c, o, reads, o.Out, cmd(o, x)), nil
}

func dense(o *op.Op, x *op.Value) command {
	w, y := o.In[1], o.Out[0]
	return command{
		rows: y,
		launch: func(at addresses, rows int) kernel.Launch {
			a := kernel.MatVec{W: at(w), X: at(x), Out: at(y), Cols: uint32(w.Cols), Height: uint32(w.Height)}
			if len(o.In) > 2 {
				a.Bias = at(o.In[2])
			}
			return matched(a.Launch(w.Type, rows))
		},
	}
}

func chosen(o *op.Op, x *op.Value) command {
	w, y, c := o.In[1], o.Out[0], newChoice(o)
	return command{
		rows: y,
		own:  c.own(),
		launch: func(at addresses, rows int) kernel.Launch {
			return matched(kernel.MatVecID{
				W: at(w), X: at(x), Chosen: at(c.ids), Out: at(y), Status: at(c.status),
				Cols: uint32(w.Cols), Height: uint32(w.Height), Experts: uint32(w.Experts), Share: uint32(c.share),
			}.Launch(w.Type, rows*c.used))
		},
		check: c.check,
	}
}

// choice is the experts that a product by id is with.
type choice struct {
	ids, status          *op.Value
	experts, used, share int
}

func newChoice(o *op.Op) choice {
	x, w := o.In[0], o.In[1]
	c := choice{ids: o.In[2], status: &op.Value{Name: o.Name + ".status"}, experts: w.Experts, used: o.Attr.Used, share: 1}
	if x.Cols == w.Cols {
		c.share = c.used
	}
	return c
}

func (c choice) own() []own { return []own{{value: c.status, bytes: 4}} }

// check finds an id that is none, which the kernel has left out.
func (c choice) check(bytes func(*op.Value) []byte, rows int) *finding {
	if binary.LittleEndian.Uint32(bytes(c.status)) == 0 {
		return nil
	}
	for ids := bytes(c.ids)[:4*rows*c.used]; len(ids) > 0; ids = ids[4:] {
		if id := int32(binary.LittleEndian.Uint32(ids)); id < 0 || int(id) >= c.experts {
			return &finding{kind: device.FaultPanic, err: fmt.Errorf("moe: expert %d of %d", id, c.experts)}
		}
	}
	return &finding{kind: device.FaultPanic, err: errors.New("moe: the kernel says that an expert is out of range, and none is")}
}

// matched is a launch of a shape that the kernel's Launch took before.
func matched(l kernel.Launch, err error) kernel.Launch {
	if err != nil {
		panic("gfx11: " + err.Error())
	}
	return l
}

// packName is what is derived from x: vectors of n elements in Q8_1 x4.
func packName(x *op.Value, n int) string {
	if x.Cols == n {
		return "q8_1"
	}
	return fmt.Sprintf("q8_1.%d", n)
}

// pack is x, rows of one or more vectors of n elements, in Q8_1 x4.
func pack(c *device.Compile, x *op.Value, n int) (packed *op.Value, fresh bool) {
	return c.DerivedRows(x, packName(x, n), x.Cols/n*kernel.Q8_1Bytes(n))
}

// quantize fills a pack.
func quantize(c *device.Compile, o *op.Op, x, packed *op.Value, n int) device.Launch {
	return launch(c, o, []*op.Value{x}, []*op.Value{packed}, command{
		rows: x,
		launch: func(at addresses, rows int) kernel.Launch {
			return kernel.QuantizeQ8_1{X: at(x), Out: at(packed), N: uint32(n)}.Launch(rows * (x.Cols / n))
		},
	})
}

// multiplies says whether an operation is a product of v.
func multiplies(o *op.Op, v *op.Value) bool {
	return (o.Kind == op.MulMat || o.Kind == op.MulMatID) && o.In[0] == v
}

// takesPacked declines a product that does not take its vectors packed.
func takesPacked(o *op.Op) *device.Decline {
	if t, ok := kernel.Activations(o.In[1].Type); !ok || t != quant.Q8_1 {
		return no(device.ReasonFusion, "%s is %s, which does not take packed vectors", o.In[1].Name, o.In[1].Type)
	}
	return nil
}

// nextPack is the packed form of v, a result of the site's first n operations,
// that a product behind them wants: of whole rows.
func nextPack(s *device.Site, v *op.Value, n int) (*op.Value, *device.Decline) {
	refused := no(device.ReasonFusion, "no product takes %s", v.Name)
	for _, u := range s.Users(v, n) {
		if !multiplies(u, v) || u.In[1].Cols != v.Cols {
			continue
		}
		if refused = takesPacked(u); refused == nil {
			packed, _ := pack(s.Compile, v, v.Cols)
			return packed, nil
		}
	}
	return nil, refused
}
