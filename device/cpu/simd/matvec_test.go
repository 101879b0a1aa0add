package simd

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/holdfast-llm/holdfast/gguf/quant"
)

// eachMatVec runs f for every level of this machine and every weight type.
func eachMatVec(t *testing.T, f func(t *testing.T, typ quant.Type, mv MatVec)) {
	for _, l := range Levels() {
		for i := range portableMatVecs {
			typ := portableMatVecs[i].t
			mv, ok := MatVecFor(l, typ)
			if !ok {
				t.Fatalf("MatVecFor(%v, %v): not found", l, typ)
			}
			t.Run(fmt.Sprintf("%v/%s", l, mv.Name), func(t *testing.T) { f(t, typ, mv) })
		}
	}
}

func TestMatVecMatchesFloat64OnThePackedActivations(t *testing.T) {
	eachMatVec(t, func(t *testing.T, typ quant.Type, mv MatVec) {
		rng := rand.New(rand.NewPCG(1, uint64(typ)))
		for _, k := range rowLengths(typ) {
			for i := range len(weightFills) * len(actFills) {
				if i != 0 && (i+k/typ.BlockElems())%4 != 0 {
					continue // in time, every combination meets some lengths
				}
				wf, af := weightFills[i%len(weightFills)], actFills[i%len(actFills)]
				rows := 1 + rng.IntN(9)
				w, act := randomWeights(rng, typ, rows, k, wf.f), packed(rng, mv, k, af.f)
				out := make([]float32, rows)
				mv.Dot(out, w, act, k)
				checkRows(t, fmt.Sprintf("k=%d rows=%d weights %s, activations %s", k, rows, wf.name, af.name), typ, mv, out, w, act, k)
			}
		}
	})
}

// rowLengths are 1 to 9 blocks and a few longer rows, or for single elements
// every length up to 70 and some longer.
func rowLengths(typ quant.Type) []int {
	block := typ.BlockElems()
	var ks []int
	if block == 1 {
		for k := 1; k <= 70; k++ {
			ks = append(ks, k)
		}
		return append(ks, 127, 128, 129, 1037)
	}
	for n := 1; n <= 9; n++ {
		ks = append(ks, n*block)
	}
	return append(ks, 16*block, 19*block)
}

// A fill sets bytes of weights, apart from the scales, or elements of the
// vector.
var (
	weightFills = []struct {
		name string
		f    func(rng *rand.Rand) byte
	}{
		{"random", func(rng *rand.Rand) byte { return byte(rng.Uint32()) }},
		{"all bits clear", func(*rand.Rand) byte { return 0 }},
		{"all bits set", func(*rand.Rand) byte { return 0xff }},
		{"least int8", func(*rand.Rand) byte { return 0x80 }},
		{"largest int8", func(*rand.Rand) byte { return 0x7f }},
	}
	actFills = []struct {
		name string
		f    func(rng *rand.Rand, i int) float32
	}{
		{"normal", func(rng *rand.Rand, i int) float32 { return float32(rng.NormFloat64()) }},
		{"all largest", func(_ *rand.Rand, i int) float32 { return 3 }},
		{"all least", func(_ *rand.Rand, i int) float32 { return -3 }},
		{"alternating", func(_ *rand.Rand, i int) float32 { return float32(1 - i%2*2) }},
		{"one outlier", func(rng *rand.Rand, i int) float32 { return float32(rng.NormFloat64()) + 1e4*float32(i%97/96) }},
		{"zero", func(*rand.Rand, int) float32 { return 0 }},
	}
)

// randomWeights is rows of k weights with bytes from fill and scales that are
// finite halves: normal, subnormal, zero, negative, largest.
func randomWeights(rng *rand.Rand, typ quant.Type, rows, k int, fill func(*rand.Rand) byte) []byte {
	w := make([]byte, rows*typ.RowBytes(k))
	for i := range w {
		w[i] = fill(rng)
	}
	for b := w; len(b) > 0; b = b[typ.BlockBytes():] {
		switch typ {
		case quant.F32:
			v := rng.NormFloat64() * math.Exp2(float64(rng.IntN(20)-10))
			binary.LittleEndian.PutUint32(b, math.Float32bits(float32(v)))
		case quant.BF16:
			v := rng.NormFloat64() * math.Exp2(float64(rng.IntN(20)-10))
			binary.LittleEndian.PutUint16(b, uint16(math.Float32bits(float32(v))>>16))
		default:
			for _, off := range halfOffsets[typ] {
				binary.LittleEndian.PutUint16(b[off:], randomHalf(rng))
			}
		}
	}
	return w
}

// halfOffsets are the places of the halves in a block.
var halfOffsets = map[quant.Type][]int{
	quant.F16: {0}, quant.Q4_0: {0}, quant.Q4_1: {0, 2}, quant.Q5_0: {0}, quant.Q5_1: {0, 2}, quant.Q8_0: {0},
	quant.IQ4_NL: {0}, quant.Q2_K: {80, 82}, quant.Q3_K: {108}, quant.Q4_K: {0, 2}, quant.Q5_K: {0, 2},
	quant.Q6_K: {208}, quant.IQ4_XS: {0},
}

// quants are the places of the integers in a block of those types whose zero is
// not the integer zero: start and end. (IQ4_NL is there for kernels that add 128.)
var quants = map[quant.Type][]int{
	quant.Q4_0: {2, 18}, quant.Q4_1: {4, 20}, quant.Q5_0: {2, 22}, quant.Q5_1: {4, 24},
	quant.IQ4_NL: {2, 18}, quant.Q2_K: {16, 80}, quant.Q3_K: {0, 96}, quant.Q4_K: {16, 144}, quant.Q5_K: {16, 176}, quant.Q6_K: {0, 192},
}

func randomHalf(rng *rand.Rand) uint16 {
	switch rng.IntN(8) {
	case 0:
		return uint16(rng.IntN(2)) << 15 // zero
	case 1, 2:
		return uint16(1+rng.IntN(0x3ff)) | uint16(rng.IntN(2))<<15 // subnormal
	case 3:
		return 0x7bff | uint16(rng.IntN(2))<<15 // largest
	default:
		return uint16(rng.IntN(0x7c00)) | uint16(rng.IntN(2))<<15
	}
}

// packed is k elements from fill, packed.
func packed(rng *rand.Rand, mv MatVec, k int, fill func(*rand.Rand, int) float32) []byte {
	x := make([]float32, k)
	for i := range x {
		x[i] = fill(rng, i)
	}
	act := make([]byte, mv.ActBytes(k))
	mv.Pack(act, x)
	return act
}

// unpacked is the value of packed activations.
func unpacked(actID string, act []byte, k int) []float64 {
	a := make([]float64, k)
	for i := range a {
		switch actID {
		case actF32:
			a[i] = float64(f32(act[4*i:]))
		case actQ8B:
			a[i] = float64(int8(act[i])) * float64(f32(act[k+i/32*4:]))
		case actQ8K:
			b := act[i/256*q8kBytes:]
			a[i] = float64(int8(b[i%256])) * float64(f32(b[q8kD:]))
		}
	}
	return a
}

// checkRows compares a kernel's results with a product in float64.
//
// The tolerance: in the kernels' integer part everything is exact. What rounds,
// each time by at most u = 2^-24 of the value: the product of the scales, the
// conversion of an integer of more than 24 bits, the scaling (fused or not) of
// a block's sum and of its minima, and the additions of blocks and lanes. So a
// block's terms meet at most 4 roundings, n additions if there are n blocks (2n
// with minima), and 8 of a reduction; one is in the reference's weights. For
// weights without blocks n is the number of elements. The error is then at
// most (2n+14) u times the sum of the terms' magnitudes, taken with the minima
// and offsets apart, as kernels add them.
func checkRows(t *testing.T, what string, typ quant.Type, mv MatVec, out []float32, w, act []byte, k int) {
	t.Helper()
	a := unpacked(mv.ActID, act, k)
	rowBytes := typ.RowBytes(k)
	weights, magnitudes := make([]float32, k), make([]float32, k)
	for r, got := range out {
		row := w[r*rowBytes:][:rowBytes]
		if err := quant.Dequantize(typ, weights, row); err != nil {
			t.Fatal(err)
		}
		termMagnitudes(typ, magnitudes, row)
		var want, scale float64
		for i, v := range a {
			want += float64(weights[i]) * v
			scale += float64(magnitudes[i]) * math.Abs(v)
		}
		tol := float64(2*k/typ.BlockElems()+14) * 0x1p-24 * scale
		if diff := math.Abs(float64(got) - want); !(diff <= tol) {
			t.Fatalf("%s: %s: row %d: got %g, want %g: off by %g, tolerance %g", mv.Name, what, r, got, want, diff, tol)
		}
	}
}

// termMagnitudes sets m to the magnitude of what a kernel multiplies by each
// activation: |scale*q| and, apart, the minimum or |scale*offset|, which is what
// the weight would be if q were zero.
func termMagnitudes(typ quant.Type, m []float32, row []byte) {
	zeroed, zeros := append([]byte(nil), row...), make([]float32, len(m))
	if at := quants[typ]; at != nil {
		for b := zeroed; len(b) > 0; b = b[typ.BlockBytes():] {
			clear(b[at[0]:at[1]])
		}
		if err := quant.Dequantize(typ, zeros, zeroed); err != nil {
			panic(err)
		}
	}
	if err := quant.Dequantize(typ, m, row); err != nil {
		panic(err)
	}
	for i, zero := range zeros {
		m[i] = float32(math.Abs(float64(m[i])-float64(zero)) + math.Abs(float64(zero)))
	}
}

func TestMatVecRowIsIndependentOfTheCall(t *testing.T) {
	eachMatVec(t, func(t *testing.T, typ quant.Type, mv MatVec) {
		rng := rand.New(rand.NewPCG(2, uint64(typ)))
		for _, k := range []int{typ.BlockElems(), 3 * typ.BlockElems(), 512 + 3*typ.BlockElems()} {
			const rows = 17
			rowBytes := typ.RowBytes(k)
			w, act := randomWeights(rng, typ, rows, k, weightFills[0].f), packed(rng, mv, k, actFills[0].f)
			want := make([]float32, rows)
			for r := range want {
				mv.Dot(want[r:r+1], w[r*rowBytes:][:rowBytes], act, k)
			}
			for n := 0; n <= rows; n++ {
				for _, offset := range []int{0, 1 + n%7} { // of both operands, in bytes
					wAt := append(make([]byte, offset, offset+len(w)), w[:n*rowBytes]...)[offset:]
					actAt := append(make([]byte, offset, offset+len(act)), act...)[offset:]
					got := make([]float32, n+1)
					got[n] = 42
					mv.Dot(got[:n], wAt, actAt, k)
					for r := range n {
						if math.Float32bits(got[r]) != math.Float32bits(want[r]) {
							t.Fatalf("%s: k=%d: row %d of %d at offset %d: %g, alone %g", mv.Name, k, r, n, offset, got[r], want[r])
						}
					}
					if got[n] != 42 {
						t.Fatalf("%s: k=%d: %d rows: wrote past the end", mv.Name, k, n)
					}
				}
			}
		}
	})
}

func TestMatVecShowsBadScales(t *testing.T) {
	eachMatVec(t, func(t *testing.T, typ quant.Type, mv MatVec) {
		offs, ok := halfOffsets[typ]
		if !ok {
			t.Skip("no halves")
		}
		rng := rand.New(rand.NewPCG(3, uint64(typ)))
		k := 4 * max(32, typ.BlockElems())
		act := packed(rng, mv, k, actFills[0].f)
		for _, bad := range []uint16{0x7c00, 0xfc00, 0x7e00, 0xfe01} { // +Inf, -Inf, NaNs
			for _, off := range offs {
				for blk := range k / typ.BlockElems() {
					w := randomWeights(rng, typ, 1, k, func(*rand.Rand) byte { return 0x55 })
					binary.LittleEndian.PutUint16(w[blk*typ.BlockBytes()+off:], bad)
					out := make([]float32, 1)
					mv.Dot(out, w, act, k)
					if !math.IsNaN(float64(out[0])) && !math.IsInf(float64(out[0]), 0) {
						t.Fatalf("%s: half %#04x at %d of block %d gives %g", mv.Name, bad, off, blk, out[0])
					}
				}
			}
		}
	})
}

func TestMatVecDoesNotAllocate(t *testing.T) {
	eachMatVec(t, func(t *testing.T, typ quant.Type, mv MatVec) {
		const k, rows = 512, 7
		rng := rand.New(rand.NewPCG(4, 4))
		w, x, out := randomWeights(rng, typ, rows, k, weightFills[0].f), make([]float32, k), make([]float32, rows)
		act := make([]byte, mv.ActBytes(k))
		if n := testing.AllocsPerRun(10, func() { mv.Pack(act, x); mv.Dot(out, w, act, k) }); n != 0 {
			t.Errorf("%s: %v allocations", mv.Name, n)
		}
	})
}

func TestMatVecPanicsOnBadShapes(t *testing.T) {
	mustPanic := func(what string, f func()) {
		defer func() {
			if recover() == nil {
				t.Errorf("%s: no panic", what)
			}
		}()
		f()
	}
	eachMatVec(t, func(t *testing.T, typ quant.Type, mv MatVec) {
		k := 2 * typ.BlockElems()
		w, act, out := make([]byte, 3*typ.RowBytes(k)), make([]byte, mv.ActBytes(k)), make([]float32, 3)
		mustPanic("weights a byte short", func() { mv.Dot(out, w[:len(w)-1], act, k) })
		mustPanic("activations a byte short", func() { mv.Dot(out, w, act[:len(act)-1], k) })
		mustPanic("negative k", func() { mv.Dot(out, w, act, -k) })
		mustPanic("pack into a byte too few", func() { mv.Pack(act[:len(act)-1], make([]float32, k)) })
		if k > 2 {
			mustPanic("half a block", func() { mv.Dot(out, w, act, k/4) })
			mustPanic("pack half a block", func() { mv.Pack(act, make([]float32, k/4)) })
		}
	})
}

func TestMatVecForUnsupportedTypes(t *testing.T) {
	for _, typ := range []quant.Type{quant.I32, quant.Q8_1, quant.Q8_K, 99} {
		for _, l := range Levels() {
			if mv, ok := MatVecFor(l, typ); ok {
				t.Errorf("MatVecFor(%v, %v) = %s, want none", l, typ, mv.Name)
			}
		}
	}
}
