package addr

import (
	"os"
	"strings"
	"testing"

	"github.com/holdfast-llm/holdfast/internal/golden"
)

func read(t *testing.T, text string) *Map {
	t.Helper()
	m, err := Read("map", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

const table = `name,address,bytes,stride,freed
weights,0x10000000,0x100000
tensor,0x10002000,0x1000,256
tail,0x10100000,1000
old,0x20000000,0x3000,,12.5
newer,0x20001000,0x1000,,14.5
far,0x7f0000000000,4096
`

func TestExplain(t *testing.T) {
	for name, c := range map[string]struct {
		fault    Fault
		class    Class
		in, was  string // names, the likeliest first
		below    string
		past     uint64
		above    string
		before   uint64
		numWraps int
	}{
		"the inner of two is named first":               {fault: Fault{Addr: 0x10002010}, class: Inside, in: "tensor weights"},
		"the last byte is inside":                       {fault: Fault{Addr: 0x10002fff}, class: Inside, in: "tensor weights"},
		"the next is in what is around":                 {fault: Fault{Addr: 0x10003000}, class: Inside, in: "weights"},
		"the end is not":                                {fault: Fault{Addr: 0x101003e8}, class: Gap, below: "tail", past: 0, above: "far", before: 0x7f0000000000 - 0x101003e8},
		"a page whose start is in nothing but not all":  {fault: Fault{Addr: 0x0ffff000, PageOnly: true}, class: Outside, above: "weights", before: 0x1000},
		"a page is held if its bytes are":               {fault: Fault{Addr: 0x10100000, PageOnly: true}, class: Inside, in: "tail"},
		"an address in a page stands for its page":      {fault: Fault{Addr: 0x10100800, PageOnly: true}, class: Inside, in: "tail"},
		"the last freed of two is named first":          {fault: Fault{Addr: 0x20001008}, class: Freed, was: "newer old", below: "tail", past: 0x20001008 - 0x101003e8, above: "far", before: 0x7f0000000000 - 0x20001008},
		"below all there is only what is above":         {fault: Fault{Addr: 8}, class: Outside, above: "weights", before: 0x10000000 - 8},
		"above all there is only what is below":         {fault: Fault{Addr: 0x7f0000002000}, class: Outside, below: "far", past: 0x1000},
		"the highest address is outside":                {fault: Fault{Addr: ^uint64(0)}, class: Outside, below: "far", past: ^uint64(0) - 0x7f0000001000},
		"the highest page is outside":                   {fault: Fault{Addr: ^uint64(0), PageOnly: true}, class: Outside, below: "far", past: ^uint64(0) - 4095 - 0x7f0000001000},
		"minus one times the stride is before":          {fault: Fault{Addr: 0x10002000 - 256 + 4}, class: Inside, in: "weights"},
		"the index 0xffffffff of the tensor wraps high": {fault: Fault{Addr: 0x10002000 + 0xffffff00}, class: Gap, below: "tail", past: 0x10002000 + 0xffffff00 - 0x101003e8, above: "far", before: 0x7f0000000000 - (0x10002000 + 0xffffff00), numWraps: 3},
	} {
		t.Run(name, func(t *testing.T) {
			x := read(t, table).Explain(c.fault, WrapOptions{})
			names := func(rs []*Range) string {
				var s []string
				for _, r := range rs {
					s = append(s, r.Name)
				}
				return strings.Join(s, " ")
			}
			one := func(r *Range) string {
				if r == nil {
					return ""
				}
				return r.Name
			}
			if x.Class != c.class || names(x.In) != c.in || names(x.Was) != c.was {
				t.Errorf("%s, in %q, was %q; want %s, %q, %q", x.Class, names(x.In), names(x.Was), c.class, c.in, c.was)
			}
			if one(x.Below) != c.below || x.Past != c.past || one(x.Above) != c.above || x.Before != c.before {
				t.Errorf("%d past %q, %d before %q; want %d, %q, %d, %q", x.Past, one(x.Below), x.Before, one(x.Above), c.past, c.below, c.before, c.above)
			}
			if len(x.Wraps) < min(c.numWraps, 1) || c.numWraps == 0 && len(x.Wraps) > 0 {
				t.Errorf("%d wraps, want %d: %+v", len(x.Wraps), c.numWraps, x.Wraps)
			}
		})
	}
}

// The fault that began the investigation: the driver says the page
// 0x7fba10820000. The router had published the index 0x7fffffff, and
// the product with an expert's 884736 bytes was cut to 32 bits.
func TestTheInvestigationsFaultComesOut(t *testing.T) {
	f, err := os.Open("testdata/seed.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m, err := Read("seed.csv", f)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, o := range []WrapOptions{{}, {Row: 1152}} {
		x := m.Explain(Fault{Addr: 0x7fba10820000, PageOnly: true}, o)
		if len(x.Wraps) == 0 {
			t.Fatal("no product leads to the fault")
		}
		w := x.Wraps[0]
		if w.Range.Name != "blk.37.ffn_gate_exps" || w.Index != 0x7fffffff || w.Stride != 884736 || w.Product != 0xfff28000 || w.Count != 128 || w.Signed || w.Wide {
			t.Errorf("the best is %+v of %s", w, w.Range)
		}
		if o.Row != 0 && (w.Rest != 25*1152 || len(x.Wraps) != 1) {
			t.Errorf("%d bytes into the expert, want 25 rows of 1152 bytes; %d wraps", w.Rest, len(x.Wraps))
		}
		if err := x.Write(&b); err != nil {
			t.Fatal(err)
		}
	}
	golden.Check(t, "seed.txt", b.String())
}

// TestWrapsAgainstAllIndices compares the search with trying each address.
func TestWrapsAgainstAllIndices(t *testing.T) {
	m := read(t, "name,address,bytes,stride\nt,0x100000000,4096,4096\n")
	for _, index := range []uint64{1, 5, 0xfffff, 0x100001, 0x7fffffff, 0xffffffff} {
		for _, rest := range []uint64{0, 1, 4095} {
			at := 0x100000000 + uint64(uint32(index*4096)) + rest
			x := m.Explain(Fault{Addr: at}, WrapOptions{Indices: []uint64{index}})
			if at < 0x100001000 { // a multiple of 2^32 leads back to the first element
				if x.Class != Inside {
					t.Errorf("index %#x: %s", index, x.Class)
				}
				continue
			}
			if len(x.Wraps) == 0 || x.Wraps[0].Rest != rest {
				t.Errorf("index %#x, byte %d: %+v", index, rest, x.Wraps)
			}
			if y := m.Explain(Fault{Addr: at - rest + 4096}, WrapOptions{Indices: []uint64{index}}); len(y.Wraps) > 0 {
				t.Errorf("index %#x: the next element is found too: %+v", index, y.Wraps)
			}
		}
	}
}

func TestFormats(t *testing.T) {
	for name, c := range map[string]struct {
		text, format string
		ranges       string // name@start+bytes, a - before what was freed
		unmatched    int
	}{
		"a dumped program": {`{
"arena": {"bytes": 4096},
"commands": [{"kernel": "k", "bindings": [
  {"value": "q", "buffer": "arena", "offset": 256, "bytes": 64, "address": "0x1000100"},
  {"value": "w", "buffer": "weight", "offset": 0, "bytes": 128, "address": "0x2000000"}]},
 {"kernel": "l", "bindings": [{"value": "q", "buffer": "arena", "offset": 256, "bytes": 128, "address": "0x1000100"}]}],
"transients": [{"name": "q", "first_stage": 1, "last_stage": 2}]
}`, "program", "the arena@0x1000000+4096 q@0x1000100+128 w@0x2000000+128", 0},
		"one launch":           {`{"allocations": [{"name": "k", "address": "0x1000", "bytes": 8}]}`, "dispatch", "k@0x1000+8", 0},
		"maps of a process":    {"00400000-00401000 r-xp 00000000 08:01 123 /bin/a b\n7f00-8f00 rw-p 00000000 00:00 0\n", "maps", "anonymous@0x7f00+4096 /bin/a b@0x400000+4096", 0},
		"csv without a header": {"a,0x1000,16,no\nb,8192,0x10,77\n", "csv", "a@0x1000+16 -b@0x2000+16", 0},
		"csv with an end":      {"start,end,label\n0x1000,0x1010,a\n", "csv", "a@0x1000+16", 0},
		"csv with spaces and quotes": {
			"\"name\", address, size\n\"a, b\", 0x1000, 16\n", "csv", "a, b@0x1000+16", 0,
		},
		"an allocation trace": {"hrx: loaded\n[12.5] hrx alloc #1 ptr=0x7f0000001000 size=4096 type=0x30\n" +
			"[12.6] hrx alloc #2 ptr=0x7f0000009000 size=64\n[12.7] hrx free ptr=0x7f0000001000\nnothing\n[12.8] free ptr=0x7f00000ff000\n", "trace", "-allocation of line 2@0x7f0000001000+4096 allocation of line 3@0x7f0000009000+64", 1},
		"a trace in words":                      {"hrx_allocator_allocate_buffer(type=0x30, 8192 bytes) -> 0x7f0000001000\nreleased 0x7f0000001000\n", "trace", "-allocation of line 1@0x7f0000001000+8192", 0},
		"a trace with spans":                    {"map name=arena 0x7f0000001000-0x7f0000002000\n", "trace", "arena@0x7f0000001000+4096", 0},
		"a trace that lost a free":              {"alloc 0x7f0000001000 size 64 id=1\nalloc 0x7f0000001000 size 32 id=2\n", "trace", "-1@0x7f0000001000+64 2@0x7f0000001000+32", 0},
		"what is empty is no range":             {"a,0x1000,0\nb,0x1000,1\n", "csv", "b@0x1000+1", 0},
		"the last byte of all may not be taken": {"a,0xfffffffffffffffe,1\n", "csv", "a@0xfffffffffffffffe+1", 0},
	} {
		t.Run(name, func(t *testing.T) {
			m := read(t, c.text)
			var got []string
			for _, r := range m.Ranges {
				dash := ""
				if r.Freed {
					dash = "-"
				}
				s, _, _ := strings.Cut(r.String(), " [")
				got = append(got, dash+s+"@"+hex(r.Start)+"+"+dec(r.Bytes))
			}
			if m.Format != c.format || strings.Join(got, " ") != c.ranges || m.Unmatched != c.unmatched {
				t.Errorf("%s, %q, %d unmatched; want %s, %q, %d", m.Format, strings.Join(got, " "), m.Unmatched, c.format, c.ranges, c.unmatched)
			}
		})
	}
}

func TestBadMaps(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"nothing":                        {"", "map: addr: no allocation in 0 lines"},
		"prose":                          {"a b\nc d\n", "no allocation in 2 lines"},
		"an end past the last address":   {"a,0xffffffffffffffff,2\n", `map:1: addr: "a": 2 bytes at 0xffffffffffffffff end past the last address`},
		"an end before the start":        {"name,start,end\na,0x20,0x10\n", "map:2: addr: size: 0x10 is before the start, 0x20"},
		"no number":                      {"name,address,bytes\na,twelve,5\n", `map:2: addr: address: "twelve" is no number`},
		"a mapping backwards":            {"2000-1000 r-xp 0 00:00 0\n", "map:1: addr: a mapping from 0x2000 to 0x1000"},
		"a broken program":               {"{\n\"commands\": 5", "map: addr: "},
		"a program without addresses":    {"{\n\"commands\": [{\"bindings\": [{\"value\": \"q\"}]}]}", "none of 1 bindings has an address"},
		"an address that is no number":   {"{\n\"commands\": [{\"kernel\": \"k\", \"bindings\": [{\"value\": \"q\", \"address\": \"x\"}]}]}", `binding "q": address "x" is no number`},
		"a launch's address is no hex":   {`{"allocations": [{"name": "k", "address": "", "bytes": 8}]}`, `allocation 0, "k"`},
		"a line longer than the longest": {strings.Repeat("x", maxLine+1), "a line of more than 1048576 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Read("map", strings.NewReader(c.text))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}
