package emu

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
	"testing"

	"github.com/holdfast-llm/holdfast/amd/isa"
)

func TestSwizzlesReadTheLaneThatTheirOffsetNames(t *testing.T) {
	t.Parallel()
	cases := []struct {
		fact   string
		offset int
		from   func(lane int) int
	}{
		{"and, or, xor", 0x1f | 1<<10, func(l int) int { return l ^ 1 }},
		{"a broadcast within 8", 0x18 | 5<<5, func(l int) int { return l&0x18 | 5 }},
		{"quads", 0x8000 | 0b00_01_10_11, func(l int) int { return l | 3 - l&3 }},
		{"a rotation by 3", 0xc000 | 3<<5, func(l int) int { return (l + 3) % 32 }},
		{"a rotation back by 3", 0xc400 | 3<<5, func(l int) int { return (l + 29) % 32 }},
		{"a rotation within 8", 0xc000 | 1<<5 | 0x18, func(l int) int { return l&0x18 | (l+1)&7 }},
		{"a transform of 32", 0xe000, func(l int) int { return int(bits.Reverse8(uint8(l)) >> 3) }},
		{"a transform of none", 0xe01f, func(l int) int { return l }},
		{"a transform, the low bit kept", 0xe001, func(l int) int { return int(bits.Reverse8(uint8(l))>>4) | l&1 }},
	}
	var lines []string
	for _, c := range cases {
		lines = append(lines, fmt.Sprintf("ds_swizzle_b32 v8, v4 offset:%d", c.offset))
	}
	code := programs(t, lines)
	for i, c := range cases {
		b := newBench(t)
		const exec = 0xfffffff7 // lane 3 is not active: it gives 0 and gets nothing
		b.w.setExec(exec)
		code[i].run(b.w, &code[i])
		for l := range 32 {
			want := b.w.vgpr[4][c.from(l)]
			switch {
			case l == 3:
				want = 0xffffffff
			case c.from(l) == 3:
				want = 0
			}
			if got := b.w.vgpr[8][l]; got != want {
				t.Errorf("%s: lane %d: %#x, want lane %d's %#x", c.fact, l, got, c.from(l), want)
			}
		}
	}
}

func TestAConditionalExchangeWritesTheHalvesWhoseTopBitIsSet(t *testing.T) {
	t.Parallel()
	code := programs(t, []string{"ds_condxchg32_rtn_b64 v[8:9], v2, v[4:5] offset:12"})
	b := newBench(t)
	b.w.setExec(0xf)
	want, returned := pattern(), [4][2]uint32{}
	for l := range 4 {
		b.w.vgpr[4][l], b.w.vgpr[5][l] = 0x1234|uint32(l&1)<<31, 0x5678|uint32(l>>1)<<31
		at := (at(l) + 12) &^ 7
		for k := range 2 {
			p := want[at+4*k:]
			returned[l][k] = binary.LittleEndian.Uint32(p)
			if l>>k&1 != 0 {
				binary.LittleEndian.PutUint32(p, []uint32{0x1234, 0x5678}[k])
			}
		}
	}
	code[0].run(b.w, &code[0])
	if !slices.Equal(b.w.group.lds, want) {
		t.Error("local memory differs")
	}
	for l, r := range returned {
		if got := [2]uint32{b.w.vgpr[8][l], b.w.vgpr[9][l]}; got != r {
			t.Errorf("lane %d: %#x, want %#x", l, got, r)
		}
	}
}

func TestALoadsFaultStatusIsZeroBehindItsData(t *testing.T) {
	t.Parallel()
	lines := []string{
		"buffer_load_b64 v[8:10], v2, s[4:7], 0 offen tfe",
		"buffer_load_d16_u8 v[8:9], v2, s[4:7], 0 offen tfe",
		"buffer_load_format_xy v[8:10], v2, s[4:7], 0 offen tfe",
	}
	code := programs(t, lines)
	for i := range code {
		b := newBench(t)
		b.format(48) // 32_32_UINT
		b.w.setExec(^uint64(1<<5) & (1<<32 - 1))
		status := &b.w.vgpr[[]int{10, 9, 10}[i]]
		b.w.sgpr[6] = 256 // the others read beyond it
		code[i].run(b.w, &code[i])
		for l := range 32 {
			want := uint32(0)
			if l == 5 {
				want = 0xffffffff
			}
			if status[l] != want {
				t.Errorf("%s: lane %d has status %#x, want %#x", lines[i], l, status[l], want)
			}
		}
		if got, want := b.w.vgpr[8][0]&0xff, uint32(pattern()[0]); got != want {
			t.Errorf("%s: %#x, want %#x", lines[i], got, want)
		}
	}
}

// M0 has the number after NULL's.
func TestAScalarLoadIntoNullChangesNothing(t *testing.T) {
	t.Parallel()
	lines := []string{"s_load_b32 s12, s[2:3], 0x0", "s_load_b64 s[12:13], s[2:3], 0x0", "s_load_b512 s[12:27], s[2:3], 0x0"}
	code := decoded(t, lines)
	for i := range code {
		code[i].Operands[0].Kind, code[i].Operands[0].Reg = isa.Special, isa.RegNull
		if err := prepare(&code[i]); err != nil {
			t.Fatal(err)
		}
		b := newBench(t)
		before := b.w.sgpr
		code[i].run(b.w, &code[i])
		if b.w.sgpr != before {
			t.Errorf("%s, into null: a register changed", lines[i])
		}
	}
}
