package stage

import (
	"fmt"
	"math"

	"github.com/holdfast-llm/holdfast/device"
)

// canaries are the zones before and after a place.
func (h *Hooks) canaries(at *device.Place) [2][]byte {
	b, g := h.arena, h.guard
	end := at.Offset + at.Bytes
	return [2][]byte{b[at.Offset-g : at.Offset], b[end : end+g]}
}

// canary is the byte at a position of a zone: no two neighbours are alike, and
// none is 0 or 0xff.
func canary(i int) byte { return 0xa5 ^ byte(i&0x3f) }

func arm(zone []byte) {
	for i := range zone {
		zone[i] = canary(i)
	}
}

// checkCanaries is the fault of a byte around a place that was written; nil if
// there is none.
func (h *Hooks) checkCanaries(stage int, at *device.Place) *device.Fault {
	for side, zone := range h.canaries(at) {
		for i, c := range zone {
			if c == canary(i) {
				continue
			}
			where, off := "before", len(zone)-i
			if side == 1 {
				where, off = "after", i+1
			}
			l := &h.prog.Launches[h.culprit(stage, at)]
			return &device.Fault{
				Device: h.device, Kind: device.FaultCanary, Launch: l.Kernel, Op: l.Op,
				Err: fmt.Errorf("byte %d %s %s (%d bytes at arena offset %d) is %#02x, was %#02x; next to it: %s",
					off, where, at.Value.Name, at.Bytes, at.Offset, c, canary(i), h.neighbours(stage, at)),
			}
		}
	}
	return nil
}

// culprit is the launch of a stage that writes a value: the first suspect. If
// none does it is the stage's first.
func (h *Hooks) culprit(stage int, at *device.Place) int {
	for i := h.offsets[stage]; i < h.offsets[stage+1]; i++ {
		for _, b := range h.prog.Launches[i].Bindings {
			if b.Value == at.Value && b.Access&device.Write != 0 {
				return i
			}
		}
	}
	return h.offsets[stage]
}

// neighbours names the live transients that lie nearest before and after one.
func (h *Hooks) neighbours(stage int, at *device.Place) string {
	before, after := "the start of the arena", "the end of the arena"
	lo, hi := math.MinInt, math.MaxInt
	for i := range h.prog.Places {
		q := &h.prog.Places[i]
		if q == at || q.First > stage || q.Last < stage {
			continue
		}
		if q.Offset < at.Offset && q.Offset > lo {
			lo, before = q.Offset, q.Value.Name
		}
		if q.Offset > at.Offset && q.Offset < hi {
			hi, after = q.Offset, q.Value.Name
		}
	}
	return before + " before, " + after + " after"
}
