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
func decodeTest(t *testing.T, n int, words ...uint32) *inst {
	t.Helper()
	var code []byte
	for _, v := range words {
		code = binary.LittleEndian.AppendUint32(code, v)
	}
	d, err := isa.Decode(0, code, isa.Wave(n))
	if err != nil {
		t.Fatal(err)
	}
	in := &inst{Inst: d}
	if err := prepare(in); err != nil {
		t.Fatal(err)
	}
	return in
}

// step runs one instruction.
func step(t *testing.T, w *wave, words ...uint32) {
	t.Helper()
	in := decodeTest(t, w.n, words...)
	in.run(w, in)
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
