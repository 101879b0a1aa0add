package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// normOf is the norm of rows of n, and how far a kernel may be from it.
func normOf(x, w []float32, eps float64) (want, bound []float64) {
	n := len(w)
	want, bound = make([]float64, len(x)), make([]float64, len(x))
	for at := 0; at < len(x); at += n {
		var sum float64
		for _, v := range x[at : at+n] {
			sum += float64(v) * float64(v)
		}
		for i := range n {
			want[at+i] = float64(x[at+i]) / math.Sqrt(sum/float64(n)+eps) * float64(w[i])
			// A sum of n squares in 32 chains or more, a root, a division and two products.
			bound[at+i] = math.Abs(want[at+i]) * (float64(n)/32 + 16) * 0x1p-24
		}
	}
	return want, bound
}

const normRows, normEps = 3, 1e-6

func TestRMSNormIsTheReferencesOverSizesAndRows(t *testing.T) {
	everyMode(t, 32, func(t *testing.T, r *rig) {
		for _, n := range []int{1, 3, 32, 128, 255, 256, 257, 1024, 1030, 2052} {
			rng := rand.New(rand.NewPCG(1, uint64(n)))
			x, w := normals(rng, normRows*n), normals(rng, n)
			want, bound := normOf(x, w, normEps)
			dx, dw := r.floats(t, "x", x), r.floats(t, "weight", w).ptr()
			out, short := r.garbage(t, "out", 4*normRows*n), r.garbage(t, "out", 4*normRows*n)
			r.run(t, RMSNorm{dx.ptr(), dw, out.ptr(), uint32(n), normEps}.Launch(normRows))
			near(t, "rms_norm", out.asFloats(), want, bound)
			r.run(t, RMSNormShort{dx.ptr(), dw, short.ptr(), uint32(n), normEps}.Launch(normRows))
			near(t, "rms_norm_short", short.asFloats(), want, bound)
			r.run(t, RMSNorm{dx.ptr(), dw, dx.ptr(), uint32(n), normEps}.Launch(normRows))
			same(t, "rms_norm in place", dx.asFloats(), out.asFloats())
		}
	})
}

// samePacks holds rows in Q8_1 x4 against what quantize_q8_1 makes of their
// floats.
func samePacks(t *testing.T, what string, got buffer, x []float32, rows int) {
	t.Helper()
	n := len(x) / rows
	for row := range rows {
		samePack(t, fmt.Sprintf("%s: %d elements, row %d", what, n, row), got.Data[row*Q8_1Bytes(n):][:Q8_1Bytes(n)], x[row*n:(row+1)*n])
	}
}

func TestRMSNormQ8PacksWhatItWrites(t *testing.T) {
	everyMode(t, 32, func(t *testing.T, r *rig) {
		for _, n := range []int{1, 30, 128, 129, 512, 1024, 1030, 1152, 2052} {
			rng := rand.New(rand.NewPCG(13, uint64(n)))
			x, w := normals(rng, normRows*n), normals(rng, n)
			want, bound := normOf(x, w, normEps)
			dx, dw, out := r.floats(t, "x", x).ptr(), r.floats(t, "weight", w).ptr(), r.garbage(t, "out", 4*normRows*n)
			both, alone := r.garbage(t, "q8", normRows*Q8_1Bytes(n)), r.garbage(t, "q8", normRows*Q8_1Bytes(n))
			r.run(t, RMSNormQ8{dx, dw, out.ptr(), both.ptr(), uint32(n), normEps}.Launch(normRows))
			near(t, "rms_norm_q8", out.asFloats(), want, bound)
			samePacks(t, "rms_norm_q8", both, out.asFloats(), normRows)
			r.run(t, RMSNormQ8{dx, dw, 0, alone.ptr(), uint32(n), normEps}.Launch(normRows))
			samePacks(t, "rms_norm_q8 without floats", alone, out.asFloats(), normRows)
		}
	})
}

func TestAddRMSNormIsAddAndItsNorm(t *testing.T) {
	everyMode(t, 32, func(t *testing.T, r *rig) {
		for _, n := range []int{1, 30, 128, 129, 512, 1024, 1030, 1152, 2052} {
			rng := rand.New(rand.NewPCG(14, uint64(n)))
			a, b, w := normals(rng, normRows*n), normals(rng, normRows*n), normals(rng, n)
			sum := make([]float32, len(a))
			for i := range sum {
				sum[i] = a[i] + b[i]
			}
			want, bound := normOf(sum, w, normEps)
			da, db, dw := r.floats(t, "a", a), r.floats(t, "b", b), r.floats(t, "weight", w).ptr()
			ds, out, q8 := r.garbage(t, "sum", 4*len(a)), r.garbage(t, "out", 4*len(a)), r.garbage(t, "q8", normRows*Q8_1Bytes(n))
			r.run(t, AddRMSNorm{da.ptr(), db.ptr(), dw, ds.ptr(), out.ptr(), q8.ptr(), uint32(n), normEps}.Launch(normRows))
			same(t, "sum", ds.asFloats(), sum)
			near(t, "norm", out.asFloats(), want, bound)
			samePacks(t, "both", q8, out.asFloats(), normRows)

			alone := r.garbage(t, "out", 4*len(a))
			r.run(t, AddRMSNorm{da.ptr(), db.ptr(), dw, db.ptr(), alone.ptr(), 0, uint32(n), normEps}.Launch(normRows))
			same(t, "sum in b", db.asFloats(), sum)
			same(t, "floats alone", alone.asFloats(), out.asFloats())

			db, packed := r.floats(t, "b", b), r.garbage(t, "q8", normRows*Q8_1Bytes(n))
			r.run(t, AddRMSNorm{da.ptr(), db.ptr(), dw, da.ptr(), 0, packed.ptr(), uint32(n), normEps}.Launch(normRows))
			same(t, "sum in a", da.asFloats(), sum)
			samePacks(t, "packed alone", packed, out.asFloats(), normRows)
		}
	})
}
