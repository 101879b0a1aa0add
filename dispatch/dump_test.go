package dispatch_test

import (
	"bytes"
	"testing"

	"github.com/holdfast-llm/holdfast/device"
	"github.com/holdfast-llm/holdfast/dispatch"
	"github.com/holdfast-llm/holdfast/internal/golden"
	"github.com/holdfast-llm/holdfast/op"
)

func TestDumpNamesEveryCommandBindingAndTransient(t *testing.T) {
	dev := everything()
	dev.regs[op.SwiGLU] = append(dev.regs[op.SwiGLU], device.Registration{Name: "swiglu.other", Priority: 1, Match: refuse(device.ReasonShape, "rows 7, want 1")})
	dev.regs[op.RMSNorm][0].Match = func(s *device.Site) (*device.Match, *device.Decline) {
		m, _ := take(s)
		m.Launches[0].Bindings[0].Align = 64
		pack, _ := s.Derived(s.Op().Out[0], "packed", 80)
		m.Launches[0].Bindings = append(m.Launches[0].Bindings, s.Bind(pack, device.Write))
		return m, nil
	}
	p, err := dispatch.Compile(dev, chain(), device.Limits{Tokens: 7, Outputs: 3, Keys: 256}, dispatch.Options{Arena: device.Arena{Prefix: 64}})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := dispatch.Dump(&b, p, dispatch.Loaded{Address: func(v *op.Value) (uint64, bool) { return 0x7000_0000, v.Name == "x" }}); err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "dump.json", b.String())
}
