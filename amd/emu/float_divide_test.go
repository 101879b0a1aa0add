package emu

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/holdfast-llm/holdfast/amd/isa"
)

// The tests here run the sequences that compilers make of a division, with
// registers v0 denominator, v2 numerator and v4 upwards for what follows; each
// takes two, so that they serve both precisions.

const vccField = isa.RegVCCLo << 8

// sequence is instructions of VOP3.
type sequence struct {
	t    *testing.T
	code []*inst
}

func (s *sequence) add(name string, dst int, flags [2]uint32, src ...uint32) {
	s.t.Helper()
	w := encode(s.t, isa.VOP3, name, dst, src...)
	w[0] |= flags[0]
	w[1] |= flags[1]
	s.code = append(s.code, decodeTest(s.t, 64, w...))
}

func (s *sequence) run(w *wave) {
	for _, in := range s.code {
		in.run(w, in)
	}
}

const one = 242 // the source code of 1.0

func divisionF32(t *testing.T) *sequence {
	s := &sequence{t: t}
	toVCC, plain, neg0 := [2]uint32{vccField, 0}, [2]uint32{}, [2]uint32{0, negBit}
	s.add("v_div_scale_f32", 4, [2]uint32{isa.RegNull << 8, 0}, v(0), v(0), v(2))
	s.add("v_div_scale_f32", 6, toVCC, v(2), v(0), v(2))
	s.add("v_rcp_f32", 8, plain, v(4))
	s.add("v_fma_f32", 10, neg0, v(4), v(8), one)
	s.add("v_fma_f32", 8, plain, v(10), v(8), v(8))
	s.add("v_mul_f32", 10, plain, v(6), v(8))
	s.add("v_fma_f32", 12, neg0, v(4), v(10), v(6))
	s.add("v_fma_f32", 10, plain, v(12), v(8), v(10))
	s.add("v_fma_f32", 12, neg0, v(4), v(10), v(6))
	s.add("v_div_fmas_f32", 14, plain, v(12), v(8), v(10))
	s.add("v_div_fixup_f32", 16, plain, v(14), v(0), v(2))
	return s
}

func divisionF64(t *testing.T) *sequence {
	s := &sequence{t: t}
	toVCC, plain, neg0 := [2]uint32{vccField, 0}, [2]uint32{}, [2]uint32{0, negBit}
	s.add("v_div_scale_f64", 4, [2]uint32{isa.RegNull << 8, 0}, v(0), v(0), v(2))
	s.add("v_rcp_f64", 8, plain, v(4))
	s.add("v_fma_f64", 10, neg0, v(4), v(8), one)
	s.add("v_fma_f64", 8, plain, v(8), v(10), v(8))
	s.add("v_fma_f64", 10, neg0, v(4), v(8), one)
	s.add("v_fma_f64", 8, plain, v(8), v(10), v(8))
	s.add("v_div_scale_f64", 6, toVCC, v(2), v(0), v(2))
	s.add("v_mul_f64", 10, plain, v(6), v(8))
	s.add("v_fma_f64", 12, neg0, v(4), v(10), v(6))
	s.add("v_div_fmas_f64", 14, plain, v(12), v(8), v(10))
	s.add("v_div_fixup_f64", 16, plain, v(14), v(0), v(2))
	return s
}

func TestDivisionSequenceIsCorrectlyRounded(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	rounds := 400
	if testing.Short() {
		rounds = 50
	}
	t.Run("f32", func(t *testing.T) {
		s, w, b := divisionF32(t), newTestWave(64), refFormats[1]
		for range rounds {
			for i := range 64 {
				w.vgpr[0][i], w.vgpr[2][i] = uint32(b.sample(r)), uint32(b.sample(r))
			}
			s.run(w)
			for i := range 64 {
				d, n, got := f32(w.vgpr[0][i]), f32(w.vgpr[2][i]), f32(w.vgpr[16][i])
				if want := n / d; math.Float32bits(got) != math.Float32bits(want) && (got == got || want == want) {
					t.Fatalf("%x / %x = %x, want %x", n, d, got, want)
				}
			}
		}
	})
	t.Run("f64", func(t *testing.T) {
		s, w, b := divisionF64(t), newTestWave(64), refFormats[2]
		for range rounds {
			for i := range 64 {
				d, n := b.sample(r), b.sample(r)
				w.vgpr[0][i], w.vgpr[1][i], w.vgpr[2][i], w.vgpr[3][i] = uint32(d), uint32(d>>32), uint32(n), uint32(n>>32)
			}
			s.run(w)
			for i := range 64 {
				at := func(reg int) float64 { return f64(uint64(w.vgpr[reg+1][i])<<32 | uint64(w.vgpr[reg][i])) }
				d, n, got := at(0), at(2), at(16)
				if want := n / d; math.Float64bits(got) != math.Float64bits(want) && (got == got || want == want) {
					t.Fatalf("%x / %x = %x, want %x", n, d, got, want)
				}
			}
		}
	})
}
