package emu_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/holdfast-llm/holdfast/amd/emu"
)

// TestAttentionThatPacksWhatOtherWavesStored: with a barrier that waits for
// local memory only, the packed result is right in coherent memory and wrong in
// relaxed memory; with the whole barrier it is right in both, whatever the order
// of waves.
func TestAttentionThatPacksWhatOtherWavesStored(t *testing.T) {
	t.Parallel()
	const heads, tokens, dims, block = 2, 64, 128, 32
	rng := rand.New(rand.NewPCG(1, 8))
	random := func(n int, scale float32) []float32 {
		x := make([]float32, n)
		for i := range x {
			x[i] = scale * float32(rng.NormFloat64())
		}
		return x
	}
	q, k, v := random(heads*dims, 0.1), random(heads*tokens*dims, 1), random(heads*tokens*dims, 1)
	want := make([]float64, heads*dims)
	for h := range heads {
		var p [tokens]float64
		sum := 0.0
		for i := range p {
			for d := range dims {
				p[i] += float64(q[h*dims+d]) * float64(k[(h*tokens+i)*dims+d])
			}
			p[i] = math.Exp2(p[i])
			sum += p[i]
		}
		for i := range p {
			for d := range dims {
				want[h*dims+d] += p[i] / sum * float64(v[(h*tokens+i)*dims+d])
			}
		}
	}
	// wrong counts the elements that are further than half a step, and what
	// rounding adds, from the exact result.
	wrong := func(flags string, c emu.Config) int {
		t.Helper()
		o := compile(t, "attention_q8.cpp", flags)
		out, scales, packed := make([]float32, heads*dims), make([]float32, heads*dims/block), make([]int8, heads*dims)
		if _, err := launch(o, "attention_q8", c, [3]uint32{heads * dims, 1, 1}, [3]uint32{dims, 1, 1},
			slices.Clone(q), slices.Clone(k), slices.Clone(v), out, scales, packed); err != nil {
			t.Fatal(err)
		}
		n := 0
		for i, x := range want {
			step := float64(scales[i/block])
			if math.Abs(step*float64(packed[i])-x) > 0.501*step+1e-5 {
				n++
			}
		}
		return n
	}
	const whole, local = "-O2", "-O2 -DLOCAL_ONLY=1"
	for _, mode := range []emu.Mode{emu.Coherent, emu.Relaxed} {
		for name, c := range orders(mode) {
			if n := wrong(whole, c); n > 0 {
				t.Errorf("whole barrier, %v memory, %s: %d of %d elements are wrong", mode, name, n, len(want))
			}
			if n := wrong(local, c); (n > 0) != (mode == emu.Relaxed) {
				t.Errorf("local barrier, %v memory, %s: %d of %d elements are wrong", mode, name, n, len(want))
			}
		}
	}
}
