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

// A registration that answers with launches that could reach what they must
// not is declined, and the next one runs.
func TestWhatDoesNotVerifyIsDeclined(t *testing.T) {
	gain := weight("gain", 1, 64)
	for _, c := range []struct {
		name   string
		change func(bs []device.Binding) []device.Binding // in: x, gain; out: y, each of 256 bytes
		reason device.Reason
		detail string
	}{
		{"past the end", func(bs []device.Binding) []device.Binding { bs[0].Bytes++; return bs }, device.ReasonBounds, "bytes 0 to 257 of embed of 256 bytes"},
		{"offset past the end", func(bs []device.Binding) []device.Binding { bs[2].Offset = 4; return bs }, device.ReasonBounds, "bytes 4 to 260 of norm"},
		{"negative offset", func(bs []device.Binding) []device.Binding { bs[2].Offset = -4; return bs }, device.ReasonBounds, "bytes -4"},
		{"offset near the largest number", func(bs []device.Binding) []device.Binding { bs[2].Offset = 1<<63 - 1; return bs }, device.ReasonBounds, "of 256 bytes"},
		{"a written weight", func(bs []device.Binding) []device.Binding { bs[1].Access = device.ReadWrite; return bs }, device.ReasonAccess, "writes gain"},
		{"more alignment than transients have", func(bs []device.Binding) []device.Binding { bs[0].Align = 128; return bs }, device.ReasonAlign, "multiple of 128"},
		{"an offset that is not aligned", func(bs []device.Binding) []device.Binding {
			bs[0].Offset, bs[0].Bytes, bs[0].Align = 4, 8, 8
			return bs
		}, device.ReasonAlign, "bytes 4 to 12 of embed"},
		{"a weight that is not aligned", func(bs []device.Binding) []device.Binding {
			bs[1].Offset, bs[1].Bytes, bs[1].Align = 1, 8, 2
			return bs
		}, device.ReasonAlign, "of gain"},
		{"a value that nothing has written", func(bs []device.Binding) []device.Binding {
			return append(bs, device.Binding{Value: &op.Value{Name: "stray", Role: op.Transient, Type: quant.F32, Cols: 64}, Bytes: 256, Access: device.Read})
		}, device.ReasonAccess, "reads stray, which nothing has written"},
		{"two bindings of the same bytes, one written", func(bs []device.Binding) []device.Binding {
			return append(bs, device.Binding{Value: bs[2].Value, Offset: 128, Bytes: 4, Access: device.Read})
		}, device.ReasonAlias, "bytes 128 to 132 of norm"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dev := everything()
			dev.regs[op.RMSNorm] = append(dev.regs[op.RMSNorm], device.Registration{
				Name: "rms_norm.bad", Priority: 1,
				Match: func(s *device.Site) (*device.Match, *device.Decline) {
					m, _ := take(s)
					m.Launches[0].Bindings = c.change(m.Launches[0].Bindings)
					return m, nil
				},
			})
			p, err := dispatch.Compile(dev, normed(gain), device.Limits{Tokens: 1, Outputs: 1}, dispatch.Options{})
			if err != nil {
				t.Fatal(err)
			}
			d := p.Decisions[1]
			if d.Chosen != "rms_norm.plain" || len(d.Declined) != 1 {
				t.Fatalf("chose %s, declined %v", d.Chosen, d.Declined)
			}
			if got := d.Declined[0]; got.Reason != c.reason || !strings.Contains(got.Detail, c.detail) {
				t.Errorf("declined for %s (%s), want %s with %q", got.Reason, got.Detail, c.reason, c.detail)
			}
		})
	}
}

// normed is a lookup and a norm.
func normed(gain *op.Value) *op.Graph {
	g := &op.Graph{}
	g.Logits = g.RMSNorm("norm", g.GetRows("embed", weight("embd", 10, 64)), gain, 1e-6)
	g.Logits.Role = op.Output
	return g
}

func TestWhatVerifiesIsNotDeclined(t *testing.T) {
	for name, change := range map[string]func(bs []device.Binding) []device.Binding{
		"the whole":                   func(bs []device.Binding) []device.Binding { return bs },
		"a part":                      func(bs []device.Binding) []device.Binding { bs[0].Offset, bs[0].Bytes = 64, 64; return bs },
		"nothing, at the end":         func(bs []device.Binding) []device.Binding { bs[0].Offset, bs[0].Bytes = 256, 0; return bs },
		"the alignment of transients": func(bs []device.Binding) []device.Binding { bs[0].Align, bs[2].Align = 64, 64; return bs },
		"the same bytes read twice": func(bs []device.Binding) []device.Binding {
			return append(bs, device.Binding{Value: bs[0].Value, Bytes: 256, Access: device.Read})
		},
		"one value in two parts": func(bs []device.Binding) []device.Binding {
			bs[2].Bytes = 128
			return append(bs, device.Binding{Value: bs[2].Value, Offset: 128, Bytes: 128, Access: device.ReadWrite})
		},
	} {
		dev := everything()
		dev.regs[op.RMSNorm] = []device.Registration{{Name: "rms_norm.good", Match: func(s *device.Site) (*device.Match, *device.Decline) {
			m, _ := take(s)
			m.Launches[0].Bindings = change(m.Launches[0].Bindings)
			return m, nil
		}}}
		if _, err := dispatch.Compile(dev, normed(weight("gain", 1, 64)), device.Limits{Tokens: 1, Outputs: 1}, dispatch.Options{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAnAnswerAgainstTheRulesIsAnErrorThatNamesTheLane(t *testing.T) {
	for want, m := range map[string]*device.Match{
		"neither a match nor a decline": nil,
		"covers 0 of 1 operations":      {},
		"covers -1 of 1 operations":     {Covers: -1},
		"covers 2 of 1 operations":      {Covers: 2},
		"binding 1 of odd has no value": {Covers: 1, Launches: []device.Launch{{Kernel: "odd", Bindings: []device.Binding{{Value: weight("w", 1, 1)}, {}}}}},
	} {
		dev := everything()
		dev.regs[op.RMSNorm] = append(dev.regs[op.RMSNorm], device.Registration{
			Name: "rms_norm.bad", Priority: 1,
			Match: func(*device.Site) (*device.Match, *device.Decline) { return m, nil },
		})
		_, err := dispatch.Compile(dev, normed(weight("gain", 1, 64)), device.Limits{Tokens: 1, Outputs: 1}, dispatch.Options{})
		var bad *dispatch.MatchError
		if !errors.As(err, &bad) || bad.Lane != "rms_norm.bad" || bad.Op != "norm" || bad.What != want {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// A fused form that keeps a result to itself is declined where it is wanted.
func TestAMatchMustWriteWhatIsReadBehindIt(t *testing.T) {
	pair := func(change func(*device.Launch)) func(*device.Site) (*device.Match, *device.Decline) {
		return func(s *device.Site) (*device.Match, *device.Decline) {
			if len(s.Ops) < 2 || s.Ops[1].Kind != op.MulMat {
				return nil, &device.Decline{Reason: device.ReasonFusion}
			}
			l := device.Launch{Kernel: "pair", Bindings: s.Bindings(s.Ops[0].In, []*op.Value{s.Ops[0].Out[0], s.Ops[1].Out[0]})}
			change(&l)
			return &device.Match{Launches: []device.Launch{l}, Covers: 2}, nil
		}
	}
	for _, c := range []struct {
		name   string
		change func(*device.Launch)
		detail string // "": accepted
	}{
		{"both written", func(*device.Launch) {}, ""},
		{"the second left out", func(l *device.Launch) { l.Bindings = l.Bindings[:3] }, "byte 0 of up, which swiglu reads, is not written"},
		{"the second half written", func(l *device.Launch) { l.Bindings[3].Bytes = 256 }, "byte 256 of up"},
		{"the second written from its middle", func(l *device.Launch) { l.Bindings[3].Offset, l.Bindings[3].Bytes = 256, 256 }, "byte 0 of up"},
		{"written in two parts", func(l *device.Launch) {
			l.Bindings[3].Bytes = 256
			second := l.Bindings[3]
			second.Offset = 256
			l.Bindings = append(l.Bindings, second)
		}, ""},
	} {
		dev := everything()
		dev.regs[op.MulMat] = append(dev.regs[op.MulMat], device.Registration{Name: "mul_mat.pair", Priority: 1, Match: pair(c.change)})
		p, err := dispatch.Compile(dev, chain(), device.Limits{Tokens: 1, Outputs: 1}, dispatch.Options{})
		if err != nil {
			t.Fatal(err)
		}
		d := p.Decisions[2] // gate, up
		switch {
		case c.detail == "":
			if d.Chosen != "mul_mat.pair" || d.Covers != 2 {
				t.Errorf("%s: %+v", c.name, d)
			}
		case d.Chosen != "mul_mat.plain" || len(d.Declined) != 1 || d.Declined[0].Reason != device.ReasonResult || !strings.Contains(d.Declined[0].Detail, c.detail):
			t.Errorf("%s: chose %s, declined %v, want %q", c.name, d.Chosen, d.Declined, c.detail)
		}
	}
}

func TestTheLogitsAreAlwaysNeeded(t *testing.T) {
	dev := everything()
	dev.regs[op.RMSNorm] = []device.Registration{{Name: "rms_norm.none", Match: func(s *device.Site) (*device.Match, *device.Decline) {
		return &device.Match{Covers: 1}, nil
	}}}
	_, err := dispatch.Compile(dev, normed(weight("gain", 1, 64)), device.Limits{Tokens: 1, Outputs: 1}, dispatch.Options{})
	var none *dispatch.UnsupportedError
	if !errors.As(err, &none) || none.Declined[0].Reason != device.ReasonResult {
		t.Errorf("error %v", err)
	}
}

func TestWhatADeclinedMatchDerivedIsForgotten(t *testing.T) {
	dev := everything()
	derive := func(bytes int) func(s *device.Site) (*device.Match, *device.Decline) {
		return func(s *device.Site) (*device.Match, *device.Decline) {
			m, _ := take(s)
			d, fresh := s.Derived(s.Op().In[0], "packed", 64)
			if !fresh {
				t.Error("the pack of a declined match is still there")
			}
			m.Launches[0].Bindings = append(m.Launches[0].Bindings, device.Binding{Value: d, Bytes: bytes, Access: device.Write})
			return m, nil
		}
	}
	dev.regs[op.RMSNorm] = []device.Registration{
		{Name: "rms_norm.bad", Priority: 1, Match: derive(65)},
		{Name: "rms_norm.good", Match: derive(64)},
	}
	if _, err := dispatch.Compile(dev, normed(weight("gain", 1, 64)), device.Limits{Tokens: 1, Outputs: 1}, dispatch.Options{}); err != nil {
		t.Fatal(err)
	}
}

func TestAFusedMatchCoversTheOperationsThatFollow(t *testing.T) {
	dev := everything()
	dev.regs[op.MulMat] = append(dev.regs[op.MulMat], device.Registration{
		Name: "mul_mat.swiglu", Priority: 1,
		Match: func(s *device.Site) (*device.Match, *device.Decline) {
			if len(s.Ops) < 3 || s.Ops[1].Kind != op.MulMat || s.Ops[2].Kind != op.SwiGLU {
				return nil, &device.Decline{Reason: device.ReasonFusion, Detail: "no gate, up and swiglu"}
			}
			l := device.Launch{Kernel: "fused", Bindings: s.Bindings(append(s.Ops[0].In, s.Ops[1].In[1]), s.Ops[2].Out)}
			return &device.Match{Launches: []device.Launch{l}, Covers: 3}, nil
		},
	})
	p, err := dispatch.Compile(dev, chain(), device.Limits{Tokens: 1, Outputs: 1}, dispatch.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range p.Decisions {
		got = append(got, d.Op+": "+d.Chosen)
	}
	want := "embed: get_rows.plain, norm: rms_norm.plain, gate + up + swiglu: mul_mat.swiglu, down: mul_mat.plain, add: add.plain, output: mul_mat.plain"
	if s := strings.Join(got, ", "); s != want {
		t.Errorf("decisions %s\nwant %s", s, want)
	}
	for _, at := range p.Places {
		if at.Value.Name == "gate" || at.Value.Name == "up" {
			t.Errorf("%s has a place though nobody touches it", at.Value.Name)
		}
	}
}

func TestQuarantineIsByFullNameAndShowsWhy(t *testing.T) {
	dev := everything()
	dev.regs[op.SwiGLU] = append(dev.regs[op.SwiGLU], device.Registration{Name: "swiglu.plain.fused", Priority: 1, Match: take})
	p, err := dispatch.Compile(dev, chain(), device.Limits{Tokens: 1, Outputs: 1}, dispatch.Options{
		Quarantined: map[string]string{"swiglu.plain.fused": "memory fault in step 7"},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range p.Decisions {
		if d.Kind == op.SwiGLU {
			want := device.Decline{Lane: "swiglu.plain.fused", Reason: device.ReasonQuarantined, Detail: "memory fault in step 7"}
			if d.Chosen != "swiglu.plain" || len(d.Declined) != 1 || d.Declined[0] != want {
				t.Errorf("chose %s, declined %v", d.Chosen, d.Declined)
			}
		}
	}
}
