package kernel

import (
	"fmt"

	"github.com/holdfast-llm/holdfast/gguf/quant"
)

// MatVec is what the matrix-vector kernels take, whatever the type of the
// weights:
//
//	Out[row][h] = sum over c of W[h][c] * X[row][c] (+ Bias[h]) (+ Add[row][h])
//
// W is [Height][Cols] as in the file. X is as Activations says for its type:
// float32 [rows][Cols], or [rows][Q8_1Bytes(Cols)] in Q8_1 x4. Bias is float32
// [Height] and Add float32 [rows][Height], each 0 for none; Add may be Out, which
// is float32 [rows][Height].
//
// Alignments in bytes: W 16 for Q4_K, 4 for F32, 2 for the others; X 16 for Q8_1
// x4 and 4 for float32; the others 4. The order of the sums depends on Cols only:
// the same rows give the same bits in every batch.
type MatVec struct {
	W, X, Bias, Add, Out Pointer
	Cols, Height         uint32
	Lanes                uint32 // of a wave that share a row of W; Launch sets it
}

// MatVecID is MatVec with a matrix chosen for each vector: W is a stack
// [Experts][Height][Cols], Chosen int32 [vectors], and
//
//	Out[v][h] = sum over c of W[Chosen[v]][h][c] * X[v/Share][c]
//
// so that with ids of [rows][used] X is [rows] for Share = used, or [rows][used]
// for Share = 1. Vectors whose id is not in 0..Experts-1 are zeros, and Status, a
// uint32 that the host zeroes before a step, becomes 1 if there is one. Types,
// alignments and order are those of MatVec.
type MatVecID struct {
	W, X, Chosen, Out, Status Pointer
	Cols, Height           uint32
	Experts, Share         uint32
	Lanes                  uint32 // of a wave that share a row of W; Launch sets it
}

// matVecFormat is the kernels for a type of weights.
type matVecFormat struct {
	activations quant.Type
	block       int // Cols is a multiple
	unit        int // elements that a lane takes at a time
	dense       func(MatVec) Args
	id          func(MatVecID) Args
}

var matVecFormats = map[quant.Type]matVecFormat{
	quant.F32:  {quant.F32, 1, 4, func(a MatVec) Args { return matVecF32(a) }, func(a MatVecID) Args { return matVecIDF32(a) }},
	quant.F16:  {quant.F32, 1, 8, func(a MatVec) Args { return matVecF16(a) }, func(a MatVecID) Args { return matVecIDF16(a) }},
	quant.Q8_0: {quant.Q8_1, 32, 32, func(a MatVec) Args { return matVecQ8_0(a) }, func(a MatVecID) Args { return matVecIDQ8_0(a) }},
	quant.Q4_K: {quant.Q8_1, 256, 64, func(a MatVec) Args { return matVecQ4K(a) }, func(a MatVecID) Args { return matVecIDQ4K(a) }},
	quant.Q6_K: {quant.Q8_1, 256, 64, func(a MatVec) Args { return matVecQ6K(a) }, func(a MatVecID) Args { return matVecIDQ6K(a) }},
}

// Activations is the type that X has with weights of type t, F32 or, in groups of
// four blocks, Q8_1; false if there is no kernel for t.
func Activations(t quant.Type) (quant.Type, bool) {
	f, ok := matVecFormats[t]
	return f.activations, ok
}

const (
	matVecItems = 128 // work-items of a workgroup, waves of 32
	matVecRows  = 4   // rows of W that a lane works on at once
	// maxMatVec bounds Cols and Height, so that offsets within the rows of a wave
	// are 32 bits wide.
	maxMatVec = 1 << 24
)

// Launch is for a number of rows of X and weights of type t. It is an error if
// there is no kernel for the type or the shape.
func (a MatVec) Launch(t quant.Type, rows int) (Launch, error) {
	f, err := matVecFor(t, a.Cols, a.Height)
	if err != nil {
		return Launch{}, err
	}
	a.Lanes = matVecLanes(int(a.Cols), f.unit)
	groups := matVecGroups(a.Height, a.Lanes)
	groups[1] = uint32(rows)
	return Launch{f.dense(a), groups}, nil
}

// Launch is for a number of vectors, which is that of ids, and weights of type
// t. It is an error if there is no kernel for the type or the shape, or if the
// ids are not whole groups of Share.
func (a MatVecID) Launch(t quant.Type, vectors int) (Launch, error) {
	f, err := matVecFor(t, a.Cols, a.Height)
	if err != nil {
		return Launch{}, err
	}
	if a.Share == 0 || vectors%int(a.Share) != 0 {
		return Launch{}, fmt.Errorf("kernel: matrix-vector product by id: %d ids cannot share vectors %d at a time", vectors, a.Share)
	}
	a.Lanes = matVecLanes(int(a.Cols), f.unit)
	groups := matVecGroups(a.Height, a.Lanes)
	groups[1], groups[2] = uint32(vectors)/a.Share, a.Share
	return Launch{f.id(a), groups}, nil
}

// matVecFor is the kernels for weights of a type and a shape.
func matVecFor(t quant.Type, cols, height uint32) (matVecFormat, error) {
	f, ok := matVecFormats[t]
	switch {
	case !ok:
		return f, fmt.Errorf("kernel: no matrix-vector product with weights of type %v", t)
	case cols == 0 || height == 0 || cols > maxMatVec || height > maxMatVec:
		return f, fmt.Errorf("kernel: matrix-vector product with a matrix of %d x %d, want 1 to %d each", height, cols, maxMatVec)
	case int(cols)%f.block != 0:
		return f, fmt.Errorf("kernel: matrix-vector product: rows of %d elements are not whole blocks of %d (%v)", cols, f.block, t)
	}
	return f, nil
}

// matVecLanes is how many lanes share a row of n elements, of which a lane takes
// unit at a time: as many as have no more than a quarter of their turns idle, or
// the fewest. It must not depend on anything else: it decides the order of sums.
func matVecLanes(n, unit int) uint32 {
	units := (n + unit - 1) / unit
	for lanes := 32; lanes > matVecRows; lanes /= 2 {
		if turns := (units + lanes - 1) / lanes * lanes; 4*(turns-units) <= turns {
			return uint32(lanes)
		}
	}
	return matVecRows // the fewest: in the end each of them holds a row's sum
}

// matVecGroups is the grid for one product with a matrix of a height.
func matVecGroups(height, lanes uint32) [3]uint32 {
	rows := matVecItems / lanes * matVecRows
	return [3]uint32{(height + rows - 1) / rows, 1, 1}
}

// One type for each entry point: a kernel's arguments are a type of their own.
type (
	matVecF32    MatVec
	matVecF16    MatVec
	matVecQ8_0   MatVec
	matVecQ4K    MatVec
	matVecQ6K    MatVec
	matVecIDF32  MatVecID
	matVecIDF16  MatVecID
	matVecIDQ8_0 MatVecID
	matVecIDQ4K  MatVecID
	matVecIDQ6K  MatVecID
)

var (
	matVecF32Kernel    = &Kernel{Name: "matvec_f32", Source: "matvec_float", Items: matVecItems}
	matVecF16Kernel    = &Kernel{Name: "matvec_f16", Source: "matvec_float", Items: matVecItems}
	matVecQ8_0Kernel   = &Kernel{Name: "matvec_q8_0", Source: "matvec_q8_0", Items: matVecItems}
	matVecQ4KKernel    = &Kernel{Name: "matvec_q4_k", Source: "matvec_q4_k", Items: matVecItems}
	matVecQ6KKernel    = &Kernel{Name: "matvec_q6_k", Source: "matvec_q6_k", Items: matVecItems}
	matVecIDF32Kernel  = &Kernel{Name: "matvec_id_f32", Source: "matvec_float", Items: matVecItems}
	matVecIDF16Kernel  = &Kernel{Name: "matvec_id_f16", Source: "matvec_float", Items: matVecItems}
	matVecIDQ8_0Kernel = &Kernel{Name: "matvec_id_q8_0", Source: "matvec_q8_0", Items: matVecItems}
	matVecIDQ4KKernel  = &Kernel{Name: "matvec_id_q4_k", Source: "matvec_q4_k", Items: matVecItems}
	matVecIDQ6KKernel  = &Kernel{Name: "matvec_id_q6_k", Source: "matvec_q6_k", Items: matVecItems}
)

func (matVecF32) Kernel() *Kernel    { return matVecF32Kernel }
func (matVecF16) Kernel() *Kernel    { return matVecF16Kernel }
func (matVecQ8_0) Kernel() *Kernel   { return matVecQ8_0Kernel }
func (matVecQ4K) Kernel() *Kernel    { return matVecQ4KKernel }
func (matVecQ6K) Kernel() *Kernel    { return matVecQ6KKernel }
func (matVecIDF32) Kernel() *Kernel  { return matVecIDF32Kernel }
func (matVecIDF16) Kernel() *Kernel  { return matVecIDF16Kernel }
func (matVecIDQ8_0) Kernel() *Kernel { return matVecIDQ8_0Kernel }
func (matVecIDQ4K) Kernel() *Kernel  { return matVecIDQ4KKernel }
func (matVecIDQ6K) Kernel() *Kernel  { return matVecIDQ6KKernel }
