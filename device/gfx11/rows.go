package gfx11

import (
	"github.com/holdfast-llm/holdfast/device"
	"github.com/holdfast-llm/holdfast/device/kernel"
	"github.com/holdfast-llm/holdfast/op"
)

func getRows(c *device.Compile, o *op.Op) ([]device.Launch, *device.Decline) {
	w, out := o.In[0], o.Out[0]
	if _, ok := kernel.GetRows(w.Type, kernel.GetRowsF32{}, 1); !ok {
		return nil, no(device.ReasonType, "%s is %s", w.Name, w.Type)
	}
	return []device.Launch{launch(c, o, o.In, o.Out, command{
		rows: out,
		launch: func(at addresses, rows int) kernel.Launch {
			l, _ := kernel.GetRows(w.Type, kernel.GetRowsF32{
				Table: at(w), Tokens: at(batchTokens), Out: at(out), N: uint32(w.Cols),
			}, rows)
			return l
		},
	})}, nil
}

func selectRows(c *device.Compile, o *op.Op) ([]device.Launch, *device.Decline) {
	x, out := o.In[0], o.Out[0]
	return []device.Launch{launch(c, o, o.In, o.Out, command{
		rows: out,
		launch: func(at addresses, rows int) kernel.Launch {
			return kernel.SelectRows{X: at(x), Output: at(batchOutput), Out: at(out), N: uint32(x.Cols)}.Launch(rows)
		},
	})}, nil
}
