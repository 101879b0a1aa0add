package simd

import (
	"strings"

	"github.com/holdfast-llm/holdfast/gguf/quant"
)

//go:generate go run -C gen ./attention -out ../attn_amd64.s -stubs ../attn_amd64_stubs.go -pkg simd

// Attention is softmax attention over the keys and values of one KV head, for
// the g query heads that share it. Keys and values are rows of headDim and
// vDim elements of the cache type, positions contiguous. Any g >= 1 will do.
//
// Queries come multiplied by the score scale. A row at or beyond the stated
// count is never read. A NaN, or a score of +Inf, makes its head's outputs
// NaN; finite scores of any size do not overflow.
type Attention struct {
	Name string // such as "avx512.f16"

	// Accumulate folds keys [0,n) into the partial state of g heads: running
	// maximum m and sum l, both [g], and unnormalised output acc, [g][vDim].
	// The caller starts with m = -Inf, l = 0, acc = 0; the result is acc/l.
	// q is [g][headDim]. bias, if not nil, is [n] and added to the scores of
	// every head; none of it may be -Inf (a key that is not attended must be
	// left out, or its value would count as 0 times whatever lies there).
	//
	// Keys are taken in blocks of BlockKeys from k's start with one rescale a
	// block. Splitting the keys over several calls at multiples of BlockKeys
	// gives the same bits; at other places, equal results up to rounding. A
	// head's bits do not depend on g nor on the other heads. k may hold more
	// than n rows: the first behind them are fetched into the cache, unread, for
	// a call that goes on there.
	Accumulate func(acc, m, l, q []float32, g int, k, v []byte, n int, bias, scratch []float32)
	// ScratchFloats is how much scratch Accumulate needs.
	ScratchFloats func(g int) int

	// Prefill attends r query rows at consecutive positions: row i sees keys
	// [0, n0+i], so n0+r rows of k and v must be there. Row i's queries are
	// the g*headDim floats at q[i*ldq], its normalised outputs the g*vDim
	// floats at out[i*ldo].
	//
	// A row's bits do not depend on r, on g or on the other rows as long as
	// all values are finite: a key that a row does not see has weight 0 there.
	Prefill func(out []float32, ldo int, q []float32, ldq, r, g int, k, v []byte, n0 int, scratch []float32)
	// PrefillScratchFloats is how much scratch Prefill needs.
	PrefillScratchFloats func(r, g int) int
}

// BlockKeys is the number of keys between two rescales of a partial state.
const BlockKeys = 32

// AttentionFor is the attention of a level over keys of type kt and values of
// type vt: F32, F16, BF16 or Q8_0 each. Head sizes that are no multiple of 16
// get the portable kernels. It reports false for another type, and for head
// sizes that are not whole blocks. The caller must be able to run l.
func AttentionFor(l Level, kt, vt quant.Type, headDim, vDim int) (Attention, bool) {
	if !cacheRows(kt, headDim) || !cacheRows(vt, vDim) {
		return Attention{}, false
	}
	if a, ok := attentionSIMD(l, kt, vt, headDim, vDim); ok {
		return a, true
	}
	p := &portableAttention{kt: kt, vt: vt, headDim: headDim, vDim: vDim, kBytes: kt.RowBytes(headDim), vBytes: vt.RowBytes(vDim)}
	return Attention{
		Name:                 attentionName(Portable, kt, vt),
		Accumulate:           p.accumulate,
		ScratchFloats:        p.scratchFloats,
		Prefill:              p.prefill,
		PrefillScratchFloats: p.prefillScratchFloats,
	}, true
}

// cacheRows says whether rows of n elements of type t can be cached.
func cacheRows(t quant.Type, n int) bool {
	switch t {
	case quant.F32, quant.F16, quant.BF16, quant.Q8_0:
		return n >= 1 && n%t.BlockElems() == 0
	}
	return false
}

// attentionName is "avx512.f16", or "avx512.q8_0.f16" if the types differ.
func attentionName(l Level, kt, vt quant.Type) string {
	name := l.String() + "." + strings.ToLower(kt.String())
	if vt != kt {
		name += "." + strings.ToLower(vt.String())
	}
	return name
}
