package emu

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/holdfast-llm/holdfast/amd/isa"
)

// The registers that scalar tests use: sources s[2:3] and s[4:5], destination
// s[8:9].
const (
	srcA = 2
	srcB = 4
	dstD = 8
)

// scalarWord encodes a scalar operation on the registers above. imm is SOPK's
// and SOPP's.
func scalarWord(t testing.TB, name string, imm uint32) uint32 {
	t.Helper()
	for _, op := range isa.Ops() {
		if op.Name != name || op.Format > isa.SOPP {
			continue
		}
		code := uint32(op.Code)
		switch op.Format {
		case isa.SOP1:
			return 0xbe800000 | dstD<<16 | code<<8 | srcA
		case isa.SOP2:
			return 0x80000000 | code<<23 | dstD<<16 | srcB<<8 | srcA
		case isa.SOPC:
			return 0xbf000000 | code<<16 | srcB<<8 | srcA
		case isa.SOPK:
			return 0xb0000000 | code<<23 | dstD<<16 | imm&0xffff
		case isa.SOPP:
			return 0xbf800000 | code<<16 | imm&0xffff
		}
	}
	t.Fatalf("no scalar operation %s", name)
	return 0
}

// scalarRun is what a scalar instruction did.
type scalarRun struct {
	d   uint64 // s[8:9]
	scc bool
}

// runScalar runs one instruction with a in s[2:3], b in s[4:5] and d in s[8:9].
func runScalar(t *testing.T, n int, name string, a, b, d uint64, imm uint32, scc bool, literal ...uint32) (*wave, scalarRun) {
	t.Helper()
	w := newTestWave(n)
	w.scc = scc
	for reg, v := range map[uint16]uint64{srcA: a, srcB: b, dstD: d} {
		w.set64(reg, v)
	}
	step(t, w, append([]uint32{scalarWord(t, name, imm)}, literal...)...)
	return w, scalarRun{uint64(w.sgpr[dstD+1])<<32 | uint64(w.sgpr[dstD]), w.scc}
}

const (
	no  = false
	yes = true
)

func TestScalarOperations(t *testing.T) {
	const old = 0x1111111122222222 // in the destination
	low := func(v uint32) uint64 { return old&^0xffffffff | uint64(v) }
	for _, c := range []struct {
		fact string
		name string
		a, b uint64
		scc  bool
		d    uint64
		out  bool
	}{
		{"a 32-bit result leaves the next register alone", "s_mov_b32", 5, 0, yes, low(5), yes},
		{"a move of 64 bits", "s_mov_b64", 5 << 40, 0, yes, 5 << 40, yes},
		{"a conditional move moves if SCC", "s_cmov_b32", 5, 0, yes, low(5), yes},
		{"a conditional move does nothing if not SCC", "s_cmov_b32", 5, 0, no, old, no},
		{"the first zero of nothing is -1", "s_ctz_i32_b32", 0, 0, no, low(math.MaxUint32), no},
		{"trailing zeros count from the low end", "s_ctz_i32_b64", 1 << 40, 0, no, low(40), no},
		{"leading zeros count from the high end", "s_clz_i32_u32", 1 << 4, 0, no, low(27), no},
		{"leading zeros of zero are -1", "s_clz_i32_u64", 0, 0, no, low(math.MaxUint32), no},
		{"sign bits of a small number", "s_cls_i32", 1, 0, no, low(31), no},
		{"sign bits of the least number", "s_cls_i32", 0x80000000, 0, no, low(1), no},
		{"sign bits of -1 are -1", "s_cls_i32", 0xffffffff, 0, no, low(math.MaxUint32), no},
		{"sign bits of 64", "s_cls_i32_i64", 0xffff0000_00000000, 0, no, low(16), no},
		{"bytes are sign extended", "s_sext_i32_i8", 0x180, 0, no, low(0xffffff80), no},
		{"a bit of 64 is cleared", "s_bitset0_b64", 60, 0, no, old &^ (1 << 60), no},
		{"a bit is set", "s_bitset1_b32", 0, 0, no, old | 1, no},
		{"replication doubles every bit", "s_bitreplicate_b64_b32", 0x8000_0005, 0, no, 0xc000000000000033, no},
		{"the magnitude of the least number is itself", "s_abs_i32", 0x80000000, 0, no, low(0x80000000), yes},
		{"a count of zero clears SCC", "s_bcnt1_i32_b32", 0, 0, yes, low(0), no},
		{"zeros of 64 bits", "s_bcnt0_i32_b64", 1, 0, no, low(63), yes},
		{"a quad counts if any of its bits does", "s_quadmask_b32", 0x80000102, 0, no, low(0x85), yes},
		{"quads of 64 bits", "s_quadmask_b64", 0x8000000000000001, 0, no, 0x8001, yes},
		{"quads are filled", "s_wqm_b32", 0x80000102, 0, no, low(0xf0000f0f), yes},

		{"unsigned addition gives the carry", "s_add_u32", 0xffffffff, 1, no, low(0), yes},
		{"signed addition gives the overflow", "s_add_i32", 0x7fffffff, 1, no, low(0x80000000), yes},
		{"signed addition of a carry does not overflow", "s_add_i32", 0xffffffff, 1, yes, low(0), no},
		{"unsigned subtraction gives the borrow", "s_sub_u32", 1, 2, no, low(0xffffffff), yes},
		{"signed subtraction gives the overflow", "s_sub_i32", 0x80000000, 1, no, low(0x7fffffff), yes},
		{"the carry is added", "s_addc_u32", 0xffffffff, 0, yes, low(0), yes},
		{"the borrow is subtracted", "s_subb_u32", 0, 0xffffffff, yes, low(0), yes},
		{"a difference is positive", "s_absdiff_i32", 2, 5, no, low(3), yes},
		{"shifts take five bits", "s_lshl_b32", 1, 33, no, low(2), yes},
		{"a shift that leaves nothing clears SCC", "s_lshr_b32", 1, 1, yes, low(0), no},
		{"shifts of 64 take six bits", "s_lshl_b64", 1, 63, no, 1 << 63, yes},
		{"an arithmetic shift keeps the sign", "s_ashr_i64", 1 << 63, 63, no, math.MaxUint64, yes},
		{"a shifted addition gives the carry", "s_lshl4_add_u32", 0x10000000, 7, no, low(7), yes},
		{"SCC says that the minimum is the first", "s_min_i32", 0xffffffff, 0, no, low(0xffffffff), yes},
		{"of two equal ones the minimum is the second", "s_min_u32", 3, 3, yes, low(3), no},
		{"of two equal ones the maximum is the first", "s_max_i32", 3, 3, no, low(3), yes},
		{"unsigned maximum", "s_max_u32", 0xffffffff, 0, no, low(0xffffffff), yes},
		{"and with the complement", "s_and_not1_b64", 0xff, 0xf, no, 0xf0, yes},
		{"or with the complement", "s_or_not1_b32", 0, 0xffffffff, yes, low(0), no},
		{"a bit field is extracted", "s_bfe_u32", 0xabcd1234, 8 | 12<<16, no, low(0xd12), yes},
		{"a signed bit field", "s_bfe_i32", 0x00000f00, 8 | 4<<16, no, low(0xffffffff), yes},
		{"a bit field without bits is 0", "s_bfe_i32", 0xffffffff, 8, yes, low(0), no},
		{"a bit field past the end", "s_bfe_u32", 0xf0000000, 28 | 32<<16, no, low(0xf), yes},
		{"a bit field of 64", "s_bfe_u64", 1 << 40, 36 | 8<<16, no, 16, yes},
		{"a signed bit field of 64", "s_bfe_i64", 1 << 40, 33 | 8<<16, no, 0xffffffffffffff80, yes},
		{"a mask of bits", "s_bfm_b32", 4, 8, yes, low(0xf00), yes},
		{"a mask of 64 bits", "s_bfm_b64", 40, 8, no, (1<<40 - 1) << 8, no},
		{"the high half of a product", "s_mul_hi_i32", 0xffffffff, 2, no, low(0xffffffff), no},
		{"the high half of an unsigned product", "s_mul_hi_u32", 0xffffffff, 2, no, low(1), no},
		{"a selection by SCC", "s_cselect_b64", 1, 2, yes, 1, yes},
		{"a selection by not SCC", "s_cselect_b32", 1, 2, no, low(2), no},
		{"low halves are packed", "s_pack_ll_b32_b16", 0x11112222, 0x33334444, no, low(0x44442222), no},
		{"a low and a high half", "s_pack_lh_b32_b16", 0x11112222, 0x33334444, no, low(0x33332222), no},
		{"high halves", "s_pack_hh_b32_b16", 0x11112222, 0x33334444, no, low(0x33331111), no},
		{"a high and a low half", "s_pack_hl_b32_b16", 0x11112222, 0x33334444, no, low(0x44441111), no},

		{"a signed comparison", "s_cmp_lt_i32", 0xffffffff, 0, no, old, yes},
		{"an unsigned comparison", "s_cmp_lt_u32", 0xffffffff, 0, yes, old, no},
		{"a comparison of 64 bits", "s_cmp_eq_u64", 1 << 40, 2 << 40, yes, old, no},
		{"a bit test", "s_bitcmp1_b64", 1 << 40, 40, no, old, yes},
		{"a test for a zero bit", "s_bitcmp0_b32", 4, 34, yes, old, no},

		{"a sum of floats", "s_add_f32", 0x3f800000, 0x40000000, no, low(0x40400000), no},
		{"a difference of floats", "s_sub_f32", 0x3f800000, 0x40000000, no, low(0xbf800000), no},
		{"a product of halves", "s_mul_f16", 0x4000, 0x4200, no, low(0x4600), no},
		{"a multiply-add of halves adds the destination", "s_fmac_f16", 0x3c00, 0x3c00, no, low(0x3c01), no},
		{"numbers are less", "s_cmp_lt_f32", 0xbf800000, 0, no, old, yes},
		{"a NaN is not less", "s_cmp_nlt_f32", 0x7fc00000, 0, no, old, yes},
		{"a NaN is unordered", "s_cmp_u_f16", 0x7e00, 0, no, old, yes},
		{"zeros are equal", "s_cmp_eq_f32", 0x80000000, 0, no, old, yes},
		{"half to even", "s_rndne_f32", 0x40200000, 0, no, low(0x40000000), no},
		{"the high half is converted", "s_cvt_hi_f32_f16", 0x3c000000, 0, no, low(0x3f800000), no},
		{"conversions saturate", "s_cvt_u32_f32", 0xbf800000, 0, no, low(0), no},
		{"a pair of halves toward zero", "s_cvt_pk_rtz_f16_f32", 0x477fefff, 0xbf800000, no, low(0xbc007bff), no},
	} {
		t.Run(c.fact, func(t *testing.T) {
			d := uint64(old)
			if c.name == "s_fmac_f16" {
				d = old&^0xffffffff | 0x1400 // 2^-10
			}
			_, got := runScalar(t, 32, c.name, c.a, c.b, d, 0, c.scc)
			if got.d != c.d || got.scc != c.out {
				t.Errorf("%s %#x, %#x (scc %v) = %#x, scc %v; want %#x, scc %v", c.name, c.a, c.b, c.scc, got.d, got.scc, c.d, c.out)
			}
		})
	}
}

func TestScalarImmediates(t *testing.T) {
	for _, c := range []struct {
		fact string
		name string
		imm  uint32
		d    uint32
		scc  bool
		want uint32
		out  bool
	}{
		{"an immediate is sign extended", "s_movk_i32", 0x8000, 7, no, 0xffff8000, no},
		{"a conditional move", "s_cmovk_i32", 5, 7, no, 7, no},
		{"an addition that overflows", "s_addk_i32", 1, 0x7fffffff, no, 0x80000000, yes},
		{"a multiplication", "s_mulk_i32", 0xffff, 7, yes, 0xfffffff9, yes},
		{"a signed comparison sign extends", "s_cmpk_eq_i32", 0xffff, 0xffffffff, no, 0xffffffff, yes},
		{"an unsigned comparison zero extends", "s_cmpk_eq_u32", 0xffff, 0xffffffff, yes, 0xffffffff, no},
		{"the register is on the left", "s_cmpk_lt_u32", 5, 4, no, 4, yes},
	} {
		t.Run(c.fact, func(t *testing.T) {
			_, got := runScalar(t, 32, c.name, 0, 0, uint64(c.d), c.imm, c.scc)
			if uint32(got.d) != c.want || got.scc != c.out {
				t.Errorf("%s %#x, %#x = %#x, scc %v; want %#x, scc %v", c.name, c.d, c.imm, got.d, got.scc, c.want, c.out)
			}
		})
	}
}

// TestScalarIntegersAgainstBigNumbers computes what can be said in a line with
// numbers of any size.
func TestScalarIntegersAgainstBigNumbers(t *testing.T) {
	u := func(a uint64) *big.Int { return new(big.Int).SetUint64(a) }
	s32 := func(a uint64) *big.Int { return big.NewInt(int64(int32(a))) }
	add := func(x, y *big.Int) *big.Int { return new(big.Int).Add(x, y) }
	sub := func(x, y *big.Int) *big.Int { return new(big.Int).Sub(x, y) }
	mul := func(x, y *big.Int) *big.Int { return new(big.Int).Mul(x, y) }
	high := func(x *big.Int) *big.Int { return new(big.Int).Rsh(x, 32) }
	fits := func(x *big.Int) bool { return x.IsInt64() && x.Int64() == int64(int32(x.Int64())) }
	carry := big.NewInt(0)
	for name, f := range map[string]func(a, b uint64) (*big.Int, bool, bool){
		// The result, SCC, and whether SCC changes.
		"s_add_u32": func(a, b uint64) (*big.Int, bool, bool) { x := add(u(a), u(b)); return x, x.BitLen() > 32, true },
		"s_sub_u32": func(a, b uint64) (*big.Int, bool, bool) { x := sub(u(a), u(b)); return x, x.Sign() < 0, true },
		"s_add_i32": func(a, b uint64) (*big.Int, bool, bool) { x := add(s32(a), s32(b)); return x, !fits(x), true },
		"s_sub_i32": func(a, b uint64) (*big.Int, bool, bool) { x := sub(s32(a), s32(b)); return x, !fits(x), true },
		"s_addc_u32": func(a, b uint64) (*big.Int, bool, bool) {
			x := add(add(u(a), u(b)), carry)
			return x, x.BitLen() > 32, true
		},
		"s_subb_u32": func(a, b uint64) (*big.Int, bool, bool) {
			x := sub(sub(u(a), u(b)), carry)
			return x, x.Sign() < 0, true
		},
		"s_mul_i32":    func(a, b uint64) (*big.Int, bool, bool) { return mul(u(a), u(b)), false, false },
		"s_mul_hi_u32": func(a, b uint64) (*big.Int, bool, bool) { return high(mul(u(a), u(b))), false, false },
		"s_mul_hi_i32": func(a, b uint64) (*big.Int, bool, bool) { return high(mul(s32(a), s32(b))), false, false },
		"s_lshl3_add_u32": func(a, b uint64) (*big.Int, bool, bool) {
			x := add(mul(u(a), big.NewInt(8)), u(b))
			return x, x.BitLen() > 32, true
		},
	} {
		r := rand.New(rand.NewPCG(1, uint64(len(name))))
		for range 200 {
			a, b, scc := uint64(edgy(r)), uint64(edgy(r)), r.IntN(2) == 1
			carry.SetInt64(int64(bit32(scc)))
			want, out, sets := f(a, b)
			if !sets {
				out = scc
			}
			want = new(big.Int).And(want, big.NewInt(math.MaxUint32))
			_, got := runScalar(t, 32, name, a, b, 0, 0, scc)
			if got.d != want.Uint64() || got.scc != out {
				t.Fatalf("%s %#x, %#x (scc %v) = %#x, scc %v; want %#x, scc %v", name, a, b, scc, got.d, got.scc, want, out)
			}
		}
	}
}

// edgy is a random word, often near where something changes.
func edgy(r *rand.Rand) uint32 {
	v := r.Uint32()
	switch r.IntN(4) {
	case 0:
		return []uint32{0, 1, math.MaxInt32, math.MaxInt32 + 1, math.MaxUint32}[r.IntN(5)]
	case 1:
		return v >> (v & 31)
	}
	return v
}

// TestScalarBitsOneAtATime compares operations on bits with loops over them.
func TestScalarBitsOneAtATime(t *testing.T) {
	bit := func(v uint64, i int) uint64 { return v >> i & 1 }
	for name, f := range map[string]func(a uint64) uint64{
		"s_bitreplicate_b64_b32": func(a uint64) (d uint64) {
			for i := range 32 {
				d |= bit(a, i) * 3 << (2 * i)
			}
			return d
		},
		"s_quadmask_b64": func(a uint64) (d uint64) {
			for i := range 64 {
				d |= bit(a, i) << (i / 4)
			}
			return d
		},
		"s_wqm_b64": func(a uint64) (d uint64) {
			for i := range 64 {
				d |= bit(a, i) * 0xf << (i / 4 * 4)
			}
			return d
		},
		"s_brev_b64": func(a uint64) (d uint64) {
			for i := range 64 {
				d |= bit(a, i) << (63 - i)
			}
			return d
		},
		"s_cls_i32_i64": func(a uint64) uint64 {
			for i := 1; i < 64; i++ {
				if bit(a, 63-i) != bit(a, 63) {
					return uint64(i)
				}
			}
			return math.MaxUint32
		},
		"s_bcnt0_i32_b64": func(a uint64) (d uint64) {
			for i := range 64 {
				d += 1 - bit(a, i)
			}
			return d
		},
	} {
		r := rand.New(rand.NewPCG(2, 0))
		for range 200 {
			a := uint64(edgy(r))<<32 | uint64(edgy(r))
			_, got := runScalar(t, 64, name, a, 0, 0, 0, false)
			if want := f(a); got.d != want {
				t.Fatalf("%s %#x = %#x, want %#x", name, a, got.d, want)
			}
		}
	}
}

func TestExecIsSavedAndChanged(t *testing.T) {
	const exec, a = 0xff00ff00f0f0f0f0, 0x0ff00ff0cccccccc
	for name, f := range map[string]func(a, e uint64) uint64{
		"and": func(a, e uint64) uint64 { return a & e }, "or": func(a, e uint64) uint64 { return a | e },
		"xor": func(a, e uint64) uint64 { return a ^ e }, "nand": func(a, e uint64) uint64 { return ^(a & e) },
		"nor": func(a, e uint64) uint64 { return ^(a | e) }, "xnor": func(a, e uint64) uint64 { return ^(a ^ e) },
		"and_not0": func(a, e uint64) uint64 { return ^a & e }, "or_not0": func(a, e uint64) uint64 { return ^a | e },
		"and_not1": func(a, e uint64) uint64 { return a & ^e }, "or_not1": func(a, e uint64) uint64 { return a | ^e },
	} {
		for _, suffix := range []string{"_saveexec_b32", "_saveexec_b64", "_wrexec_b32", "_wrexec_b64"} {
			if strings.HasPrefix(suffix, "_wr") && !strings.HasPrefix(name, "and_not") {
				continue
			}
			w := newTestWave(64)
			w.setExec(exec)
			w.set64(srcA, a)
			step(t, w, scalarWord(t, "s_"+name+suffix, 0))
			want, result := f(a, exec), uint64(exec)
			if strings.HasPrefix(suffix, "_wr") {
				result = want
			}
			got := uint64(w.sgpr[dstD+1])<<32 | uint64(w.sgpr[dstD])
			if strings.HasSuffix(suffix, "b32") {
				want, result = exec&^0xffffffff|want&0xffffffff, result&0xffffffff
			}
			if w.exec() != want || got != result || !w.scc {
				t.Errorf("%s%s: exec %#x, result %#x, scc %v; want %#x, %#x, true", name, suffix, w.exec(), got, w.scc, want, result)
			}
		}
	}
}

func TestNullTakesAndGivesNothing(t *testing.T) {
	w := newTestWave(32)
	w.set64(srcA, 5)
	// s_mov_b64 null, s[2:3]; s_mov_b64 s[8:9], null
	w.sgpr[isa.RegM0] = 77
	step(t, w, 0xbe800000|isa.RegNull<<16|1<<8|srcA)
	if w.sgpr[isa.RegNull] != 0 || w.sgpr[isa.RegM0] != 77 {
		t.Errorf("null = %d, m0 = %d after a write to null", w.sgpr[isa.RegNull], w.sgpr[isa.RegM0])
	}
	w.set64(dstD, 1<<40|1)
	step(t, w, 0xbe800000|dstD<<16|1<<8|isa.RegNull)
	if w.sgpr[dstD]|w.sgpr[dstD+1] != 0 {
		t.Errorf("null reads %#x %#x", w.sgpr[dstD], w.sgpr[dstD+1])
	}
}

func TestScalarRoundingFollowsMode(t *testing.T) {
	third := func(mode uint32) uint32 {
		w := newTestWave(32)
		w.mode = mode
		w.sgpr[srcA], w.sgpr[srcB] = 0x3f800001, 0x3f800001
		step(t, w, scalarWord(t, "s_mul_f32", 0))
		return w.sgpr[dstD]
	}
	if down, up := third(usualMode|2), third(usualMode|1); up != down+1 {
		t.Errorf("rounded down %#x, up %#x", down, up)
	}
	w := newTestWave(32)
	step(t, w, scalarWord(t, "s_round_mode", 0xd))
	step(t, w, scalarWord(t, "s_denorm_mode", 0x3))
	if w.mode&0xff != 0x3d {
		t.Errorf("MODE %#x after s_round_mode 0xd and s_denorm_mode 3", w.mode)
	}
}

func TestHardwareRegisters(t *testing.T) {
	hwreg := func(id, first, n uint32) uint32 { return id | first<<6 | (n-1)<<11 }
	w := newTestWave(64)
	w.group = &group{waves: []*wave{w}}
	w.sgpr[dstD] = 0xabcd
	step(t, w, scalarWord(t, "s_setreg_b32", hwreg(hwMode, 4, 4)))
	if w.mode&0xff != 0xd0 {
		t.Errorf("MODE %#x after s_setreg of bits 7:4", w.mode)
	}
	step(t, w, scalarWord(t, "s_getreg_b32", hwreg(hwMode, 4, 8)))
	if want := (w.mode >> 4) & 0xff; w.sgpr[dstD] != want {
		t.Errorf("s_getreg gives %#x, want %#x", w.sgpr[dstD], want)
	}
	step(t, w, scalarWord(t, "s_setreg_imm32_b32", hwreg(hwMode, 0, 2)), 3)
	if w.mode&3 != 3 {
		t.Errorf("MODE %#x after s_setreg_imm32", w.mode)
	}
	w.scc = true
	w.setExec(0)
	step(t, w, scalarWord(t, "s_getreg_b32", hwreg(hwStatus, 0, 32)))
	if s := w.sgpr[dstD]; s&statusSCC == 0 || s&statusExecZ == 0 || s&statusInGroup != 0 {
		t.Errorf("STATUS %#x, want SCC and EXECZ, and no group", s)
	}
}

func TestRegistersMovedByM0(t *testing.T) {
	w := newTestWave(32)
	for i := range 20 {
		w.sgpr[i] = uint32(100 + i)
	}
	w.sgpr[isa.RegM0] = 3
	step(t, w, scalarWord(t, "s_movrels_b32", 0))
	if w.sgpr[dstD] != 100+srcA+3 {
		t.Errorf("s_movrels gives %d", w.sgpr[dstD])
	}
	step(t, w, scalarWord(t, "s_movreld_b64", 0))
	if w.sgpr[dstD+3] != 100+srcA || w.sgpr[dstD+4] != 100+srcA+1 {
		t.Errorf("s_movreld wrote %d %d", w.sgpr[dstD+3], w.sgpr[dstD+4])
	}
	w.sgpr[isa.RegM0] = 1 | 2<<16
	w.sgpr[srcA+1] = 9
	step(t, w, scalarWord(t, "s_movrelsd_2_b32", 0))
	if w.sgpr[dstD+2] != 9 {
		t.Errorf("s_movrelsd_2 wrote %d", w.sgpr[dstD+2])
	}
	w.sgpr[isa.RegM0] = 1000
	defer func() {
		if f, ok := recover().(*Fault); !ok || f.Kind != LimitFault {
			t.Errorf("a register past the end gives %v", f)
		}
	}()
	step(t, w, scalarWord(t, "s_movrels_b32", 0))
}

// TestScalarOperationsAreAllThere lists what is not.
func TestScalarOperationsAreAllThere(t *testing.T) {
	missing := map[string]bool{
		"s_rfe_b64":              true, // for trap handlers
		"s_subvector_loop_begin": true, // no compiler makes them
		"s_subvector_loop_end":   true,
	}
	for _, op := range isa.Ops() {
		if op.Format > isa.SOPP {
			continue
		}
		h := &handlers[op.ID]
		if has := h.run != nil || h.prepare != nil; has == missing[op.Name] {
			t.Errorf("%v %s: there is %v", op.Format, op.Name, has)
		}
	}
	for _, all := range scalarOperations() {
		for name := range all {
			scalarWord(t, name, 0) // fails for a name that there is not
		}
	}
}

func TestWaitCountersTakeTheImmediateApart(t *testing.T) {
	for imm, want := range map[uint32]Counters{
		0x0000: {0, -1, 0, 0},
		0xfc07: {-1, -1, 0, -1},
		0x03f7: {0, -1, -1, -1},
		0x07f7: {1, -1, -1, -1},
		0xfff0: {-1, -1, -1, 0},
	} {
		if got := waitCounters(imm); got != want {
			t.Errorf("s_waitcnt %#x is %+v, want %+v", imm, got, want)
		}
	}
}
