package quant

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"
)

func TestTypesAreNamedAndSizedAsInGgml(t *testing.T) {
	for _, typ := range allTypes() {
		fields := goldenLines(t, typ.String())
		if got := fields[0][1]; got != typ.String() {
			t.Errorf("%v: ggml calls it %s", typ, got)
		}
	}
	if s := Type(99).String(); s != "type(99)" || Type(99).Known() || Type(4).Known() || !I32.Known() {
		t.Errorf("Type(99) is %s, known %v; Type(4) known %v; I32 known %v", s, Type(99).Known(), Type(4).Known(), I32.Known())
	}
	if n := Q4_K.RowBytes(512); n != 288 {
		t.Errorf("a Q4_K row of 512 takes %d bytes", n)
	}
}

func TestParseTypeTakesAnyCase(t *testing.T) {
	for _, typ := range Supported() {
		for _, name := range []string{typ.String(), strings.ToLower(typ.String())} {
			if got, err := ParseType(name); err != nil || got != typ {
				t.Errorf("ParseType(%q) = %v, %v", name, got, err)
			}
		}
	}
	_, err := ParseType("q9_x")
	const want = `quant: no type "q9_x"; there are F32, F16, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q2_K, Q3_K, Q4_K, Q5_K, Q6_K, IQ4_NL, IQ4_XS, BF16`
	if err == nil || err.Error() != want {
		t.Errorf("unknown name: %v\nwant %s", err, want)
	}
}

func TestWrongLengthsAreErrors(t *testing.T) {
	for _, c := range []struct {
		name  string
		typ   Type
		elems int
		bytes int
		want  string
	}{
		{"part of a block", Q4_K, 100, 144, "Q4_K: 100 elements are not whole blocks of 256"},
		{"too few bytes", Q4_0, 64, 35, "Q4_0: 64 elements take 36 bytes, not 35"},
		{"too many bytes", F16, 3, 8, "F16: 3 elements take 6 bytes, not 8"},
	} {
		t.Run(c.name, func(t *testing.T) {
			x, b := make([]float32, c.elems), make([]byte, c.bytes)
			if err := Dequantize(c.typ, x, b); err == nil || err.Error() != "quant: dequantize "+c.want {
				t.Errorf("Dequantize: %v", err)
			}
			if err := Quantize(c.typ, b, x); err == nil || err.Error() != "quant: quantize "+c.want {
				t.Errorf("Quantize: %v", err)
			}
		})
	}
	for _, typ := range []Type{I32, 4, 99, math.MaxUint32} {
		if err := Dequantize(typ, nil, nil); err == nil || !strings.Contains(err.Error(), typ.String()) {
			t.Errorf("Dequantize %v: %v", typ, err)
		}
		if err := Quantize(typ, nil, nil); err == nil || !strings.Contains(err.Error(), typ.String()) {
			t.Errorf("Quantize %v: %v", typ, err)
		}
	}
}

func TestHalfsRoundToNearestEven(t *testing.T) {
	inf := float32(math.Inf(1))
	for _, c := range []struct {
		name string
		f    float32
		want uint16
	}{
		{"one", 1, 0x3c00},
		{"negative zero", float32(math.Copysign(0, -1)), 0x8000},
		{"largest", 65504, 0x7bff},
		{"just below overflow", 65519.996, 0x7bff},
		{"halfway to overflow", 65520, 0x7c00},
		{"negative infinity", -inf, 0xfc00},
		{"smallest subnormal", 0x1p-24, 1},
		{"half of it ties to zero", 0x1p-25, 0},
		{"a little more does not", 0x1.000002p-25, 1},
		{"three halves of it ties to two", 0x1.8p-24, 2},
		{"largest subnormal rounds up to normal", 0x1.ffep-15, 0x0400},
		{"tie to even below", 1 + 0x1p-11, 0x3c00},
		{"tie to even above", 1 + 0x3p-11, 0x3c02},
		{"carry into the exponent", 2 - 0x1p-12, 0x4000},
		{"float32 subnormal", 1e-40, 0},
	} {
		if got := F32ToF16(c.f); got != c.want {
			t.Errorf("%s: %v becomes %#04x, want %#04x", c.name, c.f, got, c.want)
		}
	}
}

func TestEveryHalfSurvivesTheRoundTrip(t *testing.T) {
	for h := range 1 << 16 {
		f := F16ToF32(uint16(h))
		if f != f {
			if h&0x7fff <= 0x7c00 {
				t.Fatalf("%#04x is no NaN but decodes to one", h)
			}
			continue
		}
		if back := F32ToF16(f); back != uint16(h) {
			t.Fatalf("%#04x comes back as %#04x by way of %v", h, back, f)
		}
		if b := BF16ToF32(uint16(h)); b == b && F32ToBF16(b) != uint16(h) {
			t.Fatalf("bfloat16 %#04x does not come back", h)
		}
	}
}

func TestNonFiniteScalesDecodeToNonFiniteElements(t *testing.T) {
	offsets := map[Type]int{
		Q4_0: 0, Q4_1: 0, Q5_0: 0, Q5_1: 0, Q8_0: 0, Q8_1: 0, Q2_K: 80, Q3_K: 108,
		Q4_K: 0, Q5_K: 0, Q6_K: 208, IQ4_NL: 0, IQ4_XS: 0,
	}
	for typ, at := range offsets {
		gen := splitmix(5)
		b := gen.bytes(typ.BlockBytes())
		binary.LittleEndian.PutUint16(b[at:], 0x7e01)
		x := make([]float32, typ.BlockElems())
		if err := Dequantize(typ, x, b); err != nil {
			t.Fatal(err)
		}
		for i, v := range x {
			if v == v {
				t.Errorf("%v: element %d is %v though its scale is NaN", typ, i, v)
				break
			}
		}
	}
}

func TestDotMultipliesDecodedWeights(t *testing.T) {
	for _, typ := range allTypes() {
		gen := splitmix(9)
		x, row := make([]float32, 512), make([]float32, 512)
		for i := range x {
			x[i] = float32(gen.next()>>40)*0x1p-23 - 1
		}
		b := make([]byte, typ.RowBytes(512))
		if err := Quantize(typ, b, x); err != nil {
			t.Fatal(err)
		}
		if err := Dequantize(typ, row, b); err != nil {
			t.Fatal(err)
		}
		var want float64
		for i := range row {
			want += float64(row[i]) * float64(x[i])
		}
		if got := Dot(typ, b, x); got != want {
			t.Errorf("%v: %v, want %v", typ, got, want)
		}
	}
}

func TestDequantizeAllocatesNothing(t *testing.T) {
	for _, typ := range allTypes() {
		x, b := make([]float32, 512), make([]byte, typ.RowBytes(512))
		if n := testing.AllocsPerRun(10, func() {
			if err := Dequantize(typ, x, b); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("%v: %v allocations", typ, n)
		}
	}
}

// errorBound is the greatest error of a type's round trip, as a part of the
// greatest magnitude a in the block (or in the element, for types without
// blocks), for blocks whose scales are normal halfs.
var errorBound = map[Type]float64{
	F32:  0,
	F16:  0x1p-11,
	BF16: 0x1p-8,
	// Half a step of 2a/(2*127), and the rounding of the scale to half, 2^-11.
	Q8_0: 1./254 + 0x1p-11,
	Q8_1: 1./254 + 0x1p-11,
	// The scale is a float32; bytes go to 127 on either side.
	Q8_K: 1./254 + 0x1p-20,
	// Step 0 is the peak; what mirrors it would need one step more than there
	// is, and is cut off by a whole step.
	Q4_0: 1./8 + 0x1p-11,
	Q5_0: 1./16 + 0x1p-11,
	// Half a step of at most 2a/15 or 2a/31; scale and minimum are rounded.
	Q4_1: 1./15 + 3*0x1p-11,
	Q5_1: 1./31 + 3*0x1p-11,
	// Grids of uneven steps: the widest gap is 24 of 127, the mirror of the peak
	// is cut off at 113, and the scale's search may trade the peak for the rest.
	// IQ4_XS's six-bit group scales are off by up to 1/64 of the largest.
	IQ4_NL: 1. / 5,
	IQ4_XS: 1. / 4,
	// A group's scale s is chosen for the sum of squares, which may cut off
	// single elements by about a step, and stored as a part of the block's
	// largest: q*s moves by up to half a unit of that, times q's range. In steps
	// (2a/3, a/4, 2a/15, 2a/31, a/32): half a step, a step of cutting, and
	// 3/30, 4/64, 15/126, 31/126, 32/256 of one or more units.
	Q2_K: 2. / 3 * 1.2,
	Q3_K: 1. / 4 * 1.6,
	Q4_K: 2. / 15 * 1.7,
	Q5_K: 2. / 31 * 1.8,
	Q6_K: 1. / 32 * 1.7,
}

// roundTripError quantises x, whole blocks of type typ, and returns the greatest
// error as a part of its block's greatest magnitude, after 2^-25, half a unit of
// the smallest halfs, is taken off.
func roundTripError(t *testing.T, typ Type, x []float32) (worst float64) {
	t.Helper()
	b, y := make([]byte, typ.RowBytes(len(x))), make([]float32, len(x))
	if err := Quantize(typ, b, x); err != nil {
		t.Fatal(err)
	}
	if err := Dequantize(typ, y, b); err != nil {
		t.Fatal(err)
	}
	n := typ.BlockElems()
	for i := 0; i < len(x); i += n {
		most := float64(abs(peak(x[i : i+n])))
		for j := i; j < i+n; j++ {
			if e := math.Abs(float64(y[j])-float64(x[j])) - 0x1p-25; e > 0 {
				worst = max(worst, e/most)
			} else if e != e {
				t.Fatalf("%v: element %d, %v, comes back as %v", typ, j, x[j], y[j])
			}
		}
	}
	return worst
}

func TestRoundTripErrorsStayWithinTheirBounds(t *testing.T) {
	// Rows by name: all scales are normal halfs, and no square overflows.
	rows := map[int]string{0: "normal", 6: "constant", 7: "outlier", 10: "positive", 12: "two-values", 13: "ramp", 14: "sparse"}
	inputs := goldenInputs(t)
	for _, typ := range allTypes() {
		for i, name := range rows {
			if e := roundTripError(t, typ, inputs[i]); e > errorBound[typ] {
				t.Errorf("%v %s: error %.4f of the peak, bound %.4f", typ, name, e, errorBound[typ])
			}
		}
	}
}

func FuzzDequantizeNeverPanics(f *testing.F) {
	gen := splitmix(1)
	for _, typ := range allTypes() {
		f.Add(uint32(typ), typ.BlockElems(), gen.bytes(typ.BlockBytes()))
	}
	f.Add(uint32(99), 256, []byte{1})
	f.Fuzz(func(t *testing.T, typ uint32, elems int, b []byte) {
		x := make([]float32, uint(elems)%4096)
		err := Dequantize(Type(typ), x, b)
		if n := Type(typ).BlockElems(); n == 0 || len(x)%n != 0 || len(b) != Type(typ).RowBytes(len(x)) {
			if err == nil {
				t.Fatalf("%v: no error for %d elements in %d bytes", Type(typ), len(x), len(b))
			}
		}
	})
}

// FuzzRoundTrip quantises 256 floats: none of any kind makes it panic, and those
// that are finite and of ordinary size come back within the type's bound.
func FuzzRoundTrip(f *testing.F) {
	gen := splitmix(2)
	for range 8 {
		f.Add(gen.bytes(512))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		x, tame := make([]float32, 256), make([]float32, 256)
		for i := range x {
			var u [4]byte
			copy(u[:], b[min(len(b), 2*i):])
			x[i] = math.Float32frombits(binary.LittleEndian.Uint32(u[:]))
			tame[i] = float32(int16(binary.LittleEndian.Uint16(u[:]))) / 1024
		}
		for _, typ := range allTypes() {
			if err := Quantize(typ, make([]byte, typ.RowBytes(256)), x); err != nil {
				t.Fatal(err)
			}
			if e := roundTripError(t, typ, tame); e > errorBound[typ] {
				t.Errorf("%v: error %.4f of the peak, bound %.4f", typ, e, errorBound[typ])
			}
		}
	})
}

// The benchmarks count bytes of float32, written or read.
func BenchmarkDequantize(b *testing.B) {
	for _, typ := range allTypes() {
		b.Run(typ.String(), func(b *testing.B) {
			x, w := benchmarkRow(b, typ)
			b.SetBytes(4 * int64(len(x)))
			for b.Loop() {
				if err := Dequantize(typ, x, w); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkQuantize(b *testing.B) {
	for _, typ := range allTypes() {
		b.Run(typ.String(), func(b *testing.B) {
			x, w := benchmarkRow(b, typ)
			b.SetBytes(4 * int64(len(x)))
			for b.Loop() {
				if err := Quantize(typ, w, x); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// benchmarkRow is a row of 2048 elements and its blocks.
func benchmarkRow(b *testing.B, typ Type) ([]float32, []byte) {
	gen := splitmix(3)
	x, w := make([]float32, 2048), make([]byte, typ.RowBytes(2048))
	for i := range x {
		x[i] = float32(gen.next()>>40)*0x1p-23 - 1
	}
	if err := Quantize(typ, w, x); err != nil {
		b.Fatal(fmt.Errorf("%v: %w", typ, err))
	}
	return x, w
}
