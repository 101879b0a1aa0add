package engine_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"

	"github.com/holdfast-llm/holdfast/device"
	"github.com/holdfast-llm/holdfast/dispatch/trace"
	"github.com/holdfast-llm/holdfast/engine"
)

// A wrong number, finite and small, in one element of what one command wrote
// changes everything behind it; diff names the command, the output and the
// element where it began, f32 and packed outputs alike.
func TestDiffNamesWhereAWrongValueBegan(t *testing.T) {
	run := func(plant func(step int, p *device.Program, w *device.Watched)) *trace.Reader {
		var b bytes.Buffer
		w := trace.NewWriter(&b, [32]byte{}, false)
		greedy(t, engine.Config{Context: 256, Experiment: engine.Experiment{
			Serial: true,
			Watch: func(step int, p *device.Program, x *device.Watched) {
				if plant != nil {
					plant(step, p, x)
				}
				w.Watch(step, p, x)
			},
		}}, 4)
		if err := w.End(); err != nil {
			t.Fatal(err)
		}
		r, err := trace.NewReader("", bytes.NewReader(b.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for _, c := range []struct {
		op, value string
		kind      trace.Kind
		element   int
	}{
		{"blk.1.attention", "blk.1.attention", trace.Float32, 5},
		{"blk.0.ffn_down", "blk.0.ffn_down", trace.Float32, 0},
	} {
		planted := 0
		bad := run(func(step int, p *device.Program, w *device.Watched) {
			if step != 2 || p.Decisions[p.Launches[w.Launch].Op].Op != c.op {
				return
			}
			for _, m := range w.Written {
				if m.Value.Name == c.value {
					at := m.Data[4*c.element:]
					binary.LittleEndian.PutUint32(at, math.Float32bits(math.Float32frombits(binary.LittleEndian.Uint32(at))+0.25))
					planted++
				}
			}
		})
		if planted != 1 {
			t.Errorf("%s was planted %d times", c.value, planted)
			continue
		}
		d, n, err := trace.Diff(run(nil), bad)
		if err != nil || d == nil {
			t.Errorf("%s: %v, %v after %d outputs", c.value, d, err, n)
			continue
		}
		if d.Step != 2 || d.Op != c.op || d.Value != c.value || d.Kind != c.kind || d.Element != c.element || d.Count != 1 {
			t.Errorf("%s: %v", c.value, d)
		}
	}
}
