// Package simd holds the CPU device's kernels: matrix-vector and matrix
// products on ggml's weight types, attention, and the element-wise operations
// of a decode step. Each family offers its kernels per Level; the portable
// level is plain Go and runs anywhere.
//
// The package starts no goroutines, allocates nothing in a kernel and knows
// nothing of models: the caller splits the work and owns every buffer. A
// kernel never reads past the slices it is given (prefetches may point
// beyond them, which cannot fault).
//
// The *_amd64.s files are written by the programs in the nested module gen,
// one per family; `go generate` runs them. Every assembly kernel ends with
// VZEROUPPER and uses no legacy SSE instruction: one of them between AVX
// instructions costs a factor of twenty on some processors.
package simd
