package emu

import (
	"testing"

	"github.com/holdfast-llm/holdfast/amd/isa"
)

// numbered is a wave of n lanes in which v0 has the lane's number plus 100 and
// v1 sevens.
func numbered(n int) *wave {
	w := newTestWave(n)
	for i := range w.vgpr[0] {
		w.vgpr[0][i], w.vgpr[1][i] = uint32(100+i), 7
	}
	return w
}

func TestInactiveLanesAreNotWritten(t *testing.T) {
	for _, n := range []int{32, 64} {
		w := numbered(n)
		w.setExec(0x5555555555555555 & w.all())
		step(t, w, encode(t, isa.VOP3, "v_add_nc_u32", 1, v(0), v(1))...)
		for i := range n {
			want := uint32(7)
			if i%2 == 0 {
				want = uint32(107 + i)
			}
			if got := w.vgpr[1][i]; got != want {
				t.Errorf("wave%d lane %d: %d, want %d", n, i, got, want)
			}
		}
	}
}

func TestCompareWritesZeroForInactiveLanes(t *testing.T) {
	for _, n := range []int{32, 64} {
		w := numbered(n)
		w.setExec(0xff00ff00ff00ff00 & w.all())
		w.sgpr[10], w.sgpr[11] = ^uint32(0), 0x12345678
		words := encode(t, isa.VOP3, "v_cmp_lt_u32", 10, v(0), 128+64) // below 64: none
		step(t, w, words...)
		if got := w.sgpr[10]; got != 0 {
			t.Errorf("wave%d: v_cmp_lt_u32 = %#x, want 0", n, got)
		}
		step(t, w, encode(t, isa.VOP3, "v_cmp_gt_u32", 10, v(0), 128+64)...)
		if got := w.sgpr[10]; got != 0xff00ff00 {
			t.Errorf("wave%d: v_cmp_gt_u32 = %#x", n, got)
		}
		want := uint32(0x12345678)
		if n == 64 {
			want = 0xff00ff00
		}
		if got := w.sgpr[11]; got != want {
			t.Errorf("wave%d: the next register is %#x, want %#x", n, got, want)
		}
	}
}

func TestCompareXWritesExec(t *testing.T) {
	w := numbered(32)
	w.sgpr[5] = 110
	step(t, w, encode(t, isa.VOP3, "v_cmpx_gt_u32", isa.RegExecLo, 5, v(0))...)
	if got := w.exec(); got != 1<<10-1 {
		t.Errorf("exec = %#x, want the lanes below 10", got)
	}
}

// TestFloatCompares checks every condition on less, equal, greater and
// unordered.
func TestFloatCompares(t *testing.T) {
	want := map[string]string{ // of less, equal, greater, unordered
		"f": "0000", "lt": "1000", "eq": "0100", "le": "1100", "gt": "0010", "lg": "1010", "ge": "0110", "o": "1110",
		"u": "0001", "nge": "1001", "nlg": "0101", "ngt": "1101", "nle": "0011", "neq": "1011", "nlt": "0111", "t": "1111",
	}
	types := map[string][2]uint64{ // 1.0 and a NaN
		"f16": {0x3c00, 0x7e00}, "f32": {0x3f800000, 0x7fc00000}, "f64": {0x3ff << 52, 0x7ff8 << 48},
	}
	for typ, x := range types {
		for name, bits := range want {
			w := newTestWave(32)
			for i, pair := range [4][2]uint64{{0, x[0]}, {x[0], x[0]}, {x[0], 0}, {x[0], x[1]}} {
				w.vgpr[0][i], w.vgpr[1][i] = uint32(pair[0]), uint32(pair[0]>>32)
				w.vgpr[2][i], w.vgpr[3][i] = uint32(pair[1]), uint32(pair[1]>>32)
			}
			step(t, w, encode(t, isa.VOP3, "v_cmp_"+name+"_"+typ, 10, v(0), v(2))...)
			for i := range bits {
				if got := byte('0' + w.sgpr[10]>>i&1); got != bits[i] {
					t.Errorf("v_cmp_%s_%s of pair %d = %c, want %c", name, typ, i, got, bits[i])
				}
			}
		}
	}
}

// TestIntegerCompares checks every condition on 1 and 2, 2 and 2, 2 and 1, and
// on -1 and 1, which depends on the sign.
func TestIntegerCompares(t *testing.T) {
	signed := map[string]string{"lt": "1001", "eq": "0100", "le": "1101", "gt": "0010", "ne": "1011", "ge": "0110", "f": "0000", "t": "1111"}
	unsigned := map[string]string{"lt": "1000", "eq": "0100", "le": "1100", "gt": "0011", "ne": "1011", "ge": "0111", "f": "0000", "t": "1111"}
	for _, typ := range []string{"i16", "u16", "i32", "u32", "i64", "u64"} {
		want := unsigned
		if typ[0] == 'i' {
			want = signed
		}
		for name, bits := range want {
			if (name == "f" || name == "t") && typ[1:] == "16" {
				continue
			}
			w := newTestWave(32)
			for i, pair := range [4][2]uint64{{1, 2}, {2, 2}, {2, 1}, {^uint64(0), 1}} {
				w.vgpr[0][i], w.vgpr[1][i] = uint32(pair[0]), uint32(pair[0]>>32)
				w.vgpr[2][i], w.vgpr[3][i] = uint32(pair[1]), uint32(pair[1]>>32)
			}
			step(t, w, encode(t, isa.VOP3, "v_cmp_"+name+"_"+typ, 10, v(0), v(2))...)
			for i := range bits {
				if got := byte('0' + w.sgpr[10]>>i&1); got != bits[i] {
					t.Errorf("v_cmp_%s_%s of pair %d = %c, want %c", name, typ, i, got, bits[i])
				}
			}
		}
	}
}

func TestClassOfFloats(t *testing.T) {
	for bit, v32 := range []uint32{0x7f800001, 0x7fc00000, 0xff800000, 0xbf800000, 0x80000001, 0x80000000, 0, 1, 0x3f800000, 0x7f800000} {
		w := newTestWave(32)
		for i := range 10 {
			w.vgpr[0][i], w.vgpr[1][i] = v32, 1<<i
		}
		step(t, w, encode(t, isa.VOP3, "v_cmp_class_f32", 10, v(0), v(1))...)
		if got := w.sgpr[10]; got != 1<<bit {
			t.Errorf("class of %#x: %#x, want bit %d", v32, got, bit)
		}
	}
}

func TestSelectAndCarry(t *testing.T) {
	w := numbered(64)
	w.sgpr[4], w.sgpr[5] = 0xffff0000, 1
	step(t, w, encode(t, isa.VOP3, "v_cndmask_b32", 2, v(0), v(1), 4)...)
	for i, want := range map[int]uint32{0: 100, 15: 115, 16: 7, 31: 7, 32: 7, 33: 133} {
		if got := w.vgpr[2][i]; got != want {
			t.Errorf("v_cndmask_b32 in lane %d: %d, want %d", i, got, want)
		}
	}

	// 64-bit addition in two steps, with the carry in s[4:5].
	for i := range 64 {
		w.vgpr[10][i], w.vgpr[11][i] = 0xfffffff0, 1
		w.vgpr[12][i], w.vgpr[13][i] = uint32(i), 2
	}
	add := encode(t, isa.VOP3, "v_add_co_u32", 14, v(10), v(12))
	add[0] |= 4 << 8
	step(t, w, add...)
	addc := encode(t, isa.VOP3, "v_add_co_ci_u32", 15, v(11), v(13), 4)
	addc[0] |= isa.RegNull << 8
	step(t, w, addc...)
	for i := range 64 {
		want := uint64(0x1fffffff0) + uint64(i) + 2<<32
		if got := uint64(w.vgpr[15][i])<<32 | uint64(w.vgpr[14][i]); got != want {
			t.Fatalf("lane %d: %#x, want %#x", i, got, want)
		}
	}
	if got := uint64(w.sgpr[5])<<32 | uint64(w.sgpr[4]); got != 0xffffffffffff0000 {
		t.Errorf("carries %#x, want lanes 16 to 63", got)
	}
	sub := encode(t, isa.VOP3, "v_sub_co_u32", 14, v(12), v(10))
	sub[0] |= 6 << 8
	step(t, w, sub...)
	if w.sgpr[6] != ^uint32(0) || w.sgpr[7] != ^uint32(0) { // i < 0xfffffff0
		t.Errorf("borrows %#x%08x, want all", w.sgpr[7], w.sgpr[6])
	}
}

func TestLaneMoves(t *testing.T) {
	w := numbered(64)
	w.setExec(0xff0)
	first := 0x7e000400 | 20<<17 | v(0) // v_readfirstlane_b32 s20, v0
	step(t, w, first)
	if w.sgpr[20] != 104 {
		t.Errorf("v_readfirstlane_b32 = %d, want 104", w.sgpr[20])
	}
	w.setExec(0)
	step(t, w, first)
	if w.sgpr[20] != 100 {
		t.Errorf("v_readfirstlane_b32 without lanes = %d, want 100", w.sgpr[20])
	}
	step(t, w, encode(t, isa.VOP3, "v_readlane_b32", 21, v(0), 128+63)...)
	if w.sgpr[21] != 163 {
		t.Errorf("v_readlane_b32 = %d, want 163", w.sgpr[21])
	}
	step(t, w, encode(t, isa.VOP3, "v_writelane_b32", 1, 21, 128+5)...)
	if w.vgpr[1][5] != 163 || w.vgpr[1][4] != 7 {
		t.Errorf("v_writelane_b32 wrote %d, %d", w.vgpr[1][5], w.vgpr[1][4])
	}

	w = numbered(64)
	w.sgpr[4], w.sgpr[5] = 0x76543210, 0xfedcba98
	w.sgpr[6] = 0 // every lane takes lane 0 of its row
	step(t, w, encode(t, isa.VOP3, "v_permlane16_b32", 2, v(0), 6, 6)...)
	step(t, w, encode(t, isa.VOP3, "v_permlanex16_b32", 3, v(0), 4, 5)...)
	step(t, w, 0x7e000000|4<<17|0x67<<9|v(0)) // v_permlane64_b32 v4, v0
	for i := range 64 {
		if got := w.vgpr[2][i]; got != uint32(100+i&^15) {
			t.Errorf("v_permlane16_b32 lane %d: %d", i, got)
		}
		if got := w.vgpr[3][i]; got != uint32(100+(i^16)) {
			t.Errorf("v_permlanex16_b32 lane %d: %d", i, got)
		}
		if got := w.vgpr[4][i]; got != uint32(100+(i^32)) {
			t.Errorf("v_permlane64_b32 lane %d: %d", i, got)
		}
	}

	w = numbered(32)
	step(t, w, 0x7e000000|0<<17|0x65<<9|v(1)) // v_swap_b32 v0, v1
	if w.vgpr[0][3] != 7 || w.vgpr[1][3] != 103 {
		t.Errorf("v_swap_b32: %d, %d", w.vgpr[0][3], w.vgpr[1][3])
	}
	w.sgpr[isa.RegM0] = 2
	step(t, w, 0x7e000000|8<<17|0x42<<9|v(1)) // v_movreld_b32 v8, v1
	if w.vgpr[10][3] != 103 || w.vgpr[8][3] != 0 {
		t.Errorf("v_movreld_b32: v10 %d, v8 %d", w.vgpr[10][3], w.vgpr[8][3])
	}
	w.sgpr[isa.RegM0] = 9
	step(t, w, 0x7e000000|11<<17|0x43<<9|v(1)) // v_movrels_b32 v11, v1
	if w.vgpr[11][3] != 103 {
		t.Errorf("v_movrels_b32: %d", w.vgpr[11][3])
	}
}

func TestMovesPastTheRegistersFault(t *testing.T) {
	w := numbered(32)
	w.sgpr[isa.RegM0] = 1 << 31
	defer func() {
		if _, ok := recover().(*Fault); !ok {
			t.Error("no fault")
		}
	}()
	step(t, w, 0x7e000000|8<<17|0x42<<9|v(1))
}

func TestBitsOfLowerLanesAreCounted(t *testing.T) {
	w := newTestWave(64)
	step(t, w, encode(t, isa.VOP3, "v_mbcnt_lo_u32_b32", 2, 193, 128)...)
	step(t, w, encode(t, isa.VOP3, "v_mbcnt_hi_u32_b32", 3, 193, v(2))...)
	for i := range 64 {
		if got := w.vgpr[3][i]; got != uint32(i) {
			t.Errorf("lane %d counts %d", i, got)
		}
	}
}

// TestDPPLanes states where lanes come from: row 1 of a wave, lanes 16 to 31.
func TestDPPLanes(t *testing.T) {
	controls := []struct {
		name string
		ctrl uint32
		from func(i int) int // within the row; -1 is outside
	}{
		{"quad_perm:[3,2,1,0]", 0x1b, func(i int) int { return i ^ 3 }},
		{"row_shl:1", 0x101, func(i int) int { return i + 1 }},
		{"row_shr:3", 0x113, func(i int) int { return i - 3 }},
		{"row_ror:5", 0x125, func(i int) int { return (i + 11) % 16 }},
		{"row_mirror", 0x140, func(i int) int { return 15 - i }},
		{"row_half_mirror", 0x141, func(i int) int { return i&8 | 7 - i&7 }},
		{"row_share:9", 0x159, func(int) int { return 9 }},
		{"row_xmask:6", 0x166, func(i int) int { return i ^ 6 }},
	}
	const boundCtrl, allRows = 1 << 19, 0xff << 24
	for _, c := range controls {
		for _, zero := range []bool{false, true} {
			w := numbered(32)
			word := v(0)&0xff | c.ctrl<<8 | allRows
			if zero {
				word |= boundCtrl
			}
			step(t, w, 0x7e0002fa|1<<17, word) // v_mov_b32_dpp v1, v0
			for i := range 16 {
				want := uint32(7)
				if j := c.from(i); j >= 0 && j < 16 {
					want = uint32(116 + j)
				} else if zero {
					want = 0
				}
				if got := w.vgpr[1][16+i]; got != want {
					t.Errorf("%s bound_ctrl %v: lane %d has %d, want %d", c.name, zero, i, got, want)
				}
			}
		}
	}
}

func TestDPPMasksAndInactiveSources(t *testing.T) {
	const quadReverse, fi = 0x1b << 8, 1 << 18
	w := numbered(64)
	step(t, w, 0x7e0002fa|1<<17, quadReverse|0x2<<28|0x5<<24) // rows 1, banks 0 and 2
	for i := range 64 {
		want := uint32(7)
		if i/16 == 1 && i/4%2 == 0 {
			want = uint32(100 + (i ^ 3))
		}
		if got := w.vgpr[1][i]; got != want {
			t.Errorf("lane %d has %d, want %d", i, got, want)
		}
	}

	w = numbered(32)
	w.setExec(0x5)                                           // lane 0 takes 3, lane 2 takes 1: inactive
	step(t, w, 0x7e0002fa|1<<17, quadReverse|0xff<<24)       // not written
	step(t, w, 0x7e0002fa|2<<17, quadReverse|0xff<<24|1<<19) // zero
	step(t, w, 0x7e0002fa|3<<17, quadReverse|0xff<<24|fi)    // taken
	step(t, w, 0x7e0002e9|4<<17, 0o01234567<<8)              // v_mov_b32_dpp8: lane i takes 7-i
	step(t, w, 0x7e0002ea|5<<17, 0o01234567<<8)              // with fi:1
	for reg, want := range map[int]uint32{1: 7, 2: 0, 3: 103, 4: 0, 5: 107} {
		if got := w.vgpr[reg][0]; got != want {
			t.Errorf("v%d has %d, want %d", reg, got, want)
		}
	}
}

// TestDualReadsBeforeItWrites exchanges two registers with one instruction.
func TestDualReadsBeforeItWrites(t *testing.T) {
	// v_dual_mov_b32 v0, v1 :: v_dual_mov_b32 v1, v0
	words := []uint32{0xc8000000 | 8<<22 | 8<<17 | v(1), 0<<24 | 0<<17 | v(0)}
	for _, exec := range []uint64{0xffffffff, 0xffff} {
		w := numbered(32)
		w.setExec(exec)
		step(t, w, words...)
		for i := range 32 {
			x, y := uint32(100+i), uint32(7)
			if exec>>i&1 != 0 {
				x, y = y, x
			}
			if w.vgpr[0][i] != x || w.vgpr[1][i] != y {
				t.Fatalf("exec %#x lane %d: %d, %d", exec, i, w.vgpr[0][i], w.vgpr[1][i])
			}
		}
	}
}
