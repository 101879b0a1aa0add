package simd

import (
	"math"

	"github.com/holdfast-llm/holdfast/gguf/quant"
)

// portableAttention is attention in plain Go. It widens a block of keys and
// values to float32 and takes every query through it.
type portableAttention struct {
	kt, vt         quant.Type
	headDim, vDim  int
	kBytes, vBytes int // of a cache row
}

func (a *portableAttention) scratchFloats(int) int {
	return BlockKeys * (a.headDim + a.vDim + 1)
}

func (a *portableAttention) accumulate(acc, m, l, q []float32, g int, k, v []byte, n int, bias, scratch []float32) {
	for j := 0; j < n; j += BlockKeys {
		b := a.widen(k, v, j, min(BlockKeys, n-j), scratch)
		if bias != nil {
			b.bias = bias[j:]
		}
		for h := range g {
			a.step(acc[h*a.vDim:][:a.vDim], &m[h], &l[h], q[h*a.headDim:], b)
		}
	}
}

// keyBlock is some keys and values as float32: [n][headDim], [n][vDim].
type keyBlock struct {
	n      int
	k, v   []float32
	scores []float32 // [BlockKeys], work space
	bias   []float32 // added to the scores; nil: none
}

// widen loads cache rows [from, from+n).
func (a *portableAttention) widen(k, v []byte, from, n int, scratch []float32) keyBlock {
	b := keyBlock{n: n, k: scratch[:n*a.headDim]}
	scratch = scratch[BlockKeys*a.headDim:]
	b.v, b.scores = scratch[:n*a.vDim], scratch[BlockKeys*a.vDim:][:BlockKeys]
	err := quant.Dequantize(a.kt, b.k, k[from*a.kBytes:(from+n)*a.kBytes])
	if err == nil {
		err = quant.Dequantize(a.vt, b.v, v[from*a.vBytes:(from+n)*a.vBytes])
	}
	if err != nil {
		panic(err) // AttentionFor let a type or size through
	}
	return b
}

// step takes one query through a block: scores, softmax step, weighted sum.
func (a *portableAttention) step(acc []float32, m, l *float32, q []float32, b keyBlock) {
	scores := b.scores[:b.n]
	for j := range scores {
		scores[j] = dot(q, b.k[j*a.headDim:][:a.headDim])
		if b.bias != nil {
			scores[j] += b.bias[j]
		}
	}
	if f := softmaxStep(scores, m, l); f != 1 {
		for i := range acc {
			acc[i] *= f
		}
	}
	for j, p := range scores {
		axpy(acc, p, b.v[j*a.vDim:])
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
	var s0, s1, s2, s3 float32
	i := 0
	for ; i+4 <= len(key); i += 4 {
		x, y := q[i:i+4:i+4], key[i:i+4:i+4]
		s0 += x[0] * y[0]
		s1 += x[1] * y[1]
		s2 += x[2] * y[2]
		s3 += x[3] * y[3]
	}
	for ; i < len(key); i++ {
		s0 += q[i] * key[i]
	}
	return s0 + s1 + (s2 + s3)
}

func (a *portableAttention) prefillScratchFloats(r, g int) int {
	return a.scratchFloats(g) + 2*r*g
}

// prefill takes all rows through a block of keys before it loads the next; the
// outputs serve as accumulators.
func (a *portableAttention) prefill(out []float32, ldo int, q []float32, ldq, r, g int, k, v []byte, n0 int, scratch []float32) {
	m, l, scratch := scratch[:r*g], scratch[r*g:2*r*g], scratch[2*r*g:]
	clear(l)
	for i := range m {
		m[i] = float32(math.Inf(-1))
	}
	for i := range r {
		clear(out[i*ldo:][:g*a.vDim])
	}
	for j := 0; j < n0+r; j += BlockKeys {
		b := a.widen(k, v, j, min(BlockKeys, n0+r-j), scratch)
		for i := max(0, j-n0); i < r; i++ {
			seen := b
			seen.n = min(b.n, n0+i+1-j)
			for h := range g {
				a.step(out[i*ldo+h*a.vDim:][:a.vDim], &m[i*g+h], &l[i*g+h], q[i*ldq+h*a.headDim:], seen)
			}
		}
	}
	for i := range r {
		for h := range g {
			o := out[i*ldo+h*a.vDim:][:a.vDim]
			for c := range o {
				o[c] /= l[i*g+h]
			}
		}
	}
}
