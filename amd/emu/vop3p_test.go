package emu

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/holdfast-llm/holdfast/amd/isa"
)

func TestPackedOperations(t *testing.T) {
	const (
		opselA  = 1 << 11 // of src0; src1 and src2 follow
		noHighA = 1 << 27 // clears op_sel_hi of src0
		negLoA  = 1 << 29
		negHiA  = 1 << 8
	)
	facts := []struct {
		what         string
		name         string
		word0, word1 uint32 // bits to flip
		args         []uint32
		want         uint32
	}{
		{"both halves", "v_pk_add_u16", 0, 0, []uint32{0x0001ffff, 0x00020003}, 0x00030002},
		{"clamp", "v_pk_add_u16", clampBit, 0, []uint32{0x0001ffff, 0x00020003}, 0x0003ffff},
		{"signed clamp", "v_pk_sub_i16", clampBit, 0, []uint32{0x80007fff, 0x0001ffff}, 0x80007fff},
		{"multiply-add", "v_pk_mad_u16", 0, 0, []uint32{0x00020003, 0x00040005, 0x00010001}, 0x00090010},
		{"shift", "v_pk_lshlrev_b16", 0, 0, []uint32{0x00010002, 0x00010001}, 0x00020004},
		{"arithmetic shift", "v_pk_ashrrev_i16", 0, 0, []uint32{0x00010001, 0x80000004}, 0xc0000002},
		{"maximum", "v_pk_max_i16", 0, 0, []uint32{0xffff0005, 0x0001fffb}, 0x00010005},
		{"op_sel takes the high half into the low result", "v_pk_add_u16", opselA, 0, []uint32{0x00050001, 0}, 0x00050005},
		{"op_sel_hi 0 takes the low half into the high result", "v_pk_add_u16", 0, noHighA, []uint32{0x00050001, 0}, 0x00010001},
		{"half sums", "v_pk_add_f16", 0, 0, []uint32{0x3c004000, 0x3c003c00}, 0x40004200},
		{"neg_lo", "v_pk_add_f16", 0, negLoA, []uint32{0x3c003c00, 0x3c003c00}, 0x40000000},
		{"neg_hi", "v_pk_add_f16", negHiA, 0, []uint32{0x3c003c00, 0x3c003c00}, 0x00004000},
		{"clamp of halves", "v_pk_mul_f16", clampBit, 0, []uint32{0x4000bc00, 0x40003c00}, 0x3c000000},
		{"fused halves", "v_pk_fma_f16", 0, 0, []uint32{0x3c013c00, 0x3c013c00, 0xbc020000}, 0x00103c00},
		{"minimum of halves", "v_pk_min_f16", 0, 0, []uint32{0x80003c00, 0x00007e00}, 0x80003c00},
		{"dot2", "v_dot2_f32_f16", 0, 0, []uint32{0x40003c00, 0x42003c00, 0x3f800000}, 0x41000000},
		{"dot2 of bfloat16", "v_dot2_f32_bf16", 0, 0, []uint32{0x40003f80, 0x40403f80, 0x3f800000}, 0x41000000},
		{"unsigned bytes", "v_dot4_u32_u8", 0, 0, []uint32{0xff020304, 0xff010101, 1}, 65025 + 9 + 1},
		{"neg_lo makes bytes signed", "v_dot4_i32_iu8", 0, 3 * negLoA, []uint32{0xff020304, 0xff010101, 1}, 11},
		{"one signed source", "v_dot4_i32_iu8", 0, negLoA, []uint32{0xff000000, 0xff000000, 0}, 0xffffff01},
		{"bytes with clamp", "v_dot4_i32_iu8", clampBit, 0, []uint32{0x01000000, 0x01000000, 0x7fffffff}, 0x7fffffff},
		{"nibbles", "v_dot8_u32_u4", 0, 0, []uint32{0xf0000002, 0xf0000003, 0}, 231},
		{"signed nibbles", "v_dot8_i32_iu4", 0, 3 * negLoA, []uint32{0xf0000002, 0xf0000003, 0}, 7},
	}
	for _, f := range facts {
		w := newTestWave(32)
		var src []uint32
		for i, a := range f.args {
			w.vgpr[i][0] = a
			src = append(src, v(i))
		}
		words := encode(t, isa.VOP3P, f.name, 200, src...)
		words[0] ^= f.word0
		words[1] ^= f.word1
		step(t, w, words...)
		if got := w.vgpr[200][0]; got != f.want {
			t.Errorf("%s: %s(%#x) = %#x, want %#x", f.what, f.name, f.args, got, f.want)
		}
	}
}

func TestPackedConstants(t *testing.T) {
	const two = 244 // the source code of 2.0
	w := newTestWave(32)
	w.vgpr[0][0] = 0x00030005
	step(t, w, encode(t, isa.VOP3P, "v_pk_add_u16", 1, v(0), two)...)
	if got := w.vgpr[1][0]; got != 0x40030005 { // a float's 32 bits
		t.Errorf("v_pk_add_u16 of 2.0 = %#x", got)
	}
	words := encode(t, isa.VOP3P, "v_pk_add_f16", 1, two, two)
	step(t, w, words...)
	if got := w.vgpr[1][0]; got != 0x4400 { // a half in the low half only
		t.Errorf("v_pk_add_f16 of 2.0 and 2.0 = %#x", got)
	}
	step(t, w, encode(t, isa.VOP3P, "v_pk_add_u16", 1, v(0), 193)...) // -1
	if got := w.vgpr[1][0]; got != 0x00020004 {
		t.Errorf("v_pk_add_u16 of -1 = %#x", got)
	}
}

func TestMixedPrecision(t *testing.T) {
	const halfC = 1 << 14 // op_sel_hi of src2
	facts := []struct {
		what         string
		name         string
		word0, word1 uint32
		args         [3]uint32
		want         uint32
	}{
		{"three float32", "v_fma_mix_f32", 0, 0, [3]uint32{0x40000000, 0x40400000, 0x3f800000}, 0x40e00000},
		{"a low half", "v_fma_mix_f32", halfC, 0, [3]uint32{0x40000000, 0x40400000, 0x00003c00}, 0x40e00000},
		{"a high half", "v_fma_mix_f32", halfC | 4*opselBit, 0, [3]uint32{0x40000000, 0x40400000, 0x3c000000}, 0x40e00000},
		{"the absolute value of a float32", "v_fma_mix_f32", 4 * absBit, 0, [3]uint32{0x40000000, 0x40400000, 0xbf800000}, 0x40e00000},
		{"a negated half", "v_fma_mix_f32", halfC, 4 * negBit, [3]uint32{0x40000000, 0x40400000, 0x0000bc00}, 0x40e00000},
		{"a half in the low half", "v_fma_mixlo_f16", 0, 0, [3]uint32{0x40000000, 0x40400000, 0x3f800000}, 0xabcd4700},
		{"a half in the high half", "v_fma_mixhi_f16", 0, 0, [3]uint32{0x40000000, 0x40400000, 0x3f800000}, 0x47001234},
		{"a clamped half", "v_fma_mixlo_f16", clampBit, 0, [3]uint32{0x40000000, 0x40400000, 0x3f800000}, 0xabcd3c00},
	}
	for _, f := range facts {
		w := newTestWave(32)
		for i, a := range f.args {
			w.vgpr[i][0] = a
		}
		w.vgpr[200][0] = 0xabcd1234
		words := encode(t, isa.VOP3P, f.name, 200, v(0), v(1), v(2))
		words[0] = words[0]&^halfC | f.word0
		words[1] = words[1]&^(3<<27) | f.word1
		step(t, w, words...)
		if got := w.vgpr[200][0]; got != f.want {
			t.Errorf("%s: %s = %#x, want %#x", f.what, f.name, got, f.want)
		}
	}
}

// TestMatrixProducts compares with sums in float64 of matrices put into the
// registers as lanes hold them.
func TestMatrixProducts(t *testing.T) {
	formats := []struct {
		name   string
		factor format
		result format
		bound  float64 // relative to the sum of magnitudes
	}{
		{"v_wmma_f32_16x16x16_f16", half, single, 1e-6},
		{"v_wmma_f32_16x16x16_bf16", bfloat16, single, 1e-6},
		{"v_wmma_f16_16x16x16_f16", half, half, 1e-3},
		{"v_wmma_bf16_16x16x16_bf16", bfloat16, bfloat16, 8e-3},
	}
	r := rand.New(rand.NewPCG(5, 6))
	for _, f := range formats {
		for _, n := range []int{32, 64} {
			w := newTestWave(n)
			var a, b, c [16][16]float64
			random := func(g format) (uint32, float64) {
				v := g.round(floatMode{}, r.Float64()*4-2)
				return v, g.value(v)
			}
			for i := range 16 {
				for k := range 16 {
					var x, y uint32
					x, a[i][k] = random(f.factor)
					y, b[k][i] = random(f.factor)
					for lane := i; lane < n; lane += 16 {
						w.vgpr[10+k/2][lane] |= x << (16 * (k % 2))
						w.vgpr[20+k/2][lane] |= y << (16 * (k % 2))
					}
				}
			}
			rows := n / 16
			at := func(reg, lane int) (row, col int) { return rows*reg + lane/16, lane % 16 }
			for reg := range 16 / rows {
				for lane := range n {
					row, col := at(reg, lane)
					w.vgpr[30+reg][lane], c[row][col] = random(f.result)
				}
			}
			step(t, w, encode(t, isa.VOP3P, f.name, 40, v(10), v(20), v(30))...)
			for reg := range 16 / rows {
				for lane := range n {
					row, col := at(reg, lane)
					want, size := c[row][col], math.Abs(c[row][col])
					for k := range 16 {
						want += a[row][k] * b[k][col]
						size += math.Abs(a[row][k] * b[k][col])
					}
					got := f.result.value(w.vgpr[40+reg][lane])
					if math.Abs(got-want) > f.bound*size {
						t.Fatalf("%s wave%d: row %d column %d is %g, want %g", f.name, n, row, col, got, want)
					}
				}
			}
		}
	}
}

func TestIntegerMatrixProducts(t *testing.T) {
	const negLoA = 1 << 29
	r := rand.New(rand.NewPCG(7, 8))
	for _, width := range []int{8, 4} {
		for signs := range uint32(4) {
			for _, n := range []int{32, 64} {
				w := newTestWave(n)
				var a, b [16][16]int64
				element := func(signed bool) (uint32, int64) {
					v := r.Uint32() & (1<<width - 1)
					if signed && v>>(width-1) != 0 {
						return v, int64(v) - 1<<width
					}
					return v, int64(v)
				}
				each := 32 / width
				for i := range 16 {
					for k := range 16 {
						var x, y uint32
						x, a[i][k] = element(signs&1 != 0)
						y, b[k][i] = element(signs&2 != 0)
						for lane := i; lane < n; lane += 16 {
							w.vgpr[10+k/each][lane] |= x << (width * (k % each))
							w.vgpr[20+k/each][lane] |= y << (width * (k % each))
						}
					}
				}
				words := encode(t, isa.VOP3P, map[int]string{8: "v_wmma_i32_16x16x16_iu8", 4: "v_wmma_i32_16x16x16_iu4"}[width], 40, v(10), v(20), 130)
				words[1] |= signs * negLoA
				step(t, w, words...)
				rows := n / 16
				for reg := range 16 / rows {
					for lane := range n {
						row, col := rows*reg+lane/16, lane%16
						want := int64(2)
						for k := range 16 {
							want += a[row][k] * b[k][col]
						}
						if got := int64(int32(w.vgpr[40+reg][lane])); got != want {
							t.Fatalf("iu%d signs %d wave%d: row %d column %d is %d, want %d", width, signs, n, row, col, got, want)
						}
					}
				}
			}
		}
	}
}
