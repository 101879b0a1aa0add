package kernel

import (
	"math"
	"math/rand/v2"
	"testing"
)

// lengths of rows: tails of the four elements of a work-item and of the 1,024 of
// a workgroup.
var lengths = []int{1, 2, 4, 127, 128, 1023, 1024, 1025, 1028}

func TestAddIsTheRoundedSum(t *testing.T) {
	everyMode(t, 32, func(t *testing.T, r *rig) {
		for _, n := range lengths {
			const rows = 3
			rng := rand.New(rand.NewPCG(3, uint64(n)))
			a, b := normals(rng, rows*n), normals(rng, rows*n)
			want := make([]float32, rows*n)
			for i := range want {
				want[i] = a[i] + b[i]
			}
			da, db, out := r.floats(t, "a", a), r.floats(t, "b", b), r.garbage(t, "out", 4*rows*n)
			r.run(t, Add{da.ptr(), db.ptr(), out.ptr(), uint32(n)}.Launch(rows))
			same(t, "add", out.asFloats(), want)
			r.run(t, Add{da.ptr(), db.ptr(), da.ptr(), uint32(n)}.Launch(rows))
			same(t, "add in place", da.asFloats(), want)
		}
	})
}

// swigluReference is the exact result, and a bound: of the exponential 3 ULP,
// and a sum, a division and a product; or the exponential is below 2^-126, or
// overflows where the result is tiny.
func swigluReference(gate, up float32) (want, bound float64) {
	g, u := float64(gate), float64(up)
	want = g / (1 + math.Exp(-g)) * u
	return want, math.Abs(want)*8*0x1p-24 + math.Abs(g*u)*0x1p-126
}

func TestSwiGLUIsTheReferencesOverItsRange(t *testing.T) {
	everyMode(t, 32, func(t *testing.T, r *rig) {
		for _, n := range lengths {
			const rows = 2
			rng := rand.New(rand.NewPCG(4, uint64(n)))
			gate, up := normals(rng, rows*n), normals(rng, rows*n)
			for i := range gate {
				// From -120 to 120: both ends of the exponential are beyond float32's.
				gate[i] = float32(math.Copysign(math.Exp(9*rng.Float64()-4.2), float64(gate[i])))
			}
			want, bound := make([]float64, rows*n), make([]float64, rows*n)
			for i := range want {
				want[i], bound[i] = swigluReference(gate[i], up[i])
			}
			dg, du, out := r.floats(t, "gate", gate), r.floats(t, "up", up), r.garbage(t, "out", 4*rows*n)
			r.run(t, SwiGLU{dg.ptr(), du.ptr(), out.ptr(), uint32(n)}.Launch(rows))
			near(t, "swiglu", out.asFloats(), want, bound)
			q8 := r.garbage(t, "q8", rows*Q8_1Bytes(n))
			r.run(t, SwiGLUQ8{dg.ptr(), du.ptr(), q8.ptr(), uint32(n)}.Launch(rows))
			samePacks(t, "swiglu_q8", q8, out.asFloats(), rows)
		}
	})
}

func TestSwiGLUOfExtremes(t *testing.T) {
	everyMode(t, 32, func(t *testing.T, r *rig) {
		gate := []float32{0, 1e30, -1e30, 3e38, -3e38, inf, nan, -88, -104, -1e-30}
		up := []float32{2, 2, 2, 1, 1, 1, 1, 1, 1, 1}
		out := r.garbage(t, "out", 4*len(gate))
		r.run(t, SwiGLU{r.floats(t, "gate", gate).ptr(), r.floats(t, "up", up).ptr(), out.ptr(), uint32(len(gate))}.Launch(1))
		for i, got := range out.asFloats() {
			want := float64(gate[i]) / (1 + math.Exp(-float64(gate[i]))) * float64(up[i])
			if want != want && got == got || want == want && !(math.Abs(float64(got)-want) <= math.Abs(want)*0x1p-21+0x1p-119) && float64(got) != want {
				t.Errorf("swiglu(%v, %v) is %v, want %v", gate[i], up[i], got, want)
			}
		}
	})
}

func TestMoESumIsTheWeightedSum(t *testing.T) {
	everyMode(t, 32, func(t *testing.T, r *rig) {
		for _, n := range lengths {
			for _, used := range []int{1, 3, 8} {
				const rows = 2
				rng := rand.New(rand.NewPCG(uint64(used), uint64(n)))
				x, w := normals(rng, rows*used*n), normals(rng, rows*used)
				want, bound := make([]float64, rows*n), make([]float64, rows*n)
				for row := range rows {
					for u := range used {
						for i := range n {
							term := float64(w[row*used+u]) * float64(x[(row*used+u)*n+i])
							want[row*n+i] += term
							bound[row*n+i] += math.Abs(term) * float64(used+1) * 0x1p-24
						}
					}
				}
				out := r.garbage(t, "out", 4*rows*n)
				r.run(t, MoESum{r.floats(t, "x", x).ptr(), r.floats(t, "weights", w).ptr(), out.ptr(), uint32(n), uint32(used)}.Launch(rows))
				near(t, "moe_sum", out.asFloats(), want, bound)
			}
		}
	})
}
