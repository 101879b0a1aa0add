package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/holdfast-llm/holdfast/gguf/quant"
)

// elemLengths cross every step and block of the kernels, with remainders.
func elemLengths() []int {
	var ns []int
	for n := range 71 {
		ns = append(ns, n)
	}
	return append(ns, 127, 128, 129, 896, 1000, 4096)
}

func forLevels(t *testing.T, f func(t *testing.T, l Level)) {
	for _, l := range Levels() {
		t.Run(l.String(), func(t *testing.T) { f(t, l) })
	}
}

func normal(r *rand.Rand, n int, spread float64) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(spread * r.NormFloat64())
	}
	return x
}

// ulp is the distance from |x|, rounded to float32, to the next float32.
func ulp(x float64) float64 {
	f := float32(math.Abs(x))
	return float64(math.Nextafter32(f, float32(math.Inf(1)))) - float64(f)
}

// wantULP fails unless each got is within ulps ULP of want, or within floor.
func wantULP(t *testing.T, what string, got []float32, want []float64, ulps, floor float64) {
	t.Helper()
	for i := range want {
		if d := math.Abs(float64(got[i]) - want[i]); !(d <= ulps*ulp(want[i]) || d <= floor) {
			t.Fatalf("%s, length %d: [%d] = %g, want %g, off by %.2f ULP, allowed %g", what, len(want), i, got[i], want[i], d/ulp(want[i]), ulps)
		}
	}
}

func TestRMSNorm(t *testing.T) {
	forLevels(t, func(t *testing.T, l Level) {
		r := rand.New(rand.NewPCG(1, 1))
		for _, n := range elemLengths() {
			x, w := normal(r, n, 3), normal(r, n, 1)
			sum := 0.0
			for _, v := range x {
				sum += float64(v) * float64(v)
			}
			const eps = 1e-6
			want := make([]float64, n)
			for i := range x {
				want[i] = float64(x[i]) / math.Sqrt(sum/float64(n)+eps) * float64(w[i])
			}
			// Half the sum's relative error, and two products.
			tol := (float64(n)/16+8)/2 + 3
			dst := make([]float32, n)
			ElemFor(l).RMSNorm(dst, x, w, eps)
			wantULP(t, "apart", dst, want, tol, 0)
			ElemFor(l).RMSNorm(x, x, w, eps)
			wantULP(t, "in place", x, want, tol, 0)
		}
	})
}

func TestSwiGLU(t *testing.T) {
	forLevels(t, func(t *testing.T, l Level) {
		r := rand.New(rand.NewPCG(2, 1))
		for _, n := range elemLengths() {
			for _, spread := range []float64{1, 30, 1e4} {
				gate, up := normal(r, n, spread), normal(r, n, 1)
				want := make([]float64, n)
				for i, g := range gate {
					want[i] = float64(g) / (1 + math.Exp(-float64(g))) * float64(up[i])
				}
				floor := 0x1p-120 * spread * 10
				dst := make([]float32, n)
				ElemFor(l).SwiGLU(dst, gate, up)
				wantULP(t, "apart", dst, want, 4, floor)
				ElemFor(l).SwiGLU(gate, gate, up)
				wantULP(t, "over the gate", gate, want, 4, floor)
			}
		}
	})
}

// The vector exponential shows itself as SwiGLU's and Softmax's; here along
// its whole range, through Softmax's numerator.
func TestExpAlongItsRange(t *testing.T) {
	forLevels(t, func(t *testing.T, l Level) {
		const n = 1 << 16
		// Pairs {x, 0}: e^x/(1+e^x) and 1/(1+e^x).
		for i := range n {
			x := make([]float32, 16)
			for j := range 8 {
				x[2*j] = -90 * (float32(i) + float32(j)/8) / n
			}
			y := slices.Clone(x)
			ElemFor(l).Softmax(y)
			total := 0.0
			for _, v := range x {
				total += math.Exp(float64(v))
			}
			for j, v := range x {
				want := math.Exp(float64(v)) / total
				if d := math.Abs(float64(y[j]) - want); d > 6*ulp(want) && d > 0x1p-120 {
					t.Fatalf("softmax of %g: got %g, want %g, off by %.1f ULP", v, y[j], want, d/ulp(want))
				}
			}
		}
	})
}

func TestSoftmax(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	forLevels(t, func(t *testing.T, l Level) {
		e := ElemFor(l)
		r := rand.New(rand.NewPCG(3, 1))
		for _, n := range elemLengths()[1:] {
			for _, spread := range []float64{1, 30, 1e4, 1e37} {
				x := normal(r, n, spread)
				if n > 2 {
					x[r.IntN(n)] = -inf
				}
				top := float64(slices.Max(x))
				sum := 0.0
				for _, v := range x {
					sum += math.Exp(float64(v) - top)
				}
				y := slices.Clone(x)
				e.Softmax(y)
				for i, v := range x {
					d := top - float64(v)
					want := math.Exp(-d) / sum
					if tol := (4 + d + float64(n)/8) * 0x1p-23 * want; !(math.Abs(float64(y[i])-want) <= tol || float64(y[i]) <= 0x1p-120 && want <= 0x1p-120) {
						t.Fatalf("n %d, spread %g: [%d] = %g, want %g", n, spread, i, y[i], want)
					}
				}
			}
			x := slices.Repeat([]float32{-inf}, n)
			e.Softmax(x)
			if !slices.Equal(x, make([]float32, n)) {
				t.Fatalf("all masked, length %d: %v, want zeros", n, x)
			}
			for _, bad := range []float32{nan, inf} {
				for _, rest := range []float32{-inf, 1} {
					x := slices.Repeat([]float32{rest}, n)
					x[r.IntN(n)] = bad
					e.Softmax(x)
					if i := slices.IndexFunc(x, func(v float32) bool { return v == v }); i >= 0 {
						t.Fatalf("%g among %g, length %d: [%d] = %g, want NaN", bad, rest, n, i, x[i])
					}
				}
			}
		}
	})
}

func TestAddAndAXPY(t *testing.T) {
	forLevels(t, func(t *testing.T, l Level) {
		e := ElemFor(l)
		r := rand.New(rand.NewPCG(4, 1))
		for _, n := range elemLengths() {
			a, b := normal(r, n, 1), normal(r, n, 1)
			sum, axpy := make([]float64, n), make([]float64, n)
			for i := range a {
				sum[i] = float64(a[i]) + float64(b[i])
				axpy[i] = float64(a[i]) + 1.5*float64(b[i])
			}
			dst := make([]float32, n)
			e.Add(dst, a, b)
			wantULP(t, "add", dst, sum, 0.51, 0)
			copy(dst, a)
			e.Add(dst, dst, b)
			wantULP(t, "add in place", dst, sum, 0.51, 0)
			copy(dst, a)
			e.AXPY(dst, 1.5, b)
			// One rounding, or two of terms up to 10.
			wantULP(t, "axpy", dst, axpy, 0.51, 10*0x1p-24)
		}
	})
}

func TestRope(t *testing.T) {
	forLevels(t, func(t *testing.T, l Level) {
		e := ElemFor(l)
		r := rand.New(rand.NewPCG(5, 1))
		for h := range 71 {
			x := normal(r, 2*h+5, 1) // five dimensions stay
			cos, sin := make([]float32, h), make([]float32, h)
			for i := range cos {
				s, c := math.Sincos(r.Float64() * 7)
				cos[i], sin[i] = float32(c), float32(s)
			}
			for _, c := range []struct {
				name string
				rope func(x, cos, sin []float32)
				pair func(i int) (int, int)
			}{
				{"neox", e.RopeNeox, func(i int) (int, int) { return i, i + h }},
				{"norm", e.RopeNorm, func(i int) (int, int) { return 2 * i, 2*i + 1 }},
			} {
				want := make([]float64, len(x))
				for i, v := range x {
					want[i] = float64(v)
				}
				for i := range h {
					p, q := c.pair(i)
					a, b := float64(x[p]), float64(x[q])
					want[p] = a*float64(cos[i]) - b*float64(sin[i])
					want[q] = a*float64(sin[i]) + b*float64(cos[i])
				}
				got := slices.Clone(x)
				c.rope(got, cos, sin)
				wantULP(t, c.name, got, want, 1, 10*0x1p-23) // terms up to 5 may cancel
				if !slices.Equal(got[2*h:], x[2*h:]) {
					t.Fatalf("%s, %d pairs: elements beyond the pairs moved", c.name, h)
				}
			}
		}
	})
}

func TestMaxAndNonFinite(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	forLevels(t, func(t *testing.T, l Level) {
		e := ElemFor(l)
		if m := e.Max(nil); m != -inf {
			t.Errorf("Max of nothing = %g, want -Inf", m)
		}
		r := rand.New(rand.NewPCG(6, 1))
		for _, n := range elemLengths()[1:] {
			x := normal(r, n, 1e38)
			for i, v := range x {
				x[i] = min(max(v, -math.MaxFloat32), math.MaxFloat32)
			}
			if got, want := e.Max(x), slices.Max(x); got != want {
				t.Fatalf("Max of %d = %g, want %g", n, got, want)
			}
			if i := e.NonFinite(x); i != -1 {
				t.Fatalf("NonFinite of %d finite = %d", n, i)
			}
			for at := range min(n, 140) {
				for _, bad := range []float32{nan, inf, -inf} {
					y := slices.Clone(x)
					y[at] = bad
					y[n-1] = bad
					if i := e.NonFinite(y); i != at {
						t.Fatalf("%g at %d of %d: NonFinite = %d", bad, at, n, i)
					}
				}
				x[at], x[0] = x[0], x[at]
				y := slices.Clone(x)
				y[at] = nan // is passed over
				want := maxOf(y)
				if got := e.Max(y); got != want {
					t.Fatalf("Max of %d with a NaN at %d = %g, want %g", n, at, got, want)
				}
			}
		}
	})
}

// TestFromHalves runs every 16-bit pattern.
func TestFromHalves(t *testing.T) {
	all := make([]uint16, 1<<16)
	for i := range all {
		all[i] = uint16(i)
	}
	forLevels(t, func(t *testing.T, l Level) {
		got := make([]float32, len(all))
		for _, c := range []struct {
			name string
			from func([]float32, []uint16)
			want func(uint16) float32
		}{{"f16", ElemFor(l).FromF16, quant.F16ToF32}, {"bf16", ElemFor(l).FromBF16, quant.BF16ToF32}} {
			c.from(got, all)
			for i, g := range got {
				w := c.want(uint16(i))
				if math.Float32bits(g) != math.Float32bits(w) && (g == g || w == w) {
					t.Fatalf("%s %#04x = %g, want %g", c.name, i, g, w)
				}
			}
			for n := range 71 {
				got := make([]float32, n+1)
				got[n] = 77
				c.from(got[:n], all[0x3c00:])
				for i, g := range got[:n] {
					if w := c.want(uint16(0x3c00 + i)); g != w {
						t.Fatalf("%s, length %d: [%d] = %g, want %g", c.name, n, i, g, w)
					}
				}
				if got[n] != 77 {
					t.Fatalf("%s, length %d: wrote beyond", c.name, n)
				}
			}
		}
	})
}

// TestToHalves tries every half, its neighbours in float32 and the points
// halfway to the next one.
func TestToHalves(t *testing.T) {
	var x []float32
	for h := range 1 << 16 {
		for _, base := range []uint32{math.Float32bits(quant.F16ToF32(uint16(h))), uint32(h) << 16} {
			for _, d := range []uint32{0, 1, ^uint32(0), 1 << 12, 1<<12 - 1, 1<<12 + 1, 1 << 15, 1<<15 - 1, 1<<15 + 1} {
				x = append(x, math.Float32frombits(base+d))
			}
		}
	}
	isNaN := map[string]func(uint16) bool{
		"f16":  func(h uint16) bool { return h&0x7fff > 0x7c00 },
		"bf16": func(h uint16) bool { return h&0x7fff > 0x7f80 },
	}
	forLevels(t, func(t *testing.T, l Level) {
		got := make([]uint16, len(x))
		for _, c := range []struct {
			name string
			to   func([]uint16, []float32)
			want func(float32) uint16
		}{{"f16", ElemFor(l).ToF16, quant.F32ToF16}, {"bf16", ElemFor(l).ToBF16, quant.F32ToBF16}} {
			c.to(got, x)
			for i, g := range got {
				if w := c.want(x[i]); g != w && !(isNaN[c.name](g) && isNaN[c.name](w)) {
					t.Fatalf("%s of %g (%#08x) = %#04x, want %#04x", c.name, x[i], math.Float32bits(x[i]), g, w)
				}
			}
			for n := range 71 {
				got := make([]uint16, n+1)
				got[n] = 77
				c.to(got[:n], x[9*500:9*500+n])
				for i, g := range got[:n] {
					if w := c.want(x[9*500+i]); g != w {
						t.Fatalf("%s, length %d: [%d] = %#04x, want %#04x", c.name, n, i, g, w)
					}
				}
				if got[n] != 77 {
					t.Fatalf("%s, length %d: wrote beyond", c.name, n)
				}
			}
		}
	})
}

func TestQ8_0(t *testing.T) {
	forLevels(t, func(t *testing.T, l Level) {
		e := ElemFor(l)
		r := rand.New(rand.NewPCG(7, 1))
		for blocks := range 9 {
			for trial := range 50 {
				x := normal(r, 32*blocks, math.Pow(10, float64(r.IntN(9)-4)))
				for b := range blocks {
					if trial%5 == 0 { // halves of a step: ties
						for i := range 32 {
							x[32*b+i] = float32(r.IntN(255)-127) + 0.5*float32(r.IntN(2))
						}
						x[32*b] = 127
					}
					if trial%7 == 1 {
						clear(x[32*b : 32*b+32])
					}
					if trial%7 == 2 {
						x[32*b+r.IntN(32)] = float32(math.NaN())
					}
					if trial%7 == 3 {
						x[32*b+r.IntN(32)] = float32(math.Inf(1))
					}
				}
				want := make([]byte, 34*blocks)
				if err := quant.Quantize(quant.Q8_0, want, x); err != nil {
					t.Fatal(err)
				}
				got := make([]byte, 34*blocks)
				e.ToQ8_0(got, x)
				if !slices.Equal(got, want) {
					t.Fatalf("%d blocks: to Q8_0 %v, want %v, of %v", blocks, got, want, x)
				}
				y, z := make([]float32, len(x)), make([]float32, len(x))
				e.FromQ8_0(y, got)
				if err := quant.Dequantize(quant.Q8_0, z, got); err != nil {
					t.Fatal(err)
				}
				for i := range z {
					if y[i] != z[i] && (y[i] == y[i] || z[i] == z[i]) {
						t.Fatalf("from Q8_0 [%d] = %g, want %g", i, y[i], z[i])
					}
				}
			}
		}
	})
}

func TestElemAllocatesNothing(t *testing.T) {
	forLevels(t, func(t *testing.T, l Level) {
		e := ElemFor(l)
		x, y, h, b := make([]float32, 96), make([]float32, 96), make([]uint16, 96), make([]byte, 102)
		if n := testing.AllocsPerRun(10, func() {
			e.RMSNorm(x, x, y, 1e-5)
			e.SwiGLU(x, x, y)
			e.Add(x, x, y)
			e.AXPY(x, 2, y)
			e.RopeNeox(x, y[:48], y[48:])
			e.RopeNorm(x, y[:48], y[48:])
			e.Softmax(x)
			e.Max(x)
			e.NonFinite(x)
			e.ToF16(h, x)
			e.FromF16(x, h)
			e.ToBF16(h, x)
			e.FromBF16(x, h)
			e.ToQ8_0(b, x)
			e.FromQ8_0(x, b)
		}); n != 0 {
			t.Errorf("%v allocations", n)
		}
	})
}

func BenchmarkElem(b *testing.B) {
	const n = 4096
	x, y, z := make([]float32, n), make([]float32, n), make([]float32, n)
	h, q := make([]uint16, n), make([]byte, n/32*34)
	for i := range x {
		x[i], y[i] = float32(i%13)-6, 1
	}
	for _, l := range Levels() {
		e := ElemFor(l)
		for _, c := range []struct {
			name string
			f    func()
		}{
			{"RMSNorm", func() { e.RMSNorm(z, x, y, 1e-5) }},
			{"SwiGLU", func() { e.SwiGLU(z, x, y) }},
			{"Add", func() { e.Add(z, x, y) }},
			{"AXPY", func() { e.AXPY(z, 1e-9, y) }},
			{"RopeNeox", func() { e.RopeNeox(z, y[:n/2], y[:n/2]) }},
			{"RopeNorm", func() { e.RopeNorm(z, y[:n/2], y[:n/2]) }},
			{"Softmax", func() { e.Softmax(z) }},
			{"Max", func() { e.Max(x) }},
			{"NonFinite", func() { e.NonFinite(x) }},
			{"ToF16", func() { e.ToF16(h, x) }},
			{"FromF16", func() { e.FromF16(z, h) }},
			{"ToBF16", func() { e.ToBF16(h, x) }},
			{"FromBF16", func() { e.FromBF16(z, h) }},
			{"ToQ8_0", func() { e.ToQ8_0(q, x) }},
			{"FromQ8_0", func() { e.FromQ8_0(z, q) }},
		} {
			b.Run(fmt.Sprintf("%s/%s", c.name, l), func(b *testing.B) {
				for b.Loop() {
					c.f()
				}
				b.ReportMetric(float64(n)*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "elems/ns")
			})
		}
	}
}
