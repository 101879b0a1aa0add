package emu

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-llm/holdfast/amd/isa"
)

// bench is one wave with memory: a buffer, local memory and scratch that hold
// the same bytes. v[0:1] is each lane's address in the buffer, v2 the offset of
// it, s[2:3] the buffer, v[4:7] data, v[8:11] ones.
type bench struct {
	w      *wave
	buffer *Buffer
}

const benchBytes = 4096

func pattern() []byte {
	b := make([]byte, benchBytes)
	for i := range b {
		b[i] = byte(i*37 + i>>8 + 11)
	}
	return b
}

// at is a lane's offset: apart from each other, and not aligned for all.
func at(lane int) int { return 64*lane + 8*(lane%3) }

func newBench(t *testing.T) *bench {
	t.Helper()
	d, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	buf, err := d.Map("data", pattern(), Placement{Addr: 0x1234_0000_0000})
	if err != nil {
		t.Fatal(err)
	}
	w := &wave{n: 32, vgpr: make([]lanes, 16), lane: benchBytes, scratch: make([]byte, 32*benchBytes)}
	for l := range 32 {
		copy(w.scratch[l*benchBytes:], pattern())
	}
	w.d = &dispatch{dev: d}
	w.group = &group{lds: pattern()}
	w.memoryReset()
	w.setExec(1<<32 - 1)
	for l := range 32 {
		addr := buf.Addr + uint64(at(l))
		w.vgpr[0][l], w.vgpr[1][l], w.vgpr[2][l] = uint32(addr), uint32(addr>>32), uint32(at(l))
		for k := range 4 {
			w.vgpr[4+k][l] = 0x9e3779b9 * uint32(4*l+k+1)
			w.vgpr[8+k][l] = 0xffffffff
		}
	}
	w.sgpr[2], w.sgpr[3] = uint32(buf.Addr), uint32(buf.Addr>>32)
	// s[4:7] is a descriptor of the buffer: raw, without a stride.
	w.sgpr[4], w.sgpr[5], w.sgpr[6], w.sgpr[7] = uint32(buf.Addr), uint32(buf.Addr>>32), benchBytes, 3<<28
	return &bench{w, buf}
}

// decoded are the instructions that the assembler makes of text.
func decoded(t *testing.T, lines []string) []inst {
	t.Helper()
	o := assemble(t, strings.Join(lines, "\n"), "next_free_vgpr 32")
	code := o.Kernels[0].Code
	out := make([]inst, 0, len(lines))
	for pc := 0; len(out) < len(lines); {
		in, err := isa.Decode(uint64(pc), code[pc:], isa.Wave32)
		if err != nil {
			t.Fatalf("%s: %v", lines[len(out)], err)
		}
		out = append(out, inst{Inst: in})
		pc += in.Size
	}
	return out
}

// prepared is what prepare says of each instruction.
func prepared(t *testing.T, lines []string) []error {
	t.Helper()
	code := decoded(t, lines)
	errs := make([]error, len(code))
	for i := range code {
		errs[i] = prepare(&code[i])
	}
	return errs
}

// programs are instructions ready to run.
func programs(t *testing.T, lines []string) []inst {
	t.Helper()
	code := decoded(t, lines)
	for i := range code {
		if err := prepare(&code[i]); err != nil {
			t.Fatalf("%s: %v", lines[i], err)
		}
	}
	return code
}

// programLists are several lists of instructions, of one assembly.
func programLists(t *testing.T, lists [][]string) [][]inst {
	t.Helper()
	code := programs(t, slices.Concat(lists...))
	out := make([][]inst, len(lists))
	for i, l := range lists {
		out[i], code = code[:len(l)], code[len(l):]
	}
	return out
}

// spaceCase is where an instruction's memory is.
type spaceCase struct {
	name  string
	form  func(op, data string, offset int) string // data: "v8" for a load
	bytes func(b *bench, lane int) []byte          // what a lane's address is an offset in
}

func spaces(t *testing.T) []spaceCase {
	t.Helper()
	global := func(b *bench, _ int) []byte { return b.buffer.Data }
	isStore := func(op string) bool { return strings.Contains(op, "store") }
	order := func(op, addr, data, rest string, offset int) string {
		a, d := addr, data
		if !isStore(op) {
			a, d = data, addr
		}
		s := op + " " + a + ", " + d
		if rest != "" {
			s += ", " + rest
		}
		if offset != 0 {
			s += fmt.Sprint(" offset:", offset)
		}
		return s
	}
	return []spaceCase{
		{"global", func(op, data string, off int) string { return order("global_"+op, "v[0:1]", data, "off", off) }, global},
		{"global by a scalar", func(op, data string, off int) string { return order("global_"+op, "v2", data, "s[2:3]", off) }, global},
		{"flat", func(op, data string, off int) string { return order("flat_"+op, "v[0:1]", data, "", off) }, global},
		{
			"scratch", func(op, data string, off int) string { return order("scratch_"+op, "v2", data, "off", off) },
			func(b *bench, lane int) []byte { return b.w.privateOf(lane) },
		},
		{"buffer", func(op, data string, off int) string {
			s := fmt.Sprintf("buffer_%s %s, v2, s[4:7], 0 offen", op, data)
			if off != 0 {
				s += fmt.Sprint(" offset:", off)
			}
			return s
		}, global},
		{
			"local", func(op, data string, off int) string { return order("ds_"+dsName(op), "v2", data, "", off) },
			func(b *bench, _ int) []byte { return b.w.group.lds },
		},
	}
}

// dsName has the parts in the order of DS: load_d16_hi_u8 is load_u8_d16_hi.
func dsName(op string) string {
	verb, rest, _ := strings.Cut(op, "_")
	if rest, ok := strings.CutPrefix(rest, "d16_hi_"); ok {
		return verb + "_" + strings.Replace(rest, "b16", map[bool]string{true: "u16", false: "b16"}[verb == "load"], 1) + "_d16_hi"
	}
	if rest, ok := strings.CutPrefix(rest, "d16_"); ok {
		return verb + "_" + strings.Replace(rest, "b16", "u16", 1) + "_d16"
	}
	return op
}

var loadOps = []struct {
	op     string
	bytes  int
	signed bool
	half   int // 0: whole register, 1: low, 2: high
}{
	{"load_u8", 1, false, 0},
	{"load_i8", 1, true, 0},
	{"load_u16", 2, false, 0},
	{"load_i16", 2, true, 0},
	{"load_b32", 4, false, 0},
	{"load_b64", 8, false, 0},
	{"load_b96", 12, false, 0},
	{"load_b128", 16, false, 0},
	{"load_d16_u8", 1, false, 1},
	{"load_d16_i8", 1, true, 1},
	{"load_d16_b16", 2, false, 1},
	{"load_d16_hi_u8", 1, false, 2},
	{"load_d16_hi_i8", 1, true, 2},
	{"load_d16_hi_b16", 2, false, 2},
}

// registers is "v8" or "v[8:9]", as many as hold n bytes.
func registers(first, n int) string {
	k := (n + 3) / 4
	if k == 1 {
		return fmt.Sprint("v", first)
	}
	return fmt.Sprintf("v[%d:%d]", first, first+k-1)
}

func TestLoadsReadTheBytesAtTheirAddress(t *testing.T) {
	t.Parallel()
	type row struct {
		space  spaceCase
		load   int
		offset int
	}
	var rows []row
	var lines []string
	for _, s := range spaces(t) {
		for i, l := range loadOps {
			for _, off := range []int{0, 5, 40} {
				rows = append(rows, row{s, i, off})
				lines = append(lines, s.form(l.op, registers(8, l.bytes), off))
			}
		}
	}
	code := programs(t, lines)
	for i, r := range rows {
		b, l := newBench(t), loadOps[r.load]
		const exec = 0xf0f0f0ff
		b.w.setExec(exec)
		code[i].run(b.w, &code[i])
		for lane := range 32 {
			want := [4]uint32{^uint32(0), ^uint32(0), ^uint32(0), ^uint32(0)}
			if exec>>lane&1 != 0 {
				src := r.space.bytes(b, lane)[at(lane)+r.offset:]
				v := uint32(src[0])
				if l.bytes == 2 {
					v |= uint32(src[1]) << 8
				}
				if l.signed && l.bytes == 1 {
					v = uint32(int32(int8(v)))
				} else if l.signed {
					v = uint32(int32(int16(v)))
				}
				switch {
				case l.half == 1:
					want[0] = 0xffff0000 | v&0xffff
				case l.half == 2:
					want[0] = v<<16 | 0xffff
				case l.bytes <= 2:
					want[0] = v
				default:
					for k := range l.bytes / 4 {
						want[k] = uint32(src[4*k]) | uint32(src[4*k+1])<<8 | uint32(src[4*k+2])<<16 | uint32(src[4*k+3])<<24
					}
				}
			}
			for k := range want {
				if got := b.w.vgpr[8+k][lane]; got != want[k] {
					t.Fatalf("%s (%s): lane %d, register %d: %#x, want %#x", lines[i], r.space.name, lane, k, got, want[k])
				}
			}
		}
	}
}

func TestStoresWriteTheBytesAtTheirAddressAndNoOthers(t *testing.T) {
	t.Parallel()
	stores := []struct {
		op    string
		bytes int
		shift int
	}{
		{"store_b8", 1, 0},
		{"store_b16", 2, 0},
		{"store_b32", 4, 0},
		{"store_b64", 8, 0},
		{"store_b96", 12, 0},
		{"store_b128", 16, 0},
		{"store_d16_hi_b8", 1, 16},
		{"store_d16_hi_b16", 2, 16},
	}
	var lines []string
	for _, s := range spaces(t) {
		for _, x := range stores {
			lines = append(lines, s.form(x.op, registers(4, x.bytes), 24))
		}
	}
	code := programs(t, lines)
	for i, s := range spaces(t) {
		for j, x := range stores {
			in := &code[i*len(stores)+j]
			b := newBench(t)
			const exec = 0x0f0f_fff1
			b.w.setExec(exec)
			in.run(b.w, in)
			private := s.name == "scratch"
			want := pattern()
			for lane := range 32 {
				if private {
					want = pattern()
				}
				if exec>>lane&1 != 0 {
					for k := range x.bytes {
						v := b.w.vgpr[4+k/4][lane] >> x.shift
						want[at(lane)+24+k] = byte(v >> (8 * (k % 4)))
					}
				}
				if private && !slices.Equal(s.bytes(b, lane), want) {
					t.Errorf("%s: lane %d's scratch differs", in.Inst.String(), lane)
				}
			}
			if !private && !slices.Equal(s.bytes(b, 0), want) {
				t.Errorf("%s (%s): memory differs", in.Inst.String(), s.name)
			}
		}
	}
}

// The atomics, each as a plain function of the old value, the data and what it
// is compared with.
var atomicOps = []struct {
	global, local string // without _u32, _rtn...
	typ           string
	f             func(old, data, cmp uint32) uint32
}{
	{"swap", "storexchg", "b32", func(_, d, _ uint32) uint32 { return d }},
	{"cmpswap", "cmpstore", "b32", func(o, d, c uint32) uint32 {
		if o == c {
			return d
		}
		return o
	}},
	{"add", "add", "u32", func(o, d, _ uint32) uint32 { return o + d }},
	{"sub", "sub", "u32", func(o, d, _ uint32) uint32 { return o - d }},
	{"min", "min", "i32", func(o, d, _ uint32) uint32 {
		if int32(d) < int32(o) {
			return d
		}
		return o
	}},
	{"max", "max", "u32", func(o, d, _ uint32) uint32 {
		if d > o {
			return d
		}
		return o
	}},
	{"and", "and", "b32", func(o, d, _ uint32) uint32 { return o & d }},
	{"or", "or", "b32", func(o, d, _ uint32) uint32 { return o | d }},
	{"xor", "xor", "b32", func(o, d, _ uint32) uint32 { return o ^ d }},
	{"inc", "inc", "u32", func(o, d, _ uint32) uint32 {
		if o < d {
			return o + 1
		}
		return 0
	}},
	{"dec", "dec", "u32", func(o, d, _ uint32) uint32 {
		if o > 0 && o <= d {
			return o - 1
		}
		return d
	}},
	{"add", "add", "f32", func(o, d, _ uint32) uint32 {
		return math.Float32bits(math.Float32frombits(o) + math.Float32frombits(d))
	}},
}

func TestAtomicsChangeMemoryAndReturnWhatWasThere(t *testing.T) {
	t.Parallel()
	var lines []string
	for _, a := range atomicOps {
		data, ds := "v4", "v4"
		if a.global == "cmpswap" {
			data, ds = "v[4:5]", "v4, v5"
		}
		lines = append(lines,
			fmt.Sprintf("global_atomic_%s_%s v8, v[0:1], %s, off offset:4 glc", a.global, a.typ, data),
			fmt.Sprintf("global_atomic_%s_%s v[0:1], %s, off offset:4", a.global, a.typ, data),
			fmt.Sprintf("ds_%s_rtn_%s v8, v2, %s offset:4", a.local, a.typ, ds))
	}
	code := programs(t, lines)
	for i := range code {
		a := atomicOps[i/3]
		b := newBench(t)
		mem := b.buffer.Data
		if i%3 == 2 {
			mem = b.w.group.lds
		}
		// Lanes share addresses in pairs: the lower comes first. Half of them
		// compare with what is there.
		want, returned := slices.Clone(mem), make([]uint32, 32)
		for lane := range 32 {
			off := at(lane&^1) + 4
			addr := b.buffer.Addr + uint64(at(lane&^1))
			b.w.vgpr[0][lane], b.w.vgpr[1][lane], b.w.vgpr[2][lane] = uint32(addr), uint32(addr>>32), uint32(at(lane&^1))
			if lane%3 == 0 {
				b.w.vgpr[5][lane] = binary.LittleEndian.Uint32(mem[off:])
			}
			old := binary.LittleEndian.Uint32(want[off:])
			returned[lane] = old
			binary.LittleEndian.PutUint32(want[off:], a.f(old, b.w.vgpr[4][lane], b.w.vgpr[5][lane]))
		}
		code[i].run(b.w, &code[i])
		if !slices.Equal(mem, want) {
			t.Errorf("%s: memory differs", lines[i])
		}
		for lane, r := range returned {
			if i%3 == 1 {
				r = 0xffffffff
			}
			if got := b.w.vgpr[8][lane]; got != r {
				t.Errorf("%s: lane %d got %#x, want %#x", lines[i], lane, got, r)
				break
			}
		}
	}
}

func TestAccessesOutsideMemoryAreFaultsThatSayWhere(t *testing.T) {
	t.Parallel()
	lines := []string{
		"global_load_b32 v8, v[0:1], off", "global_store_b64 v[0:1], v[4:5], off",
		"global_atomic_add_u32 v[0:1], v4, off", "ds_load_b32 v8, v2", "scratch_store_b32 v2, v4, off", "s_load_b64 s[8:9], s[2:3], 0x0",
	}
	code := programs(t, lines)
	for i, c := range []struct {
		set    func(b *bench)
		detail string
	}{
		{func(b *bench) { b.w.vgpr[0][7] = uint32(b.buffer.Addr + benchBytes - 2) }, `load of 4 bytes at 0x123400000ffe: reaches past the end of "data" (4096 bytes at 0x123400000000)`},
		{func(b *bench) { b.w.vgpr[0][7] = uint32(b.buffer.Addr + benchBytes + 64) }, `64 bytes past the end of "data"`},
		{func(b *bench) { b.w.vgpr[0][7] += 2 }, "an atomic must be aligned to its size"},
		{func(b *bench) { b.w.vgpr[2][7] = benchBytes - 1 }, "load of 4 bytes at LDS offset 0xfff, of which there are 4096"},
		{func(b *bench) { b.w.vgpr[2][7] = 1 << 31 }, "store of 4 bytes at scratch offset 0x80000000"},
		{func(b *bench) {
			addr := b.buffer.Addr - 16
			b.w.sgpr[2], b.w.sgpr[3] = uint32(addr), uint32(addr>>32)
		}, `16 bytes before "data"`},
	} {
		b := newBench(t)
		c.set(b)
		var f *Fault
		func() {
			defer func() { f, _ = recover().(*Fault) }()
			code[i].run(b.w, &code[i])
		}()
		if f == nil || !strings.Contains(f.Detail, c.detail) {
			t.Errorf("%s: fault %+v, want %q", lines[i], f, c.detail)
			continue
		}
		if scalar := i == 5; f.HasLane == scalar || !scalar && f.Lane != 7 {
			t.Errorf("%s: lane %d (%v), want 7", lines[i], f.Lane, f.HasLane)
		}
		if !slices.Equal(b.buffer.Data, pattern()) || !slices.Equal(b.w.group.lds, pattern()) {
			t.Errorf("%s: memory changed before the fault", lines[i])
		}
	}
}

func TestBufferAccessesOutOfRangeReadZeroAndWriteNothing(t *testing.T) {
	t.Parallel()
	lines := []string{"buffer_load_b32 v8, v2, s[4:7], 0 offen", "buffer_store_b32 v4, v2, s[4:7], 0 offen", "s_buffer_load_b64 s[8:9], s[4:7], 0x7c"}
	code := programs(t, lines)
	b := newBench(t)
	b.w.sgpr[6] = 128 // bytes: lanes 0 and 1, and the last half of s[8:9] is beyond
	code[0].run(b.w, &code[0])
	code[1].run(b.w, &code[1])
	b.w.sgpr[8], b.w.sgpr[9] = 1, 1
	code[2].run(b.w, &code[2])
	p := pattern()
	for lane := range 32 {
		want := uint32(0)
		if at(lane)+4 <= 128 {
			want = binary.LittleEndian.Uint32(p[at(lane):])
			binary.LittleEndian.PutUint32(p[at(lane):], b.w.vgpr[4][lane])
		}
		if got := b.w.vgpr[8][lane]; got != want {
			t.Errorf("lane %d: %#x, want %#x", lane, got, want)
		}
	}
	if !slices.Equal(b.buffer.Data, p) {
		t.Error("a store out of range was made")
	}
	if want := binary.LittleEndian.Uint32(p[124:]); b.w.sgpr[8] != want || b.w.sgpr[9] != 0 {
		t.Errorf("s[8:9] = %#x %#x, want %#x 0", b.w.sgpr[8], b.w.sgpr[9], want)
	}
}

func TestFlatAddressesFindLocalMemoryAndScratch(t *testing.T) {
	t.Parallel()
	code := programs(t, []string{"flat_load_b32 v8, v[0:1]"})
	b := newBench(t)
	for lane := range 32 {
		base := [...]uint64{b.buffer.Addr, SharedBase, PrivateBase}[lane%3]
		addr := base + uint64(at(lane))
		b.w.vgpr[0][lane], b.w.vgpr[1][lane] = uint32(addr), uint32(addr>>32)
	}
	for i := range b.w.group.lds {
		b.w.group.lds[i] ^= 0x55
	}
	for i := range b.w.scratch {
		b.w.scratch[i] ^= 0xaa
	}
	code[0].run(b.w, &code[0])
	for lane := range 32 {
		want := binary.LittleEndian.Uint32(pattern()[at(lane):]) ^ [...]uint32{0, 0x55555555, 0xaaaaaaaa}[lane%3]
		if got := b.w.vgpr[8][lane]; got != want {
			t.Errorf("lane %d: %#x, want %#x", lane, got, want)
		}
	}
}

func TestLocalPairsAndExchanges(t *testing.T) {
	t.Parallel()
	lines := []string{
		"ds_load_2addr_b32 v[8:9], v2 offset0:1 offset1:3",
		"ds_load_2addr_stride64_b64 v[8:11], v2 offset0:0 offset1:2",
		"ds_bpermute_b32 v8, v2, v4", "ds_permute_b32 v8, v2, v4",
		"ds_swizzle_b32 v8, v4 offset:swizzle(QUAD_PERM,2,3,0,1)", "ds_swizzle_b32 v8, v4 offset:swizzle(SWAP,16)",
		"ds_store_2addr_b32 v2, v4, v5 offset0:2 offset1:5",
	}
	code := programs(t, lines)
	word := func(i int) uint32 { return binary.LittleEndian.Uint32(pattern()[i:]) }
	for i, want := range []func(b *bench, lane int) []uint32{
		func(_ *bench, l int) []uint32 { return []uint32{word(at(l) + 4), word(at(l) + 12)} },
		func(_ *bench, l int) []uint32 {
			a := at(l)
			return []uint32{word(a), word(a + 4), word(a + 1024), word(a + 1028)}
		},
		func(b *bench, l int) []uint32 { return []uint32{b.w.vgpr[4][(l*5+3)%32]} },
		func(b *bench, l int) []uint32 { return []uint32{b.w.vgpr[4][((l-3+32)*13)%32]} }, // 5 * 13 = 1 mod 32
		func(b *bench, l int) []uint32 { return []uint32{b.w.vgpr[4][l^2]} },
		func(b *bench, l int) []uint32 { return []uint32{b.w.vgpr[4][l^16]} },
	} {
		b := newBench(t)
		if i == 2 || i == 3 {
			for l := range 32 {
				b.w.vgpr[2][l] = uint32((l*5 + 3) % 32 * 4)
			}
		}
		code[i].run(b.w, &code[i])
		for l := range 32 {
			for k, v := range want(b, l) {
				if got := b.w.vgpr[8+k][l]; got != v {
					t.Fatalf("%s: lane %d, register %d: %#x, want %#x", lines[i], l, k, got, v)
				}
			}
		}
	}
	b := newBench(t)
	code[6].run(b.w, &code[6])
	p := pattern()
	for l := range 32 {
		binary.LittleEndian.PutUint32(p[at(l)+8:], b.w.vgpr[4][l])
		binary.LittleEndian.PutUint32(p[at(l)+20:], b.w.vgpr[5][l])
	}
	if !slices.Equal(b.w.group.lds, p) {
		t.Errorf("%s: local memory differs", lines[6])
	}
}
