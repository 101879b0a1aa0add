package simd

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/holdfast-llm/holdfast/gguf/quant"
)

// BenchmarkGemm multiplies a 1024x1024 matrix on one thread and reports 1e9
// multiply-adds a second. The activations are packed beforehand.
func BenchmarkGemm(b *testing.B) {
	for _, l := range Levels() {
		for _, typ := range quant.Supported() {
			g, _ := GemmFor(l, typ)
			for _, n := range []int{8, 32, 512} {
				b.Run(fmt.Sprintf("%s/n=%d", g.Name, n), func(b *testing.B) { benchGemm(b, typ, g, 1024, 1024, n, 1) })
			}
		}
	}
}

// BenchmarkGemmShapes is what prompt processing does at the best level: larger
// matrices on two threads.
func BenchmarkGemmShapes(b *testing.B) {
	for _, typ := range []quant.Type{quant.Q4_K, quant.Q6_K, quant.Q8_0, quant.F16} {
		g, _ := GemmFor(Best(), typ)
		for _, s := range []struct{ rows, k int }{{1024, 1024}, {3072, 1024}, {1024, 3072}} {
			for _, n := range []int{32, 512} {
				b.Run(fmt.Sprintf("%s/%dx%d/n=%d", g.Name, s.rows, s.k, n), func(b *testing.B) { benchGemm(b, typ, g, s.rows, s.k, n, 2) })
			}
		}
	}
}

func benchGemm(b *testing.B, typ quant.Type, g Gemm, rows, k, n, workers int) {
	rng := rand.New(rand.NewPCG(8, 0))
	w := randomWeights(rng, typ, rows, k, weightFills[0].f)
	x := batch(rng, n, k, k, actFills[0].f)
	act, out := make([]byte, g.ActBytes(k, n)), make([]float32, n*rows)
	g.PackRows(act, x, k, k, n, 0, n)
	share := (rows/workers + g.Panel - 1) / g.Panel * g.Panel
	scratch := make([][]byte, workers)
	for i := range scratch {
		scratch[i] = make([]byte, g.Scratch(k))
	}
	for b.Loop() {
		var wg sync.WaitGroup
		for i := range workers {
			from := i * share
			wg.Go(func() {
				g.Run(out[from:], rows, w[from*typ.RowBytes(k):], k, min(share, rows-from), act, n, scratch[i])
			})
		}
		wg.Wait()
	}
	macs := float64(rows) * float64(k) * float64(n)
	b.ReportMetric(macs*float64(b.N)/b.Elapsed().Seconds()/1e9, "GMAC/s")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkGemmPack packs 512 rows of 1024 activations and reports elements a
// nanosecond.
func BenchmarkGemmPack(b *testing.B) {
	const k, n = 1024, 512
	x := batch(rand.New(rand.NewPCG(9, 0)), n, k, k, actFills[0].f)
	for _, l := range Levels() {
		for _, typ := range []quant.Type{quant.Q4_K, quant.F16} {
			g, _ := GemmFor(l, typ)
			act := make([]byte, g.ActBytes(k, n))
			b.Run(fmt.Sprintf("%s/%s", g.ActID, l), func(b *testing.B) {
				for b.Loop() {
					g.PackRows(act, x, k, k, n, 0, n)
				}
				b.ReportMetric(float64(k*n)*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "elem/ns")
			})
		}
	}
}
