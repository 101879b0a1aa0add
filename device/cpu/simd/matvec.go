package simd

import (
	"fmt"

	"github.com/holdfast-llm/holdfast/gguf/quant"
)

// MatVec is one weight type's matrix-vector product at one level. The vector
// is packed once into a form that suits the weights; Dot then takes any number
// of rows at a time. A row's result does not depend on how rows are split
// among calls, on the row's address or on the alignment of either operand,
// though kernels are fastest where act starts on a 64-byte boundary.
//
// k, the length of a row, must be a multiple of the type's block. The
// functions panic if it is not or if an operand is too short.
type MatVec struct {
	// Name is the weight type and the level that the kernel is written for,
	// such as "q4_k.avx512".
	Name string
	// ActID names the packed form: kernels with equal ActID share activations.
	ActID string
	// ActBytes is the number of bytes of k packed elements.
	ActBytes func(k int) int
	// Pack writes the packed form of x to act[:ActBytes(len(x))].
	Pack func(act []byte, x []float32)
	// Dot sets out[r] to the product of row r with the vector, for len(out)
	// contiguous rows of k elements at the start of w.
	Dot func(out []float32, w []byte, act []byte, k int)
}

// MatVecFor returns the product for weights of type t at level l, which the
// machine must be able to run. A level without a kernel of its own for a type
// uses that of the level below; MatVec.Name tells. It is false for a type that
// weights don't come in.
func MatVecFor(l Level, t quant.Type) (MatVec, bool) {
	i, ok := matvecIndex(t)
	if !ok {
		return MatVec{}, false
	}
	p := &portableMatVecs[i]
	f := p.act
	mv := MatVec{
		Name:     p.name + "." + Portable.String(),
		ActID:    f.id,
		ActBytes: f.bytes,
		Pack: func(act []byte, x []float32) {
			f.check(act, len(x))
			f.pack(act, x)
		},
		Dot: func(out []float32, w, act []byte, k int) {
			rowBytes := checkDot(p, out, w, act, k)
			for r := range out {
				out[r] = p.dot(w[r*rowBytes:][:rowBytes], act, k)
			}
		},
	}
	if pack := nativePack(l, f); pack != nil {
		mv.Pack = pack
	}
	for ; l > Portable; l-- {
		if dot := nativeDot(l, p); dot != nil {
			mv.Name, mv.Dot = p.name+"."+l.String(), dot
			break
		}
	}
	return mv, true
}

// portableMatVec is the plain Go form of a weight type's product.
type portableMatVec struct {
	t    quant.Type
	name string
	act  *actFormat
	dot  func(w, act []byte, k int) float32 // one row
}

var portableMatVecs = [...]portableMatVec{
	{quant.F32, "f32", &formatF32, dotF32},
	{quant.F16, "f16", &formatF32, dotF16},
	{quant.BF16, "bf16", &formatF32, dotBF16},
	{quant.Q4_0, "q4_0", &formatQ8B, dotQ4_0},
	{quant.Q4_1, "q4_1", &formatQ8B, dotQ4_1},
	{quant.Q5_0, "q5_0", &formatQ8B, dotQ5_0},
	{quant.Q5_1, "q5_1", &formatQ8B, dotQ5_1},
	{quant.Q8_0, "q8_0", &formatQ8B, dotQ8_0},
	{quant.IQ4_NL, "iq4_nl", &formatQ8B, dotIQ4NL},
	{quant.Q2_K, "q2_k", &formatQ8K, dotQ2K},
	{quant.Q3_K, "q3_k", &formatQ8K, dotQ3K},
	{quant.Q4_K, "q4_k", &formatQ8K, dotQ4K},
	{quant.Q5_K, "q5_k", &formatQ8K, dotQ5K},
	{quant.Q6_K, "q6_k", &formatQ8K, dotQ6K},
	{quant.IQ4_XS, "iq4_xs", &formatQ8K, dotIQ4XS},
}

// matvecIndex is the place of type t in portableMatVecs.
func matvecIndex(t quant.Type) (int, bool) {
	for i := range portableMatVecs {
		if portableMatVecs[i].t == t {
			return i, true
		}
	}
	return 0, false
}

// checkDot panics unless the operands of a Dot hold what k and len(out) call
// for. It returns the bytes of a row.
func checkDot(p *portableMatVec, out []float32, w, act []byte, k int) int {
	if k <= 0 || k%p.t.BlockElems() != 0 {
		panic(fmt.Sprintf("simd: %s: row of %d elements, want whole blocks of %d", p.name, k, p.t.BlockElems()))
	}
	rowBytes := p.t.RowBytes(k)
	if want := len(out) * rowBytes; len(w) < want {
		panic(fmt.Sprintf("simd: %s: %d bytes of weights for %d rows of %d elements, want %d", p.name, len(w), len(out), k, want))
	}
	if want := p.act.bytes(k); len(act) < want {
		panic(fmt.Sprintf("simd: %s: %d bytes of activations for %d elements, want %d", p.name, len(act), k, want))
	}
	return rowBytes
}
