package kernel

import (
	"fmt"
	"strings"
	"testing"

	"github.com/holdfast-llm/holdfast/amd/emu"
	"github.com/holdfast-llm/holdfast/internal/golden"
)

// The instructions that attention takes are kept in a file, so that a change
// shows what it costs. Next to them is a floor for matrix units: each byte of
// keys and values loaded once, 16 a lane, and a product of 16 x 16 x 16 for each
// 16 keys and 16 elements, of keys and again of values.
func TestInstructionsOfAttention(t *testing.T) {
	var b strings.Builder
	fmt.Fprintln(&b, "Instructions, one row of queries, on the software device.")
	fmt.Fprintf(&b, "%-10s %5s %4s %-22s %9s %9s %9s %6s\n", "heads", "keys", "wave", "kernel", "of waves", "of lanes", "floor", "ratio")
	for _, s := range []struct{ kvHeads, group, dim, keys int }{
		{2, 4, 64, 64},
		{2, 4, 64, 2113},
		{4, 8, 128, 2304},
	} {
		p := (&attention{kvHeads: s.kvHeads, group: s.group, headDim: s.dim, vDim: s.dim, pos: []int32{int32(s.keys - 1)}, seed: 7}).fill()
		for _, wave := range []int{32, 64} {
			dev, err := emu.New(emu.Config{})
			if err != nil {
				t.Fatal(err)
			}
			r := &rig{dev: dev, kernels: map[string]*emu.Kernel{}, wave: wave}
			o := r.operands(t, p)
			out, q8, states := r.garbage(t, "out", 4*p.channels()), r.garbage(t, "q8", Q8_1Bytes(p.channels())), r.garbage(t, "states", p.stateBytes())
			counters, status := r.bytes(t, "counters", make([]byte, 4*p.kvHeads)), r.bytes(t, "status", make([]byte, 4))
			a := p.produce(o, states.ptr())
			tile, _ := a.LaunchTile(1)
			fusedTile, _ := p.fused(o, states, counters, status, out, q8, true, true)
			fused, _ := p.fused(o, states, counters, status, out, q8, false, true)
			tiles := s.kvHeads * ((s.keys + 15) / 16)
			floor := 2*tiles*16*s.dim*2/16/wave + 2*tiles*s.dim/16
			for _, l := range []Launch{
				tile, a.Launch(1), p.reduceQ8(o, states, out, q8),
				fusedTile, fused, p.serial(o, out),
			} {
				report := r.run(t, l)
				fmt.Fprintf(&b, "%-10s %5d %4d %-22s %9d %9d", fmt.Sprintf("%d/%d/%d", s.kvHeads*s.group, s.kvHeads, s.dim), s.keys, wave,
					strings.TrimPrefix(l.Args.Kernel().Name, "attention_"), report.Instructions, report.LaneInstructions)
				if strings.HasPrefix(l.Args.Kernel().Name, "attention_reduce") {
					fmt.Fprintln(&b)
					continue
				}
				fmt.Fprintf(&b, " %9d %6.1f\n", floor, float64(report.Instructions)/float64(floor))
			}
		}
	}
	golden.Check(t, "attention_cost.txt", b.String())
}
