package quant

import "fmt"

// Dequantize decodes len(dst) elements of type t from src, which must be
// exactly that many elements' blocks. The result is bit for bit ggml's; a scale
// that is NaN or infinite gives NaN or infinite elements. It allocates nothing.
func Dequantize(t Type, dst []float32, src []byte) error {
	f := t.format()
	if f.dequantize == nil {
		return fmt.Errorf("quant: cannot dequantize %v", t)
	}
	if err := checkLengths(t, "dequantize", len(dst), len(src)); err != nil {
		return err
	}
	f.dequantize(dst, src)
	return nil
}

// Quantize encodes src, one or more whole rows, as type t into dst, which must
// be exactly as long as that takes. Scales are searched as ggml does without an
// importance matrix, with the same bytes as the result. Elements that are not
// finite make their blocks meaningless, and nothing else.
func Quantize(t Type, dst []byte, src []float32) error {
	f := t.format()
	if f.quantize == nil {
		return fmt.Errorf("quant: cannot quantize to %v", t)
	}
	if err := checkLengths(t, "quantize", len(src), len(dst)); err != nil {
		return err
	}
	f.quantize(dst, src)
	return nil
}

// checkLengths makes sure that elems elements are whole blocks of type t and
// take exactly the given number of bytes.
func checkLengths(t Type, verb string, elems, bytes int) error {
	n := t.BlockElems()
	if elems%n != 0 {
		return fmt.Errorf("quant: %s %v: %d elements are not whole blocks of %d", verb, t, elems, n)
	}
	if want := t.RowBytes(elems); bytes != want {
		return fmt.Errorf("quant: %s %v: %d elements take %d bytes, not %d", verb, t, elems, want, bytes)
	}
	return nil
}

// Dot is the reference dot product that kernels are tested against: the row w
// of type t is decoded to float32 and multiplied with x in float64, where the
// products are exact. It panics where Dequantize returns an error.
func Dot(t Type, w []byte, x []float32) float64 {
	row := make([]float32, len(x))
	if err := Dequantize(t, row, w); err != nil {
		panic(err)
	}
	var sum float64
	for i, v := range row {
		sum += float64(v) * float64(x[i])
	}
	return sum
}
