package gguf

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/holdfast-llm/holdfast/gguf/quant"
)

// sampleKVs has a value of every type.
func sampleKVs() []KV {
	return []KV{
		{"general.architecture", "llama"},
		{"u8", uint8(200)},
		{"i8", int8(-100)},
		{"u16", uint16(60000)},
		{"i16", int16(-30000)},
		{"u32", uint32(4e9)},
		{"i32", int32(-2e9)},
		{"u64", uint64(math.MaxUint64)},
		{"i64", int64(math.MinInt64)},
		{"f32", float32(1.5)},
		{"f64", math.Pi},
		{"yes", true},
		{"no", false},
		{"empty", ""},
		{"a.u8", []uint8{1, 2, 3}},
		{"a.i8", []int8{-1, 2}},
		{"a.u16", []uint16{1, 65535}},
		{"a.i16", []int16{-1, 32767}},
		{"a.u32", []uint32{1, math.MaxUint32}},
		{"a.i32", []int32{-1, math.MaxInt32}},
		{"a.u64", []uint64{1, math.MaxUint64}},
		{"a.i64", []int64{-1, math.MaxInt64}},
		{"a.f32", []float32{0.5, -2}},
		{"a.f64", []float64{0.25}},
		{"a.bool", []bool{true, false, true}},
		{"a.str", []string{"", "a", "héllo", strings.Repeat("x", 300)}},
		{"a.none", []string{}},
	}
}

func counting(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i * 7)
	}
	return b
}

func sampleTensors() []TensorSource {
	return []TensorSource{
		FromBytes("token_embd.weight", quant.F32, counting(4*6*4), 6, 4),
		FromBytes("blk.0.q.weight", quant.Q4_K, counting(144*2*3), 512, 3),
		FromBytes("blk.0.exps.weight", quant.Q8_0, counting(34*2*2*3), 64, 2, 3),
		FromBytes("norm", quant.F16, counting(2*5), 5),
	}
}

func encode(tb testing.TB, kvs []KV, tensors []TensorSource) []byte {
	tb.Helper()
	var b bytes.Buffer
	if err := Write(&b, kvs, tensors); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

func TestRoundTrip(t *testing.T) {
	for _, alignment := range []uint32{0, 8, 64, 4096} {
		t.Run(fmt.Sprint("alignment ", alignment), func(t *testing.T) {
			kvs, tensors := sampleKVs(), sampleTensors()
			want := DefaultAlignment
			if alignment != 0 {
				kvs, want = append(kvs, KV{keyAlignment, alignment}), int(alignment)
			}
			b := encode(t, kvs, tensors)
			f, err := Parse("sample", b)
			if err != nil {
				t.Fatal(err)
			}
			if f.Version != 3 || f.Alignment != want || f.Size() != int64(len(b)) {
				t.Errorf("version %d, alignment %d, size %d", f.Version, f.Alignment, f.Size())
			}
			if !reflect.DeepEqual(f.KV, kvs) {
				t.Errorf("metadata\n%v\nwant\n%v", f.KV, kvs)
			}
			if len(f.Tensors) != len(tensors) {
				t.Fatalf("%d tensors, want %d", len(f.Tensors), len(tensors))
			}
			for i, src := range tensors {
				got, ok := f.Tensor(src.Name)
				if !ok || got != &f.Tensors[i] {
					t.Errorf("tensor %q not found, or not where it stood", src.Name)
					continue
				}
				var data bytes.Buffer
				if err := src.WriteData(&data); err != nil {
					t.Fatal(err)
				}
				if got.Type != src.Type || !reflect.DeepEqual(got.Dims, src.Dims) || !bytes.Equal(got.Data, data.Bytes()) {
					t.Errorf("tensor %q: %s %v with %d bytes, want %s %v with %d", src.Name, got.Type, got.Dims, len(got.Data), src.Type, src.Dims, data.Len())
				}
				if got.Offset%int64(want) != 0 {
					t.Errorf("tensor %q at %d, not aligned to %d", src.Name, got.Offset, want)
				}
			}
		})
	}
}

func TestVersion2ReadsLikeVersion3(t *testing.T) {
	b := encode(t, sampleKVs(), sampleTensors())
	b[4] = 2
	f, err := Parse("v2", b)
	if err != nil {
		t.Fatal(err)
	}
	if f.Version != 2 || len(f.Tensors) != 4 || len(f.KV) != len(sampleKVs()) {
		t.Errorf("version %d, %d tensors, %d keys", f.Version, len(f.Tensors), len(f.KV))
	}
}

// TestLayoutByHand reads a file whose every byte is written here, so that the
// writer and the reader cannot share a mistake.
func TestLayoutByHand(t *testing.T) {
	file := "GGUF" + "\x03\x00\x00\x00" + // magic, version
		"\x01\x00\x00\x00\x00\x00\x00\x00" + // tensors
		"\x02\x00\x00\x00\x00\x00\x00\x00" + // keys
		"\x01\x00\x00\x00\x00\x00\x00\x00a" + "\x04\x00\x00\x00" + "\x2a\x00\x00\x00" + // a: uint32 = 42
		"\x01\x00\x00\x00\x00\x00\x00\x00b" + "\x09\x00\x00\x00" + "\x08\x00\x00\x00" + // b: array of string
		"\x02\x00\x00\x00\x00\x00\x00\x00" + // of length 2
		"\x02\x00\x00\x00\x00\x00\x00\x00hi" + "\x00\x00\x00\x00\x00\x00\x00\x00" +
		"\x01\x00\x00\x00\x00\x00\x00\x00w" + "\x01\x00\x00\x00" + // tensor w of 1 dimension
		"\x02\x00\x00\x00\x00\x00\x00\x00" + "\x00\x00\x00\x00" + // [2] F32
		"\x00\x00\x00\x00\x00\x00\x00\x00" // at 0
	for len(file)%32 != 0 {
		file += "\x00"
	}
	file += "\x00\x00\x80\x3f\x00\x00\x00\xc0" // 1, -2
	f, err := Parse("by hand", []byte(file))
	if err != nil {
		t.Fatal(err)
	}
	if v, ok := f.Uint("a"); !ok || v != 42 {
		t.Errorf("a is %d, %v", v, ok)
	}
	if v, ok := f.Strings("b"); !ok || !reflect.DeepEqual(v, []string{"hi", ""}) {
		t.Errorf("b is %q, %v", v, ok)
	}
	w, ok := f.Tensor("w")
	if !ok || !bytes.Equal(w.Data, []byte(file[len(file)-8:])) || w.Elements() != 2 || w.Rows() != 1 {
		t.Errorf("w is %+v, %v", w, ok)
	}
}

func TestGetters(t *testing.T) {
	f, err := Parse("sample", encode(t, sampleKVs(), nil))
	if err != nil {
		t.Fatal(err)
	}
	type result struct {
		v  any
		ok bool
	}
	uintOf := func(k string) any { v, ok := f.Uint(k); return result{v, ok} }
	intOf := func(k string) any { v, ok := f.Int(k); return result{v, ok} }
	floatOf := func(k string) any { v, ok := f.Float(k); return result{v, ok} }
	stringOf := func(k string) any { v, ok := f.String(k); return result{v, ok} }
	boolOf := func(k string) any { v, ok := f.Bool(k); return result{v, ok} }
	intsOf := func(k string) any { v, ok := f.Ints(k); return result{v, ok} }
	floatsOf := func(k string) any { v, ok := f.Floats(k); return result{v, ok} }
	for _, c := range []struct {
		name      string
		got, want any
	}{
		{"uint of a uint8", uintOf("u8"), result{uint64(200), true}},
		{"uint of a uint64 beyond int64", uintOf("u64"), result{uint64(math.MaxUint64), true}},
		{"uint of a negative int is none", uintOf("i32"), result{uint64(0), false}},
		{"uint of a float is none", uintOf("f32"), result{uint64(0), false}},
		{"int of an int16", intOf("i16"), result{int64(-30000), true}},
		{"int of a uint32", intOf("u32"), result{int64(4e9), true}},
		{"int of an int64", intOf("i64"), result{int64(math.MinInt64), true}},
		{"float of a float32", floatOf("f32"), result{1.5, true}},
		{"float of a float64", floatOf("f64"), result{math.Pi, true}},
		{"float of an int8", floatOf("i8"), result{-100.0, true}},
		{"float of a string is none", floatOf("empty"), result{0.0, false}},
		{"string", stringOf("general.architecture"), result{"llama", true}},
		{"string of a bool is none", stringOf("yes"), result{"", false}},
		{"an absent key", stringOf("absent"), result{"", false}},
		{"bool", boolOf("yes"), result{true, true}},
		{"bool of an int is none", boolOf("u8"), result{false, false}},
		{"ints of uint32s", intsOf("a.u32"), result{[]int64{1, math.MaxUint32}, true}},
		{"ints of int8s", intsOf("a.i8"), result{[]int64{-1, 2}, true}},
		{"ints of a uint64 that does not fit is none", intsOf("a.u64"), result{[]int64(nil), false}},
		{"ints of floats is none", intsOf("a.f32"), result{[]int64(nil), false}},
		{"floats of float32s", floatsOf("a.f32"), result{[]float64{0.5, -2}, true}},
		{"floats of int16s", floatsOf("a.i16"), result{[]float64{-1, 32767}, true}},
	} {
		if !reflect.DeepEqual(c.got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, c.got, c.want)
		}
	}
	if v, ok := f.Uint("i64"); ok {
		t.Errorf("uint of the least int64 is %d", v)
	}
	if v, ok := f.Int("u64"); ok {
		t.Errorf("int of the largest uint64 is %d", v)
	}
}

func TestOpenFromDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.gguf")
	if err := os.WriteFile(path, encode(t, sampleKVs(), sampleTensors()), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	w, ok := f.Tensor("norm")
	if !ok || !bytes.Equal(w.Data, counting(10)) {
		t.Errorf("norm is %v", w)
	}
	name, arch := f.Tensors[0].Name, f.KV[0].Value.(string)
	for range 2 {
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if name != "token_embd.weight" || arch != "llama" {
		t.Errorf("after Close the name is %q and the architecture %q: they should be copies", name, arch)
	}
}

// TestParseAlignsData gives Parse the same file at every address modulo 32.
func TestParseAlignsData(t *testing.T) {
	file := encode(t, sampleKVs(), sampleTensors())
	buf := make([]byte, len(file)+32)
	for shift := range 32 {
		b := buf[shift : shift+len(file)]
		copy(b, file)
		f, err := Parse("shifted", b)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range f.Tensors {
			if a := addressOf(w.Data) % DefaultAlignment; a != 0 {
				t.Fatalf("shift %d: tensor %q is at %d modulo %d", shift, w.Name, a, DefaultAlignment)
			}
		}
		if w, _ := f.Tensor("norm"); !bytes.Equal(w.Data, counting(10)) {
			t.Fatalf("shift %d: data moved wrongly", shift)
		}
	}
}

func TestWriteRefuses(t *testing.T) {
	ok := FromBytes("w", quant.F32, counting(16), 4)
	for _, c := range []struct {
		name    string
		kvs     []KV
		tensors []TensorSource
		want    string
	}{
		{"an int, whose width the format does not know", []KV{{"k", 1}}, nil, `key "k": the format has no type for a int`},
		{"a key that occurs twice", []KV{{"k", uint8(1)}, {"j", uint8(1)}, {"k", uint8(2)}}, nil, `key "k" occurs twice, as number 0 and 2`},
		{"an empty key", []KV{{"", uint8(1)}}, nil, "name of 0 bytes"},
		{"an alignment of 24", []KV{{keyAlignment, uint32(24)}}, nil, `24, want a power of two from 8`},
		{"an alignment that is no uint32", []KV{{keyAlignment, uint64(32)}}, nil, "want a uint32"},
		{"a tensor that occurs twice", nil, []TensorSource{ok, ok}, `tensor "w" occurs twice`},
		{"a name of 64 bytes", nil, []TensorSource{FromBytes(strings.Repeat("n", 64), quant.F32, nil, 1)}, "name of 64 bytes, want 1 to 63"},
		{"no dimensions", nil, []TensorSource{FromBytes("w", quant.F32, nil)}, "0 dimensions, want 1 to 4"},
		{"five dimensions", nil, []TensorSource{FromBytes("w", quant.F32, nil, 1, 1, 1, 1, 1)}, "5 dimensions"},
		{"a negative dimension", nil, []TensorSource{FromBytes("w", quant.F32, nil, 4, -1)}, "dimension 1 is -1"},
		{"a row that does not fill its blocks", nil, []TensorSource{FromBytes("w", quant.Q8_0, nil, 33)}, "row length 33 is not a multiple of Q8_0's block of 32"},
		{"an unknown type", nil, []TensorSource{FromBytes("w", 16, nil, 256)}, "type IQ2_XXS is not supported (supported: F32 F16 Q4_0"},
		{"a shape that overflows", nil, []TensorSource{FromBytes("w", quant.F32, nil, math.MaxInt, 2)}, "overflows"},
		{"a size that overflows", nil, []TensorSource{FromBytes("w", quant.F32, nil, math.MaxInt/2)}, "overflows"},
		{"a source that writes too little", nil, []TensorSource{FromBytes("w", quant.F32, counting(15), 4)}, "its source wrote 15 bytes, F32 [4] has 16"},
		{"a source that writes too much", nil, []TensorSource{FromBytes("w", quant.F32, counting(17), 4)}, "its source wrote 17 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := Write(io.Discard, c.kvs, c.tensors)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// shortWriter fails after n bytes.
type shortWriter struct{ n int }

func (w *shortWriter) Write(b []byte) (int, error) {
	if w.n -= len(b); w.n < 0 {
		return 0, io.ErrShortWrite
	}
	return len(b), nil
}

func TestWriteReportsTheWritersError(t *testing.T) {
	big := FromBytes("w", quant.F32, counting(1<<20), 1<<18)
	for _, n := range []int{0, 1 << 16, 1 << 19} {
		if err := Write(&shortWriter{n}, sampleKVs(), []TensorSource{big}); err == nil {
			t.Errorf("a writer that fails after %d bytes gave no error", n)
		}
	}
}
