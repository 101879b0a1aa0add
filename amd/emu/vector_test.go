package emu

import (
	"encoding/binary"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/holdfast-llm/holdfast/amd/isa"
)

var update = flag.Bool("update", false, "rewrite golden files")

// usualMode is MODE as compilers leave it: to nearest even, denormals kept,
// IEEE, DX10 clamp.
const usualMode = modeDenorm32 | modeDenorm64 | modeIEEE | modeDX10

// newTestWave is a wave of n active lanes with 256 registers of zeros.
func newTestWave(n int) *wave {
	w := &wave{n: n, mode: usualMode, vgpr: make([]lanes, 256)}
	w.setExec(w.all())
	return w
}

// decodeTest decodes words and prepares the instruction.
func decodeTest(t testing.TB, n int, words ...uint32) *inst {
	t.Helper()
	d, err := isa.Decode(0, bytesOf(words), isa.Wave(n))
	if err != nil {
		t.Fatal(err)
	}
	in := &inst{Inst: d}
	if err := prepare(in); err != nil {
		t.Fatal(err)
	}
	return in
}

// bytesOf is the words as memory has them.
func bytesOf(words []uint32) (code []byte) {
	for _, v := range words {
		code = binary.LittleEndian.AppendUint32(code, v)
	}
	return code
}

// step runs one instruction.
func step(t *testing.T, w *wave, words ...uint32) {
	t.Helper()
	in := decodeTest(t, w.n, words...)
	in.run(w, in)
}

// v is the source code of a vector register.
func v(n int) uint32 { return 256 + uint32(n) }

// encode is an instruction of the two-word encoding f (VOP3 or VOP3P) without
// modifiers: op_sel_hi is all ones in VOP3P, as assemblers have it.
func encode(t testing.TB, f isa.Format, name string, dst int, src ...uint32) []uint32 {
	t.Helper()
	for _, op := range isa.Ops() {
		if op.Format != f || op.Name != name {
			continue
		}
		w := []uint32{0xd4000000 | uint32(op.Code)<<16 | uint32(dst), 0}
		if f == isa.VOP3P {
			w[0] = 0xcc004000 | uint32(op.Code)<<16 | uint32(dst)
			w[1] = 3 << 27
		}
		for i, s := range src {
			w[1] |= s << (9 * i)
		}
		return w
	}
	t.Fatalf("no %v operation %s", f, name)
	return nil
}

// The modifiers of the second word, and of the first.
const (
	negBit   = 1 << 29 // of src0; src1 and src2 follow
	absBit   = 1 << 8
	clampBit = 1 << 15
	omodBit  = 1 << 27
	opselBit = 1 << 11
)

// compute runs a VOP3 operation of lane values up to 32 bits wide, one argument
// list for each lane, and returns the results.
func compute(t *testing.T, w *wave, name string, lanes [][]uint32) []uint32 {
	t.Helper()
	var src []uint32
	for i := range lanes[0] {
		src = append(src, v(i))
	}
	in := decodeTest(t, w.n, encode(t, isa.VOP3, name, 200, src...)...)
	out := make([]uint32, 0, len(lanes))
	for len(lanes) > 0 {
		n := min(w.n, len(lanes))
		for i, args := range lanes[:n] {
			for j, a := range args {
				w.vgpr[j][i] = a
			}
		}
		in.run(w, in)
		out = append(out, w.vgpr[200][:n]...)
		lanes = lanes[n:]
	}
	return out
}

// computeWide is compute for operands and results of 64 bits.
func computeWide(t *testing.T, w *wave, name string, lanes [][]uint64) []uint64 {
	t.Helper()
	var src []uint32
	for i := range lanes[0] {
		src = append(src, v(2*i))
	}
	in := decodeTest(t, w.n, encode(t, isa.VOP3, name, 200, src...)...)
	var out []uint64
	for len(lanes) > 0 {
		n := min(w.n, len(lanes))
		for i, args := range lanes[:n] {
			for j, a := range args {
				w.vgpr[2*j][i], w.vgpr[2*j+1][i] = uint32(a), uint32(a>>32)
			}
		}
		in.run(w, in)
		for i := range n {
			out = append(out, uint64(w.vgpr[201][i])<<32|uint64(w.vgpr[200][i]))
		}
		lanes = lanes[n:]
	}
	return out
}

// TestUnsupportedVector lists the operations that no kernel may have.
func TestUnsupportedVector(t *testing.T) {
	var b strings.Builder
	for _, op := range isa.Ops() {
		h := &handlers[op.ID]
		if op.Format >= isa.VOP1 && h.run == nil && h.prepare == nil {
			b.WriteString(op.Format.String() + " " + op.Name + "\n")
		}
	}
	const golden = "testdata/unsupported_vector.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("unsupported operations:\n%swant\n%s", b.String(), want)
	}
}
