package dispatch_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/holdfast-llm/holdfast/device"
	"github.com/holdfast-llm/holdfast/dispatch"
	"github.com/holdfast-llm/holdfast/gguf/quant"
	"github.com/holdfast-llm/holdfast/op"
)

// fake is a device whose registrations the test gives.
type fake struct {
	device.Device
	regs map[op.Kind][]device.Registration
}

func (f fake) Name() string                                  { return "fake" }
func (f fake) Registrations(k op.Kind) []device.Registration { return f.regs[k] }

func take(s *device.Site) (*device.Match, *device.Decline) {
	o := s.Op()
	l := device.Launch{Kernel: o.Name, Bindings: s.Bindings(o.In, o.Out)}
	return &device.Match{Launches: []device.Launch{l}, Covers: 1}, nil
}

func refuse(r device.Reason, detail string) func(*device.Site) (*device.Match, *device.Decline) {
	return func(*device.Site) (*device.Match, *device.Decline) {
		return nil, &device.Decline{Reason: r, Detail: detail}
	}
}

func weight(name string, rows, cols int) *op.Value {
	return &op.Value{Name: name, Role: op.Weight, Type: quant.F32, Cols: cols, Height: rows, Experts: 1, Data: make([]byte, 4*rows*cols)}
}

// everything takes every kind of operation.
func everything() fake {
	f := fake{regs: map[op.Kind][]device.Registration{}}
	for k := op.GetRows; k <= op.MoESum; k++ {
		f.regs[k] = []device.Registration{{Name: k.String() + ".plain", Match: take}}
	}
	return f
}

func chain() *op.Graph {
	g := &op.Graph{}
	x := g.GetRows("embed", weight("embd", 10, 64))
	y := g.RMSNorm("norm", x, weight("gain", 1, 64), 1e-6)
	gate := g.MulMat("gate", y, weight("gate", 128, 64), nil)
	up := g.MulMat("up", y, weight("up", 128, 64), nil)
	h := g.SwiGLU("swiglu", gate, up)
	x = g.Add("add", x, g.MulMat("down", h, weight("down", 64, 128), nil))
	g.Logits = g.MulMat("output", x, weight("out", 10, 64), nil)
	g.Logits.Role = op.Output
	return g
}

func TestTheHighestPriorityThatMatchesIsChosen(t *testing.T) {
	dev := everything()
	dev.regs[op.MulMat] = []device.Registration{
		{Name: "mul_mat.low", Priority: 1, Match: take},
		{Name: "mul_mat.high", Priority: 9, Match: refuse(device.ReasonShape, "rows 1, want 9")},
		{Name: "mul_mat.middle", Priority: 5, Match: take},
	}
	p, err := dispatch.Compile(dev, chain(), device.Limits{Tokens: 1, Outputs: 1}, dispatch.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range p.Decisions {
		if d.Kind != op.MulMat {
			continue
		}
		if d.Chosen != "mul_mat.middle" {
			t.Errorf("%s: chose %s, want mul_mat.middle", d.Op, d.Chosen)
		}
		want := device.Decline{Lane: "mul_mat.high", Reason: device.ReasonShape, Detail: "rows 1, want 9"}
		if len(d.Declined) != 1 || d.Declined[0] != want {
			t.Errorf("%s: declined %v, want [%v]", d.Op, d.Declined, want)
		}
	}
}

func TestDisableIsByNamePrefixAndShowsAsADecline(t *testing.T) {
	dev := everything()
	dev.regs[op.SwiGLU] = append(dev.regs[op.SwiGLU], device.Registration{Name: "swiglu.fused", Priority: 1, Match: take})
	p, err := dispatch.Compile(dev, chain(), device.Limits{Tokens: 1, Outputs: 1}, dispatch.Options{Disable: []string{"swiglu.f"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range p.Decisions {
		if d.Kind == op.SwiGLU && (d.Chosen != "swiglu.plain" || d.Declined[0].Reason != device.ReasonDisabled) {
			t.Errorf("chose %s, declined %v", d.Chosen, d.Declined)
		}
	}
}

func TestNothingMatchesIsAnErrorWithEveryReason(t *testing.T) {
	dev := everything()
	dev.regs[op.SwiGLU] = []device.Registration{
		{Name: "swiglu.a", Match: refuse(device.ReasonType, "is Q9")},
		{Name: "swiglu.b", Match: refuse(device.ReasonCPU, "no AVX-512")},
	}
	_, err := dispatch.Compile(dev, chain(), device.Limits{Tokens: 1, Outputs: 1}, dispatch.Options{})
	var unsupported *dispatch.UnsupportedError
	if !errors.As(err, &unsupported) {
		t.Fatalf("error %v, want an UnsupportedError", err)
	}
	for _, want := range []string{"device fake", "swiglu", "swiglu.a: type (is Q9)", "swiglu.b: cpu (no AVX-512)"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %q does not say %q", err, want)
		}
	}
}

func TestALaunchWaitsOnlyForWhatItDependsOn(t *testing.T) {
	p, err := dispatch.Compile(everything(), chain(), device.Limits{Tokens: 1, Outputs: 1}, dispatch.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{"embed": false, "norm": true, "gate": true, "up": false, "swiglu": true, "down": true, "add": true, "output": true}
	for _, l := range p.Launches {
		if l.Wait != want[l.Kernel] {
			t.Errorf("%s: wait %v, want %v", l.Kernel, l.Wait, want[l.Kernel])
		}
	}
}

// TestNoTwoLiveValuesShareAByte checks the placement pair by pair.
func TestNoTwoLiveValuesShareAByte(t *testing.T) {
	p, err := dispatch.Compile(everything(), chain(), device.Limits{Tokens: 7, Outputs: 3}, dispatch.Options{})
	if err != nil {
		t.Fatal(err)
	}
	sum := 0
	for i, a := range p.Places {
		sum += a.Bytes
		if a.Offset%64 != 0 || a.Offset+a.Bytes > p.ArenaBytes {
			t.Errorf("%s at %d of %d bytes in an arena of %d", a.Value.Name, a.Offset, a.Bytes, p.ArenaBytes)
		}
		for _, b := range p.Places[:i] {
			together := a.First <= b.Last && b.First <= a.Last
			overlap := a.Offset < b.Offset+b.Bytes && b.Offset < a.Offset+a.Bytes
			if together && overlap {
				t.Errorf("%s and %s live at once and overlap", a.Value.Name, b.Value.Name)
			}
		}
	}
	if p.ArenaBytes >= sum {
		t.Errorf("arena of %d bytes for %d bytes of values: nothing is shared", p.ArenaBytes, sum)
	}
}
