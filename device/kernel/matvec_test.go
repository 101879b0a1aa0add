package kernel

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/holdfast-llm/holdfast/amd/emu"
	"github.com/holdfast-llm/holdfast/gguf/quant"
)

// product is a matrix-vector product's operands and what is to come out.
type product struct {
	t            quant.Type
	cols, height int
	w            []byte      // [matrices][height] rows
	x            [][]float32 // vectors
	packed       []byte      // as the kernel takes them
}

func newProduct(t testing.TB, typ quant.Type, cols, height, matrices, vectors int) *product {
	rng := rand.New(rand.NewPCG(uint64(typ)<<32|uint64(cols), uint64(height)))
	p := &product{t: typ, cols: cols, height: height, w: randomBlocks(t, rng, typ, cols, height*matrices)}
	for range vectors {
		x := normals(rng, cols)
		p.x = append(p.x, x)
		if acts, _ := Activations(typ); acts == quant.Q8_1 {
			p.packed = append(p.packed, packQ8(t, x)...)
		} else {
			p.packed = append(p.packed, floatBytes(x)...)
		}
	}
	return p
}

func floatBytes(x []float32) []byte {
	var b []byte
	for _, v := range x {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return b
}

// randomBlocks are rows of every bit pattern that a block can have, with scales from
// about 0.01 to 0.02.
func randomBlocks(t testing.TB, rng *rand.Rand, typ quant.Type, cols, rows int) []byte {
	t.Helper()
	b := make([]byte, typ.RowBytes(cols)*rows)
	if typ == quant.F32 || typ == quant.F16 {
		if err := quant.Quantize(typ, b, normals(rng, cols*rows)); err != nil {
			t.Fatal(err)
		}
		return b
	}
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	halfs := map[quant.Type][]int{quant.Q8_0: {0}, quant.Q4_K: {0, 2}, quant.Q6_K: {208}}[typ]
	for i := 0; i < len(b); i += typ.BlockBytes() {
		for _, at := range halfs {
			binary.LittleEndian.PutUint16(b[i+at:], 0x2000|uint16(rng.Uint32()&0x83ff))
		}
	}
	return b
}

// want is the product of a matrix's row with a vector, and the sum of its terms'
// magnitudes, which a bound is a part of. The activations are those that the
// kernel takes; products and sums are exact or nearly so.
func (p *product) want(t testing.TB, matrix, row, vector int) (sum, magnitude float64) {
	t.Helper()
	size := p.t.RowBytes(p.cols)
	raw := p.w[(matrix*p.height+row)*size:][:size]
	w := make([]float32, p.cols)
	if err := quant.Dequantize(p.t, w, raw); err != nil {
		t.Fatal(err)
	}
	if acts, _ := Activations(p.t); acts == quant.F32 {
		for i, x := range p.x[vector] {
			sum += float64(w[i]) * float64(x)
			magnitude += math.Abs(float64(w[i]) * float64(x))
		}
		return sum, magnitude
	}
	// What a weight is without its steps goes with the block's sum, which is
	// rounded to a half.
	base := make([]float32, p.cols)
	if p.t == quant.Q4_K {
		flat := append([]byte(nil), raw...)
		for i := 0; i < len(flat); i += 144 {
			clear(flat[i+16 : i+144])
		}
		if err := quant.Dequantize(p.t, base, flat); err != nil {
			t.Fatal(err)
		}
	}
	x := p.packed[vector*Q8_1Bytes(p.cols):]
	for i := 0; i < p.cols; i += 32 {
		group, k := x[i/q8Elems*q8Bytes:], i%q8Elems
		half := func(at int) float64 {
			return float64(quant.F16ToF32(binary.LittleEndian.Uint16(group[at:])))
		}
		d, s := half(k/8), half(k/8+2)
		for j := range 32 {
			term := float64(w[i+j]-base[i+j]) * d * float64(int8(group[16+k+j]))
			sum += term
			magnitude += math.Abs(term)
		}
		sum += float64(base[i]) * s
		magnitude += math.Abs(float64(base[i]) * s)
	}
	return sum, magnitude
}

// roundings is more than how often a term of a row's sum is rounded: in its
// lane's turns, once or twice for each unit, or for each element where those are
// floats; some more within a unit, across lanes and at the end.
func (p *product) roundings() float64 {
	f := matVecFormats[p.t]
	lanes := int(f.lanes(uint32(p.cols)))
	turns := (p.cols/f.unit + lanes) / lanes
	if f.activations == quant.F32 {
		turns *= f.unit
	}
	return float64(2*turns + 20)
}

// matVecShapes are columns by type, and heights.
var matVecShapes = map[quant.Type][]int{
	quant.F32:  {1, 3, 4, 31, 32, 100, 257, 1024},
	quant.F16:  {1, 7, 8, 31, 32, 100, 513, 2048},
	quant.Q8_0: {32, 64, 96, 256, 576, 1056, 2048},
	quant.Q4_K: {256, 512, 768, 2048, 2304},
	quant.Q6_K: {256, 512, 768, 2048, 2304},
}

// place is bytes at an address that is a multiple of align but of no more.
func (r *rig) place(t testing.TB, name string, data []byte, align int) buffer {
	t.Helper()
	b, err := r.dev.Alloc(name, len(data), emu.Placement{Offset: uint64(align)})
	if err != nil {
		t.Fatal(err)
	}
	copy(b.Data, data)
	return buffer{b}
}

// matVecAlign is what a type's weights may be aligned to.
var matVecAlign = map[quant.Type]int{quant.F32: 4, quant.F16: 2, quant.Q8_0: 2, quant.Q4_K: 16, quant.Q6_K: 2}

// launch runs a product.
func (r *rig) launch(t testing.TB, typ quant.Type, n int, a interface {
	Launch(quant.Type, int) (Launch, error)
},
) *emu.Report {
	t.Helper()
	l, err := a.Launch(typ, n)
	if err != nil {
		t.Fatal(err)
	}
	return r.run(t, l)
}

func sameFloats(t testing.TB, what string, got, want []float32) {
	t.Helper()
	for i := range want {
		if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
			t.Fatalf("%s: element %d is %v, want %v", what, i, got[i], want[i])
		}
	}
}

// matVecIDCols are the columns of products by id.
var matVecIDCols = map[quant.Type]int{quant.F32: 37, quant.F16: 100, quant.Q8_0: 96, quant.Q4_K: 512, quant.Q6_K: 256}

func TestMatVecIsTheReferencesOverTypesShapesAndRows(t *testing.T) {
	bits := map[string][]float32{} // of the first mode: the order of sums is fixed
	everyMode(t, 32, func(t *testing.T, r *rig) {
		for typ, shapes := range matVecShapes {
			for i, cols := range shapes {
				for _, height := range [][]int{{1, 67}, {5, 33}, {16, 3}}[i%3] {
					testMatVec(t, r, newProduct(t, typ, cols, height, 1, 3), bits)
				}
			}
		}
	})
}

func TestMatVecIsTheReferencesOnLongRows(t *testing.T) {
	everyMode(t, 32, func(t *testing.T, r *rig) {
		for typ := range matVecShapes {
			testMatVec(t, r, newProduct(t, typ, 9728, 5, 1, 1), map[string][]float32{})
		}
	})
}

func testMatVec(t *testing.T, r *rig, p *product, bits map[string][]float32) {
	t.Helper()
	rows := len(p.x)
	rng := rand.New(rand.NewPCG(4, 4))
	bias, add := normals(rng, p.height), normals(rng, rows*p.height)
	out := r.garbage(t, "out", 4*rows*p.height)
	sum := r.floats(t, "add and out", add)
	w, x := r.place(t, "w", p.w, matVecAlign[p.t]), r.bytes(t, "x", p.packed)
	a := MatVec{W: w.ptr(), X: x.ptr(), Out: out.ptr(), Cols: uint32(p.cols), Height: uint32(p.height)}
	for _, with := range []bool{false, true} {
		if with {
			a.Bias, a.Add, a.Out, out = r.floats(t, "bias", bias).ptr(), sum.ptr(), sum.ptr(), sum
		}
		r.launch(t, p.t, rows, a)
		want, bound := make([]float64, rows*p.height), make([]float64, rows*p.height)
		for i := range want {
			var magnitude float64
			want[i], magnitude = p.want(t, 0, i%p.height, i/p.height)
			if with {
				b, c := float64(bias[i%p.height]), float64(add[i])
				want[i] += b + c
				magnitude += math.Abs(b) + math.Abs(c)
			}
			bound[i] = p.roundings() * magnitude * 0x1p-24
		}
		what := fmt.Sprintf("%v, %d x %d, sums %v", p.t, p.height, p.cols, with)
		near(t, what, out.asFloats(), want, bound)
		if bits[what] == nil {
			bits[what] = out.asFloats()
		}
		sameFloats(t, what+", in another schedule", out.asFloats(), bits[what])
	}
}

// Ids that are no expert's are never followed.
func TestMatVecByIDIsTheReferences(t *testing.T) {
	const experts, rows, used = 3, 2, 4
	for _, c := range []struct {
		name   string
		share  int
		ids    []int32
		status uint32
	}{
		{"one vector for all experts of a row", used, []int32{0, 2, 1, 0, 1, 1, 2, 0}, 0},
		{"a vector for each", 1, []int32{2, 1, 0, 0, 2, 2, 1, 0}, 0},
		{"one past the last expert", used, []int32{0, 3, 1, 0, 1, 1, 2, 0}, 1},
		{"no id at all", 1, []int32{math.MaxInt32, 1, -1, 0, math.MinInt32, 1, 2, math.MaxInt32}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			everyMode(t, 32, func(t *testing.T, r *rig) {
				for typ, cols := range matVecIDCols {
					p := newProduct(t, typ, cols, 41, experts, rows*used/c.share)
					out, status := r.garbage(t, "out", 4*rows*used*p.height), r.bytes(t, "status", make([]byte, 4))
					r.launch(t, typ, rows*used, MatVecID{
						W: r.place(t, "w", p.w, matVecAlign[typ]).ptr(), X: r.bytes(t, "x", p.packed).ptr(),
						Chosen: r.ints(t, "chosen", c.ids).ptr(), Out: out.ptr(), Status: status.ptr(),
						Cols: uint32(p.cols), Height: uint32(p.height), Experts: experts, Share: uint32(c.share),
					})
					want, bound := make([]float64, rows*used*p.height), make([]float64, rows*used*p.height)
					for i := range want {
						v := i / p.height
						if id := c.ids[v]; id >= 0 && id < experts {
							want[i], bound[i] = p.want(t, int(id), i%p.height, v/c.share)
							bound[i] *= p.roundings() * 0x1p-24
						}
					}
					near(t, typ.String(), out.asFloats(), want, bound)
					if got := binary.LittleEndian.Uint32(status.Data); got != c.status {
						t.Errorf("%v: status %d, want %d", typ, got, c.status)
					}
				}
			})
		})
	}
}

// An expert's offset does not fit 32 bits: a stack of which only the rows that
// are read exist.
func TestExpertsBeyond4GiBAreFound(t *testing.T) {
	const cols, height, id, rows = 8192, 200_000, 3, 16 // 1.6 GiB an expert; a workgroup has 16 rows
	everyMode(t, 32, func(t *testing.T, r *rig) {
		p := newProduct(t, quant.Q8_0, cols, rows, 1, 1)
		w, out := r.place(t, "rows", p.w, 2), r.garbage(t, "out", 4*rows)
		stride := uint64(height) * uint64(quant.Q8_0.RowBytes(cols))
		l, err := MatVecID{
			W: Pointer(w.Addr - id*stride), X: r.bytes(t, "x", p.packed).ptr(), Chosen: r.ints(t, "chosen", []int32{id}).ptr(),
			Out: out.ptr(), Status: r.bytes(t, "status", make([]byte, 4)).ptr(), Cols: cols, Height: height, Experts: id + 1, Share: 1,
		}.Launch(quant.Q8_0, 1)
		if err != nil {
			t.Fatal(err)
		}
		l.Groups[0] = 1
		r.run(t, l)
		want, bound := make([]float64, rows), make([]float64, rows)
		for i := range want {
			want[i], bound[i] = p.want(t, 0, i, 0)
			bound[i] *= p.roundings() * 0x1p-24
		}
		near(t, "rows", out.asFloats(), want, bound)
	})
}

// The fused form has no arithmetic of its own: it gives the bits of its parts.
func TestGateUpIsItsPartsToTheBit(t *testing.T) {
	everyMode(t, 32, func(t *testing.T, r *rig) {
		for typ, shapes := range matVecShapes {
			for i, cols := range shapes {
				height := []int{1, 67, 33}[i%3]
				const rows = 2
				p := newProduct(t, typ, cols, height, 2, rows)
				gate := r.place(t, "gate", p.w[:len(p.w)/2], matVecAlign[typ])
				up := r.place(t, "up", p.w[len(p.w)/2:], matVecAlign[typ])
				x := r.bytes(t, "x", p.packed)
				parts := [2]buffer{}
				for k, w := range []buffer{gate, up} {
					parts[k] = r.garbage(t, "part", 4*rows*height)
					r.launch(t, typ, rows, MatVec{W: w.ptr(), X: x.ptr(), Out: parts[k].ptr(), Cols: uint32(cols), Height: uint32(height)})
				}
				want, got := r.garbage(t, "want", 4*rows*height), r.garbage(t, "got", 4*rows*height)
				r.run(t, SwiGLU{parts[0].ptr(), parts[1].ptr(), want.ptr(), uint32(height)}.Launch(rows))
				r.launch(t, typ, rows, MatVecSwiGLU{Gate: gate.ptr(), Up: up.ptr(), X: x.ptr(), Out: got.ptr(), Cols: uint32(cols), Height: uint32(height)})
				sameFloats(t, fmt.Sprintf("%v, %d x %d", typ, height, cols), got.asFloats(), want.asFloats())
			}
		}
	})
}

func TestGateUpByIDIsItsPartsToTheBit(t *testing.T) {
	const experts, rows, used, height = 3, 2, 4, 41
	everyMode(t, 32, func(t *testing.T, r *rig) {
		for typ, cols := range matVecIDCols {
			for _, share := range []int{1, used} {
				p := newProduct(t, typ, cols, height, 2*experts, rows*used/share)
				gate := r.place(t, "gate", p.w[:len(p.w)/2], matVecAlign[typ])
				up := r.place(t, "up", p.w[len(p.w)/2:], matVecAlign[typ])
				x, status := r.bytes(t, "x", p.packed), r.bytes(t, "status", make([]byte, 4))
				chosen := r.ints(t, "chosen", []int32{0, 2, 1, math.MaxInt32, 1, 3, -1, 0})
				parts := [2]buffer{}
				for k, w := range []buffer{gate, up} {
					parts[k] = r.garbage(t, "part", 4*rows*used*height)
					r.launch(t, typ, rows*used, MatVecID{
						W: w.ptr(), X: x.ptr(), Chosen: chosen.ptr(), Out: parts[k].ptr(), Status: status.ptr(),
						Cols: uint32(cols), Height: height, Experts: experts, Share: uint32(share),
					})
				}
				clear(status.Data)
				want, got := r.garbage(t, "want", 4*rows*used*height), r.garbage(t, "got", 4*rows*used*height)
				r.run(t, SwiGLU{parts[0].ptr(), parts[1].ptr(), want.ptr(), height}.Launch(rows*used))
				r.launch(t, typ, rows*used, MatVecSwiGLUID{
					Gate: gate.ptr(), Up: up.ptr(), X: x.ptr(), Chosen: chosen.ptr(), Out: got.ptr(), Status: status.ptr(),
					Cols: uint32(cols), Height: height, Experts: experts, Share: uint32(share),
				})
				sameFloats(t, fmt.Sprintf("%v, %d share", typ, share), got.asFloats(), want.asFloats())
				if got := binary.LittleEndian.Uint32(status.Data); got != 1 {
					t.Errorf("%v: status %d, want 1", typ, got)
				}
			}
		}
	})
}

func TestMatVecOfWhatNoKernelTakesIsAnError(t *testing.T) {
	for _, c := range []struct {
		t            quant.Type
		cols, height uint32
		want         string
	}{
		{quant.Q5_K, 256, 1, "no matrix-vector product with weights of type Q5_K"},
		{quant.Q8_0, 33, 1, "rows of 33 elements are not whole blocks of 32 (Q8_0)"},
		{quant.Q4_K, 128, 1, "rows of 128 elements are not whole blocks of 256 (Q4_K)"},
		{quant.F32, 0, 1, "a matrix of 1 x 0, want 1 to 16777216 each"},
		{quant.F32, 1, 1<<24 + 1, "a matrix of 16777217 x 1, want"},
	} {
		for _, err := range []error{
			func() error { _, err := MatVec{Cols: c.cols, Height: c.height}.Launch(c.t, 1); return err }(),
			func() error { _, err := MatVecID{Cols: c.cols, Height: c.height, Share: 1}.Launch(c.t, 1); return err }(),
			func() error { _, err := MatVecSwiGLU{Cols: c.cols, Height: c.height}.Launch(c.t, 1); return err }(),
			func() error {
				_, err := MatVecSwiGLUID{Cols: c.cols, Height: c.height, Share: 1}.Launch(c.t, 1)
				return err
			}(),
		} {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		}
	}
	if _, err := (MatVecID{Cols: 32, Height: 1, Share: 4}).Launch(quant.F32, 6); err == nil || !strings.Contains(err.Error(), "6 ids cannot share vectors 4 at a time") {
		t.Error(err)
	}
}
