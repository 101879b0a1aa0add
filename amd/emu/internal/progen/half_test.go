package progen

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

const halfMain = `
int main() {
	u64 t[4];
	while (all(false, t, sizeof t)) {
		f16 a = fromb((u16)t[0]), b = fromb((u16)t[1]), c = fromb((u16)t[2]);
		f16 big = (f16)fromb(t[3]);
		u16 r[] = {bits((f16)(a + b)), bits((f16)(a - b)), bits((f16)(a * b)), bits((f16)(a / b)), bits(fma_(a, b, c)), bits(sqrt_(fabs_(a))), bits(big), bits((f16)(a * b + c))};
		if (!all(true, r, sizeof r)) return 1;
	}
}
`

// TestHalvesRoundOncePerOperationOnTheHost compares the witness's half
// arithmetic, made of float and double operations, with exact arithmetic
// rounded once.
func TestHalvesRoundOncePerOperationOnTheHost(t *testing.T) {
	needClang(t)
	dir := t.TempDir()
	source := filepath.Join(dir, "half.cpp")
	if err := os.WriteFile(source, []byte(prelude+halfMain), 0o644); err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	type input struct{ A, B, C, D uint64 }
	var in []input
	edges := []uint64{0, 0x8000, 1, 0x8001, 0x3ff, 0x400, 0x3c00, 0xbc00, 0x3bff, 0x3c01, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x1000, 0x1001}
	half := func() uint64 {
		if rng.IntN(4) == 0 {
			return edges[rng.IntN(len(edges))]
		}
		return rng.Uint64() & 0xffff
	}
	for range 40000 {
		v := input{half(), half(), half(), 0}
		// A double near a tie of two halves, or anywhere.
		d := math.Abs(fromHalf(uint16(half() & 0x7fff)))
		d += halfUlp(d) / 2
		switch rng.IntN(4) {
		case 0:
			d = math.Nextafter(d, math.Inf(1))
		case 1:
			d = math.Nextafter(d, 0)
		case 2:
			d = math.Float64frombits(rng.Uint64())
		}
		if d != d {
			d = 1
		}
		v.D = math.Float64bits(d)
		in = append(in, v)
	}
	for _, level := range []string{"-O0", "-O2"} {
		host, err := CompileHost(source, level)
		if err != nil {
			t.Fatal(err)
		}
		var stdin, stdout bytes.Buffer
		if err := binary.Write(&stdin, binary.LittleEndian, in); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(host)
		cmd.Stdin, cmd.Stdout = &stdin, &stdout
		if err := cmd.Run(); err != nil {
			t.Fatal(err)
		}
		out := make([][8]uint16, len(in))
		if err := binary.Read(&stdout, binary.LittleEndian, out); err != nil {
			t.Fatal(err)
		}
		for i, v := range in {
			a, b, c := fromHalf(uint16(v.A)), fromHalf(uint16(v.B)), fromHalf(uint16(v.C))
			product := toHalf(a * b)
			want := [8]uint16{
				toHalf(a + b), toHalf(a - b), product, toHalf(a / b), fmaHalf(a, b, c),
				toHalf(math.Sqrt(math.Abs(a))), toHalf(math.Float64frombits(v.D)), toHalf(fromHalf(product) + c),
			}
			if out[i] != want {
				t.Fatalf("%s: of %#x, %#x, %#x, %#x: %#x, want %#x", level, v.A, v.B, v.C, v.D, out[i], want)
			}
		}
	}
}

// fromHalf is exact.
func fromHalf(h uint16) float64 {
	e, m := int(h>>10&31), float64(h&0x3ff)
	var x float64
	switch {
	case e == 31 && m != 0:
		return math.NaN()
	case e == 31:
		x = math.Inf(1)
	case e == 0:
		x = math.Ldexp(m, -24)
	default:
		x = math.Ldexp(m+1024, e-25)
	}
	return math.Copysign(x, float64(1-2*int(h>>15)))
}

// halfUlp is the distance of two neighbouring halves at x.
func halfUlp(x float64) float64 {
	_, e := math.Frexp(x)
	return math.Ldexp(1, max(e, -13)-11)
}

// toHalf rounds to nearest, ties to even; exact sums, products and
// fused sums of halves, as well as their quotients and roots in float64, are
// never rounded twice by it.
func toHalf(x float64) uint16 {
	sign := uint16(math.Float64bits(x) >> 63 << 15)
	switch {
	case x != x:
		return 0x7e00
	case math.Abs(x) >= 65520:
		return sign | 0x7c00
	}
	x = math.Abs(x)
	ulp := halfUlp(x)
	n := math.RoundToEven(x / ulp) // of ulps: at most 2048
	x = n * ulp
	frac, e := math.Frexp(x)
	if x < 0x1p-14 {
		return sign | uint16(x*0x1p24)
	}
	return sign | uint16(e+14)<<10 | uint16(frac*2048-1024)
}

// fmaHalf rounds a*b+c once.
func fmaHalf(a, b, c float64) uint16 {
	if r := a*b + c; math.IsNaN(r) || math.IsInf(r, 0) || r == 0 {
		return toHalf(r) // a sum of doubles is zero only if it is exact
	}
	exact := func(x float64) *big.Float { return new(big.Float).SetPrec(300).SetFloat64(x) }
	sum := exact(0).Mul(exact(a), exact(b))
	sum.Add(sum, exact(c))
	near, _ := sum.Float64()
	// Round to odd: a double that is not exact never looks like a tie.
	if diff := exact(near).Cmp(sum); diff != 0 && math.Float64bits(near)&1 == 0 {
		if (diff < 0) == (near > 0) {
			near = math.Float64frombits(math.Float64bits(near) + 1)
		} else {
			near = math.Float64frombits(math.Float64bits(near) - 1)
		}
	}
	return toHalf(near)
}
