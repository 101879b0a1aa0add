package kernel

import (
	"math"
	"math/rand/v2"
	"testing"
)

func normals(rng *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(rng.NormFloat64())
	}
	return x
}

func TestRMSNormIsTheReferencesOverSizesAndRows(t *testing.T) {
	everyMode(t, 32, func(t *testing.T, r *rig) {
		for _, n := range []int{1, 32, 128, 255, 256, 257, 1024, 1030} {
			rng := rand.New(rand.NewPCG(1, uint64(n)))
			const rows, eps = 3, 1e-6
			x, w := normals(rng, rows*n), normals(rng, n)
			out := r.garbage(t, "out", 4*rows*n)
			r.run(t, RMSNorm{r.floats(t, "x", x).ptr(), r.floats(t, "weight", w).ptr(), out.ptr(), uint32(n), eps}.Launch(rows))
			want, bound := make([]float64, rows*n), make([]float64, rows*n)
			for row := range rows {
				var sum float64
				for _, v := range x[row*n : (row+1)*n] {
					sum += float64(v) * float64(v)
				}
				for i := range n {
					want[row*n+i] = float64(x[row*n+i]) / math.Sqrt(sum/float64(n)+eps) * float64(w[i])
					// A sum of n squares in 256 chains, a root, a division and two products.
					bound[row*n+i] = math.Abs(want[row*n+i]) * (float64(n)/256 + 16) * 0x1p-24
				}
			}
			near(t, "rms_norm", out.asFloats(), want, bound)
		}
	})
}
