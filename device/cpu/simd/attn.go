package simd

import (
	"math"

	"github.com/holdfast-llm/holdfast/gguf/quant"
)

//go:generate go run -C gen ./attention -out ../attn_amd64.s -stubs ../attn_amd64_stubs.go -pkg simd

// Attention is softmax attention over the keys and values of one KV head, for
// the g query heads that share it. Keys and values are rows of headDim and
// vDim elements of the cache type, positions contiguous. Any g >= 1 will do.
//
// Queries come multiplied by the score scale. A row at or beyond the stated
// count is never read. A NaN or an infinite score makes its head's outputs
// NaN; finite scores of any size do not overflow.
type Attention struct {
	Name string // such as "avx512.f16"

	// Accumulate folds keys [0,n) into the partial state of g heads: running
	// maximum m and sum l, both [g], and unnormalised output acc, [g][vDim].
	// The caller starts with m = -Inf, l = 0, acc = 0; the result is acc/l.
	// q is [g][headDim].
	//
	// Keys are taken in blocks of BlockKeys from k's start with one rescale a
	// block. Splitting the keys over several calls at multiples of BlockKeys
	// gives the same bits; at other places, equal results up to rounding. A
	// head's bits do not depend on g nor on the other heads.
	Accumulate func(acc, m, l, q []float32, g int, k, v []byte, n int, scratch []float32)
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

// AttentionFor is the attention of a level over caches of type t: F32, F16,
// BF16 or Q8_0. Head sizes that are no multiple of 16 get the portable
// kernels. It reports false for another type, and for head sizes that are not
// whole blocks of t. The caller must be able to run l.
func AttentionFor(l Level, t quant.Type, headDim, vDim int) (Attention, bool) {
	switch t {
	case quant.F32, quant.F16, quant.BF16, quant.Q8_0:
	default:
		return Attention{}, false
	}
	if headDim < 1 || vDim < 1 || headDim%t.BlockElems() != 0 || vDim%t.BlockElems() != 0 {
		return Attention{}, false
	}
	if a, ok := attentionSIMD(l, t, headDim, vDim); ok {
		return a, true
	}
	p := &portableAttention{t: t, headDim: headDim, vDim: vDim}
	return Attention{
		Name:                 kernelName(Portable, t),
		Accumulate:           p.accumulate,
		ScratchFloats:        p.scratchFloats,
		Prefill:              p.prefill,
		PrefillScratchFloats: p.prefillScratchFloats,
	}, true
}

func kernelName(l Level, t quant.Type) string {
	name := map[quant.Type]string{quant.F32: "f32", quant.F16: "f16", quant.BF16: "bf16", quant.Q8_0: "q8_0"}[t]
	return l.String() + "." + name
}

// portableAttention is attention in plain Go.
type portableAttention struct {
	t             quant.Type
	headDim, vDim int
}

func (a *portableAttention) scratchFloats(g int) int {
	return max(a.headDim, a.vDim) + g*BlockKeys
}

func (a *portableAttention) accumulate(acc, m, l, q []float32, g int, k, v []byte, n int, scratch []float32) {
	row, scores := scratch[:max(a.headDim, a.vDim)], scratch[max(a.headDim, a.vDim):]
	for at := 0; at < n; at += BlockKeys {
		count := min(BlockKeys, n-at)
		for j := range count {
			key := a.row(row[:a.headDim], k, at+j)
			for h := range g {
				scores[h*BlockKeys+j] = dot(q[h*a.headDim:], key)
			}
		}
		for h := range g {
			f := softmaxStep(scores[h*BlockKeys:][:count], &m[h], &l[h])
			if f != 1 {
				o := acc[h*a.vDim:][:a.vDim]
				for i := range o {
					o[i] *= f
				}
			}
		}
		for j := range count {
			value := a.row(row[:a.vDim], v, at+j)
			for h := range g {
				axpy(acc[h*a.vDim:][:a.vDim], scores[h*BlockKeys+j], value)
			}
		}
	}
}

// softmaxStep turns a block of scores into weights relative to the running
// maximum m, which it raises to cover them, adds the weights to the running
// sum l, and returns the factor by which what was summed before shrinks.
func softmaxStep(scores []float32, m, l *float32) float32 {
	top := *m
	for _, s := range scores {
		top = max(top, s)
	}
	if math.IsInf(float64(top), -1) {
		clear(scores) // nothing but -Inf so far
		return 1
	}
	f, sum := exp32(*m-top), float32(0)
	for j, s := range scores {
		scores[j] = exp32(s - top)
		sum += scores[j]
	}
	*m, *l = top, *l*f+sum
	return f
}

// dot is the inner product of key and the start of q.
func dot(q, key []float32) float32 {
	q = q[:len(key)]
	var s [4]float32
	for ; len(key) >= 4; key, q = key[4:], q[4:] {
		s[0] += q[0] * key[0]
		s[1] += q[1] * key[1]
		s[2] += q[2] * key[2]
		s[3] += q[3] * key[3]
	}
	for i, x := range key {
		s[i] += q[i] * x
	}
	return s[0] + s[1] + (s[2] + s[3])
}

// row widens row i of a cache into dst.
func (a *portableAttention) row(dst []float32, cache []byte, i int) []float32 {
	n := a.t.RowBytes(len(dst))
	if err := quant.Dequantize(a.t, dst, cache[i*n:(i+1)*n]); err != nil {
		panic(err)
	}
	return dst
}

func (a *portableAttention) prefillScratchFloats(r, g int) int {
	return a.scratchFloats(g) + g*(a.vDim+2)
}

// prefill attends one row after the other.
func (a *portableAttention) prefill(out []float32, ldo int, q []float32, ldq, r, g int, k, v []byte, n0 int, scratch []float32) {
	acc, scratch := scratch[:g*a.vDim], scratch[g*a.vDim:]
	m, l, scratch := scratch[:g], scratch[g:2*g], scratch[2*g:]
	for i := range r {
		clear(acc)
		clear(l)
		for h := range m {
			m[h] = float32(math.Inf(-1))
		}
		a.accumulate(acc, m, l, q[i*ldq:], g, k, v, n0+i+1, scratch)
		for h := range g {
			o := out[i*ldo+h*a.vDim:][:a.vDim]
			for c := range o {
				o[c] = acc[h*a.vDim+c] / l[h]
			}
		}
	}
}
