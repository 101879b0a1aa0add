package gfx11

import (
	"fmt"

	"github.com/holdfast-llm/holdfast/device"
	"github.com/holdfast-llm/holdfast/device/kernel"
	"github.com/holdfast-llm/holdfast/op"
)

func moeRoute(c *device.Compile, o *op.Op) ([]device.Launch, *device.Decline) {
	logits, ids, weights, a := o.In[0], o.Out[0], o.Out[1], o.Attr
	faults := &op.Value{Name: o.Name + ".faults"}
	return []device.Launch{launch(c, o, o.In, o.Out, command{
		rows: ids,
		own:  []own{{value: faults, bytes: c.Rows(ids) * kernel.FaultBytes}},
		launch: func(at addresses, rows int) kernel.Launch {
			return kernel.MoERoute{
				Logits: at(logits), Chosen: at(ids), Weights: at(weights), Faults: at(faults),
				Experts: uint32(a.Experts), Used: uint32(a.Used), Renorm: flag(a.RenormTopK), Scale: a.ExpertsScale, Mark: 1,
			}.Launch(rows)
		},
		check: func(bytes func(*op.Value) []byte, rows int) *finding {
			for i, f := range kernel.Faults(bytes(faults)[:rows*kernel.FaultBytes]) {
				if f.Mark != 0 {
					return &finding{
						kind: device.FaultNaN, inherited: true,
						err: fmt.Errorf("row %d: moe: router logit of expert %d is %v", i, f.Index, f.Value),
					}
				}
			}
			return nil
		},
	})}, nil
}
