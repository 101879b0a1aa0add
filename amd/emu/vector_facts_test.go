package emu

import (
	"testing"

	"github.com/holdfast-llm/holdfast/amd/isa"
)

// TestFactsOfOneLane are operations of up to 32 bits with results that can be
// checked by hand.
func TestFactsOfOneLane(t *testing.T) {
	const (
		inf, nan, quiet, minus = 0x7f800000, 0x7f800001, 0x7fc00001, 1 << 31
		one, two, half         = 0x3f800000, 0x40000000, 0x3f000000
	)
	facts := []struct {
		name string
		args []uint32
		want uint32
	}{
		// Integers wrap; high products keep the upper half.
		{"v_add_nc_u32", []uint32{0xffffffff, 2}, 1},
		{"v_sub_nc_u32", []uint32{1, 2}, 0xffffffff},
		{"v_subrev_nc_u32", []uint32{1, 2}, 1},
		{"v_add3_u32", []uint32{1, 2, 4}, 7},
		{"v_mul_lo_u32", []uint32{0x10001, 0x10001}, 0x20001},
		{"v_mul_hi_u32", []uint32{0xffffffff, 0xffffffff}, 0xfffffffe},
		{"v_mul_hi_i32", []uint32{0xffffffff, 0xffffffff}, 0},
		{"v_mul_u32_u24", []uint32{0xff000003, 5}, 15},
		{"v_mul_i32_i24", []uint32{0x00ffffff, 5}, 0xfffffffb},
		{"v_mul_hi_u32_u24", []uint32{0xffffff, 0xffffff}, 0xffff},
		{"v_mul_hi_i32_i24", []uint32{0x800000, 0x7fffff}, 0xffffc000},
		{"v_mad_u32_u24", []uint32{3, 5, 7}, 22},
		{"v_mad_i32_i24", []uint32{0xffffff, 5, 7}, 2},
		{"v_mad_u32_u16", []uint32{0xffff, 0xffff, 1}, 0xfffe0002},
		{"v_mad_i32_i16", []uint32{0xffff, 3, 10}, 7},
		{"v_min_i32", []uint32{0xffffffff, 1}, 0xffffffff},
		{"v_min_u32", []uint32{0xffffffff, 1}, 1},
		{"v_max_i32", []uint32{0xffffffff, 1}, 1},
		{"v_med3_i32", []uint32{3, 0xffffffff, 2}, 2},
		{"v_med3_u32", []uint32{3, 0xffffffff, 2}, 3},
		{"v_maxmin_u32", []uint32{1, 9, 5}, 5},
		{"v_minmax_i32", []uint32{1, 9, 5}, 5},
		{"v_sad_u8", []uint32{0x01020304, 0x04030201, 100}, 108},
		{"v_sad_hi_u8", []uint32{0x01020304, 0x04030201, 100}, 8<<16 + 100},
		{"v_sad_u16", []uint32{0x00010005, 0x00030001, 1}, 7},
		{"v_sad_u32", []uint32{3, 10, 1}, 8},
		{"v_msad_u8", []uint32{0x01020304, 0x04000001, 0}, 6},
		{"v_lerp_u8", []uint32{0x00010203, 0x01010304, 0x01000001}, 0x01010204},

		// Shifts take counts modulo the width.
		{"v_lshlrev_b32", []uint32{33, 1}, 2},
		{"v_lshrrev_b32", []uint32{31, 0x80000000}, 1},
		{"v_ashrrev_i32", []uint32{31, 0x80000000}, 0xffffffff},
		{"v_lshl_add_u32", []uint32{1, 4, 3}, 19},
		{"v_add_lshl_u32", []uint32{1, 2, 4}, 48},
		{"v_lshl_or_b32", []uint32{1, 4, 3}, 19},
		{"v_and_or_b32", []uint32{0xf0, 0x3c, 1}, 0x31},
		{"v_xad_u32", []uint32{6, 3, 1}, 6},
		{"v_xnor_b32", []uint32{6, 3}, 0xfffffffa},
		{"v_bfe_u32", []uint32{0xabcd, 4, 8}, 0xbc},
		{"v_bfe_u32", []uint32{0xabcd, 4, 0}, 0},
		{"v_bfe_u32", []uint32{0xabcd, 4, 32}, 0},
		{"v_bfe_i32", []uint32{0xabcd, 4, 8}, 0xffffffbc},
		{"v_bfe_i32", []uint32{0xabcd, 28, 8}, 0},
		{"v_bfi_b32", []uint32{0xff00, 0x1234, 0x5678}, 0x1278},
		{"v_bfm_b32", []uint32{4, 8}, 0xf00},
		{"v_bfrev_b32", []uint32{1}, 0x80000000},
		{"v_alignbit_b32", []uint32{1, 0x80000000, 31}, 3},
		{"v_alignbyte_b32", []uint32{0x11223344, 0x55667788, 1}, 0x44556677},
		{"v_perm_b32", []uint32{0x88776655, 0x44332211, 0x07060500}, 0x88776611},
		{"v_perm_b32", []uint32{0x80000000, 0x00008000, 0x0c0d0b08}, 0x00ffffff},
		{"v_clz_i32_u32", []uint32{1}, 31},
		{"v_clz_i32_u32", []uint32{0}, 0xffffffff},
		{"v_ctz_i32_b32", []uint32{8}, 3},
		{"v_cls_i32", []uint32{0xffffff00}, 24},
		{"v_cls_i32", []uint32{0xffffffff}, 0xffffffff},
		{"v_bcnt_u32_b32", []uint32{0xff, 10}, 18},

		// Minimum and maximum prefer numbers; -0 is below +0.
		{"v_min_f32", []uint32{minus, 0}, minus},
		{"v_max_f32", []uint32{minus, 0}, 0},
		{"v_min_f32", []uint32{quiet, one}, one},
		{"v_max_f32", []uint32{one, quiet}, one},
		{"v_max_f32", []uint32{one, nan}, 0x7fc00001},
		{"v_min3_f32", []uint32{two, one, half}, half},
		{"v_max3_f32", []uint32{two, one, half}, two},
		{"v_med3_f32", []uint32{two, one, half}, one},
		{"v_med3_f32", []uint32{two, quiet, half}, half},
		{"v_minmax_f32", []uint32{two, one, half}, one},
		{"v_maxmin_f32", []uint32{two, one, half}, half},

		// A NaN comes out quiet, the first one if there are two.
		{"v_add_f32", []uint32{nan, quiet + 1}, quiet},
		{"v_fma_f32", []uint32{one, one, quiet}, quiet},
		{"v_add_f32", []uint32{inf, inf | minus}, 0xffc00000},
		{"v_mul_f32", []uint32{inf, 0}, 0xffc00000},
		{"v_mul_dx9_zero_f32", []uint32{inf, 0}, 0},
		{"v_fma_dx9_zero_f32", []uint32{inf, 0, one}, one},

		// Conversions saturate and truncate.
		{"v_cvt_i32_f32", []uint32{0xbfc00000}, 0xffffffff}, // -1.5
		{"v_cvt_i32_f32", []uint32{inf}, 0x7fffffff},
		{"v_cvt_i32_f32", []uint32{inf | minus}, 0x80000000},
		{"v_cvt_i32_f32", []uint32{quiet}, 0},
		{"v_cvt_u32_f32", []uint32{0xbf800000}, 0},
		{"v_cvt_u32_f32", []uint32{0x4f800000}, 0xffffffff}, // 2^32
		{"v_cvt_f32_u32", []uint32{0xffffffff}, 0x4f800000},
		{"v_cvt_f32_i32", []uint32{0x01000001}, 0x4b800000}, // 2^24+1 ties to even
		{"v_cvt_nearest_i32_f32", []uint32{0x3f000000}, 1},
		{"v_cvt_floor_i32_f32", []uint32{0xbf000000}, 0xffffffff},
		{"v_cvt_off_f32_i4", []uint32{8}, 0xbf000000}, // -8/16
		{"v_cvt_f32_ubyte2", []uint32{0x00020000}, two},
		{"v_cvt_f16_f32", []uint32{0x477ff000}, 0x7c00}, // 65520
		{"v_cvt_f16_f32", []uint32{0x33000000}, 0},      // 2^-25 ties to even
		{"v_cvt_f16_f32", []uint32{0x33000001}, 1},
		{"v_cvt_f32_f16", []uint32{1}, 0x33800000},
		{"v_cvt_f32_f16", []uint32{0x7c01}, 0x7fc02000},
		{"v_cvt_pk_rtz_f16_f32", []uint32{0x477fefff, one}, 0x3c007bff},
		{"v_cvt_pk_i16_i32", []uint32{0x8000, 0xffff0000}, 0x80007fff},
		{"v_cvt_pk_u16_u32", []uint32{0x10000, 5}, 0x0005ffff},
		{"v_cvt_pk_u8_f32", []uint32{0x43800000, 2, 0x11223344}, 0x11ff3344}, // 256
		{"v_cvt_pk_u8_f32", []uint32{0x3fc00000, 4, 0x11223344}, 0x11223302}, // 1.5, byte 4 mod 4
		{"v_cvt_pk_u8_f32", []uint32{0x40200000, 1, 0x11223344}, 0x11220244}, // 2.5 ties to even
		{"v_cvt_pk_u8_f32", []uint32{0xbf800000, 3, 0x11223344}, 0x00223344},
		{"v_cvt_pk_u8_f32", []uint32{quiet, 3, 0x11223344}, 0x00223344},
		{"v_cvt_pk_norm_i16_f32", []uint32{0xbf800000, one}, 0x7fff8001},
		{"v_cvt_pk_norm_u16_f32", []uint32{half, 0xbf800000}, 0x00008000},
		{"v_pack_b32_f16", []uint32{0x3c00, 0x4000}, 0x40003c00},
		{"v_sat_pk_u8_i16", []uint32{0x0101ffff}, 0xff00},

		// Parts of floats.
		{"v_floor_f32", []uint32{0xbf000000}, 0xbf800000},
		{"v_ceil_f32", []uint32{0xbf000000}, minus},
		{"v_trunc_f32", []uint32{0xbfc00000}, 0xbf800000},
		{"v_rndne_f32", []uint32{0x40200000}, two}, // 2.5
		{"v_fract_f32", []uint32{0xb0000000}, 0x3f7fffff},
		{"v_frexp_mant_f32", []uint32{0x41000000}, half}, // 8 = 0.5 * 2^4
		{"v_frexp_exp_i32_f32", []uint32{0x41000000}, 4},
		{"v_frexp_exp_i32_f32", []uint32{1}, 0xffffff6c}, // 2^-149 = 0.5 * 2^-148
		{"v_ldexp_f32", []uint32{one, 0xffffff6b}, 1},
		{"v_ldexp_f32", []uint32{one, 1000}, inf},

		// Functions at points where they are exact.
		{"v_rcp_f32", []uint32{two}, half},
		{"v_rcp_f32", []uint32{minus}, inf | minus},
		{"v_rcp_f32", []uint32{1}, inf}, // denormals are zero
		{"v_rsq_f32", []uint32{0x40800000}, half},
		{"v_sqrt_f32", []uint32{0x40800000}, two},
		{"v_sqrt_f32", []uint32{inf | minus}, 0xffc00000},
		{"v_sqrt_f32", []uint32{minus}, minus},
		{"v_exp_f32", []uint32{inf | minus}, 0},
		{"v_exp_f32", []uint32{one}, two},
		{"v_log_f32", []uint32{0x41000000}, 0x40400000},
		{"v_log_f32", []uint32{0xbf800000}, 0xffc00000},
		{"v_log_f32", []uint32{0}, inf | minus},
		{"v_sin_f32", []uint32{0x3e800000}, one},
		{"v_sin_f32", []uint32{half}, 0},
		{"v_sin_f32", []uint32{0xff7fffff}, 0},
		{"v_sin_f32", []uint32{minus}, minus},
		{"v_sin_f32", []uint32{half | minus}, 0},
		{"v_cos_f32", []uint32{0xff7fffff}, one},
		{"v_cos_f32", []uint32{half}, 0xbf800000},
		{"v_cos_f32", []uint32{0x3e800000}, 0},
		{"v_sin_f32", []uint32{inf}, 0xffc00000},
		{"v_rcp_f16", []uint32{0x4000}, 0x3800},
		{"v_exp_f16", []uint32{0x3c00}, 0x4000},

		// Division's special cases.
		{"v_div_fixup_f32", []uint32{0, 0, 0}, 0xffc00000},
		{"v_div_fixup_f32", []uint32{0, 0, one}, inf},
		{"v_div_fixup_f32", []uint32{0, inf | minus, one}, minus},
		{"v_div_fixup_f32", []uint32{0x40400000, 0xc0000000, 0xc0c00000}, 0x40400000},
		{"v_div_fixup_f32", []uint32{quiet, one, one}, inf},

		// Cube faces: x, -x, y, -y, z, -z are 0 to 5.
		{"v_cubeid_f32", []uint32{one, 0, 0}, 0},
		{"v_cubeid_f32", []uint32{0, one | minus, 0}, 0x40400000},
		{"v_cubeid_f32", []uint32{0, 0, one | minus}, 0x40a00000},
		{"v_cubema_f32", []uint32{0, one | minus, 0}, 0xc0000000},
		{"v_cubesc_f32", []uint32{one, half, two}, one},
		{"v_cubetc_f32", []uint32{one, half, two}, half | minus},
		{"v_mullit_f32", []uint32{one, two, 0}, 0xff7fffff},
		{"v_mullit_f32", []uint32{one, two, one}, two},
	}
	for _, f := range facts {
		w := newTestWave(32)
		if got := compute(t, w, f.name, [][]uint32{f.args})[0]; got != f.want {
			t.Errorf("%s(%#x) = %#x, want %#x", f.name, f.args, got, f.want)
		}
	}
}

// TestFactsOfHalves are operations of 16 bits, which leave the other half of
// the register alone.
func TestFactsOfHalves(t *testing.T) {
	facts := []struct {
		name string
		args []uint32
		want uint32
	}{
		{"v_add_nc_u16", []uint32{0xffff, 2}, 1},
		{"v_sub_nc_i16", []uint32{1, 2}, 0xffff},
		{"v_mad_u16", []uint32{0x100, 0x100, 7}, 7},
		{"v_min_i16", []uint32{0xffff, 1}, 0xffff},
		{"v_med3_u16", []uint32{0xffff, 1, 9}, 9},
		{"v_lshrrev_b16", []uint32{17, 0x8000}, 0x4000},
		{"v_ashrrev_i16", []uint32{15, 0x8000}, 0xffff},
		{"v_not_b16", []uint32{0xff}, 0xff00},
		{"v_add_f16", []uint32{0x3c00, 0x3c00}, 0x4000},
		{"v_mul_f16", []uint32{0x0400, 0x3800}, 0x0200}, // a denormal
		{"v_max_f16", []uint32{0x8000, 0}, 0},
		{"v_frexp_exp_i16_f16", []uint32{0x4800}, 4},
		{"v_ldexp_f16", []uint32{0x3c00, 0xffe8}, 1},
		{"v_cvt_i16_f16", []uint32{0xbe00}, 0xffff}, // -1.5
		{"v_cvt_u16_f16", []uint32{0x7c00}, 0xffff},
		{"v_cvt_f16_i16", []uint32{0xffff}, 0xbc00},
		{"v_cvt_norm_i16_f16", []uint32{0xbc00}, 0x8001},
	}
	for _, f := range facts {
		w := newTestWave(32)
		w.vgpr[200][0] = 0xabcd1234
		if got := compute(t, w, f.name, [][]uint32{f.args})[0]; got != 0xabcd0000|f.want {
			t.Errorf("%s(%#x) = %#x, want %#x in the low half", f.name, f.args, got, f.want)
		}
		words := encode(t, isa.VOP3, f.name, 200, v(0), v(1), v(2))
		words[0] |= 8 * opselBit
		w.vgpr[200][0] = 0xabcd1234
		step(t, w, words...)
		if got := w.vgpr[200][0]; got != 0x1234|f.want<<16 {
			t.Errorf("%s(%#x) = %#x, want %#x in the high half", f.name, f.args, got, f.want)
		}
	}
}

// TestFactsOfWideLanes are operations with operands of 64 bits.
func TestFactsOfWideLanes(t *testing.T) {
	facts := []struct {
		name string
		args []uint64
		want uint64
	}{
		{"v_lshlrev_b64", []uint64{65, 1}, 2},
		{"v_ashrrev_i64", []uint64{63, 1 << 63}, ^uint64(0)},
		{"v_add_f64", []uint64{0x3ff << 52, 0x3ff << 52}, 0x400 << 52},
		{"v_min_f64", []uint64{1 << 63, 0}, 1 << 63},
		{"v_floor_f64", []uint64{0xbfe << 52}, 0xbff << 52},
		{"v_rndne_f64", []uint64{0x3fe << 52}, 0},
		{"v_fract_f64", []uint64{0xbfe << 52}, 0x3fe << 52},
		{"v_rcp_f64", []uint64{0x400 << 52}, 0x3fe << 52},
		{"v_sqrt_f64", []uint64{0x401 << 52}, 0x400 << 52},
		{"v_ldexp_f64", []uint64{0x3ff << 52, 0xfffffbce}, 1},
		{"v_cvt_f64_i32", []uint64{0xffffffff}, 0xbff << 52},
		{"v_cvt_f64_f32", []uint64{0x3f800000}, 0x3ff << 52},
		{"v_trig_preop_f64", []uint64{0x3ff << 52, 0}, 0x3fe45f306dc9c882},
		{"v_qsad_pk_u16_u8", []uint64{0x0807060504030201, 0x01010101, 0}, 6 | 10<<16 | 14<<32 | 18<<48},
		{"v_mad_u64_u32", []uint64{0xffffffff, 0xffffffff, 2}, 0xfffffffe00000003},
	}
	for _, f := range facts {
		w := newTestWave(64)
		if got := computeWide(t, w, f.name, [][]uint64{f.args})[0]; got != f.want {
			t.Errorf("%s(%#x) = %#x, want %#x", f.name, f.args, got, f.want)
		}
	}
}

func TestClampSaturatesIntegers(t *testing.T) {
	facts := []struct {
		name string
		a, b uint32
		want uint32
	}{
		{"v_add_nc_u32", 0xffffffff, 2, 0xffffffff},
		{"v_sub_nc_u32", 1, 2, 0},
		{"v_subrev_nc_u32", 2, 1, 0},
		{"v_add_nc_i32", 0x7fffffff, 1, 0x7fffffff},
		{"v_sub_nc_i32", 0x80000000, 1, 0x80000000},
		{"v_add_nc_u16", 0xffff, 2, 0xffff},
		{"v_sub_nc_i16", 0x8000, 1, 0x8000},
		{"v_mul_i32_i24", 0x7fffff, 0x7fffff, 0x7fffffff},
	}
	for _, f := range facts {
		w := newTestWave(32)
		w.vgpr[0][0], w.vgpr[1][0] = f.a, f.b
		words := encode(t, isa.VOP3, f.name, 200, v(0), v(1))
		words[0] |= clampBit
		step(t, w, words...)
		if got := w.vgpr[200][0]; got != f.want {
			t.Errorf("%s(%#x, %#x) clamp = %#x, want %#x", f.name, f.a, f.b, got, f.want)
		}
	}
}

func TestOutputModifiers(t *testing.T) {
	const flushing = 0 // no IEEE, denormals flushed
	facts := []struct {
		what         string
		mode         uint32
		word0, word1 uint32 // bits to set
		a, want      uint32
	}{
		{"clamp limits to 1", usualMode, clampBit, 0, 0x40000000, 0x3f800000},
		{"clamp limits to 0", usualMode, clampBit, 0, 0xc0000000, 0},
		{"clamp makes a NaN 0 in DX10 mode", usualMode, clampBit, 0, 0x7fc00000, 0},
		{"clamp keeps a NaN otherwise", usualMode &^ modeDX10, clampBit, 0, 0x7fc00000, 0x7fc00000},
		{"omod doubles without IEEE and denormals", flushing, 0, omodBit, 0x40000000, 0x40800000},
		{"omod halves", flushing, 0, 3 * omodBit, 0x40000000, 0x3f800000},
		{"omod is ignored in IEEE mode", usualMode, 0, omodBit, 0x40000000, 0x40000000},
		{"neg negates", usualMode, 0, negBit, 0x40000000, 0xc0000000},
		{"abs clears the sign", usualMode, absBit, 0, 0xc0000000, 0x40000000},
		{"neg comes after abs", usualMode, absBit, negBit, 0xc0000000, 0xc0000000},
	}
	for _, f := range facts {
		w := newTestWave(32)
		w.mode = f.mode
		w.vgpr[0][0] = f.a
		words := encode(t, isa.VOP3, "v_add_f32", 200, v(0), 128)
		words[0] |= f.word0
		words[1] |= f.word1
		step(t, w, words...)
		if got := w.vgpr[200][0]; got != f.want {
			t.Errorf("%s: %#x, want %#x", f.what, got, f.want)
		}
	}
}

// TestDenormalsWithoutThem runs with all denormals flushed: arithmetic,
// compares and choices see zeros; moves do not look.
func TestDenormalsWithoutThem(t *testing.T) {
	const denormal, minus = 0x00400000, 1 << 31
	facts := []struct {
		name string
		args []uint32
		want uint32
	}{
		{"v_add_f32", []uint32{denormal, 0}, 0},
		{"v_add_f32", []uint32{denormal | minus, minus}, minus},
		{"v_mul_f32", []uint32{0x00800000, 0x3f000000}, 0}, // 2^-126 * 0.5
		{"v_fma_f32", []uint32{0x00800000, 0x3f000000, 0x80000001}, 0},
		{"v_max_f32", []uint32{denormal, denormal}, 0},
		{"v_min3_f32", []uint32{denormal, 0x3f800000, 0x3f800000}, 0},
		{"v_ldexp_f32", []uint32{0x00800000, 0xffffffff}, 0},
		{"v_frexp_exp_i32_f32", []uint32{denormal}, 0},
		{"v_floor_f32", []uint32{denormal | minus}, minus},
		{"v_cvt_f16_f32", []uint32{0x33800000}, 0}, // 2^-24
		{"v_cvt_f32_f16", []uint32{1}, 0},
		{"v_mov_b32", []uint32{denormal}, denormal},
	}
	for _, f := range facts {
		w := newTestWave(32)
		w.mode = modeIEEE
		if got := compute(t, w, f.name, [][]uint32{f.args})[0]; got != f.want {
			t.Errorf("%s(%#x) = %#x, want %#x", f.name, f.args, got, f.want)
		}
	}
	w := newTestWave(32)
	w.mode = modeIEEE
	w.vgpr[0][0], w.vgpr[1][1] = denormal, 0x3f800000
	step(t, w, encode(t, isa.VOP3, "v_cmp_gt_f32", 10, v(0), 128)...)
	if w.sgpr[10] != 0 {
		t.Errorf("v_cmp_gt_f32 of a denormal and 0 = %#x", w.sgpr[10])
	}
	w.sgpr[4] = 1
	step(t, w, encode(t, isa.VOP3, "v_cndmask_b32", 2, 128, v(0), 4)...)
	if w.vgpr[2][0] != denormal {
		t.Errorf("v_cndmask_b32 of a denormal = %#x", w.vgpr[2][0])
	}
}
