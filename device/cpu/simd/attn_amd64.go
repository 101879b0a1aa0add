package simd

import (
	"unsafe"

	"github.com/holdfast-llm/holdfast/gguf/quant"
)

// attnKernels is one level's assembly. Sizes are in elements, ld* in bytes.
type attnKernels struct {
	level  Level
	elem   *Elem
	decode map[quant.Type]*decodeKernels
	soft32 softmaxKernel // rows of BlockKeys scores
	soft64 softmaxKernel // rows of prefillKeys scores

	cols     int // width of the wide products: 64 or 16
	mulSet   func(c *float32, ldc int, a *float32, lda int, b *float32, ldb, k int)
	mulAdd   func(c *float32, ldc int, a *float32, lda int, b *float32, ldb, k int, f *float32)
	mulAdd16 func(c *float32, ldc int, a *float32, lda int, b *float32, ldb, k int, f *float32)
}

// decodeKernels read keys and values of one type, for so many heads at once.
type decodeKernels struct {
	scores []scoresKernel // by falling number of heads, down to one
	weigh  []weighKernel
}

type scoresKernel struct {
	heads int
	run   func(s, q *float32, k, next *byte, dim, n int)
}

type weighKernel struct {
	heads int
	run   func(o, p, f *float32, v, next *byte, dim, n int)
}

type softmaxKernel func(s, count, m, l, f *float32, rows int)

var attnAVX2 = attnKernels{
	level: AVX2,
	elem:  elemAVX2,
	decode: map[quant.Type]*decodeKernels{
		quant.F16: {
			scores: []scoresKernel{{2, scoresAVX2F16_2}, {1, scoresAVX2F16_1}},
			weigh:  []weighKernel{{4, weighAVX2F16_4}, {2, weighAVX2F16_2}, {1, weighAVX2F16_1}},
		},
		quant.BF16: {
			scores: []scoresKernel{{2, scoresAVX2BF16_2}, {1, scoresAVX2BF16_1}},
			weigh:  []weighKernel{{4, weighAVX2BF16_4}, {2, weighAVX2BF16_2}, {1, weighAVX2BF16_1}},
		},
		quant.F32: {
			scores: []scoresKernel{{2, scoresAVX2F32_2}, {1, scoresAVX2F32_1}},
			weigh:  []weighKernel{{4, weighAVX2F32_4}, {2, weighAVX2F32_2}, {1, weighAVX2F32_1}},
		},
		quant.Q8_0: {
			scores: []scoresKernel{{2, scoresAVX2Q8_0_2}, {1, scoresAVX2Q8_0_1}},
			weigh:  []weighKernel{{2, weighAVX2Q8_0_2}, {1, weighAVX2Q8_0_1}},
		},
	},
	soft32: softmaxAVX2_32,
	soft64: softmaxAVX2_64,
	cols:   16, mulSet: mulSetAVX2_16, mulAdd: mulAddAVX2_16, mulAdd16: mulAddAVX2_16,
}

var attnAVX512 = attnKernels{
	level: AVX512,
	elem:  elemAVX512,
	decode: map[quant.Type]*decodeKernels{
		quant.F16: {
			scores: []scoresKernel{{4, scoresAVX512F16_4}, {2, scoresAVX512F16_2}, {1, scoresAVX512F16_1}},
			weigh:  []weighKernel{{4, weighAVX512F16_4}, {2, weighAVX512F16_2}, {1, weighAVX512F16_1}},
		},
		quant.BF16: {
			scores: []scoresKernel{{4, scoresAVX512BF16_4}, {2, scoresAVX512BF16_2}, {1, scoresAVX512BF16_1}},
			weigh:  []weighKernel{{4, weighAVX512BF16_4}, {2, weighAVX512BF16_2}, {1, weighAVX512BF16_1}},
		},
		quant.F32: {
			scores: []scoresKernel{{4, scoresAVX512F32_4}, {2, scoresAVX512F32_2}, {1, scoresAVX512F32_1}},
			weigh:  []weighKernel{{4, weighAVX512F32_4}, {2, weighAVX512F32_2}, {1, weighAVX512F32_1}},
		},
		quant.Q8_0: {
			scores: []scoresKernel{{4, scoresAVX512Q8_0_4}, {2, scoresAVX512Q8_0_2}, {1, scoresAVX512Q8_0_1}},
			weigh:  []weighKernel{{4, weighAVX512Q8_0_4}, {2, weighAVX512Q8_0_2}, {1, weighAVX512Q8_0_1}},
		},
	},
	soft32: softmaxAVX512_32,
	soft64: softmaxAVX512_64,
	cols:   64, mulSet: mulSetAVX512_64, mulAdd: mulAddAVX512_64, mulAdd16: mulAddAVX512_16,
}

// simdAttention is attention by a level's kernels over caches of two types.
// Head sizes are multiples of 16.
type simdAttention struct {
	*attnKernels
	headDim, vDim  int
	kBytes, vBytes int // of a cache row

	scores []scoresKernel
	weigh  []weighKernel
	widenK widenFunc
	widenV widenFunc
}

// widenFunc turns cache rows into float32.
type widenFunc func(dst []float32, rows []byte)

func attentionSIMD(l Level, kt, vt quant.Type, headDim, vDim int) (Attention, bool) {
	if l == Portable || headDim%16 != 0 || vDim%16 != 0 {
		return Attention{}, false
	}
	k := &attnAVX2
	if l >= AVX512 {
		k = &attnAVX512
	}
	a := &simdAttention{
		attnKernels: k, headDim: headDim, vDim: vDim,
		kBytes: kt.RowBytes(headDim), vBytes: vt.RowBytes(vDim),
		scores: k.decode[kt].scores, weigh: k.decode[vt].weigh,
		widenK: k.widen(kt), widenV: k.widen(vt),
	}
	return Attention{
		Name:                 attentionName(k.level, kt, vt),
		Accumulate:           a.accumulate,
		ScratchFloats:        a.scratchFloats,
		Prefill:              a.prefill,
		PrefillScratchFloats: a.prefillScratchFloats,
	}, true
}

func (k *attnKernels) widen(t quant.Type) widenFunc {
	switch t {
	case quant.F16:
		return func(dst []float32, rows []byte) { k.elem.FromF16(dst, halves(rows)) }
	case quant.BF16:
		return func(dst []float32, rows []byte) { k.elem.FromBF16(dst, halves(rows)) }
	case quant.Q8_0:
		return k.elem.FromQ8_0
	}
	return func(dst []float32, rows []byte) { copy(bytesOf(dst), rows) }
}

func (a *simdAttention) scratchFloats(g int) int { return g * (BlockKeys + 2) }

// accumulate alternates scores, softmax step and weighted sum over blocks of
// keys. While a block's keys are read its values are fetched into the cache,
// and while these are read, the next block's keys.
func (a *simdAttention) accumulate(acc, m, l, q []float32, g int, k, v []byte, n int, bias, scratch []float32) {
	k, after, v := k[:n*a.kBytes], k[n*a.kBytes:], v[:n*a.vBytes]
	acc, m, l, q = acc[:g*a.vDim], m[:g], l[:g], q[:g*a.headDim]
	s, scratch := scratch[:g*BlockKeys], scratch[g*BlockKeys:]
	count, f := scratch[:g], scratch[g:2*g]
	for i := range count {
		count[i] = BlockKeys
	}
	for len(k) > 0 {
		kb, vb, keys := k, v, len(k)/a.kBytes
		if keys > BlockKeys {
			keys = BlockKeys
			kb, vb = k[:keys*a.kBytes], v[:keys*a.vBytes]
		}
		k, v = k[len(kb):], v[len(vb):]
		if keys < BlockKeys {
			for i := range count {
				count[i] = float32(keys)
			}
		}

		next := &vb[0]
		for h, at := 0, 0; h < g; h += a.scores[at].heads {
			for a.scores[at].heads > g-h {
				at++
			}
			a.scores[at].run(&s[h*BlockKeys], &q[h*a.headDim], &kb[0], next, a.headDim, keys)
			next = &kb[0] // nothing more to fetch
		}
		if bias != nil {
			for h := range g {
				a.elem.Add(s[h*BlockKeys:][:keys], s[h*BlockKeys:][:keys], bias[:keys])
			}
			bias = bias[keys:]
		}
		a.soft32(&s[0], &count[0], &m[0], &l[0], &f[0], g)
		next = &vb[0]
		if len(k) > 0 {
			next = &k[0]
		} else if len(after) > 0 {
			next = &after[0]
		}
		for h, at := 0, 0; h < g; h += a.weigh[at].heads {
			for a.weigh[at].heads > g-h {
				at++
			}
			a.weigh[at].run(&acc[h*a.vDim], &s[h*BlockKeys], &f[h], &vb[0], next, a.vDim, keys)
			next = &vb[0]
		}
	}
}

// halves is the same memory as 16-bit numbers.
func halves(b []byte) []uint16 {
	return unsafe.Slice((*uint16)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/2)
}

// bytesOf is the same memory as bytes.
func bytesOf(x []float32) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), 4*len(x))
}
