package gguf

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"

	"github.com/holdfast-llm/holdfast/gguf/quant"
)

// Tensor is one entry of a file's tensor table.
type Tensor struct {
	Name string
	Dims []int // in ggml's order: Dims[0] is the row length; 1 to MaxDims, each at least 1
	Type quant.Type
	// Data is the tensor's blocks, rows one after another, in the file's memory;
	// nil if quant does not know Type (see Bytes).
	Data   []byte
	Offset int64 // of the data, from the start of the file, in bytes
}

// Tensor finds a tensor by name.
func (f *File) Tensor(name string) (*Tensor, bool) {
	i, ok := search(f.byName, name, func(i int32) string { return f.Tensors[i].Name })
	if !ok {
		return nil, false
	}
	return &f.Tensors[i], true
}

// Bytes is Data, or an error that names the type and lists those supported.
func (t *Tensor) Bytes() ([]byte, error) {
	if !t.Type.Known() {
		return nil, fmt.Errorf("gguf: tensor %q: type %s is not supported (supported: %s)", t.Name, TypeName(t.Type), supportedTypes())
	}
	return t.Data, nil
}

// Elements is the number of elements: the product of Dims.
func (t *Tensor) Elements() int {
	n := 1
	for _, d := range t.Dims {
		n *= d // cannot overflow: place has checked
	}
	return n
}

// Rows is the number of rows: the product of Dims after the first.
func (t *Tensor) Rows() int { return t.Elements() / t.Dims[0] }

// elements is the product of dims, checked.
func elements(dims []int) (int, error) {
	n := uint64(1)
	for _, d := range dims {
		hi, lo := bits.Mul64(n, uint64(d))
		if hi != 0 || lo > math.MaxInt {
			return 0, fmt.Errorf("dimensions %v: their product overflows", dims)
		}
		n = lo
	}
	return int(n), nil
}

// tensorBytes is the size in bytes of a tensor of a known type.
func tensorBytes(t quant.Type, dims []int) (int64, error) {
	n, err := elements(dims)
	if err != nil {
		return 0, err
	}
	if dims[0]%t.BlockElems() != 0 {
		return 0, fmt.Errorf("row length %d is not a multiple of %s's block of %d elements", dims[0], t, t.BlockElems())
	}
	hi, lo := bits.Mul64(uint64(n/t.BlockElems()), uint64(t.BlockBytes()))
	if hi != 0 || lo > math.MaxInt {
		return 0, fmt.Errorf("%s %v: its size in bytes overflows", t, dims)
	}
	return int64(lo), nil
}

// foreign names ggml's types that quant does not know, so that inspect and
// errors can.
var foreign = map[quant.Type]string{
	4: "Q4_2", 5: "Q4_3",
	16: "IQ2_XXS", 17: "IQ2_XS", 18: "IQ3_XXS", 19: "IQ1_S", 21: "IQ3_S", 22: "IQ2_S",
	24: "I8", 25: "I16", 27: "I64", 28: "F64", 29: "IQ1_M",
	31: "Q4_0_4_4", 32: "Q4_0_4_8", 33: "Q4_0_8_8", 34: "TQ1_0", 35: "TQ2_0",
	36: "IQ4_NL_4_4", 37: "IQ4_NL_4_8", 38: "IQ4_NL_8_8",
	39: "MXFP4", 40: "NVFP4", 41: "Q1_0", 42: "Q2_0",
}

// TypeName is ggml's name of any type, known to quant or not; "type(99)" if
// ggml has none.
func TypeName(t quant.Type) string {
	if name, ok := foreign[t]; ok && !t.Known() {
		return name
	}
	return t.String()
}

// supportedTypes lists the types that quant knows, in ggml's order.
func supportedTypes() string {
	var names []string
	for t := quant.Type(0); t < 256; t++ {
		if t.Known() && !slices.Contains(names, t.String()) {
			names = append(names, t.String())
		}
	}
	return strings.Join(names, " ")
}
