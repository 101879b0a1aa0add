package emu

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// TestEveryHalfWidens compares v_cvt_f32_f16 of all halves with their values
// put together from fraction and exponent, and converts them back.
func TestEveryHalfWidens(t *testing.T) {
	args := make([][]uint32, 1<<16)
	for i := range args {
		args[i] = []uint32{uint32(i)}
	}
	w := newTestWave(64)
	wide := compute(t, w, "v_cvt_f32_f16", args)
	for i, got := range wide {
		frac, exp := float64(i&0x3ff), i>>10&0x1f
		want := math.Ldexp(frac, -24)
		switch {
		case exp == 31 && frac != 0:
			if x := f32(got); x == x {
				t.Errorf("v_cvt_f32_f16(%#x) = %#x, want a NaN", i, got)
			}
			continue
		case exp == 31:
			want = math.Inf(1)
		case exp > 0:
			want = math.Ldexp(1024+frac, exp-25)
		}
		if i>>15 != 0 {
			want = -want
		}
		if got != math.Float32bits(float32(want)) && want != 0 || math.Abs(float64(f32(got))) != math.Abs(want) {
			t.Errorf("v_cvt_f32_f16(%#x) = %#x, want %g", i, got, want)
		}
	}
	back := make([][]uint32, len(wide))
	for i, x := range wide {
		back[i] = []uint32{x}
	}
	for i, got := range compute(t, w, "v_cvt_f16_f32", back) {
		want := uint32(i)
		if half.isNaN(want) {
			want |= 1 << 9
		}
		if got&0xffff != want {
			t.Errorf("v_cvt_f16_f32(v_cvt_f32_f16(%#x)) = %#x", i, got&0xffff)
		}
	}
}

// TestConversionsRoundAsTheModeSays compares conversions of finite numbers with
// the second implementation's rounding.
func TestConversionsRoundAsTheModeSays(t *testing.T) {
	f16, f32s, f64s := refFormats[0], refFormats[1], refFormats[2]
	r := rand.New(rand.NewPCG(13, 14))
	near := func(from refFormat, to refFormat) uint64 { // of the range of the target
		for {
			v := from.sample(r)
			if r.IntN(2) == 0 {
				bias := 1<<(from.exp-1) - 1
				e := bias - 1<<(to.exp-1) - int(to.mant) + r.IntN(1<<to.exp+int(to.mant))
				v = uint64(max(e, 0))<<from.mant | v&(1<<from.mant-1) | v&from.sign()
			}
			if v&from.inf() != from.inf() {
				return v
			}
		}
	}
	for _, m := range modes() {
		t.Run(fmt.Sprintf("%+v", m), func(t *testing.T) {
			w := newTestWave(64)
			w.mode = setMode(m)
			round := func(to refFormat, x *big.Float, sign bool) uint64 {
				if x.Sign() == 0 {
					if sign {
						return to.sign()
					}
					return 0
				}
				return to.round(m, x)
			}
			source := func(from refFormat, v uint64) *big.Float {
				if m.flushIn && v&from.inf() == 0 {
					return new(big.Float)
				}
				return from.rat(v)
			}
			var singles, ints [][]uint32
			var doubles [][]uint64
			for range 512 {
				singles = append(singles, []uint32{uint32(near(f32s, f16))})
				ints = append(ints, []uint32{r.Uint32() >> r.IntN(32)})
				doubles = append(doubles, []uint64{near(f64s, f32s)})
			}
			for i, got := range compute(t, w, "v_cvt_f16_f32", singles) {
				v := uint64(singles[i][0])
				if want := round(f16, source(f32s, v), v>>31 != 0); uint64(got&0xffff) != want {
					t.Errorf("v_cvt_f16_f32(%#x) = %#x, want %#x", v, got&0xffff, want)
				}
			}
			for i, got := range computeWide(t, w, "v_cvt_f32_f64", doubles) {
				v := doubles[i][0]
				if want := round(f32s, source(f64s, v), v>>63 != 0); uint64(uint32(got)) != want {
					t.Errorf("v_cvt_f32_f64(%#x) = %#x, want %#x", v, uint32(got), want)
				}
			}
			for i, got := range compute(t, w, "v_cvt_f32_i32", ints) {
				v := int32(ints[i][0])
				if want := round(f32s, new(big.Float).SetInt64(int64(v)), false); uint64(got) != want {
					t.Errorf("v_cvt_f32_i32(%d) = %#x, want %#x", v, got, want)
				}
			}
			for i, got := range compute(t, w, "v_cvt_f32_u32", ints) {
				if want := round(f32s, new(big.Float).SetInt64(int64(ints[i][0])), false); uint64(got) != want {
					t.Errorf("v_cvt_f32_u32(%d) = %#x, want %#x", ints[i][0], got, want)
				}
			}
		})
	}
}
