package emu

import (
	"math/rand/v2"
	"testing"

	"github.com/holdfast-llm/holdfast/amd/isa"
)

// randomVector fills a wave's registers with random bits, with exec as given.
func randomVector(r *rand.Rand, w *wave) {
	for i := range w.sgpr {
		w.sgpr[i] = r.Uint32()
	}
	w.sgpr[isa.RegNull] = 0
	for i := range w.vgpr {
		for j := range w.vgpr[i] {
			w.vgpr[i][j] = randomFloatBits(r)
		}
	}
	w.scc = r.Uint32()&1 != 0
	w.mode = r.Uint32() & 0x3ff
}

// randomFloatBits prefers the values where arithmetic has edges.
func randomFloatBits(r *rand.Rand) uint32 {
	switch r.IntN(4) {
	case 0:
		edges := [...]uint32{0, 1, 0x7fffff, 0x800000, 0x7f7fffff, 0x7f800000, 0x7f800001, 0x7fc00000, 0x3f800000, 0x3c00, 0x7c00, 0x7e00, 0x3ff}
		return edges[r.IntN(len(edges))] ^ r.Uint32()&1<<31
	case 1:
		return uint32(r.IntN(64))
	}
	return r.Uint32()
}

// TestRandomVectorWords executes whatever random words decode to: nothing may
// panic but an m0-relative register that is not there.
func TestRandomVectorWords(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	n := 200000
	if testing.Short() {
		n = 20000
	}
	heads := []uint32{0x7e000000, 0x00000000, 0x7c000000, 0xd4000000, 0xd5000000, 0xd6000000, 0xd7000000, 0xcc000000, 0xcc400000, 0xc8000000}
	for _, size := range []int{32, 64} {
		w := newTestWave(size)
		ran := 0
		for range n / 2 {
			words := make([]byte, 20)
			for i := range words {
				words[i] = byte(r.Uint32())
			}
			head := heads[r.IntN(len(heads))]
			words[3] |= byte(head >> 24)
			words[2] |= byte(head >> 16)
			d, err := isa.Decode(0, words, isa.Wave(size))
			if err != nil || d.Op.Format < isa.VOP1 {
				continue
			}
			in := &inst{Inst: d}
			if prepare(in) != nil {
				continue
			}
			if ran%100 == 0 {
				randomVector(r, w)
			}
			ran++
			runCatching(t, w, in)
		}
		if ran < n/50 {
			t.Errorf("wave%d: only %d instructions ran", size, ran)
		}
	}
}

func runCatching(t *testing.T, w *wave, in *inst) {
	defer func() {
		p := recover()
		if _, isFault := p.(*Fault); p != nil && !isFault {
			t.Fatalf("%s: %v", in.Inst.String(), p)
		}
	}()
	in.run(w, in)
	if w.sgpr[isa.RegNull] != 0 {
		t.Fatalf("%s wrote null", in.Inst.String())
	}
}
