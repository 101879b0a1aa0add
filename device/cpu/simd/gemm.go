package simd

import (
	"fmt"
	"strings"

	"github.com/holdfast-llm/holdfast/gguf/quant"
)

//go:generate go run -C gen ./gemm -avx512 -out ../gemm_avx512_amd64.s -stubs ../gemm_avx512_amd64.go -pkg simd
//go:generate go run -C gen ./gemm -out ../gemm_avx2_amd64.s -stubs ../gemm_avx2_amd64.go -pkg simd

// Gemm multiplies a weight matrix of one type with a batch of activation rows.
// The activations are packed once; then workers take ranges of weight rows.
//
// An element of the result does not depend on how the matrix is split among
// workers, nor on the other rows of the batch: the sum over k has one order.
// The kernels start no goroutines and allocate nothing. Functions panic when a
// slice is too short or k is not a multiple of the type's block.
type Gemm struct {
	Name     string             // weight type and level, "q4_k.avx512"
	ActID    string             // kernels with equal ActID share packed activations
	RowTile  int                // activation rows that are packed together
	Panel    int                // weight rows that are unpacked together: workers split the matrix at multiples of it
	Scratch  func(k int) int    // bytes of scratch that each worker needs
	ActBytes func(k, n int) int // bytes of n packed activation rows

	// PackRows packs rows i0 to i1 of x, a batch of n rows ldx elements apart,
	// into act. Workers call it with disjoint ranges that start at multiples
	// of RowTile.
	PackRows func(act []byte, x []float32, ldx, k, n, i0, i1 int)

	// Run sets out[i*ldo+r] to the product of weight row r and activation row
	// i for the first rows rows of w and all n rows of act. It writes nothing
	// else of out and reads nothing past the rows.
	Run func(out []float32, ldo int, w []byte, k, rows int, act []byte, n int, scratch []byte)
}

// GemmFor returns the matrix product for weights of type t at level l, which
// the machine must be able to run. It is false for a type that weights don't
// come in.
func GemmFor(l Level, t quant.Type) (Gemm, bool) {
	if g, ok := nativeGemm(l, t); ok {
		return g.gemm(l), true
	}
	g, ok := portableGemms[t]
	if !ok {
		return Gemm{}, false
	}
	return g.gemm(t), true
}

// gemmName is the weight type and the level.
func gemmName(t quant.Type, l Level) string {
	return strings.ToLower(t.String()) + "." + l.String()
}

// checkGemm panics unless the operands of a product hold what its shape calls
// for. It returns the bytes of a row of weights.
func checkGemm(t quant.Type, out []float32, ldo int, w []byte, k, rows int, act []byte, actBytes, n, scratch, wantScratch int) int {
	switch {
	case k <= 0 || k%t.BlockElems() != 0:
		panic(fmt.Sprintf("simd: %v gemm: row of %d elements, want whole blocks of %d", t, k, t.BlockElems()))
	case ldo < rows:
		panic(fmt.Sprintf("simd: %v gemm: output rows are %d apart, want %d or more", t, ldo, rows))
	case len(out) < (n-1)*ldo+rows:
		panic(fmt.Sprintf("simd: %v gemm: output of %d elements for %d rows of %d, %d apart", t, len(out), n, rows, ldo))
	case len(act) < actBytes:
		panic(fmt.Sprintf("simd: %v gemm: %d bytes of activations, want %d", t, len(act), actBytes))
	case scratch < wantScratch:
		panic(fmt.Sprintf("simd: %v gemm: %d bytes of scratch, want %d", t, scratch, wantScratch))
	}
	rowBytes := t.RowBytes(k)
	if len(w) < rows*rowBytes {
		panic(fmt.Sprintf("simd: %v gemm: %d bytes of weights for %d rows of %d elements, want %d", t, len(w), rows, k, rows*rowBytes))
	}
	return rowBytes
}
