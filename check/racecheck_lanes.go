package check

import (
	"fmt"
	"math/bits"
	"strings"

	"github.com/holdfast-llm/holdfast/amd/emu"
	"github.com/holdfast-llm/holdfast/amd/isa"
)

// lanes looks for lanes of one store that write to the same byte. second says
// that it is the second access of an instruction with two addresses.
func (r *racecheck) lanes(v *raceWave, a *emu.Access, second bool) {
	if a.Space == emu.Scalar || apart(a) {
		return
	}
	owner := map[uint64]int{} // by byte
	data := storeData(a, second)
	for lanes := a.Lanes; lanes != 0; lanes &= lanes - 1 {
		lane := bits.TrailingZeros64(lanes)
		for i := range uint64(a.Bytes) {
			at := a.Addr[lane] + i
			first, taken := owner[at]
			if !taken {
				owner[at] = lane
				continue
			}
			if data == nil {
				r.c.gap(Racecheck, "values that lanes of "+a.Inst.Op.Name+" store to the same byte")
				return
			}
			k := LaneConflict
			if data(lane, int(i)) == data(first, int(at-a.Addr[first])) {
				k = UniformWrite
			}
			if k == UniformWrite && !r.uniform || r.c.known(Racecheck, k, v.pc) {
				continue
			}
			f := Finding{Tool: Racecheck, Kind: k, Bytes: a.Bytes, Sites: []Site{r.c.site(a.Wave, lane)}}
			f.Buffer, f.Offset = r.where(a.Space, at)
			what := "different values"
			if k == UniformWrite {
				what = "the same value"
			}
			f.Message = fmt.Sprintf("lanes %d and %d of a store of %d bytes write %s to %q + %d", first, lane, a.Bytes, what, f.Buffer, f.Offset)
			r.c.report(f)
		}
	}
}

// apart says that the lanes' places ascend or descend and do not overlap, as
// nearly always.
func apart(a *emu.Access) bool {
	n, lanes := uint64(a.Bytes), a.Lanes
	last := a.Addr[bits.TrailingZeros64(lanes)]
	up, down := true, true
	for lanes &= lanes - 1; lanes != 0 && (up || down); lanes &= lanes - 1 {
		at := a.Addr[bits.TrailingZeros64(lanes)]
		up, down = up && at > last && at-last >= n, down && at < last && last-at >= n
		last = at
	}
	return up || down
}

// storeData gives the bytes that a lane stores, or is nil if it is not known
// which registers they are in. second is for the second of two addresses.
func storeData(a *emu.Access, second bool) func(lane, i int) byte {
	in := a.Inst
	args := in.Args()
	at := 1
	switch in.Op.Format {
	case isa.MUBUF:
		at = 0
	case isa.FLAT, isa.GLOBAL:
	case isa.DS:
		if second {
			at = 2
		}
	default:
		return nil
	}
	if at >= len(args) || args[at].Kind != isa.VGPR {
		return nil
	}
	reg, shift := int(args[at].Reg), 0
	if strings.Contains(in.Op.Name, "d16_hi") {
		shift = 16
	}
	return func(lane, i int) byte { return byte(a.Wave.VGPR(reg+i/4, lane) >> (shift + 8*(i%4))) }
}
