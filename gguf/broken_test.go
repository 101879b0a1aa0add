package gguf

import (
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"github.com/holdfast-llm/holdfast/gguf/quant"
)

func addressOf(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }

// A raw builds files that Write refuses to.
type raw struct{ b []byte }

func header(version uint32, tensors, kvs uint64) *raw {
	r := &raw{[]byte(magic)}
	return r.u32(version).u64(tensors).u64(kvs)
}

func (r *raw) u32(v uint32) *raw { r.b = binary.LittleEndian.AppendUint32(r.b, v); return r }
func (r *raw) u64(v uint64) *raw { r.b = binary.LittleEndian.AppendUint64(r.b, v); return r }
func (r *raw) bytes(s string) *raw {
	r.b = append(r.b, s...)
	return r
}
func (r *raw) str(s string) *raw { return r.u64(uint64(len(s))).bytes(s) }

func (r *raw) tensor(name string, t quant.Type, offset uint64, dims ...uint64) *raw {
	r.str(name).u32(uint32(len(dims)))
	for _, d := range dims {
		r.u64(d)
	}
	return r.u32(uint32(t)).u64(offset)
}

// data pads to the alignment and adds n bytes.
func (r *raw) data(n int) []byte {
	b := r.b
	for len(b)%DefaultAlignment != 0 {
		b = append(b, 0)
	}
	return append(b, make([]byte, n)...)
}

// broken is the corpus of files that must be refused, and what the error must
// say: the thing, its name or number, and the numbers that disagree.
var broken = []struct {
	name string
	file []byte
	want []string
}{
	{"zero bytes", nil, []string{"empty file"}},
	{"part of the magic", []byte("GGU"), []string{"truncated: 3 bytes of the magic"}},
	{"not a GGUF", []byte("PK\x03\x04 a zip file, say"), []string{`not a GGUF file: it starts with "PK\x03\x04"`}},
	{"two bytes of something else", []byte("hi"), []string{`not a GGUF file: it starts with "hi"`}},
	{"a git-lfs pointer", []byte("version https://git-lfs.github.com/spec/v1\n"), []string{"git-lfs pointer"}},
	{"a ggml file from before GGUF", []byte("tjgg\x03\x00\x00\x00"), []string{"older ggml", `"tjgg"`}},
	{"version 1", header(1, 0, 0).b, []string{"version 1 is not supported"}},
	{"version 4", header(4, 0, 0).b, []string{"version 4 is not supported (2 and 3 are)"}},
	{"version 0", header(0, 0, 0).b, []string{"version 0 is not supported"}},
	{"version 3 in big-endian", header(0x03000000, 0, 0).b, []string{"big-endian file (version 3"}},
	{"a byte-swapped magic", append([]byte("FUGG"), header(3, 0, 0).b[4:]...), []string{"big-endian file"}},
	{"2^64-1 tensors", header(3, math.MaxUint64, 0).b, []string{"18446744073709551615 tensors cannot be in the 0 bytes that remain"}},
	{"2^64-1 keys", header(3, 0, math.MaxUint64).b, []string{"18446744073709551615 keys cannot be"}},
	{"2^61 keys", header(3, 0, 1<<61).data(4096), []string{"2305843009213693952 keys cannot be"}},
	{"more tensors than the limit", header(3, MaxTensors+1, 0).data((MaxTensors + 2) * minTensorBytes), []string{"32769 tensors, more than the limit of 32768"}},
	{"more keys than the limit", header(3, 0, MaxKeys+1).data((MaxKeys + 2) * minKeyBytes), []string{"16385 keys, more than the limit of 16384"}},
	{"an empty key", header(3, 0, 1).str("").u32(0).data(8), []string{"key 0: empty name"}},
	{"a key longer than the file", header(3, 0, 1).u64(1 << 40).data(64), []string{"key 0: the key is 1099511627776 bytes long", "remain in the file"}},
	{"a key of 65536 bytes", header(3, 0, 1).str(strings.Repeat("k", 65536)).u32(0).data(8), []string{"key 0: name of 65536 bytes, more than the limit of 65535"}},
	{"a key that occurs twice", header(3, 0, 2).str("k").u32(4).u32(1).str("k").u32(4).u32(2).b, []string{`key "k" occurs twice, as number 0 and 1`}},
	{"an unknown value type", header(3, 0, 1).str("k").u32(13).data(8), []string{`key "k": unknown value type 13`}},
	{"a string longer than the file", header(3, 0, 1).str("k").u32(8).u64(1 << 62).data(8), []string{`key "k": the string is 4611686018427387904 bytes long`}},
	{"a bool of 2", header(3, 0, 1).str("k").u32(7).bytes("\x02").b, []string{`key "k": bool 0 of 1 is the byte 2`}},
	{"a bool of 255 in an array", header(3, 0, 1).str("k").u32(9).u32(7).u64(3).bytes("\x00\x01\xff").b, []string{`key "k": bool 2 of 3 is the byte 255`}},
	{"an array of arrays", header(3, 0, 1).str("k").u32(9).u32(9).u64(1).data(64), []string{`key "k": an array of arrays`}},
	{"an array of an unknown type", header(3, 0, 1).str("k").u32(9).u32(99).u64(1).data(64), []string{`key "k": unknown array element type 99`}},
	{"an array of 2^63 uint64", header(3, 0, 1).str("k").u32(9).u32(10).u64(1 << 63).data(64), []string{`key "k": 9223372036854775808 elements of uint64 cannot be`}},
	{"an array of 2^64-1 bytes", header(3, 0, 1).str("k").u32(9).u32(0).u64(math.MaxUint64).data(64), []string{`elements of uint8 cannot be`}},
	{"an array of 2^60 strings", header(3, 0, 1).str("k").u32(9).u32(8).u64(1 << 60).data(64), []string{`elements of string cannot be`}},
	{"an array with a string longer than the file", header(3, 0, 1).str("k").u32(9).u32(8).u64(2).str("ok").u64(1 << 33).data(64), []string{`key "k": string 1 of 2 is 8589934592 bytes long`}},
	{"an alignment of 0", header(3, 0, 1).str(keyAlignment).u32(4).u32(0).b, []string{"general.alignment", "0, want a power of two"}},
	{"an alignment of 48", header(3, 0, 1).str(keyAlignment).u32(4).u32(48).b, []string{"general.alignment", "48, want a power of two"}},
	{"an alignment of 2^31", header(3, 0, 1).str(keyAlignment).u32(4).u32(1 << 31).b, []string{"general.alignment", "2147483648, want a power of two"}},
	{"an alignment that is a string", header(3, 0, 1).str(keyAlignment).u32(8).str("32").b, []string{"general.alignment", "32 (string), want a positive integer"}},
	{"an alignment that is negative", header(3, 0, 1).str(keyAlignment).u32(5).u32(1 << 31).b, []string{"general.alignment", "-2147483648 (int32)"}},
	{"a tensor without a name", header(3, 1, 0).tensor("", quant.F32, 0, 1).data(64), []string{"tensor 0: empty name"}},
	{"a tensor's name of 64 bytes", header(3, 1, 0).tensor(strings.Repeat("n", 64), quant.F32, 0, 1).data(64), []string{"name of 64 bytes, more than the limit of 63"}},
	{"a tensor that occurs twice", header(3, 2, 0).tensor("w", quant.F32, 0, 1).tensor("w", quant.F32, 32, 1).data(64), []string{`tensor "w" occurs twice, as number 0 and 1`}},
	{"no dimensions", header(3, 1, 0).tensor("w", quant.F32, 0).data(64), []string{`tensor "w": 0 dimensions, want 1 to 4`}},
	{"five dimensions", header(3, 1, 0).tensor("w", quant.F32, 0, 1, 1, 1, 1, 1).data(64), []string{`tensor "w": 5 dimensions`}},
	{"2^32-1 dimensions", header(3, 1, 0).str("w").u32(math.MaxUint32).data(64), []string{`tensor "w": 4294967295 dimensions`}},
	{"a dimension of 0", header(3, 1, 0).tensor("w", quant.F32, 0, 4, 0).data(64), []string{`tensor "w": dimension 1 is 0`}},
	{"a dimension of 2^63", header(3, 1, 0).tensor("w", quant.F32, 0, 1<<63).data(64), []string{`tensor "w": dimension 0 is 9223372036854775808`}},
	{"dimensions whose product is 2^64", header(3, 1, 0).tensor("w", quant.F32, 0, 1<<32, 1<<32).data(64), []string{`tensor "w"`, "product overflows"}},
	{"dimensions whose product wraps to 4", header(3, 1, 0).tensor("w", quant.F32, 0, 1<<62+1, 4).data(64), []string{`tensor "w"`, "product overflows"}},
	{"a size in bytes that wraps", header(3, 1, 0).tensor("w", quant.F32, 0, 1<<62).data(64), []string{`tensor "w"`, "size in bytes overflows"}},
	{"an unknown type with a product that overflows", header(3, 1, 0).tensor("w", 16, 0, 1<<62, 4).data(64), []string{`tensor "w"`, "product overflows"}},
	{"a row of 255 in blocks of 256", header(3, 1, 0).tensor("w", quant.Q4_K, 0, 255).data(4096), []string{`tensor "w": row length 255 is not a multiple of Q4_K's block of 256`}},
	{"an offset off the alignment", header(3, 1, 0).tensor("w", quant.F32, 4, 1).data(64), []string{`tensor "w": offset 4 is not a multiple of the alignment 32`}},
	{"an offset past the file", header(3, 1, 0).tensor("w", quant.F32, 1<<40, 1).data(64), []string{`tensor "w": offset 1099511627776 is past the 64 bytes`}},
	{"an offset that wraps", header(3, 1, 0).tensor("w", quant.F32, math.MaxUint64-31, 1).data(64), []string{`tensor "w": offset 18446744073709551584 is past`}},
	{"a tensor that ends past the file", header(3, 1, 0).tensor("w", quant.F32, 32, 9).data(64), []string{`tensor "w": F32 [9] needs 36 bytes at 96: end 132 past file size 128`}},
	{"no data at all", header(3, 1, 0).tensor("w", quant.F32, 0, 1).b, []string{"truncated: 1 tensors need at least 1 bytes of data"}},
	{"two tensors in one place", header(3, 2, 0).tensor("v", quant.F32, 0, 1).tensor("w", quant.F32, 0, 1).data(64), []string{`"v"`, `"w"`, "overlaps"}},
	{"a tensor that runs into the next", header(3, 2, 0).tensor("w", quant.F32, 32, 1).tensor("v", quant.F32, 0, 9).data(64), []string{`tensor "v" at 96 to 132 overlaps tensor "w" at 128`}},
	{"an unknown type in another tensor's place", header(3, 2, 0).tensor("v", 16, 0, 256).tensor("w", quant.F32, 0, 1).data(64), []string{"overlaps"}},
}

func TestBroken(t *testing.T) {
	dir := t.TempDir()
	for _, c := range broken {
		t.Run(c.name, func(t *testing.T) {
			_, err := Parse("bad.gguf", c.file)
			if err == nil {
				t.Fatal("accepted")
			}
			for _, want := range append(c.want, "gguf: bad.gguf: ") {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q lacks %q", err, want)
				}
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("%q is more than one line", err)
			}
			path := filepath.Join(dir, "bad.gguf")
			if err := os.WriteFile(path, c.file, 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := Open(path); err == nil || !strings.Contains(err.Error(), path) {
				t.Errorf("Open: %v, want an error with the path", err)
			}
		})
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "is a directory") {
		t.Errorf("directory: %v", err)
	}
	if _, err := Open(filepath.Join(dir, "absent")); !os.IsNotExist(unwrap(err)) {
		t.Errorf("absent file: %v", err)
	}
}

func unwrap(err error) error {
	if u, ok := err.(interface{ Unwrap() error }); ok {
		return u.Unwrap()
	}
	return err
}

// TestTruncatedEverywhere cuts a file at every byte. Only the padding after the
// last tensor may be missing.
func TestTruncatedEverywhere(t *testing.T) {
	file := encode(t, sampleKVs(), sampleTensors())
	full, err := Parse("full", file)
	if err != nil {
		t.Fatal(err)
	}
	last := full.Tensors[len(full.Tensors)-1]
	end := int(last.Offset) + len(last.Data)
	for n := range file {
		_, err := Parse("cut", file[:n])
		if n >= end && err != nil {
			t.Errorf("cut at %d, after the last tensor: %v", n, err)
		}
		if n < end && err == nil {
			t.Errorf("cut at %d of %d: accepted", n, len(file))
		}
	}
}

// TestEveryBitFlipped inverts each bit of a file's metadata in turn: none may
// panic, and what is accepted must lie within the file.
func TestEveryBitFlipped(t *testing.T) {
	file := encode(t, sampleKVs(), sampleTensors())
	full, err := Parse("full", file)
	if err != nil {
		t.Fatal(err)
	}
	for i := range full.dataPos {
		for bit := range 8 {
			file[i] ^= 1 << bit
			if f, err := Parse("flipped", file); err == nil {
				checkInvariants(t, f)
			}
			file[i] ^= 1 << bit
		}
	}
}

func TestUnknownTypeIsListedButNotRead(t *testing.T) {
	f, err := Parse("iq2", header(3, 2, 0).tensor("v", 16, 0, 256, 2).tensor("w", quant.F32, 160, 1).data(256))
	if err != nil {
		t.Fatal(err)
	}
	v, ok := f.Tensor("v")
	if !ok || TypeName(v.Type) != "IQ2_XXS" || v.Elements() != 512 || v.Rows() != 2 {
		t.Fatalf("v is %+v", v)
	}
	_, err = v.Bytes()
	for _, want := range []string{`tensor "v": type IQ2_XXS is not supported`, "F32 F16", "Q4_K", "BF16"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v lacks %q", err, want)
		}
	}
	w, _ := f.Tensor("w")
	if b, err := w.Bytes(); err != nil || len(b) != 4 {
		t.Errorf("w: %d bytes, %v", len(b), err)
	}
}

// TestAllocationIsBounded parses the corpus and the files that are dearest for
// their size, and holds all that was allocated, garbage included, against the
// promise of the package comment.
func TestAllocationIsBounded(t *testing.T) {
	const constant = 2 << 20
	files := map[string][]byte{
		"an array of empty strings": header(3, 0, 1).str("k").u32(9).u32(8).u64(1 << 20).data(8 << 20),
		"an array of bytes":         header(3, 0, 1).str("k").u32(9).u32(0).u64(8 << 20).data(8 << 20),
	}
	small := header(3, 0, MaxKeys)
	for i := range MaxKeys {
		small.str(string(rune(' ' + i))).u32(7).bytes("\x01")
	}
	files["as many small keys as can be"] = small.b
	empty := header(3, 0, MaxKeys)
	for i := range MaxKeys {
		empty.str(string(rune(' ' + i))).u32(9).u32(8).u64(0)
	}
	files["as many empty arrays as can be"] = empty.b
	tiny := header(3, MaxTensors, 1).str(keyAlignment).u32(4).u32(8)
	for i := range MaxTensors {
		tiny.tensor(string(rune(' '+i)), quant.F32, uint64(8*i), 1)
	}
	files["as many tiny tensors as can be"] = tiny.data(8 * MaxTensors)
	for _, c := range broken {
		files[c.name] = c.file
	}
	for name, file := range files {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f, err := Parse(name, file)
		runtime.ReadMemStats(&after)
		got := after.TotalAlloc - before.TotalAlloc
		if limit := uint64(2*len(file) + constant); got > limit {
			t.Errorf("%s: allocated %d bytes for a file of %d, the limit is %d", name, got, len(file), limit)
		}
		if err == nil && f.Size() > 1<<19 {
			t.Logf("%s: %.2f times the file's size", name, float64(got)/float64(f.Size()))
		}
	}
}
