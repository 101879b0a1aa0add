package simd

import (
	"unsafe"

	"github.com/holdfast-llm/holdfast/gguf/quant"
)

//go:generate go -C gen run ./matvec -family pack_avx2 -out ../act_avx2_amd64.s -stubs ../act_avx2_amd64.go -pkg simd
//go:generate go -C gen run ./matvec -family float_avx2 -out ../matvec_float_avx2_amd64.s -stubs ../matvec_float_avx2_amd64.go -pkg simd
//go:generate go -C gen run ./matvec -family float_avx512 -out ../matvec_float_avx512_amd64.s -stubs ../matvec_float_avx512_amd64.go -pkg simd
//go:generate go -C gen run ./matvec -family block_avx2 -out ../matvec_block_avx2_amd64.s -stubs ../matvec_block_avx2_amd64.go -pkg simd
//go:generate go -C gen run ./matvec -family block_avx512 -out ../matvec_block_avx512_amd64.s -stubs ../matvec_block_avx512_amd64.go -pkg simd
//go:generate go -C gen run ./matvec -family kquant_avx2 -out ../matvec_kquant_avx2_amd64.s -stubs ../matvec_kquant_avx2_amd64.go -pkg simd
//go:generate go -C gen run ./matvec -family kquant_avx512 -out ../matvec_kquant_avx512_amd64.s -stubs ../matvec_kquant_avx512_amd64.go -pkg simd

// rowsFunc is an assembly kernel for times rows, or groups of four rows, of
// blocks blocks. It asks for weights ahead bytes before it uses them.
type rowsFunc func(out *float32, w, act *byte, blocks, times, ahead int)

// prefetchBytes is how far ahead weights are asked for: at the speed of a
// core's share of the memory, about its latency. Of rows so long that this is
// within the four being read it is the next four.
const prefetchBytes = 8 << 10

// nativeMatVec is a weight type's pair of kernels.
type nativeMatVec struct{ one, four rowsFunc }

var nativeMatVecs = [...]map[quant.Type]nativeMatVec{
	AVX2: {
		quant.F32:    {f32AVX2x1, f32AVX2x4},
		quant.F16:    {f16AVX2x1, f16AVX2x4},
		quant.BF16:   {bf16AVX2x1, bf16AVX2x4},
		quant.Q4_0:   {q4_0AVX2x1, q4_0AVX2x4},
		quant.Q4_1:   {q4_1AVX2x1, q4_1AVX2x4},
		quant.Q5_0:   {q5_0AVX2x1, q5_0AVX2x4},
		quant.Q5_1:   {q5_1AVX2x1, q5_1AVX2x4},
		quant.Q8_0:   {q8_0AVX2x1, q8_0AVX2x4},
		quant.IQ4_NL: {iq4nlAVX2x1, iq4nlAVX2x4},
		quant.Q2_K:   {q2kAVX2x1, q2kAVX2x4},
		quant.Q3_K:   {q3kAVX2x1, q3kAVX2x4},
		quant.Q4_K:   {q4kAVX2x1, q4kAVX2x4},
		quant.Q5_K:   {q5kAVX2x1, q5kAVX2x4},
		quant.Q6_K:   {q6kAVX2x1, q6kAVX2x4},
		quant.IQ4_XS: {iq4xsAVX2x1, iq4xsAVX2x4},
	},
	AVX512: {
		quant.F32:    {f32AVX512x1, f32AVX512x4},
		quant.F16:    {f16AVX512x1, f16AVX512x4},
		quant.BF16:   {bf16AVX512x1, bf16AVX512x4},
		quant.Q4_0:   {q4_0AVX512x1, q4_0AVX512x4},
		quant.Q4_1:   {q4_1AVX512x1, q4_1AVX512x4},
		quant.Q5_0:   {q5_0AVX512x1, q5_0AVX512x4},
		quant.Q5_1:   {q5_1AVX512x1, q5_1AVX512x4},
		quant.Q8_0:   {q8_0AVX512x1, q8_0AVX512x4},
		quant.IQ4_NL: {iq4nlAVX512x1, iq4nlAVX512x4},
		quant.Q2_K:   {q2kAVX512x1, q2kAVX512x4},
		quant.Q3_K:   {q3kAVX512x1, q3kAVX512x4},
		quant.Q4_K:   {q4kAVX512x1, q4kAVX512x4},
		quant.Q5_K:   {q5kAVX512x1, q5kAVX512x4},
		quant.Q6_K:   {q6kAVX512x1, q6kAVX512x4},
		quant.IQ4_XS: {iq4xsAVX512x1, iq4xsAVX512x4},
	},
}

// nativeDot is the MatVec.Dot of p's type that is written for level l, or nil.
func nativeDot(l Level, p *portableMatVec) func(out []float32, w, act []byte, k int) {
	nat, ok := nativeMatVecs[l][p.t]
	if !ok {
		return nil
	}
	return func(out []float32, w, act []byte, k int) {
		rowBytes := checkDot(p, out, w, act, k)
		blocks, ahead := k/p.t.BlockElems(), max(prefetchBytes, 4*rowBytes)
		fours := len(out) / 4
		if fours > 0 {
			nat.four(&out[0], &w[0], &act[0], blocks, fours, ahead)
		}
		if done := 4 * fours; done < len(out) {
			nat.one(&out[done], &w[done*rowBytes], &act[0], blocks, len(out)-done, ahead)
		}
	}
}

// nativePack is the MatVec.Pack of format f that is written for level l, or nil.
func nativePack(l Level, f *actFormat) func(act []byte, x []float32) {
	if l < AVX2 {
		return nil
	}
	var pack func(act *byte, x *float32, blocks int)
	switch f.id {
	case actQ8K:
		pack = packQ8KAVX2
	case actQ8B:
		pack = packQ8BAVX2
	case actF32:
		return func(act []byte, x []float32) {
			f.check(act, len(x))
			if len(x) > 0 {
				copy(act, unsafe.Slice((*byte)(unsafe.Pointer(&x[0])), 4*len(x)))
			}
		}
	}
	return func(act []byte, x []float32) {
		f.check(act, len(x))
		if len(x) > 0 {
			pack(&act[0], &x[0], len(x)/f.block)
		}
	}
}
