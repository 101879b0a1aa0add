// Package quant knows ggml's tensor types: their block sizes, how to turn
// blocks into float32 and back, and reference dot products. It knows nothing
// of files (see gguf) and nothing of speed (see device/cpu/simd).
//
// Every product that feeds a sum is written float32(a*b): the conversion
// forbids the compiler to fuse the two into one rounding, so that the results
// are the same bits on every architecture, and the same as ggml's.
package quant

import (
	"fmt"
	"strings"
)

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

// format is one type's block geometry and its conversions.
type format struct {
	name       string
	blockElems int // elements in a block
	blockBytes int // bytes in a block

	// Both take any number of whole blocks; nil where the type holds no weights.
	dequantize func(dst []float32, src []byte)
	quantize   func(dst []byte, src []float32)
}

// formats is indexed by Type; unused entries have no name.
var formats = [...]format{
	F32:    {"F32", 1, 4, dequantizeF32, quantizeF32},
	F16:    {"F16", 1, 2, dequantizeF16, quantizeF16},
	BF16:   {"BF16", 1, 2, dequantizeBF16, quantizeBF16},
	I32:    {"I32", 1, 4, nil, nil},
	Q4_0:   {"Q4_0", 32, 18, dequantizeQ4_0, quantizeQ4_0},
	Q4_1:   {"Q4_1", 32, 20, dequantizeQ4_1, quantizeQ4_1},
	Q5_0:   {"Q5_0", 32, 22, dequantizeQ5_0, quantizeQ5_0},
	Q5_1:   {"Q5_1", 32, 24, dequantizeQ5_1, quantizeQ5_1},
	Q8_0:   {"Q8_0", 32, 34, dequantizeQ8_0, quantizeQ8_0},
	Q8_1:   {"Q8_1", 32, 36, dequantizeQ8_1, quantizeQ8_1},
	Q2_K:   {"Q2_K", 256, 84, dequantizeQ2K, quantizeQ2K},
	Q3_K:   {"Q3_K", 256, 110, dequantizeQ3K, quantizeQ3K},
	Q4_K:   {"Q4_K", 256, 144, dequantizeQ4K, quantizeQ4K},
	Q5_K:   {"Q5_K", 256, 176, dequantizeQ5K, quantizeQ5K},
	Q6_K:   {"Q6_K", 256, 210, dequantizeQ6K, quantizeQ6K},
	Q8_K:   {"Q8_K", 256, 292, dequantizeQ8K, quantizeQ8K},
	IQ4_NL: {"IQ4_NL", 32, 18, dequantizeIQ4NL, quantizeIQ4NL},
	IQ4_XS: {"IQ4_XS", 256, 136, dequantizeIQ4XS, quantizeIQ4XS},
}

// format returns t's entry, the zero format for a type that has none.
func (t Type) format() format {
	if int64(t) < int64(len(formats)) {
		return formats[t]
	}
	return format{}
}

// Known reports whether t is a type this package has a layout for.
func (t Type) Known() bool { return t.format().name != "" }

// String is ggml's name for the type, such as "Q4_K", or "type(99)".
func (t Type) String() string {
	if f := t.format(); f.name != "" {
		return f.name
	}
	return fmt.Sprintf("type(%d)", uint32(t))
}

// BlockElems is the number of elements in one block; 0 for an unknown type.
func (t Type) BlockElems() int { return t.format().blockElems }

// BlockBytes is the number of bytes in one block; 0 for an unknown type.
func (t Type) BlockBytes() int { return t.format().blockBytes }

// RowBytes is the size of a row of n elements; n must be a multiple of
// BlockElems, and t known.
func (t Type) RowBytes(n int) int {
	f := t.format()
	return n / f.blockElems * f.blockBytes
}

// Supported lists the types that a weight tensor may have, in the order of
// their numbers. Q8_1 and Q8_K are missing: they hold activations, never files.
func Supported() []Type {
	return []Type{F32, F16, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q2_K, Q3_K, Q4_K, Q5_K, Q6_K, IQ4_NL, IQ4_XS, BF16}
}

// ParseType returns the supported type of that name, in any case ("q4_k",
// "BF16"). The error for an unknown name lists the known ones.
func ParseType(name string) (Type, error) {
	var names []string
	for _, t := range Supported() {
		if strings.EqualFold(t.String(), name) {
			return t, nil
		}
		names = append(names, t.String())
	}
	return 0, fmt.Errorf("quant: no type %q; there are %s", name, strings.Join(names, ", "))
}
