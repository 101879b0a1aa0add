// Package quant knows ggml's tensor types: their block sizes, how to turn
// blocks into float32 and back, and reference dot products. It knows nothing
// of files (see gguf) and nothing of speed (see device/cpu/simd).
package quant

import "fmt"

// Type is a tensor element type, numbered as in ggml.h (enum ggml_type).
type Type uint32

// The types Holdfast reads. The gaps are types that ggml has retired or that
// Holdfast does not support.
const (
	F32    Type = 0
	F16    Type = 1
	Q4_0   Type = 2
	Q4_1   Type = 3
	Q5_0   Type = 6
	Q5_1   Type = 7
	Q8_0   Type = 8
	Q8_1   Type = 9
	Q2_K   Type = 10
	Q3_K   Type = 11
	Q4_K   Type = 12
	Q5_K   Type = 13
	Q6_K   Type = 14
	Q8_K   Type = 15
	IQ4_NL Type = 20
	IQ4_XS Type = 23
	I32    Type = 26
	BF16   Type = 30
)

// layout is one type's block geometry.
type layout struct {
	name       string
	blockElems int // elements in a block
	blockBytes int // bytes in a block
}

var layouts = map[Type]layout{
	F32:    {"F32", 1, 4},
	F16:    {"F16", 1, 2},
	BF16:   {"BF16", 1, 2},
	I32:    {"I32", 1, 4},
	Q4_0:   {"Q4_0", 32, 18},
	Q4_1:   {"Q4_1", 32, 20},
	Q5_0:   {"Q5_0", 32, 22},
	Q5_1:   {"Q5_1", 32, 24},
	Q8_0:   {"Q8_0", 32, 34},
	Q8_1:   {"Q8_1", 32, 36},
	Q2_K:   {"Q2_K", 256, 84},
	Q3_K:   {"Q3_K", 256, 110},
	Q4_K:   {"Q4_K", 256, 144},
	Q5_K:   {"Q5_K", 256, 176},
	Q6_K:   {"Q6_K", 256, 210},
	Q8_K:   {"Q8_K", 256, 292},
	IQ4_NL: {"IQ4_NL", 32, 18},
	IQ4_XS: {"IQ4_XS", 256, 136},
}

// Known reports whether t is a type this package has a layout for.
func (t Type) Known() bool { _, ok := layouts[t]; return ok }

// String is ggml's name for the type, such as "Q4_K", or "type(99)".
func (t Type) String() string {
	if l, ok := layouts[t]; ok {
		return l.name
	}
	return fmt.Sprintf("type(%d)", uint32(t))
}

// BlockElems is the number of elements in one block; 0 for an unknown type.
func (t Type) BlockElems() int { return layouts[t].blockElems }

// BlockBytes is the number of bytes in one block; 0 for an unknown type.
func (t Type) BlockBytes() int { return layouts[t].blockBytes }

// RowBytes is the size of a row of n elements; n must be a multiple of BlockElems.
func (t Type) RowBytes(n int) int {
	l := layouts[t]
	return n / l.blockElems * l.blockBytes
}
