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
	Cols, Height              uint32
	Experts, Share            uint32
	Lanes                     uint32 // as in MatVec
}

// MatVecSwiGLU is two products with X and SwiGLU of them, the same bits as from
// MatVec and the kernel SwiGLU:
//
//	g = Gate X, u = Up X, Out = g / (1 + exp(-g)) * u
//
// Gate and Up are [Height][Cols] of one type; the rest is as in MatVec.
type MatVecSwiGLU struct {
	Gate, Up, X, Out Pointer
	Cols, Height     uint32
	Lanes            uint32 // as in MatVec
}

// MatVecSwiGLUID is MatVecSwiGLU with matrices chosen as in MatVecID: Gate and Up
// are stacks.
type MatVecSwiGLUID struct {
	Gate, Up, X, Chosen, Out, Status Pointer
	Cols, Height                     uint32
	Experts, Share                   uint32
	Lanes                            uint32 // as in MatVec
}

// Activations is the type that X has with weights of type t, F32 or, in groups of
// four blocks, Q8_1; false if there is no kernel for t.
func Activations(t quant.Type) (quant.Type, bool) {
	f, ok := matVecFormats[t]
	return f.activations, ok
}

// Launch is for a number of rows of X and weights of type t. It is an error if
// there is no kernel for the type or the shape.
func (a MatVec) Launch(t quant.Type, rows int) (Launch, error) {
	f, err := matVecFor(t, a.Cols, a.Height)
	if err != nil {
		return Launch{}, err
	}
	a.Lanes = f.lanes(a.Cols)
	return Launch{f.dense(a), [3]uint32{matVecGroups(a.Height, a.Lanes, matVecRows), uint32(rows), 1}}, nil
}

// Launch is for a number of vectors, which is that of ids, and weights of type
// t. It is an error if there is no kernel for the type or the shape, or if the
// ids are not whole groups of Share.
func (a MatVecID) Launch(t quant.Type, vectors int) (Launch, error) {
	f, err := matVecFor(t, a.Cols, a.Height)
	if err != nil {
		return Launch{}, err
	}
	if err := checkShare(vectors, a.Share); err != nil {
		return Launch{}, err
	}
	a.Lanes = f.lanes(a.Cols)
	return Launch{f.byID(a), [3]uint32{matVecGroups(a.Height, a.Lanes, matVecRows), uint32(vectors) / a.Share, a.Share}}, nil
}

// Launch is MatVec's.
func (a MatVecSwiGLU) Launch(t quant.Type, rows int) (Launch, error) {
	f, err := matVecFor(t, a.Cols, a.Height)
	if err != nil {
		return Launch{}, err
	}
	a.Lanes = f.lanes(a.Cols)
	return Launch{f.swiGLU(a), [3]uint32{matVecGroups(a.Height, a.Lanes, matVecRows/2), uint32(rows), 1}}, nil
}

// Launch is MatVecID's.
func (a MatVecSwiGLUID) Launch(t quant.Type, vectors int) (Launch, error) {
	f, err := matVecFor(t, a.Cols, a.Height)
	if err != nil {
		return Launch{}, err
	}
	if err := checkShare(vectors, a.Share); err != nil {
		return Launch{}, err
	}
	a.Lanes = f.lanes(a.Cols)
	return Launch{f.swiGLUByID(a), [3]uint32{matVecGroups(a.Height, a.Lanes, matVecRows/2), uint32(vectors) / a.Share, a.Share}}, nil
}

func checkShare(vectors int, share uint32) error {
	if share == 0 || vectors%int(share) != 0 {
		return fmt.Errorf("kernel: matrix-vector product by id: %d ids cannot share vectors %d at a time", vectors, share)
	}
	return nil
}
