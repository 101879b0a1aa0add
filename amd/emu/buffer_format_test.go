package emu

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"
)

// The descriptor that buffer operations use: raw, with components in order.
func (b *bench) format(n uint32) { b.w.sgpr[7] = 3<<28 | n<<12 | 0o7654 }

func TestFormattedLoadsConvertComponents(t *testing.T) {
	t.Parallel()
	const sevens = 0x77777777 // in the registers before
	f := func(x ...float32) []uint32 {
		bits := make([]uint32, len(x))
		for i := range x {
			bits[i] = math.Float32bits(x[i])
		}
		return bits
	}
	const tbuffer = ", v2, s[4:7], 0 format:[BUF_FMT_"
	cases := []struct {
		line   string
		format uint32 // of the descriptor
		memory []byte
		want   []uint32
	}{
		{"tbuffer_load_format_x v8" + tbuffer + "8_UNORM] offen", 0, []byte{255}, f(1)},
		{"tbuffer_load_format_x v8" + tbuffer + "8_UNORM] offen", 0, []byte{51}, f(0.2)},
		{"tbuffer_load_format_x v8" + tbuffer + "8_SNORM] offen", 0, []byte{0x81}, f(-1)},
		{"tbuffer_load_format_x v8" + tbuffer + "8_SNORM] offen", 0, []byte{0x80}, f(-1)},
		{"tbuffer_load_format_x v8" + tbuffer + "8_USCALED] offen", 0, []byte{200}, f(200)},
		{"tbuffer_load_format_x v8" + tbuffer + "8_SSCALED] offen", 0, []byte{200}, f(-56)},
		{"tbuffer_load_format_x v8" + tbuffer + "8_UINT] offen", 0, []byte{200}, []uint32{200}},
		{"tbuffer_load_format_x v8" + tbuffer + "8_SINT] offen", 0, []byte{200}, []uint32{0xffffffc8}},
		{"tbuffer_load_format_x v8" + tbuffer + "16_FLOAT] offen", 0, []byte{0x00, 0xc1}, f(-2.5)},
		{"tbuffer_load_format_x v8" + tbuffer + "16_SINT] offen", 0, []byte{0x00, 0x80}, []uint32{0xffff8000}},
		{"tbuffer_load_format_x v8" + tbuffer + "32_FLOAT] offen", 0, []byte{1, 2, 3, 4}, []uint32{0x04030201}},
		{"tbuffer_load_format_x v8" + tbuffer + "8_8_8_8_UINT] offen", 0, []byte{1, 2, 3, 4}, []uint32{1, sevens}},
		{"tbuffer_load_format_xy v[8:9]" + tbuffer + "16_16_UNORM] offen", 0, []byte{0xff, 0xff, 0x33, 0x33}, f(1, 0.2)},
		{"tbuffer_load_format_xyzw v[8:11]" + tbuffer + "8_8_8_8_SINT] offen", 0, []byte{1, 255, 3, 128}, []uint32{1, 0xffffffff, 3, 0xffffff80}},
		{"tbuffer_load_format_xyz v[8:10]" + tbuffer + "32_32_32_UINT] offen", 0, []byte{1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0}, []uint32{1, 2, 3, sevens}},
		{"tbuffer_load_d16_format_x v8" + tbuffer + "8_UINT] offen", 0, []byte{200}, []uint32{0x777700c8}},
		{"tbuffer_load_d16_format_xy v8" + tbuffer + "8_8_UNORM] offen", 0, []byte{255, 0}, []uint32{0x00003c00}},
		{"tbuffer_load_d16_format_xyz v[8:9]" + tbuffer + "16_16_16_16_FLOAT] offen", 0, []byte{1, 2, 3, 4, 5, 6, 7, 8}, []uint32{0x04030201, 0x77770605}},
		{"buffer_load_format_x v8, v2, s[4:7], 0 offen", 1, []byte{255}, f(1)},
		{"buffer_load_format_xy v[8:9], v2, s[4:7], 0 offen", 48, []byte{1, 0, 0, 0, 2, 0, 0, 0}, []uint32{1, 2, sevens}},
		{"buffer_load_d16_hi_format_x v8, v2, s[4:7], 0 offen", 13, []byte{0x34, 0x12}, []uint32{0x12347777}},
	}
	var lines []string
	for _, c := range cases {
		lines = append(lines, c.line)
	}
	code := programs(t, lines)
	for i, c := range cases {
		for _, relaxed := range []bool{false, true} {
			b := newBench(t)
			if relaxed {
				b = newRelaxedBench(t)
			}
			b.format(c.format)
			for lane := range 32 {
				copy(b.buffer.Data[at(lane):], c.memory)
				for r := 8; r < 12; r++ {
					b.w.vgpr[r][lane] = sevens
				}
			}
			code[i].run(b.w, &code[i])
			for k, want := range c.want {
				if got := b.w.vgpr[8+k][5]; got != want {
					t.Errorf("%s of % x: register %d has %#x, want %#x", c.line, c.memory, k, got, want)
				}
			}
		}
	}
}

func TestFormattedStoresConvertComponents(t *testing.T) {
	t.Parallel()
	one, fifth := math.Float32bits(1), math.Float32bits(0.2)
	const tbuffer = ", v2, s[4:7], 0 format:[BUF_FMT_"
	cases := []struct {
		line      string
		format    uint32
		registers []uint32
		want      []byte // nil: declined
	}{
		{"tbuffer_store_format_x v4" + tbuffer + "8_UNORM] offen", 0, []uint32{fifth}, []byte{51}},
		{"tbuffer_store_format_x v4" + tbuffer + "8_UNORM] offen", 0, []uint32{math.Float32bits(7)}, []byte{255}},
		{"tbuffer_store_format_x v4" + tbuffer + "8_UNORM] offen", 0, []uint32{0x7fc00000}, []byte{0}},
		{"tbuffer_store_format_x v4" + tbuffer + "8_SNORM] offen", 0, []uint32{math.Float32bits(-7)}, []byte{0x81}},
		{"tbuffer_store_format_xy v[4:5]" + tbuffer + "16_16_UNORM] offen", 0, []uint32{one, fifth}, []byte{0xff, 0xff, 0x33, 0x33}},
		{"tbuffer_store_format_x v4" + tbuffer + "8_UINT] offen", 0, []uint32{200}, []byte{200}},
		{"tbuffer_store_format_x v4" + tbuffer + "8_UINT] offen", 0, []uint32{256}, nil},
		{"tbuffer_store_format_x v4" + tbuffer + "8_SINT] offen", 0, []uint32{0xffffff80}, []byte{0x80}},
		{"tbuffer_store_format_x v4" + tbuffer + "8_SINT] offen", 0, []uint32{128}, nil},
		{"tbuffer_store_format_x v4" + tbuffer + "16_FLOAT] offen", 0, []uint32{math.Float32bits(-2.5)}, []byte{0x00, 0xc1}},
		{"tbuffer_store_format_x v4" + tbuffer + "16_FLOAT] offen", 0, []uint32{fifth}, nil},
		{"tbuffer_store_format_xyzw v[4:7]" + tbuffer + "32_32_32_32_FLOAT] offen", 0, []uint32{1, 2, 3, 4}, []byte{1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0}},
		{"tbuffer_store_d16_format_xy v4" + tbuffer + "8_8_UNORM] offen", 0, []uint32{0x3c000000}, []byte{0, 255}},
		{"tbuffer_store_d16_format_xy v4" + tbuffer + "16_16_FLOAT] offen", 0, []uint32{0x12345678}, []byte{0x78, 0x56, 0x34, 0x12}},
		{"buffer_store_d16_hi_format_x v4, v2, s[4:7], 0 offen", 13, []uint32{0x12345678}, []byte{0x34, 0x12}},
		{"buffer_store_format_x v4, v2, s[4:7], 0 offen", 20, []uint32{0x12345678}, []byte{0x78, 0x56, 0x34, 0x12}},
		{"buffer_store_format_x v4, v2, s[4:7], 0 offen", 42, []uint32{0}, nil}, // one component of four
		{"buffer_store_format_x v4, v2, s[4:7], 0 offen", 30, []uint32{0}, nil}, // 10_11_11
	}
	var lines []string
	for _, c := range cases {
		lines = append(lines, c.line)
	}
	code := programs(t, lines)
	for i, c := range cases {
		b := newBench(t)
		b.format(c.format)
		for k, v := range c.registers {
			for lane := range 32 {
				b.w.vgpr[4+k][lane] = v
			}
		}
		declined := func() (declined bool) {
			defer func() { _, declined = recover().(*Unsupported) }()
			code[i].run(b.w, &code[i])
			return false
		}()
		if declined != (c.want == nil) {
			t.Errorf("%s of %#x: declined: %v", c.line, c.registers, declined)
			continue
		}
		want := pattern()
		for lane := range 32 {
			copy(want[at(lane):], c.want)
		}
		if !bytes.Equal(b.buffer.Data, want) {
			t.Errorf("%s of %#x: memory has % x, want % x", c.line, c.registers, b.buffer.Data[:len(c.want)], c.want)
		}
	}
}

func TestFormattedAccessesOutOfRangeLoadZeroAndStoreNothing(t *testing.T) {
	t.Parallel()
	code := programs(t, []string{
		"buffer_load_format_x v8, v2, s[4:7], 0 offen", "buffer_store_format_x v4, v2, s[4:7], 0 offen",
	})
	for i := range code {
		b := newBench(t)
		b.format(42) // 8_8_8_8: 4 bytes to load one
		if i == 1 {
			b.format(20)
		}
		b.w.sgpr[6] = 3
		code[i].run(b.w, &code[i])
		if i == 0 && b.w.vgpr[8][0] != 0 {
			t.Errorf("%s: %#x", code[i].String(), b.w.vgpr[8][0])
		}
		if !slices.Equal(b.buffer.Data, pattern()) {
			t.Errorf("%s changed memory", code[i].String())
		}
	}
}

func TestFormatsThatAreNotModelledAreDeclined(t *testing.T) {
	t.Parallel()
	const tbuffer = ", v2, s[4:7], 0 format:[BUF_FMT_"
	lines := []string{
		"tbuffer_load_format_x v8" + tbuffer + "10_11_11_FLOAT] offen", "tbuffer_load_format_xy v[8:9]" + tbuffer + "8_UNORM] offen",
		"tbuffer_load_d16_format_x v8" + tbuffer + "32_UINT] offen", "tbuffer_store_format_x v4" + tbuffer + "8_USCALED] offen",
		"tbuffer_store_format_x v4" + tbuffer + "8_8_UNORM] offen", "tbuffer_load_format_x v8" + tbuffer + "INVALID] offen",
	}
	for i, err := range prepared(t, lines) {
		if _, ok := err.(*Unsupported); !ok {
			t.Errorf("%s: %v", lines[i], err)
		}
	}
	code := programs(t, []string{"buffer_load_format_xy v[8:9], v2, s[4:7], 0 offen"})
	b := newBench(t)
	b.format(48)
	b.w.sgpr[7] ^= 0o0010 // y is x
	defer func() {
		if e, ok := recover().(*Unsupported); !ok || !strings.Contains(e.Text, "buffer_load_format_xy") {
			t.Errorf("selected components: %v", e)
		}
	}()
	code[0].run(b.w, &code[0])
}
