package quant

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// rowElems is the length of the golden rows (testdata/README.md).
const rowElems = 512

// goldenInputs reads the rows that ggml quantised, by number.
func goldenInputs(t *testing.T) [][]float32 {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "inputs.f32"))
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]float32
	for ; len(b) >= 4*rowElems; b = b[4*rowElems:] {
		row := make([]float32, rowElems)
		dequantizeF32(row, b)
		rows = append(rows, row)
	}
	return rows
}

// crcFloats is the CRC-32 of x, every NaN counting as 0x7fc00000.
func crcFloats(x []float32) uint32 {
	var b []byte
	for _, v := range x {
		b = binary.LittleEndian.AppendUint32(b, canonicalBits(v))
	}
	return crc32.ChecksumIEEE(b)
}

func canonicalBits(v float32) uint32 {
	if v != v {
		return 0x7fc00000
	}
	return math.Float32bits(v)
}

// splitmix is splitmix64, the generator of the goldens' random blocks.
type splitmix uint64

func (s *splitmix) next() uint64 {
	*s += 0x9e3779b97f4a7c15
	z := uint64(*s)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func (s *splitmix) bytes(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(s.next() >> 56)
	}
	return b
}

// goldenLines reads the golden lines of a type, split into fields.
func goldenLines(t *testing.T, name string) [][]string {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", strings.ToLower(name)+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var lines [][]string
	s := bufio.NewScanner(f)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		lines = append(lines, strings.Fields(s.Text()))
	}
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	return lines
}

// allTypes are the types with conversions: weights, and then activations.
func allTypes() []Type { return append(Supported(), Q8_1, Q8_K) }

func TestQuantizeGivesGgmlsBytes(t *testing.T) {
	inputs := goldenInputs(t)
	for _, typ := range allTypes() {
		row := 0
		for _, fields := range goldenLines(t, typ.String()) {
			if fields[0] != "row" {
				continue
			}
			name, want := fields[1], fields[2]
			x := inputs[row]
			row++
			t.Run(fmt.Sprintf("%v/%s", typ, name), func(t *testing.T) {
				got := make([]byte, typ.RowBytes(len(x)))
				if err := Quantize(typ, got, x); err != nil {
					t.Fatal(err)
				}
				if crc, ok := strings.CutPrefix(want, "crc:"); ok {
					if g := fmt.Sprintf("%08x", crc32.ChecksumIEEE(got)); g != crc {
						t.Errorf("bytes have CRC-32 %s, ggml's %s", g, crc)
					}
					return
				}
				ggml, err := hex.DecodeString(want)
				if err != nil {
					t.Fatal(err)
				}
				for i := range got {
					if got[i] != ggml[i] {
						t.Fatalf("block %d byte %d is %#02x, ggml's %#02x", i/typ.BlockBytes(), i%typ.BlockBytes(), got[i], ggml[i])
					}
				}
			})
		}
		if row != len(inputs) {
			t.Errorf("%v: %d golden rows for %d inputs", typ, row, len(inputs))
		}
	}
}

func TestDequantizeGivesGgmlsFloats(t *testing.T) {
	inputs := goldenInputs(t)
	for _, typ := range allTypes() {
		if typ == Q8_1 {
			continue // ggml has no decoder for it
		}
		t.Run(typ.String(), func(t *testing.T) {
			row, randoms := 0, 0
			got := make([]float32, rowElems)
			for _, fields := range goldenLines(t, typ.String()) {
				switch fields[0] {
				case "row":
					b := make([]byte, typ.RowBytes(rowElems))
					if err := Quantize(typ, b, inputs[row]); err != nil {
						t.Fatal(err)
					}
					row++
					check(t, typ, got, b, fields[1], fields[3])
				case "random":
					seed, err := strconv.ParseUint(fields[1], 10, 64)
					if err != nil {
						t.Fatal(err)
					}
					gen := splitmix(seed)
					check(t, typ, got, gen.bytes(typ.RowBytes(rowElems)), "seed "+fields[1], fields[2])
					randoms++
				case "floats": // the first elements of the last random blocks
					for i, want := range fields[1:] {
						if g := fmt.Sprintf("%08x", canonicalBits(got[i])); g != want {
							t.Fatalf("element %d has bits %s, ggml's %s", i, g, want)
						}
					}
				}
			}
			if row != len(inputs) || randoms == 0 {
				t.Errorf("%d golden rows for %d inputs, %d random", row, len(inputs), randoms)
			}
		})
	}
}

// check decodes b into dst and compares its CRC-32 with ggml's.
func check(t *testing.T, typ Type, dst []float32, b []byte, name, want string) {
	t.Helper()
	if err := Dequantize(typ, dst, b); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprintf("%08x", crcFloats(dst)); got != want {
		t.Errorf("%s: floats have CRC-32 %s, ggml's %s", name, got, want)
	}
}

func TestHalfConversionsGiveGgmlsBits(t *testing.T) {
	all32 := func(widen func(uint16) float32) uint32 {
		var b []byte
		for h := range 1 << 16 {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(widen(uint16(h))))
		}
		return crc32.ChecksumIEEE(b)
	}
	swept := func(round func(float32) uint16) uint32 {
		var b []byte
		for u := uint64(0); u < 1<<32; u += 4093 {
			b = binary.LittleEndian.AppendUint16(b, round(math.Float32frombits(uint32(u))))
		}
		return crc32.ChecksumIEEE(b)
	}
	midpoints := func() uint32 {
		var b []byte
		for h := range uint16(0x7c00) {
			next := F16ToF32(h + 1)
			if h+1 == 0x7c00 {
				next = 1 << 16
			}
			mid := math.Float32bits((F16ToF32(h) + next) / 2)
			for _, u := range []uint32{mid - 1, mid, mid + 1} {
				b = binary.LittleEndian.AppendUint16(b, F32ToF16(math.Float32frombits(u)))
			}
		}
		return crc32.ChecksumIEEE(b)
	}
	got := map[string]uint32{
		"F16ToF32 all":        all32(F16ToF32),
		"BF16ToF32 all":       all32(BF16ToF32),
		"F32ToF16 step:4093":  swept(F32ToF16),
		"F32ToBF16 step:4093": swept(F32ToBF16),
		"F32ToF16 midpoints":  midpoints(),
	}
	for _, fields := range goldenLines(t, "half") {
		name, want := fields[0]+" "+fields[1], fields[2]
		if g := fmt.Sprintf("%08x", got[name]); g != want {
			t.Errorf("%s: CRC-32 %s, ggml's %s", name, g, want)
		}
		delete(got, name)
	}
	for name := range got {
		t.Errorf("%s: no golden", name)
	}
}
