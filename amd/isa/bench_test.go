package isa

import (
	"strings"
	"testing"
)

// benchCode is code of the mix that compilers emit, a dozen encodings.
var benchCode = slots([][]uint32{
	{0xbf870091},             // s_delay_alu
	{0x7e020280},             // v_mov_b32_e32 v1, 0
	{0xbf89fc07},             // s_waitcnt lgkmcnt(0)
	{0xbe840008},             // s_mov_b32
	{0x80040608},             // s_add_u32
	{0xd6550005, 0x04120702}, // VOP3
	{0x060a0903},             // v_add_f32_e32
	{0xdc520004, 0x087c0004}, // global_load_b32
	{0xd8d81234, 0x08000002}, // ds_load_b32
	{0xf4000204, 0xf8000010}, // s_load_b32
	{0xbfa50010},             // s_cbranch_execz
	{0x7e0202ff, 0x3f9d70a4}, // v_mov_b32_e32, literal
})

func BenchmarkDecode(b *testing.B) {
	starts := len(benchCode) / slotBytes
	var in Inst
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		for s := range starts {
			if err := DecodeInto(&in, 0, benchCode[s*slotBytes:], Wave32); err != nil {
				b.Fatal(err)
			}
			n++
		}
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds()/1e6, "Minst/s")
}

func BenchmarkText(b *testing.B) {
	in, err := Decode(0, benchCode[7*slotBytes:], Wave32)
	if err != nil {
		b.Fatal(err)
	}
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		buf = in.AppendText(buf[:0])
	}
}

func TestDecodingDoesNotAllocate(t *testing.T) {
	var in Inst
	if n := testing.AllocsPerRun(100, func() {
		for at := 0; at < len(benchCode); at += slotBytes {
			if err := DecodeInto(&in, 0, benchCode[at:], Wave32); err != nil {
				t.Fatal(err)
			}
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestOperationsHaveDistinctDenseIDs(t *testing.T) {
	if idBase(numFormats) != NumIDs {
		t.Fatalf("NumIDs is %d, the formats have %d opcodes", NumIDs, idBase(numFormats))
	}
	seen := map[uint16]*Op{}
	for _, op := range Ops() {
		if int(op.ID) >= NumIDs {
			t.Errorf("%s: ID %d", op.Name, op.ID)
		}
		if other := seen[op.ID]; other != nil {
			t.Errorf("%s and %s have ID %d", op.Name, other.Name, op.ID)
		}
		seen[op.ID] = op
		if op.Name == "" || strings.ContainsAny(op.Name, " ,") {
			t.Errorf("ID %d: name %q", op.ID, op.Name)
		}
		if len(op.Args) > MaxOperands {
			t.Errorf("%s: %d operands", op.Name, len(op.Args))
		}
	}
	if len(seen) < 1200 {
		t.Errorf("only %d operations", len(seen))
	}
}
