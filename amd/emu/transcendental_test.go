package emu_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/holdfast-llm/holdfast/amd/emu"
)

// TestTranscendentalsAgainstFloat64 runs the approximating instructions over
// edges and random values and measures them, in units of the last place, with
// float64. The bounds are this device's; hardware's are 1 ulp for most, and for
// sine and cosine an absolute error.
func TestTranscendentalsAgainstFloat64(t *testing.T) {
	t.Parallel()
	o := compile(t, "transcendental.cpp", "-O2")
	const n = 64 * 256
	tests := []struct {
		kernel string
		of     func(float64) float64
		ulp    float64 // of a normal result
		lo, hi float64 // exponents of two of random inputs; lo == hi: all bits
		signed bool
	}{
		{"exp2_f32", math.Exp2, 0.51, -20, 7, true},
		{"log2_f32", math.Log2, 0.51, 0, 0, false},
		{"rcp_f32", func(x float64) float64 { return 1 / x }, 0.51, 0, 0, true},
		{"rsq_f32", func(x float64) float64 { return 1 / math.Sqrt(x) }, 0.51, 0, 0, false},
		{"sqrt_f32", math.Sqrt, 0.51, 0, 0, false},
		{"sin_f32", sinTurns, 0.51, -10, 0.9, true},
		{"cos_f32", cosTurns, 0.51, -10, 0.9, true},
		{"rcp_f16", func(x float64) float64 { return 1 / x }, 0.51, 0, 0, true},
		{"rsq_f16", func(x float64) float64 { return 1 / math.Sqrt(x) }, 0.51, 0, 0, false},
		{"sqrt_f16", math.Sqrt, 0.51, 0, 0, false},
		{"sin_f16", sinTurns, 0.51, -8, 0.9, true},
		{"cos_f16", cosTurns, 0.51, -8, 0.9, true},
		{"exp2_f16", math.Exp2, 0.51, -12, 4, true},
		{"log2_f16", math.Log2, 0.51, 0, 0, false},
		{"rcp_f64", func(x float64) float64 { return 1 / x }, 0.51, 0, 0, true},
		{"rsq_f64", func(x float64) float64 { return 1 / math.Sqrt(x) }, 1.01, 0, 0, false},
		{"sqrt_f64", math.Sqrt, 0.51, 0, 0, false},
	}
	for _, test := range tests {
		t.Run(test.kernel, func(t *testing.T) {
			typ := clType{scalar: map[string]string{"f16": "half", "f32": "float", "f64": "double"}[test.kernel[len(test.kernel)-3:]]}
			typ.size = map[string]int{"half": 2, "float": 4, "double": 8}[typ.scalar]
			rng := rand.New(rand.NewPCG(5, 5))
			in := make([]uint64, n)
			for i := range in {
				x := math.Exp2(test.lo + (test.hi-test.lo)*rng.Float64())
				if test.signed && rng.IntN(2) == 0 {
					x = -x
				}
				in[i] = typ.encode(x)
				if test.lo == test.hi {
					in[i] = rng.Uint64() & (^uint64(0) >> (64 - 8*typ.size))
					if !test.signed {
						in[i] &^= 1 << (8*typ.size - 1)
					}
				}
			}
			edges := []float64{0, math.Copysign(0, -1), 1, 2, 4, 0.5, 0.25, math.Inf(1), math.Inf(-1), math.NaN(), 3, 1.5}
			for i, x := range edges {
				in[i] = typ.encode(x)
			}
			var report *emu.Report
			var err error
			out := make([]uint64, n)
			run := func(a, b any) {
				report, err = launch(o, test.kernel, emu.Config{}, [3]uint32{n}, [3]uint32{64}, a, b)
			}
			switch typ.size {
			case 2:
				a, b := make([]uint16, n), make([]uint16, n)
				for i := range a {
					a[i] = uint16(in[i])
				}
				run(a, b)
				for i := range b {
					out[i] = uint64(b[i])
				}
			case 4:
				a, b := make([]uint32, n), make([]uint32, n)
				for i := range a {
					a[i] = uint32(in[i])
				}
				run(a, b)
				for i := range b {
					out[i] = uint64(b[i])
				}
			default:
				run(in, out)
			}
			if err != nil {
				t.Fatal(err)
			}
			_ = report
			worst, at := 0.0, uint64(0)
			for i := range in {
				x, got := typ.float(in[i]), typ.float(out[i])
				if typ.scalar == "float" {
					x = flush(x)
				}
				want := test.of(x)
				if typ.scalar == "float" {
					want = flush(want)
				}
				switch {
				case want != want || got != got:
					// sin and cos of an infinity is NaN, and so on.
					if (want != want) != (got != got) {
						t.Fatalf("of %v (%#x): %v, want %v", x, in[i], got, want)
					}
					continue
				case typ.float(typ.encode(want)) == got: // correctly rounded, also to infinity or zero
					continue
				}
				if e := math.Abs(got-want) / typ.ulp(want); e > worst || e != e {
					worst, at = e, in[i]
				}
			}
			t.Logf("worst %.3f ulp, of %v", worst, typ.float(at))
			if !(worst <= test.ulp) {
				t.Errorf("worst %.3f ulp, of %v (%#x); the bound is %v", worst, typ.float(at), at, test.ulp)
			}
		})
	}
}

// flush is what the float32 approximations do to denormals, in and out.
func flush(x float64) float64 {
	if math.Abs(x) < 0x1p-126 {
		return math.Copysign(0, x)
	}
	return x
}

// sinTurns and cosTurns are of x whole turns. Taking quarters off is exact.
func sinTurns(x float64) float64 {
	quarters := math.RoundToEven(4 * x)
	sin, cos := math.Sincos(2 * math.Pi * (x - quarters/4))
	switch int(math.Mod(quarters, 4)+4) % 4 {
	case 0:
		return sin
	case 1:
		return cos
	case 2:
		return -sin
	}
	return -cos
}

func cosTurns(x float64) float64 { return sinTurns(x + 0.25) }

// encode rounds x to the type.
func (t clType) encode(x float64) uint64 {
	switch t.scalar {
	case "half":
		return uint64(halfBits(x))
	case "float":
		return uint64(math.Float32bits(float32(x)))
	}
	return math.Float64bits(x)
}

// ulp is the distance of two neighbouring values of the type at x.
func (t clType) ulp(x float64) float64 {
	digits, least := 53, -1074
	switch t.scalar {
	case "half":
		digits, least = 11, -24
	case "float":
		digits, least = 24, -149
	}
	_, e := math.Frexp(x)
	return math.Ldexp(1, max(e-digits, least))
}
