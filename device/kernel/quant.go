package kernel

// Q8_1 x4 is how kernels hand activations to products with quantised weights: a
// row is cut into groups of 128 elements, the last one filled up with zeros, and
// a group into four blocks of 32. Its 144 bytes are
//
//	 0  four times d, s  halfs, for each block
//	16  q                128 signed bytes, block after block
//
//	x = d * q, s = d * (sum of the block's q)
//
// d, q and s are those of ggml's Q8_1, bit for bit: d = max|x| / 127 in float32,
// q = x * (1/d) rounded to the nearest integer, halves away from zero, s = d *
// sum before d is rounded to a half. A block with an element that is NaN or
// infinite has NaN for d and s and zeros for q, so that every product shows it.
const (
	q8Elems = 128 // of a group
	q8Bytes = 144
)

// Q8_1Bytes is the size of a row of n elements in Q8_1 x4.
func Q8_1Bytes(n int) int { return (n + q8Elems - 1) / q8Elems * q8Bytes }

// quantizeItems are a workgroup's work-items, each for four elements.
const quantizeItems = 128

var quantizeQ8_1 = &Kernel{Name: "quantize_q8_1", Source: "quant", Items: quantizeItems}

// QuantizeQ8_1 packs X, float32 [rows][N], to Out, [rows][Q8_1Bytes(N)] in Q8_1
// x4. X and Out are aligned to 16 bytes.
type QuantizeQ8_1 struct {
	X, Out Pointer
	N      uint32
}

// Kernel is quantize_q8_1.
func (QuantizeQ8_1) Kernel() *Kernel { return quantizeQ8_1 }

// Launch is for a number of rows.
func (a QuantizeQ8_1) Launch(rows int) Launch {
	groups := (int(a.N) + 4*quantizeItems - 1) / (4 * quantizeItems)
	return Launch{a, [3]uint32{uint32(groups), uint32(rows), 1}}
}
