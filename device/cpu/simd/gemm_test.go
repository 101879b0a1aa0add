package simd

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/holdfast-llm/holdfast/gguf/quant"
)

// eachGemm runs f for each weight type at each level that this machine can run.
func eachGemm(t *testing.T, f func(t *testing.T, typ quant.Type, l Level, g Gemm)) {
	for _, l := range Levels() {
		for _, typ := range quant.Supported() {
			g, ok := GemmFor(l, typ)
			if !ok {
				t.Fatalf("no product for %v at level %v", typ, l)
			}
			t.Run(g.Name, func(t *testing.T) { f(t, typ, l, g) })
		}
	}
}

// gemmDepths are numbers of elements below, at and past what a panel takes.
func gemmDepths(typ quant.Type) []int {
	switch typ.BlockElems() {
	case 1:
		return []int{1, 8, 259, 600}
	case 32:
		return []int{32, 96, 544}
	default:
		return []int{256, 512, 1280}
	}
}

// batch is n rows of k activations, ldx apart, with NaN between them.
func batch(rng *rand.Rand, n, k, ldx int, fill func(*rand.Rand, int) float32) []float32 {
	x := make([]float32, n*ldx)
	for i := range x {
		if x[i] = float32(math.NaN()); i%ldx < k {
			x[i] = fill(rng, i)
		}
	}
	return x[:(n-1)*ldx+k]
}

// product runs g on fresh buffers. The output's rows are ldo apart, and what
// lies between them is checked to be untouched.
func product(t *testing.T, g Gemm, w []byte, x []float32, ldx, k, rows, n, ldo int) []float32 {
	t.Helper()
	act := make([]byte, g.ActBytes(k, n))
	g.PackRows(act, x, ldx, k, n, 0, n)
	out := make([]float32, n*ldo)
	const untouched = -1e30
	for i := range out {
		out[i] = untouched
	}
	g.Run(out, ldo, w, k, rows, act, n, make([]byte, g.Scratch(k)))
	for i, v := range out {
		if i%ldo >= rows && v != untouched {
			t.Fatalf("%s: rows=%d n=%d: wrote column %d of row %d", g.Name, rows, n, i%ldo, i/ldo)
		}
	}
	return out
}

// unpackedGemm is the value of n packed activation rows of k elements.
func unpackedGemm(g Gemm, float bool, act []byte, k, n int) []float64 {
	T := g.RowTile
	x := make([]float64, n*k)
	for i := range n {
		tile, row := act[i/T*g.ActBytes(k, T):], i%T
		for j := range k {
			if float {
				x[i*k+j] = float64(f32(tile[4*(j*T+row):]))
				continue
			}
			group := tile[j/32*48*T:]
			x[i*k+j] = (float64(group[j%32/4*4*T+4*row+j%4]) - 128) * float64(f32(group[32*T+4*row:]))
		}
	}
	return x
}

// The tolerance is checkRows', with as many additions as there are scales.
func TestGemmMatchesFloat64OnThePackedActivations(t *testing.T) {
	const rows, n = 35, 13
	eachGemm(t, func(t *testing.T, typ quant.Type, l Level, g Gemm) {
		rng := rand.New(rand.NewPCG(1, uint64(typ)))
		part := portableGemms[typ].part
		for _, k := range gemmDepths(typ) {
			for _, wf := range weightFills {
				af := actFills[rng.IntN(len(actFills))]
				w := randomWeights(rng, typ, rows, k, wf.f)
				x := batch(rng, n, k, k+3, af.f)
				got := product(t, g, w, x, k+3, k, rows, n, rows+5)

				act := make([]byte, g.ActBytes(k, n))
				g.PackRows(act, x, k+3, k, n, 0, n)
				values := unpackedGemm(g, part == 0, act, k, n)
				weights, magnitudes := make([]float32, k), make([]float32, k)
				for r := range rows {
					row := w[r*typ.RowBytes(k):][:typ.RowBytes(k)]
					if err := quant.Dequantize(typ, weights, row); err != nil {
						t.Fatal(err)
					}
					termMagnitudes(typ, magnitudes, row)
					for i := range n {
						var want, scale float64
						for j, v := range values[i*k:][:k] {
							want += float64(weights[j]) * v
							scale += float64(magnitudes[j]) * math.Abs(v)
						}
						tol := float64(2*k/max(part, 1)+14) * 0x1p-24 * scale
						if diff := math.Abs(float64(got[i*(rows+5)+r]) - want); !(diff <= tol) {
							t.Fatalf("k=%d weights %s, activations %s: row %d, activation row %d: got %g, want %g: off by %g, tolerance %g",
								k, wf.name, af.name, r, i, got[i*(rows+5)+r], want, diff, tol)
						}
					}
				}
			}
		}
	})
}

func TestGemmElementIsIndependentOfTheShape(t *testing.T) {
	const rows, n = 70, 64
	eachGemm(t, func(t *testing.T, typ quant.Type, l Level, g Gemm) {
		rng := rand.New(rand.NewPCG(2, uint64(typ)))
		k := gemmDepths(typ)[2]
		w := randomWeights(rng, typ, rows, k, weightFills[0].f)
		x := batch(rng, n, k, k, actFills[0].f)
		want := product(t, g, w, x, k, k, rows, n, rows)
		check := func(rows1, n1 int) {
			t.Helper()
			got := product(t, g, w[:rows1*typ.RowBytes(k)], x[:n1*k], k, k, rows1, n1, rows1+1)
			for i := range n1 {
				for r := range rows1 {
					if got, want := got[i*(rows1+1)+r], want[i*rows+r]; math.Float32bits(got) != math.Float32bits(want) {
						t.Fatalf("rows=%d n=%d: element %d of row %d is %g, want %g as in the larger product", rows1, n1, r, i, got, want)
					}
				}
			}
		}
		step := 1
		if l == Portable { // one row at a time
			step = 17
		}
		for n1 := 1; n1 <= 19; n1 += step {
			check(rows, n1)
		}
		check(rows, 33)
		for rows1 := 1; rows1 <= rows; rows1 += step {
			check(rows1, 7)
		}
	})
}

// A batch too wide for the cache takes several passes over the matrix.
func TestGemmElementIsIndependentOfThePasses(t *testing.T) {
	const rows, n = 33, 700
	for _, l := range Levels()[1:] { // the portable level knows no passes
		for typ, k := range map[quant.Type]int{quant.Q4_K: 3 * gemmDepth, quant.F16: 3 * gemmFloatDepth} {
			g, _ := GemmFor(l, typ)
			rng := rand.New(rand.NewPCG(10, uint64(typ)))
			w := randomWeights(rng, typ, rows, k, weightFills[0].f)
			x := batch(rng, n, k, k, actFills[0].f)
			got := product(t, g, w, x, k, k, rows, n, rows)
			for i := 0; i < n; i += 100 {
				want := product(t, g, w, x[i*k:][:k], k, k, rows, 1, rows)
				for r := range rows {
					if got, want := got[i*rows+r], want[r]; math.Float32bits(got) != math.Float32bits(want) {
						t.Fatalf("%s: element %d of row %d is %g, alone %g", g.Name, r, i, got, want)
					}
				}
			}
		}
	}
}

func TestGemmSplitsAmongWorkers(t *testing.T) {
	const rows, n = 99, 21
	eachGemm(t, func(t *testing.T, typ quant.Type, l Level, g Gemm) {
		rng := rand.New(rand.NewPCG(3, uint64(typ)))
		k := 2 * max(typ.BlockElems(), 32)
		w := randomWeights(rng, typ, rows, k, weightFills[0].f)
		x := batch(rng, n, k, k, actFills[0].f)
		want := product(t, g, w, x, k, k, rows, n, rows)

		act := make([]byte, g.ActBytes(k, n))
		for i := 0; i < n; i += 2 * g.RowTile {
			g.PackRows(act, x, k, k, n, i, min(i+2*g.RowTile, n))
		}
		got := make([]float32, n*rows)
		scratch := make([]byte, g.Scratch(k))
		for r := 0; r < rows; r += g.Panel {
			g.Run(got[r:], rows, w[r*typ.RowBytes(k):], k, min(g.Panel, rows-r), act, n, scratch)
		}
		for i := range want {
			if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
				t.Fatalf("element %d: %g in parts, %g at once", i, got[i], want[i])
			}
		}
	})
}

func TestGemmPackIsTheSameAtEveryLevel(t *testing.T) {
	fills := append(actFills[:len(actFills):len(actFills)], struct {
		name string
		f    func(rng *rand.Rand, i int) float32
	}{"tiny and subnormal", func(rng *rand.Rand, i int) float32 {
		return float32(rng.NormFloat64() * math.Exp2(-105-float64(i/32%40)))
	}})
	for _, l := range Levels() {
		g, _ := GemmFor(l, quant.Q4_K)
		plain := gemmAct{tile: g.RowTile, packRow: packGemmRow}
		for _, fill := range fills {
			const k, n = 1280, 13
			x := batch(rand.New(rand.NewPCG(4, 0)), n, k, k+7, fill.f)
			got, want := make([]byte, g.ActBytes(k, n)), make([]byte, plain.bytes(k, n))
			g.PackRows(got, x, k+7, k, n, 0, n)
			plain.packRows(want, x, k+7, k, n, 0, n)
			if !bytes.Equal(got, want) {
				t.Errorf("%v: %s: packed activations differ from the portable ones", l, fill.name)
			}
		}
	}
}

func TestGemmPackQuantizesToTheNearest(t *testing.T) {
	const k, n = 256, 9
	g, _ := GemmFor(Best(), quant.Q4_K)
	x := batch(rand.New(rand.NewPCG(5, 0)), n, k, k, actFills[4].f)
	act := make([]byte, g.ActBytes(k, n))
	g.PackRows(act, x, k, k, n, 0, n)
	values := unpackedGemm(g, false, act, k, n)
	for i := range n {
		for j := range k {
			var peak float64
			for _, v := range x[i*k+j/32*32:][:32] {
				peak = max(peak, math.Abs(float64(v)))
			}
			got, want := values[i*k+j], float64(x[i*k+j])
			if diff := math.Abs(got - want); diff > peak/254*(1+1e-5) {
				t.Fatalf("row %d, element %d: %g packed as %g: off by more than half of %g", i, j, want, got, peak/127)
			}
		}
	}
}

func TestGemmShowsBadActivations(t *testing.T) {
	eachGemm(t, func(t *testing.T, typ quant.Type, l Level, g Gemm) {
		const k, n, rows = 256, 3, 2
		rng := rand.New(rand.NewPCG(6, uint64(typ)))
		w := randomWeights(rng, typ, rows, k, weightFills[0].f)
		for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
			x := batch(rng, n, k, k, actFills[0].f)
			x[k+100] = float32(bad)
			out := product(t, g, w, x, k, k, rows, n, rows)
			for i, v := range out {
				if finite := v-v == 0; finite == (i/rows == 1) {
					t.Errorf("activation row 1 has %g: element %d of row %d is %g", bad, i%rows, i/rows, v)
				}
			}
		}
	})
}

func TestGemmDoesNotAllocate(t *testing.T) {
	eachGemm(t, func(t *testing.T, typ quant.Type, l Level, g Gemm) {
		const k, n, rows = 256, 7, 33
		x, w := make([]float32, n*k), make([]byte, rows*typ.RowBytes(k))
		act, out, scratch := make([]byte, g.ActBytes(k, n)), make([]float32, n*rows), make([]byte, g.Scratch(k))
		if a := testing.AllocsPerRun(3, func() {
			g.PackRows(act, x, k, k, n, 0, n)
			g.Run(out, rows, w, k, rows, act, n, scratch)
		}); a != 0 {
			t.Errorf("%g allocations", a)
		}
	})
}

func TestGemmPanicsOnBadShapes(t *testing.T) {
	for _, l := range Levels() {
		g, _ := GemmFor(l, quant.Q4_K)
		const k, n, rows = 512, 7, 33
		x, w := make([]float32, n*k), make([]byte, rows*quant.Q4_K.RowBytes(k))
		act, out, scratch := make([]byte, g.ActBytes(k, n)), make([]float32, n*rows), make([]byte, g.Scratch(k))
		for _, tt := range []struct {
			name string
			f    func()
		}{
			{"row that is not whole blocks", func() { g.Run(out, rows, w, 500, rows, act, n, scratch) }},
			{"short weights", func() { g.Run(out, rows, w[:len(w)-1], k, rows, act, n, scratch) }},
			{"short activations", func() { g.Run(out, rows, w, k, rows, act[:len(act)-1], n, scratch) }},
			{"short output", func() { g.Run(out[:len(out)-1], rows, w, k, rows, act, n, scratch) }},
			{"overlapping output rows", func() { g.Run(out, rows-1, w, k, rows, act, n, scratch) }},
			{"short scratch", func() { g.Run(out, rows, w, k, rows, act, n, scratch[:len(scratch)/2]) }},
			{"short batch", func() { g.PackRows(act, x[:len(x)-1], k, k, n, 0, n) }},
			{"short packed batch", func() { g.PackRows(act[1:], x, k, k, n, 0, n) }},
			{"rows past the batch", func() { g.PackRows(act, x, k, k, n, 0, n+1) }},
		} {
			t.Run(fmt.Sprintf("%v/%s", l, tt.name), func(t *testing.T) {
				defer func() {
					if recover() == nil {
						t.Error("no panic")
					}
				}()
				tt.f()
			})
		}
	}
}

func TestGemmForUnsupportedTypes(t *testing.T) {
	for _, l := range Levels() {
		for _, typ := range []quant.Type{quant.Q8_1, quant.Q8_K, quant.I32, 4, 99} {
			if g, ok := GemmFor(l, typ); ok {
				t.Errorf("GemmFor(%v, %v) offers %s", l, typ, g.Name)
			}
		}
	}
}
