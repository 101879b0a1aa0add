package kernel

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/holdfast-llm/holdfast/gguf/quant"
)

// packQ8 is what quantize_q8_1 is to write for a row: ggml's Q8_1 blocks, their
// parts where Q8_1 x4 has them.
func packQ8(t testing.TB, x []float32) []byte {
	t.Helper()
	out := make([]byte, Q8_1Bytes(len(x)))
	padded := make([]float32, len(out)/q8Bytes*q8Elems)
	copy(padded, x)
	block := make([]byte, quant.Q8_1.BlockBytes())
	for i := 0; i < len(padded); i += 32 {
		b := padded[i : i+32]
		if err := quant.Quantize(quant.Q8_1, block, b); err != nil {
			t.Fatal(err)
		}
		for _, v := range b {
			if d := float64(v); math.IsNaN(d) || math.IsInf(d, 0) {
				clear(block)
				copy(block, []byte{0, 0x7e, 0, 0x7e})
			}
		}
		group, k := out[i/q8Elems*q8Bytes:], i%q8Elems
		copy(group[k/8:], block[:4])
		copy(group[16+k:], block[4:])
	}
	return out
}

// ramp is x spread over magnitudes from the least to the greatest that n
// elements meet, a block of 32 at each.
func ramp(rng *rand.Rand, n, low, high int) []float32 {
	x := normals(rng, n)
	for i := range x {
		x[i] = float32(math.Ldexp(float64(x[i]), low+i/32*(high-low)/max(n/32, 1)))
	}
	return x
}

func TestQuantizeIsGGMLsBitForBitOverSizesAndRows(t *testing.T) {
	everyMode(t, 32, func(t *testing.T, r *rig) {
		for _, n := range []int{1, 31, 32, 33, 100, 127, 128, 129, 512, 514, 1025} {
			const rows = 3
			x := ramp(rand.New(rand.NewPCG(2, uint64(n))), rows*n, -6, 6)
			out := r.garbage(t, "out", rows*Q8_1Bytes(n))
			r.run(t, QuantizeQ8_1{r.floats(t, "x", x).ptr(), out.ptr(), uint32(n)}.Launch(rows))
			for row := range rows {
				samePack(t, fmt.Sprintf("%d elements, row %d", n, row), out.Data[row*Q8_1Bytes(n):][:Q8_1Bytes(n)], x[row*n:(row+1)*n])
			}
		}
	})
}

func samePack(t *testing.T, what string, got []byte, x []float32) {
	t.Helper()
	want := packQ8(t, x)
	for g := 0; g < len(want); g += q8Bytes {
		if a, b := got[g:g+q8Bytes], want[g:g+q8Bytes]; !bytes.Equal(a, b) {
			t.Fatalf("%s: group %d is\n% x\nwant\n% x", what, g/q8Bytes, a, b)
		}
	}
}

// Ties between integers, magnitudes from the denormal to the greatest, and what
// is no number.
func TestQuantizeIsGGMLsAtTheEdges(t *testing.T) {
	everyMode(t, 32, func(t *testing.T, r *rig) {
		rng := rand.New(rand.NewPCG(3, 3))
		x := ramp(rng, 128*32, -150, 128)
		nan, inf := float32(math.NaN()), float32(math.Inf(1))
		for k, v := range []float32{nan, inf, -inf, -nan, 0, math.MaxFloat32, 1e-45, -1e-45} {
			b := make([]float32, 128)
			for i := 32; i < 96; i++ {
				b[i] = float32(i-64) + 0.5
			}
			b[k], b[32], b[33], b[97] = v, 127, -0x1p-149, v
			x = append(x, b...)
		}
		for range 32 { // next to ties, where the last bit of 1/d decides
			d := 1 + rng.Float32()
			for range 4 {
				x = append(x, 127*d)
				for range 31 {
					x = append(x, (float32(rng.IntN(250)-125)+0.5)*d)
				}
			}
		}
		out := r.garbage(t, "out", Q8_1Bytes(len(x)))
		r.run(t, QuantizeQ8_1{r.floats(t, "x", x).ptr(), out.ptr(), uint32(len(x))}.Launch(1))
		samePack(t, "edges", out.Data, x)
	})
}
