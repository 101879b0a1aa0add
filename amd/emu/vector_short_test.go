package emu

import (
	"testing"

	"github.com/holdfast-llm/holdfast/amd/isa"
)

// TestShortEncodings runs one instruction each of VOP1, VOP2, VOPC and VOPD, as
// assemblers encode them, on v0 = 2.0, v1 = 3.0 (or the halves 2.0, 3.0 twice),
// v2 = 1.0 and vcc_lo = 1. It looks at v2, and at v3 for VOPD.
func TestShortEncodings(t *testing.T) {
	const lit = 0x40a00000 // 5.0
	facts := []struct {
		text  string
		words []uint32
		half  bool // sources are halves
		want  uint32
		wantY uint32
	}{
		{"v_fmaak_f32 v2, v0, v1, 5.0", []uint32{0x5a040300, lit}, false, 0x41300000, 0},
		{"v_fmamk_f32 v2, v0, 5.0, v1", []uint32{0x58040300, lit}, false, 0x41500000, 0},
		{"v_fmac_f32 v2, v0, v1", []uint32{0x56040300}, false, 0x40e00000, 0},
		{"v_cndmask_b32 v2, v0, v1, vcc_lo", []uint32{0x02040300}, false, 0x40400000, 0},
		{"v_add_co_ci_u32 v2, vcc_lo, v0, v1, vcc_lo", []uint32{0x40040300}, false, 0x80400001, 0},
		{"v_add_f16 v2.h, v0.h, v1.l", []uint32{0x65040380}, true, 0x45000000, 0},
		{"v_fmac_f16 v2.l, v0.h, v1.l", []uint32{0x6c040380}, true, 0x3f804600, 0},
		{"v_fmaak_f16 v2.l, v0.l, v1.l, 5.0", []uint32{0x70040300, 0x4500}, true, 0x3f804980, 0},
		{"v_pk_fmac_f16 v2, 2.0 (twice), v1", []uint32{0x780402f4}, true, 0x47e04600, 0},
		{"v_pk_fmac_f16 v2, 0x4000, v1", []uint32{0x780402ff, 0x4000}, true, 0x3f804600, 0},
		{"v_dot2acc_f32_f16 v2, v0, v1", []uint32{0x04040300}, true, 0x41500000, 0},
		{"v_cvt_f32_f16 v2, v0.h", []uint32{0x7e041780}, true, 0x40000000, 0},
		{"v_add_nc_u32 v2, 0x12345678, v1", []uint32{0x4a0402ff, 0x12345678}, false, 0x52745678, 0},
		{"v_mov_b32 v2, vcc_lo", []uint32{0x7e04026a}, false, 1, 0},
		{"v_mov_b32 v2, src_scc", []uint32{0x7e0402fd}, false, 1, 0},
		{"v_swap_b16 v2.l, v0.h", []uint32{0x7e04cd80}, true, 0x3f804000, 0},
		{"v_dual_fmac_f32 v2, v0, v1 :: v_dual_mov_b32 v3, v1", []uint32{0xc8100300, 0x02020101}, false, 0x40e00000, 0x40400000},
		{"v_dual_fmaak_f32 v2, v0, v1, 5.0 :: v_dual_fmamk_f32 v3, v1, 5.0, v0", []uint32{0xc8440300, 0x02020101, 0x40a00000}, false, 0x41300000, 0x41880000},
		{"v_dual_cndmask_b32 v2, v0, v1 :: v_dual_add_nc_u32 v3, v1, v0", []uint32{0xca600300, 0x02020101}, false, 0x40400000, 0x80400000},
		{"v_dual_mul_f32 v2, v0, v1 :: v_dual_lshlrev_b32 v3, 1, v0", []uint32{0xc8e20300, 0x02020081}, false, 0x40c00000, 0x80000000},
		{"v_dual_sub_f32 v2, v0, v1 :: v_dual_and_b32 v3, v1, v0", []uint32{0xc9640300, 0x02020101}, false, 0xbf800000, 0x40000000},
		{"v_dual_dot2acc_f32_f16 v2, v0, v1 :: v_dual_subrev_f32 v3, v1, v0", []uint32{0xcb0c0300, 0x02020101}, true, 0x41500000, 0xc1f07c00},
	}
	for _, f := range facts {
		w := newTestWave(32)
		w.scc = true
		w.sgpr[106] = 1
		w.vgpr[0][0], w.vgpr[1][0], w.vgpr[2][0] = 0x40000000, 0x40400000, 0x3f800000
		if f.half {
			w.vgpr[0][0], w.vgpr[1][0] = 0x40004000, 0x42004200
		}
		step(t, w, f.words...)
		if got, y := w.vgpr[2][0], w.vgpr[3][0]; got != f.want || y != f.wantY {
			t.Errorf("%s: v2 %#x, v3 %#x, want %#x, %#x", f.text, got, y, f.want, f.wantY)
		}
	}
}

func TestShortCompares(t *testing.T) {
	w := newTestWave(32)
	for i := range 32 {
		w.vgpr[0][i], w.vgpr[1][i] = uint32(i), 4
	}
	w.setExec(0xfffffffe)
	step(t, w, 0x7c920300) // v_cmp_lt_u32 vcc_lo, v0, v1
	if w.vcc() != 0xe {
		t.Errorf("v_cmp_lt_u32: vcc %#x, want 0xe", w.vcc())
	}
	step(t, w, 0x7d920300) // v_cmpx_lt_u32 v0, v1
	if w.exec() != 0xe {
		t.Errorf("v_cmpx_lt_u32: exec %#x, want 0xe", w.exec())
	}
}

// TestModifiersOfDPP adds -v0 of the lane before to |v1|.
func TestModifiersOfDPP(t *testing.T) {
	w := newTestWave(32)
	for i := range 32 {
		w.vgpr[0][i], w.vgpr[1][i] = 0x3f800000, 0xc0000000
	}
	w.vgpr[0][4] = 0x40400000
	step(t, w, 0x060402fa, 0xff911100) // v_add_f32_dpp v2, -v0, |v1| row_shr:1
	for lane, want := range map[int]uint32{0: 0, 4: 0x3f800000, 5: 0xbf800000, 6: 0x3f800000} {
		if got := w.vgpr[2][lane]; got != want {
			t.Errorf("lane %d: %#x, want %#x", lane, got, want)
		}
	}
}

// TestWideConstants: an inline constant is a double, a literal its high half.
func TestWideConstants(t *testing.T) {
	w := newTestWave(32)
	w.vgpr[1][0] = 0x40000000          // v[0:1] = 2.0
	step(t, w, 0xd6140002, 0x03c9e500) // v_fma_f64 v[2:3], v[0:1], 1.0, 1.0
	if got := w.vgpr[3][0]; got != 0x40080000 || w.vgpr[2][0] != 0 {
		t.Errorf("v_fma_f64: %#x%08x, want 3.0", got, w.vgpr[2][0])
	}
	step(t, w, 0xd7270002, 0x0001ff00, 0x40080000) // v_add_f64 v[2:3], v[0:1], 3.0
	if got := w.vgpr[3][0]; got != 0x40140000 {
		t.Errorf("v_add_f64: %#x, want 5.0", got)
	}
	w.vgpr[0][0], w.vgpr[1][0] = 0xffffffff, 2
	step(t, w, 0xd6fe7c02, 0x02160300) // v_mad_u64_u32 v[2:3], null, v0, v1, 5
	if w.vgpr[2][0] != 3 || w.vgpr[3][0] != 2 {
		t.Errorf("v_mad_u64_u32: %#x %#x", w.vgpr[3][0], w.vgpr[2][0])
	}
}

// TestFloatConstantsOfShortIntegers has float inline constants in operands of
// 16 bits: floats read a half, integers the low half of the 32 bits, as LLVM
// takes it (llvm/docs/AMDGPUOperandSyntax.rst: no inline constant has the half's
// bits; its compiler writes the count 0x3e22f983 of v_alignbyte_b32 as
// 0.15915494, which is 3 modulo 4).
func TestFloatConstantsOfShortIntegers(t *testing.T) {
	const one, inverse = 242, 248 // the source codes of 1.0 and 1/(2*pi)
	for _, f := range []struct {
		name string
		src  []uint32
		want uint32
	}{
		{"v_alignbyte_b32", []uint32{v(0), v(1), inverse}, 0x22334455},
		{"v_alignbit_b32", []uint32{v(0), v(1), inverse}, 0x8aaccef1},
		{"v_add_nc_u16", []uint32{v(2), inverse}, 0xf984},
		{"v_add_nc_u16", []uint32{v(2), one}, 1},
		{"v_ldexp_f16", []uint32{one, v(2)}, 0x4000},
		{"v_ldexp_f16", []uint32{v(2), one}, 0x7c00}, // an exponent of 0x3c00
		{"v_add_f16", []uint32{one, one}, 0x4000},
	} {
		w := newTestWave(32)
		w.vgpr[0][0], w.vgpr[1][0], w.vgpr[2][0] = 0x11223344, 0x55667788, 1
		step(t, w, encode(t, isa.VOP3, f.name, 3, f.src...)...)
		if got := w.vgpr[3][0]; got != f.want {
			t.Errorf("%s of %d = %#x, want %#x", f.name, f.src, got, f.want)
		}
	}
}
