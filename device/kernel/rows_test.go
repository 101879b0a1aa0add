package kernel

import (
	"math/rand/v2"
	"testing"

	"github.com/holdfast-llm/holdfast/gguf/quant"
)

// blocks is rows of n elements of a type as a file may have them: any bytes, but
// that scales are numbers.
func blocks(t testing.TB, rng *rand.Rand, typ quant.Type, rows, n int) []byte {
	t.Helper()
	b := make([]byte, rows*typ.RowBytes(n))
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	halves := map[quant.Type][]int{quant.F16: {0}, quant.Q8_0: {0}, quant.Q4_K: {0, 2}, quant.Q6_K: {208}}[typ]
	for at := 0; at < len(b); at += typ.BlockBytes() {
		for _, h := range halves {
			for b[at+h+1]&0x7c == 0x7c {
				b[at+h+1] = byte(rng.Uint32())
			}
		}
		if typ == quant.F32 {
			b[at+3] = 0x3f
		}
	}
	return b
}

func TestGetRowsIsDequantizeToTheBit(t *testing.T) {
	sizes := map[quant.Type][]int{
		quant.F32: {1, 3, 4, 64, 1022, 1025, 1028}, quant.F16: {1, 3, 4, 64, 1022, 1025, 1028},
		quant.Q8_0: {32, 1024, 1056}, quant.Q4_K: {256, 1024, 1280}, quant.Q6_K: {256, 1024, 1280},
	}
	align := map[quant.Type]int{quant.F32: 16, quant.F16: 2, quant.Q8_0: 2, quant.Q4_K: 4, quant.Q6_K: 2}
	everyMode(t, 32, func(t *testing.T, r *rig) {
		for typ, ns := range sizes {
			for _, n := range ns {
				rng := rand.New(rand.NewPCG(uint64(typ), uint64(n)))
				const vocabulary = 5
				table := blocks(t, rng, typ, vocabulary, n)
				tokens := []int32{4, 0, 3, 3}
				out := r.garbage(t, "out", 4*len(tokens)*n)
				a := GetRowsF32{r.place(t, "table", table, align[typ]).ptr(), r.ints(t, "tokens", tokens).ptr(), out.ptr(), uint32(n)}
				l, ok := GetRows(typ, a, len(tokens))
				if !ok {
					t.Fatalf("no get_rows for %s", typ)
				}
				r.run(t, l)
				want := make([]float32, len(tokens)*n)
				for i, token := range tokens {
					row := typ.RowBytes(n)
					if err := quant.Dequantize(typ, want[i*n:(i+1)*n], table[int(token)*row:][:row]); err != nil {
						t.Fatal(err)
					}
				}
				same(t, l.Args.Kernel().Name, out.asFloats(), want)
			}
		}
	})
}

func TestGetRowsOfHalfsTakesEveryBitPattern(t *testing.T) {
	everyMode(t, 32, func(t *testing.T, r *rig) {
		var table []byte
		for h := range 1 << 16 {
			if h&0x7fff <= 0x7c00 { // not NaN
				table = append(table, byte(h), byte(h>>8))
			}
		}
		n := len(table) / 2
		out := r.garbage(t, "out", 4*n)
		r.run(t, GetRowsF16{r.bytes(t, "table", table).ptr(), r.ints(t, "tokens", []int32{0}).ptr(), out.ptr(), uint32(n)}.Launch(1))
		want := make([]float32, n)
		if err := quant.Dequantize(quant.F16, want, table); err != nil {
			t.Fatal(err)
		}
		same(t, "get_rows_f16", out.asFloats(), want)
	})
}

func TestGetRowsHasNoKernelForOtherTypes(t *testing.T) {
	if _, ok := GetRows(quant.Q5_0, GetRowsF32{N: 32}, 1); ok {
		t.Error("Q5_0")
	}
}

func TestSelectRowsCopies(t *testing.T) {
	everyMode(t, 32, func(t *testing.T, r *rig) {
		for _, n := range []int{1, 4, 7, 1024, 1030} {
			x := normals(rand.New(rand.NewPCG(2, uint64(n))), 4*n)
			output := []int32{3, 0, 2}
			out := r.garbage(t, "out", 4*len(output)*n)
			r.run(t, SelectRows{r.floats(t, "x", x).ptr(), r.ints(t, "output", output).ptr(), out.ptr(), uint32(n)}.Launch(len(output)))
			var want []float32
			for _, i := range output {
				want = append(want, x[int(i)*n:(int(i)+1)*n]...)
			}
			same(t, "select_rows", out.asFloats(), want)
		}
	})
}
