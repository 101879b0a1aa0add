package kernel

import (
	"fmt"

	"github.com/holdfast-llm/holdfast/gguf/quant"
)

const (
	matVecItems = 128 // work-items of a workgroup, waves of 32
	matVecRows  = 4   // rows of weights that a lane works on at once
	// maxMatVec bounds Cols and Height, so that offsets within the rows of a wave
	// are 32 bits wide.
	maxMatVec = 1 << 24
)

// matVecFormat is the kernels for a type of weights.
type matVecFormat struct {
	activations quant.Type
	block       int // Cols is a multiple
	unit        int // elements that a lane takes at a time

	dense      func(MatVec) Args
	byID       func(MatVecID) Args
	swiGLU     func(MatVecSwiGLU) Args
	swiGLUByID func(MatVecSwiGLUID) Args
}

var matVecFormats = map[quant.Type]matVecFormat{
	quant.F32:  matVecFormatOf[f32Weights](quant.F32, 1, 4),
	quant.F16:  matVecFormatOf[f16Weights](quant.F32, 1, 8),
	quant.Q8_0: matVecFormatOf[q8_0Weights](quant.Q8_1, 32, 32),
	quant.Q4_K: matVecFormatOf[q4KWeights](quant.Q8_1, 256, 64),
	quant.Q6_K: matVecFormatOf[q6KWeights](quant.Q8_1, 256, 64),
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

// lanes is how many lanes share a row of cols elements, of which a lane takes a
// unit at a time: as many as have no more than a quarter of their turns idle, or
// the fewest. It must not depend on anything else: it decides the order of sums.
func (f *matVecFormat) lanes(cols uint32) uint32 {
	units := (int(cols) + f.unit - 1) / f.unit
	for lanes := 32; lanes > matVecRows; lanes /= 2 {
		if turns := (units + lanes - 1) / lanes * lanes; 4*(turns-units) <= turns {
			return uint32(lanes)
		}
	}
	return matVecRows // the fewest: in the end each of them holds a row's sum
}

// matVecGroups is how many workgroups a matrix takes whose lanes have each a
// number of rows.
func matVecGroups(height, lanes, rows uint32) uint32 {
	rows *= matVecItems / lanes
	return (height + rows - 1) / rows
}

// A kernel's arguments are of a type of their own, which for products is that of
// the product with that of the weights as a parameter.
type (
	dense[W weights]      MatVec
	byID[W weights]       MatVecID
	swiGLUOf[W weights]   MatVecSwiGLU
	swiGLUByID[W weights] MatVecSwiGLUID

	weights interface{ kernels() *matVecKernels }

	f32Weights  struct{}
	f16Weights  struct{}
	q8_0Weights struct{}
	q4KWeights  struct{}
	q6KWeights  struct{}
)

func (dense[W]) Kernel() *Kernel      { return kernelsOf[W]().dense }
func (byID[W]) Kernel() *Kernel       { return kernelsOf[W]().byID }
func (swiGLUOf[W]) Kernel() *Kernel   { return kernelsOf[W]().swiGLU }
func (swiGLUByID[W]) Kernel() *Kernel { return kernelsOf[W]().swiGLUByID }

func kernelsOf[W weights]() *matVecKernels {
	var w W
	return w.kernels()
}

// matVecKernels are a type's entry points.
type matVecKernels struct{ dense, byID, swiGLU, swiGLUByID *Kernel }

var (
	matVecF32  = newMatVecKernels("f32", "matvec_float")
	matVecF16  = newMatVecKernels("f16", "matvec_float")
	matVecQ8_0 = newMatVecKernels("q8_0", "matvec_q8_0")
	matVecQ4K  = newMatVecKernels("q4_k", "matvec_q4_k")
	matVecQ6K  = newMatVecKernels("q6_k", "matvec_q6_k")
)

func (f32Weights) kernels() *matVecKernels  { return matVecF32 }
func (f16Weights) kernels() *matVecKernels  { return matVecF16 }
func (q8_0Weights) kernels() *matVecKernels { return matVecQ8_0 }
func (q4KWeights) kernels() *matVecKernels  { return matVecQ4K }
func (q6KWeights) kernels() *matVecKernels  { return matVecQ6K }

func newMatVecKernels(typ, source string) *matVecKernels {
	entry := func(prefix string) *Kernel {
		return &Kernel{Name: prefix + typ, Source: source, Items: matVecItems}
	}
	return &matVecKernels{entry("matvec_"), entry("matvec_id_"), entry("matvec_swiglu_"), entry("matvec_swiglu_id_")}
}

func matVecFormatOf[W weights](activations quant.Type, block, unit int) matVecFormat {
	return matVecFormat{
		activations, block, unit,
		func(a MatVec) Args { return dense[W](a) },
		func(a MatVecID) Args { return byID[W](a) },
		func(a MatVecSwiGLU) Args { return swiGLUOf[W](a) },
		func(a MatVecSwiGLUID) Args { return swiGLUByID[W](a) },
	}
}

// allMatVecs is one value of each product's arguments.
func allMatVecs() []Args {
	var all []Args
	for _, t := range quant.Supported() {
		f, ok := matVecFormats[t]
		if !ok {
			continue
		}
		all = append(all, f.dense(MatVec{}), f.byID(MatVecID{}), f.swiGLU(MatVecSwiGLU{}), f.swiGLUByID(MatVecSwiGLUID{}))
	}
	return all
}
