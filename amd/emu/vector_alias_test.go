package emu

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/holdfast-llm/holdfast/amd/isa"
)

// TestResultsDependOnNothingElse runs every VOP3 and VOP3P operation of one
// lane's values three ways: into a register of its own, into one of its
// sources, and with half of the lanes active. What a lane gets is the same.
func TestResultsDependOnNothingElse(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(15, 16))
	across := []string{"lane", "wmma", "movrel", "swap"} // not of one lane
	start := newTestWave(64)
	ran := 0
	for _, op := range isa.Ops() {
		if op.Format != isa.VOP3 && op.Format != isa.VOP3P || len(op.Args) == 0 || !writesVGPR(op) {
			continue
		}
		skip := false
		for _, s := range across {
			skip = skip || strings.Contains(op.Name, s)
		}
		if skip {
			continue
		}
		ran++
		for range 4 {
			randomVector(r, start)
			start.mode = usualMode
			if r.IntN(3) == 0 {
				start.mode = r.Uint32() & 0x3ff
			}
			start.setExec(^uint64(0))
			src := []uint32{v(10), v(20), v(30)}
			mod := r.Uint32() & (negBit | 2*negBit) // where the operation has them
			apart, ok := runOperation(t, start, op, 100, src, mod, ^uint64(0))
			if !ok {
				apart, ok = runOperation(t, start, op, 100, src, 0, ^uint64(0))
				mod = 0
			}
			if !ok {
				t.Errorf("%s does not decode", op.Name)
				break
			}
			mask := r.Uint64()
			masked, _ := runOperation(t, start, op, 100, src, mod, mask)
			for lane := range 64 {
				want := apart.vgpr[100][lane]
				if mask>>lane&1 == 0 {
					want = start.vgpr[100][lane]
				}
				if got := masked.vgpr[100][lane]; got != want {
					t.Errorf("%s mode %#x: lane %d of exec %#x has %#x, want %#x", op.Name, start.mode, lane, mask, got, want)
					break
				}
			}
			if dst := op.Args[0]; dst.Access&isa.Read != 0 || start.vgpr[100] == apart.vgpr[100] {
				continue
			}
			for k := range src {
				onto, _ := runOperation(t, start, op, 10+10*k, src, mod, ^uint64(0))
				got, want := onto.vgpr[10+10*k], apart.vgpr[100]
				if op.Args[0].Type.Dwords() == 1 && isHalf(op.Args[0].Type) {
					for lane := range got {
						got[lane] &= 0xffff
						want[lane] &= 0xffff
					}
				}
				if got != want {
					t.Errorf("%s mode %#x: onto source %d differs", op.Name, start.mode, k)
				}
			}
		}
	}
	if ran < 250 {
		t.Errorf("only %d operations", ran)
	}
}

func writesVGPR(op *isa.Op) bool {
	a := &op.Args[0]
	return a.Access&isa.Write != 0 && a.Type != isa.Mask && a.Type.Dwords() <= 2
}

// runOperation runs op on a copy of the wave; false if it does not decode.
func runOperation(t *testing.T, start *wave, op *isa.Op, dst int, src []uint32, mod uint32, exec uint64) (*wave, bool) {
	t.Helper()
	n := 0
	for i := range op.Args {
		if op.Args[i].Access == isa.Read {
			n++
		}
	}
	src = append([]uint32(nil), src[:min(n, 3)]...)
	for i, j := 0, 0; i < len(op.Args); i++ {
		if op.Args[i].Access != isa.Read {
			continue
		}
		if op.Args[i].Type == isa.Mask {
			src[j] = 20 // s[20:21]
		}
		j++
	}
	words := encode(t, op.Format, op.Name, dst, src...)
	words[1] |= mod
	d, err := isa.Decode(0, bytesOf(words), 64)
	if err != nil {
		return nil, false
	}
	in := &inst{Inst: d}
	if err := prepare(in); err != nil {
		t.Fatal(err)
	}
	w := &wave{n: start.n, mode: start.mode, sgpr: start.sgpr, vgpr: append([]lanes(nil), start.vgpr...)}
	w.setExec(exec)
	in.run(w, in)
	return w, true
}
