package simd

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/holdfast-llm/holdfast/gguf/quant"
)

// randomRows is a cache of random f32 values in the given type.
func randomRows(typ quant.Type, rows, dim int) []byte {
	r := rand.New(rand.NewPCG(1, 1))
	b := make([]byte, rows*typ.RowBytes(dim))
	if err := quant.Quantize(typ, b, normal(r, rows*dim, 1)); err != nil {
		panic(err)
	}
	return b
}

// BenchmarkAttentionDecode reads KV heads of 4096 positions in turn, 128 MiB of
// them, so that they come from memory as in a model of many layers.
func BenchmarkAttentionDecode(b *testing.B) {
	const n = 4096
	for _, typ := range attnTypes {
		for _, dim := range []int{128, 64} {
			for _, g := range []int{1, 2, 4, 8} {
				for _, l := range Levels() {
					if l == Portable && g != 2 {
						continue
					}
					a, _ := AttentionFor(l, typ, typ, dim, dim)
					b.Run(fmt.Sprintf("%v/head%d/g%d/%v", typ, dim, g, l), func(b *testing.B) {
						row := typ.RowBytes(dim)
						kvHeads := 64 << 20 / (n * row)
						k := bytes.Repeat(randomRows(typ, n, dim), kvHeads)
						v := bytes.Clone(k)
						q := normal(rand.New(rand.NewPCG(2, 2)), g*dim, 0.1)
						p, scratch := newPartials(g, dim), make([]float32, a.ScratchFloats(g))
						i := 0
						for b.Loop() {
							at := i % kvHeads * n * row
							a.Accumulate(p.acc, p.m, p.l, q, g, k[at:], v[at:], n, nil, scratch)
							i++
						}
						b.ReportMetric(float64(2*n*row*b.N)/float64(b.Elapsed().Nanoseconds()), "GB/s")
					})
				}
			}
		}
	}
}

// BenchmarkAttentionPrefill attends tiles of rows behind a context; the
// operations counted are those of the keys that each row sees.
func BenchmarkAttentionPrefill(b *testing.B) {
	for _, typ := range []quant.Type{quant.F16, quant.Q8_0} {
		for _, dim := range []int{128, 64} {
			for _, c := range []struct{ rows, g, n0 int }{{512, 2, 0}, {512, 4, 0}, {512, 2, 3584}, {32, 2, 480}, {32, 8, 2048}} {
				for _, l := range Levels() {
					if l == Portable && c.rows*c.n0 > 1<<20 {
						continue
					}
					a, _ := AttentionFor(l, typ, typ, dim, dim)
					b.Run(fmt.Sprintf("%v/head%d/rows%d_at%d/g%d/%v", typ, dim, c.rows, c.n0, c.g, l), func(b *testing.B) {
						n := c.n0 + c.rows
						k, v := randomRows(typ, n, dim), randomRows(typ, n, dim)
						q := normal(rand.New(rand.NewPCG(2, 2)), c.rows*c.g*dim, 0.1)
						out, scratch := make([]float32, len(q)), make([]float32, a.PrefillScratchFloats(c.rows, c.g))
						for b.Loop() {
							a.Prefill(out, c.g*dim, q, c.g*dim, c.rows, c.g, k, v, c.n0, scratch)
						}
						pairs := float64(c.rows)*float64(c.n0) + float64(c.rows)*float64(c.rows+1)/2
						b.ReportMetric(pairs*float64(4*dim*c.g*b.N)/float64(b.Elapsed().Nanoseconds()), "GFLOP/s")
					})
				}
			}
		}
	}
}
