package emu

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/holdfast-llm/holdfast/amd/isa"
)

// TestTranscendentalsAreWithinHalfAnULP compares with other formulas in
// float64. A little more than half an ulp is what two roundings may give.
func TestTranscendentalsAreWithinHalfAnULP(t *testing.T) {
	turns := func(f func(float64) float64) func(float64) float64 {
		return func(x float64) float64 { return f(2 * math.Pi * math.Mod(x, 1)) }
	}
	operations := []struct {
		name   string
		least  float64
		most   float64
		want   func(x float64) float64
		approx float64 // absolute error of want itself
	}{
		{"v_rcp_f32", -1e6, 1e6, func(x float64) float64 { return 1 / x }, 0},
		{"v_sqrt_f32", 0, 1e30, math.Sqrt, 0},
		{"v_rsq_f32", 0, 1e30, func(x float64) float64 { return math.Pow(x, -0.5) }, 0},
		{"v_exp_f32", -125, 127, func(x float64) float64 { return math.Pow(2, x) }, 0},
		{"v_log_f32", 0, 1e30, func(x float64) float64 { return math.Log(x) * math.Log2E }, 0},
		{"v_log_f32", 0.99, 1.01, func(x float64) float64 { return math.Log1p(x-1) * math.Log2E }, 0},
		{"v_sin_f32", -0.5, 0.5, turns(math.Sin), 1e-15},
		{"v_cos_f32", -4, 4, turns(math.Cos), 1e-15},
	}
	r := rand.New(rand.NewPCG(9, 10))
	n := 20000
	if testing.Short() {
		n = 2000
	}
	for _, o := range operations {
		args := make([][]uint32, n)
		for i := range args {
			args[i] = []uint32{math.Float32bits(float32(o.least + r.Float64()*(o.most-o.least)))}
		}
		worst := 0.0
		for i, got := range compute(t, newTestWave(64), o.name, args) {
			want := o.want(float64(f32(args[i][0])))
			_, e := math.Frexp(want)
			ulp := math.Ldexp(1, max(e-24, -149))
			worst = max(worst, (math.Abs(float64(f32(got))-want)-o.approx)/ulp)
		}
		if worst > 0.50001 {
			t.Errorf("%s from %g to %g: %.6f ulp", o.name, o.least, o.most, worst)
		}
	}
}

// TestReciprocalRootIsCorrectlyRounded: no float32 is nearer to 1/sqrt(x), by
// exact arithmetic, for samples of the numbers from 1 to 4, which decide.
func TestReciprocalRootIsCorrectlyRounded(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	args := make([][]uint32, 20000)
	for i := range args {
		args[i] = []uint32{0x3f800000 + uint32(r.IntN(1<<24))}
	}
	exact := func(v float64) *big.Float { return new(big.Float).SetPrec(200).SetFloat64(v) }
	for i, got := range compute(t, newTestWave(64), "v_rsq_f32", args) {
		x, y := exact(float64(f32(args[i][0]))), float64(f32(got))
		// y is nearest if x*m^2 is below 1 for the middle m to the next lower
		// number and above 1 for that to the next higher.
		for side, next := range []uint32{got - 1, got + 1} {
			m := exact((y + float64(f32(next))) / 2)
			c := m.Mul(m, m).Mul(m, x).Cmp(exact(1))
			if (side == 0) != (c < 0) {
				t.Fatalf("v_rsq_f32(%#x) = %#x is not the nearest", args[i][0], got)
			}
		}
	}
}

// TestTwoOverPi multiplies the bits of v_trig_preop_f64 by pi.
func TestTwoOverPi(t *testing.T) {
	// pi by Machin's formula, to 1400 bits.
	const prec = 1400
	arctan := func(n int64) *big.Float { // of 1/n
		sum, term := new(big.Float).SetPrec(prec), new(big.Float).SetPrec(prec).Quo(big.NewFloat(1), big.NewFloat(float64(n)))
		square := big.NewFloat(float64(n * n))
		for k := int64(1); term.Sign() != 0 && term.MantExp(nil) > -prec; k += 2 {
			part := new(big.Float).SetPrec(prec).Quo(term, big.NewFloat(float64(k)))
			if k%4 == 1 {
				sum.Add(sum, part)
			} else {
				sum.Sub(sum, part)
			}
			term.Quo(term, square)
		}
		return sum
	}
	pi := new(big.Float).SetPrec(prec).Mul(big.NewFloat(16), arctan(5))
	pi.Sub(pi, new(big.Float).SetPrec(prec).Mul(big.NewFloat(4), arctan(239)))

	sum := new(big.Float).SetPrec(prec)
	w := newTestWave(64)
	for part := range 19 { // 19*53 = 1007 bits
		w.vgpr[0][0], w.vgpr[1][0] = 0, 0x3ff00000
		step(t, w, encode(t, isa.VOP3, "v_trig_preop_f64", 2, v(0), 128+uint32(part))...)
		sum.Add(sum, new(big.Float).SetFloat64(f64(uint64(w.vgpr[3][0])<<32|uint64(w.vgpr[2][0]))))
	}
	lost := new(big.Float).SetPrec(prec).Sub(big.NewFloat(2), sum.Mul(sum, pi))
	if lost.Sign() < 0 || lost.MantExp(nil) > -1003 {
		t.Errorf("2 - pi * (the parts' sum) = %g, want less than 2^-1003", lost)
	}
}
