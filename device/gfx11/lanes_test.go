package gfx11

import (
	"bytes"
	"fmt"
	"math"
	"testing"

	"github.com/holdfast-llm/holdfast/gguf/quant"
	"github.com/holdfast-llm/holdfast/op"
)

// weightTypes are those that the kernels read.
var weightTypes = []quant.Type{quant.F32, quant.F16, quant.Q8_0, quant.Q4_K, quant.Q6_K}

func same(t *testing.T, what string, got, want []byte) {
	t.Helper()
	if len(got) == 0 || !bytes.Equal(got, want) {
		t.Errorf("%s: not the CPU's %d bytes", what, len(want))
	}
}

func TestRowsAreTheCPUsToTheBit(t *testing.T) {
	for _, typ := range weightTypes {
		gpu, host := trial{rows: 5, build: func(b *builder) []*op.Value {
			return []*op.Value{b.GetRows("embed", b.weight("table", typ, 1, 5, 1280))}
		}}.run(t)
		same(t, "get_rows of "+typ.String(), gpu.values[0], host.values[0])
	}
	gpu, host := trial{rows: 3, build: func(b *builder) []*op.Value {
		return []*op.Value{b.SelectRows("wanted", b.input("x", 3, 100))}
	}}.run(t)
	same(t, "select_rows", gpu.values[0], host.values[0])
}

// A sum of n squares in float32 is off by n roundings at most, its root by half
// of that.
func TestNormsAreTheCPUs(t *testing.T) {
	for _, c := range []struct{ cols, group int }{{256, 256}, {1000, 1000}, {512, 64}, {4096, 4096}} {
		gpu, host := trial{rows: 3, build: func(b *builder) []*op.Value {
			x := b.input("x", 3, c.cols)
			return []*op.Value{b.RMSNorm("norm", x, b.weight("gain", quant.F32, 1, 1, c.group), 1e-6)}
		}}.run(t)
		want := host.floats(0)
		near(t, fmt.Sprintf("rms_norm of %d in groups of %d", c.cols, c.group), gpu.floats(0), want, within(want, float64(c.group+8)*ulp/2))
	}
}

func TestElementwiseOperationsAreTheCPUs(t *testing.T) {
	gpu, host := trial{rows: 3, build: func(b *builder) []*op.Value {
		return []*op.Value{b.Add("sum", b.input("x", 3, 1100), b.input("y", 3, 1100))}
	}}.run(t)
	same(t, "add", gpu.values[0], host.values[0])

	gpu, host = trial{rows: 3, build: func(b *builder) []*op.Value {
		return []*op.Value{b.SwiGLU("act", b.input("gate", 3, 1100), b.input("up", 3, 1100))}
	}}.run(t)
	// Both round the exponential, a sum, a quotient and a product; the CPU's
	// exponential is a polynomial within 2 ULP.
	near(t, "swiglu", gpu.floats(0), host.floats(0), within(host.floats(0), 8*ulp))
}

func TestRotationsAreTheCPUs(t *testing.T) {
	for _, interleaved := range []bool{false, true} {
		r := &op.Rotary{Magnitude: 1.1, Interleaved: interleaved}
		for i := range 24 { // of 64 elements 48 are rotated
			r.InvFreq = append(r.InvFreq, math.Pow(1e4, -float64(i)/24))
		}
		gpu, host := trial{rows: 3, pos: 40_000, build: func(b *builder) []*op.Value {
			table := b.RopeTable(r)
			return []*op.Value{table, b.Rope("rope", b.input("x", 3, 4*64), table, 4, r)}
		}}.run(t)
		near(t, "rope_table", gpu.floats(0), host.floats(0), func(int) float64 { return 1.1 * ulp })
		// Two products and a sum, of factors that are an ULP apart.
		x := peakOf(host.floats(1))
		near(t, "rope", gpu.floats(1), host.floats(1), func(int) float64 { return 6 * ulp * 1.1 * x })
	}
}

func TestStoredKeysAndValuesAreTheCPUsToTheBit(t *testing.T) {
	gpu, host := trial{rows: 3, pos: 4, build: func(b *builder) []*op.Value {
		kc, vc := b.caches(quant.F16, 2, 9, 4, 3, 32, 48)
		k, v := b.input("k", 3, 3*32), b.input("v", 3, 3*48)
		b.KVStore("store", k, v, kc, vc)
		return []*op.Value{kc, vc, k}
	}}.run(t)
	same(t, "keys", gpu.values[0], host.values[0])
	same(t, "values", gpu.values[1], host.values[1])
}

// Keys that are rotated on the way differ by a few ULP, which may be half a
// step of F16.
func TestRotatedKeysAreStoredAsTheCPUStoresThem(t *testing.T) {
	r := &op.Rotary{Magnitude: 1}
	for i := range 16 {
		r.InvFreq = append(r.InvFreq, math.Pow(1e4, -float64(i)/16))
	}
	gpu, host := trial{rows: 3, pos: 4, build: func(b *builder) []*op.Value {
		kc, vc := b.caches(quant.F16, 1, 9, 4, 3, 32, 32)
		k, v := b.input("k", 3, 3*32), b.input("v", 3, 3*32)
		b.KVStore("store", b.Rope("rope", k, b.RopeTable(r), 3, r), v, kc, vc)
		return []*op.Value{kc, vc, v}
	}}.run(t)
	if got := gpu.lanes(); got != "get_rows get_rows rope_table rope.kv_store" {
		t.Errorf("ran on %s", got)
	}
	same(t, "values", gpu.values[1], host.values[1])
	got, want := halvesOf(t, gpu.values[0]), halvesOf(t, host.values[0])
	for i := range want {
		if want[i] != want[i] && got[i] != got[i] {
			continue // behind the batch
		}
		if d := math.Abs(float64(got[i] - want[i])); !(d <= math.Abs(float64(want[i]))/(1<<10)+1.0/(1<<24)) {
			t.Fatalf("key element %d is %v, the CPU's %v", i, got[i], want[i])
		}
	}
}

func halvesOf(t *testing.T, b []byte) []float32 {
	x := make([]float32, len(b)/2)
	if err := quant.Dequantize(quant.F16, x, b); err != nil {
		t.Fatal(err)
	}
	return x
}

func TestProductsAreTheCPUs(t *testing.T) {
	t.Parallel()
	const rows, cols, height = 3, 512, 70
	for _, typ := range weightTypes {
		for _, biased := range []bool{false, true} {
			var w *op.Value
			var x []float32
			gpu, host := trial{rows: rows, build: func(b *builder) []*op.Value {
				in := b.input("x", rows, cols)
				w = b.weight("w", typ, 1, height, cols)
				var bias *op.Value
				if biased {
					bias = b.weight("bias", quant.F32, 1, 1, height)
				}
				return []*op.Value{in, b.MulMat("y", in, w, bias)}
			}}.run(t)
			x = host.floats(0)
			m := dequantized(t, w)
			near(t, fmt.Sprintf("product with %s", typ), gpu.floats(1), host.floats(1), func(i int) float64 {
				row, h := i/height, i%height
				return productBound(m[h*cols:(h+1)*cols], peakOf(x[row*cols:(row+1)*cols]), typ != quant.F32 && typ != quant.F16) + 4*ulp
			})
		}
	}
}

// What packs on the way gives what packing on its own gives: the fused forms
// are compared with the device's plain ones, to the bit where the arithmetic is
// the same.
func TestFusedFormsAreThePlainOnes(t *testing.T) {
	const rows, hidden, ffn = 3, 256, 320
	build := func(b *builder) []*op.Value {
		x, y := b.input("x", rows, hidden), b.input("y", rows, hidden)
		sum := b.Add("add", x, y)
		n := b.RMSNorm("norm", sum, b.weight("gain", quant.F32, 1, 1, hidden), 1e-6)
		gate := b.MulMat("gate", n, b.weight("w.gate", quant.Q8_0, 1, ffn, hidden), nil)
		up := b.MulMat("up", n, b.weight("w.up", quant.Q8_0, 1, ffn, hidden), nil)
		act := b.SwiGLU("act", gate, up)
		down := b.MulMat("down", act, b.weight("w.down", quant.Q8_0, 1, hidden, ffn), nil)
		n2 := b.RMSNorm("norm2", down, b.weight("gain2", quant.F32, 1, 1, hidden), 1e-6)
		return []*op.Value{sum, b.MulMat("last", n2, b.weight("w.last", quant.Q8_0, 1, 40, hidden), nil)}
	}
	plain := trial{rows: rows, build: build, disable: []string{"add.rms_norm", "rms_norm.next", "swiglu.next", "mul_mat.swiglu"}}.on(t, newDevice(t, Config{}))
	want := "get_rows get_rows add rms_norm mul_mat.vec mul_mat.vec swiglu mul_mat.vec rms_norm mul_mat.vec"
	if got := plain.lanes(); got != want {
		t.Fatalf("ran on %s, want %s", got, want)
	}
	for disable, want := range map[string]string{
		"":               "get_rows get_rows add.rms_norm.next_q8 mul_mat.swiglu mul_mat.vec rms_norm.next_q8 mul_mat.vec",
		"mul_mat.swiglu": "get_rows get_rows add.rms_norm.next_q8 mul_mat.vec mul_mat.vec swiglu.next_q8 rms_norm.next_q8 mul_mat.vec",
	} {
		got := trial{rows: rows, build: build, disable: []string{disable}}.on(t, newDevice(t, Config{}))
		if got.lanes() != want {
			t.Errorf("ran on %s, want %s", got.lanes(), want)
		}
		same(t, "sum", got.values[0], plain.values[0])
		// Norms sum in another order than the one-wave form: a packed value
		// that is next to a tie may step, which is 1/127 of its block's peak.
		peak := peakOf(plain.floats(1))
		near(t, "last product", got.floats(1), plain.floats(1), func(int) float64 { return peak / 64 })
	}
}

func TestExpertsAreTheCPUs(t *testing.T) {
	t.Parallel()
	const rows, hidden, ffn, experts, used = 3, 256, 320, 8, 3
	for _, typ := range weightTypes {
		ffn := ffn
		if typ.BlockElems() == 256 {
			ffn = 512
		}
		var up, down *op.Value
		gpu, host := trial{rows: rows, disable: []string{"mul_mat_id.swiglu"}, build: func(b *builder) []*op.Value {
			x := b.input("x", rows, hidden)
			ids, weights := b.MoERoute("route", b.MulMat("router", x, b.weight("w.router", quant.F32, 1, experts, hidden), nil), used, true, 0)
			up, down = b.weight("w.up", typ, experts, ffn, hidden), b.weight("w.down", typ, experts, hidden, ffn)
			u := b.MulMatID("up", x, up, ids)
			d := b.MulMatID("down", u, down, ids)
			return []*op.Value{ids, weights, x, u, b.MoESum("sum", d, weights)}
		}}.run(t)
		same(t, "ids", gpu.values[0], host.values[0])
		// Logits of 256 terms differ by their rounding, weights by as much.
		near(t, "weights", gpu.floats(1), host.floats(1), within(host.floats(1), 1e-3))
		packed := typ != quant.F32 && typ != quant.F16
		ids, x, u, mu := ints(host.values[0]), host.floats(2), host.floats(3), dequantized(t, up)
		near(t, "up of "+typ.String(), gpu.floats(3), u, func(i int) float64 {
			vector, h := i/ffn, i%ffn
			w := mu[(int(ids[vector])*ffn+h)*hidden:][:hidden]
			return productBound(w, peakOf(x[vector/used*hidden:][:hidden]), packed)
		})
		// What comes in is apart by as much as what was compared above, of
		// which each term of the next product carries its part.
		md, apart := dequantized(t, down), gpu.floats(3)
		for i := range apart {
			apart[i] -= u[i]
		}
		near(t, "sum of "+typ.String(), gpu.floats(4), host.floats(4), func(i int) float64 {
			row, h, bound := i/hidden, i%hidden, 0.0
			for v := row * used; v < (row+1)*used; v++ {
				w := md[(int(ids[v])*hidden+h)*ffn:][:ffn]
				bound += productBound(w, peakOf(u[v*ffn:][:ffn]), packed)
				in := 0.0
				for j := range w {
					in += float64(w[j]) * float64(apart[j+v*ffn])
				}
				bound += math.Abs(in)
			}
			return bound
		})
	}
}

func ints(b []byte) []int32 {
	x := make([]int32, len(b)/4)
	for i, f := range asFloats(b) {
		x[i] = int32(math.Float32bits(f))
	}
	return x
}

func TestExpertsGatedInOneLaunchAreThoseInThree(t *testing.T) {
	t.Parallel()
	const rows, hidden, ffn, experts, used = 3, 256, 320, 8, 3
	build := func(b *builder) []*op.Value {
		x := b.input("x", rows, hidden)
		ids, weights := b.MoERoute("route", b.MulMat("router", x, b.weight("w.router", quant.F32, 1, experts, hidden), nil), used, true, 0)
		gate := b.MulMatID("gate", x, b.weight("w.gate", quant.Q8_0, experts, ffn, hidden), ids)
		up := b.MulMatID("up", x, b.weight("w.up", quant.Q8_0, experts, ffn, hidden), ids)
		down := b.MulMatID("down", b.SwiGLU("act", gate, up), b.weight("w.down", quant.Q8_0, experts, hidden, ffn), ids)
		return []*op.Value{b.MoESum("sum", down, weights)}
	}
	plain := trial{rows: rows, build: build, disable: []string{"mul_mat_id.swiglu", "swiglu.next"}}.on(t, newDevice(t, Config{}))
	for disable, want := range map[string]string{
		"none":              "get_rows mul_mat.vec moe_route mul_mat_id.swiglu mul_mat_id.vec moe_sum",
		"mul_mat_id.swiglu": "get_rows mul_mat.vec moe_route mul_mat_id.vec mul_mat_id.vec swiglu.next_q8 moe_sum",
	} {
		got := trial{rows: rows, build: build, disable: []string{disable}}.on(t, newDevice(t, Config{}))
		if got.lanes() != want {
			t.Errorf("ran on %s, want %s", got.lanes(), want)
		}
		same(t, "sum without "+disable, got.values[0], plain.values[0])
	}
}
