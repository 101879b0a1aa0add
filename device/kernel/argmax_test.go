package kernel

import (
	"math/rand/v2"
	"testing"
)

func (r *rig) argmax(t testing.TB, logits []float32, rows int) ([]int32, []Fault) {
	t.Helper()
	out, faults := r.garbage(t, "out", 4*rows), r.bytes(t, "faults", make([]byte, rows*FaultBytes))
	r.run(t, Argmax{r.floats(t, "logits", logits).ptr(), out.ptr(), faults.ptr(), uint32(len(logits) / rows), 9}.Launch(rows))
	return out.asInts(), Faults(faults.Data)
}

func TestArgmaxIsTheLowestIndexOfTheGreatest(t *testing.T) {
	everyMode(t, 32, func(t *testing.T, r *rig) {
		for _, n := range []int{1, 2, 31, 33, 128, 1023, 4096, 4099, 9000} {
			const rows = 3
			rng := rand.New(rand.NewPCG(6, uint64(n)))
			logits := normals(rng, rows*n)
			for i := n; i < 2*n; i++ {
				logits[i] = float32(rng.IntN(3)) - 2 // -2, -1 and 0, which are many
			}
			for i := 2 * n; i < 3*n; i++ {
				logits[i] = -inf
			}
			logits[2*n+rng.IntN(n)] = -3e38
			got, faults := r.argmax(t, logits, rows)
			for row := range rows {
				want := 0
				for i, v := range logits[row*n : (row+1)*n] {
					if v > logits[row*n+want] {
						want = i
					}
				}
				if got[row] != int32(want) || faults[row] != (Fault{}) {
					t.Errorf("row %d of %d: %d with fault %v, want %d", row, n, got[row], faults[row], want)
				}
			}
		}
	})
}

func TestArgmaxTakesZerosAsEqual(t *testing.T) {
	everyMode(t, 32, func(t *testing.T, r *rig) {
		logits := normals(rand.New(rand.NewPCG(7, 0)), 5000)
		for i, v := range logits {
			logits[i] = -max(v, -v) - 1
		}
		zero := float32(0)
		logits[700], logits[4700] = -zero, zero
		if got, _ := r.argmax(t, logits, 1); got[0] != 700 {
			t.Errorf("%d, want 700", got[0])
		}
	})
}

func TestArgmaxReportsLogitsThatAreNotNumbers(t *testing.T) {
	everyMode(t, 32, func(t *testing.T, r *rig) {
		const n = 5000
		for _, c := range []struct {
			name  string
			put   map[int]float32
			index uint32
		}{
			{"the first NaN", map[int]float32{4998: nan, 4321: nan, 9: inf}, 4321},
			{"two NaNs of a work-item", map[int]float32{4: nan, 4100: nan, 2: 50}, 4},
			{"the first element", map[int]float32{0: nan}, 0},
			{"the first infinity", map[int]float32{4999: inf, 4200: inf}, 4200},
		} {
			logits := normals(rand.New(rand.NewPCG(8, 0)), 2*n)
			for i, v := range c.put {
				logits[i] = v
			}
			got, faults := r.argmax(t, logits, 2)
			f, bad := faults[0], logits[c.index]
			if got[0] != -1 || f.Mark != 9 || f.Index != c.index || f.Value != bad && bad == bad || got[1] < 0 || faults[1] != (Fault{}) {
				t.Errorf("%s: %v, %v; want element %d", c.name, got, faults, c.index)
			}
		}
		low := make([]float32, 40)
		for i := range low {
			low[i] = -inf
		}
		if got, faults := r.argmax(t, low, 1); got[0] != -1 || faults[0] != (Fault{9, 0, -inf}) {
			t.Errorf("all logits -Inf: %v, %v", got, faults)
		}
	})
}
