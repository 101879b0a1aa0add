package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/holdfast-llm/holdfast/gguf/quant"
)

// TestKeysAndValuesMayHaveDifferentTypes compares caches of two types with
// float32 caches of the same numbers.
func TestKeysAndValuesMayHaveDifferentTypes(t *testing.T) {
	const g, dim, n = 3, 64, 77
	r := rand.New(rand.NewPCG(3, 4))
	normal := func(n int) []float32 {
		x := make([]float32, n)
		for i := range x {
			x[i] = float32(r.NormFloat64())
		}
		return x
	}
	// cached is x as rows of a type, and as the float32 that those rows mean.
	cached := func(typ quant.Type, x []float32) (rows, plain []byte) {
		rows = make([]byte, typ.RowBytes(len(x)))
		back := make([]float32, len(x))
		if err := quant.Quantize(typ, rows, x); err != nil {
			t.Fatal(err)
		}
		if err := quant.Dequantize(typ, back, rows); err != nil {
			t.Fatal(err)
		}
		plain = make([]byte, 4*len(x))
		if err := quant.Quantize(quant.F32, plain, back); err != nil {
			t.Fatal(err)
		}
		return rows, plain
	}
	q, keys, values := normal(g*dim), normal(n*dim), normal(n*dim)
	attend := func(l Level, kt, vt quant.Type, k, v []byte) (decoded, prefilled []float32) {
		a, ok := AttentionFor(l, kt, vt, dim, dim)
		if !ok {
			t.Fatalf("no attention for %v, %v and %v", l, kt, vt)
		}
		p := partials{m: slices.Repeat([]float32{float32(math.Inf(-1))}, g), l: make([]float32, g), acc: make([]float32, g*dim)}
		accumulate(&a, p, q, g, k, v, n)
		prefilled = make([]float32, g*dim)
		a.Prefill(prefilled, g*dim, q, g*dim, 1, g, k, v, n-1, dirty(a.PrefillScratchFloats(1, g)))
		return p.finish(dim), prefilled
	}
	for _, l := range Levels() {
		for _, kt := range attnTypes {
			for _, vt := range attnTypes {
				t.Run(fmt.Sprintf("%v_%v_%v", l, kt, vt), func(t *testing.T) {
					k, plainK := cached(kt, keys)
					v, plainV := cached(vt, values)
					got, gotPrefill := attend(l, kt, vt, k, v)
					want, wantPrefill := attend(l, quant.F32, quant.F32, plainK, plainV)
					for i := range want {
						// Both are float32 sums of n terms of about 1/n, in different orders.
						if d := math.Abs(float64(got[i] - want[i])); d > 1e-5 {
							t.Fatalf("decode: element %d is %v, want %v", i, got[i], want[i])
						}
						if d := math.Abs(float64(gotPrefill[i] - wantPrefill[i])); d > 1e-5 {
							t.Fatalf("prefill: element %d is %v, want %v", i, gotPrefill[i], wantPrefill[i])
						}
					}
				})
			}
		}
	}
}
