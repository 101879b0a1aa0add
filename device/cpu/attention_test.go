package cpu

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-llm/holdfast/attn"
	"github.com/holdfast-llm/holdfast/attn/kv"
	"github.com/holdfast-llm/holdfast/device"
	"github.com/holdfast-llm/holdfast/device/cpu/simd"
	"github.com/holdfast-llm/holdfast/dispatch"
	"github.com/holdfast-llm/holdfast/gguf/quant"
	"github.com/holdfast-llm/holdfast/op"
)

// rig is one attention operation with a projection behind it, on caches filled
// at random, for a batch of sequences.
type rig struct {
	heads, kvHeads, headDim, vDim int
	typ                           quant.Type
	window                        int
	lens                          []int // keys of each slot, the batch's rows included
	rows                          int   // query rows of each slot

	cache   *kv.Cache
	k, v    [][]float32 // by slot: [keys][kvHeads][dim], as the cache holds them
	q       *op.Value   // [n][heads*headDim]
	mask    []float32   // [n][context], repeated if shorter; nil: none
	maskTyp quant.Type  // F32 (the zero value) or F16
	maskVal *op.Value
	weight  *op.Value // of the projection
}

// fill makes the rig's caches and queries. Rows behind each slot's keys are
// NaN: nothing may read them.
func (r *rig) fill(t testing.TB, seed uint64) *rig {
	t.Helper()
	r.fillShape(t)
	rng := rand.New(rand.NewPCG(seed, 1))
	r.k = r.fillCache(t, rng, r.cache.K[0], r.headDim)
	r.v = r.fillCache(t, rng, r.cache.V[0], r.vDim)
	for i := range floats(r.q.Data) {
		floats(r.q.Data)[i] = float32(rng.NormFloat64())
	}
	return r
}

// fillShape allocates what fill fills.
func (r *rig) fillShape(t testing.TB) {
	t.Helper()
	if r.rows == 0 {
		r.rows = 1
	}
	if r.vDim == 0 {
		r.vDim = r.headDim
	}
	context := slices.Max(r.lens) + 7
	c, err := kv.New([]kv.Layer{{Heads: r.kvHeads, KeyDim: r.headDim, ValueDim: r.vDim, TypeK: r.typ, TypeV: r.typ, NamePrefix: "blk.0"}}, len(r.lens), context)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	r.cache = c
	n := r.rows * len(r.lens)
	r.q = f32Value("q", n, r.heads*r.headDim)
	if r.mask != nil {
		r.maskVal = f32Value("mask", n, context)
		m := floats(r.maskVal.Data)
		for i := range m {
			m[i] = r.mask[i%len(r.mask)]
		}
		if r.maskTyp == quant.F16 {
			b := alignedBytes(2 * len(m))
			if err := quant.Quantize(quant.F16, b, m); err != nil {
				t.Fatal(err)
			}
			r.maskVal.Type, r.maskVal.Data = quant.F16, b
		}
	}
	// The projection's result is not looked at, only what it is given.
	cols := r.heads * r.vDim
	typ := quant.Q8_0
	if cols%256 == 0 {
		typ = quant.Q4_K
	}
	if cols%typ.BlockElems() != 0 {
		typ = quant.F32
	}
	r.weight = &op.Value{Name: "w", Role: op.Weight, Type: typ, Cols: cols, Height: 8, Experts: 1, Data: alignedBytes(8 * typ.RowBytes(cols))}
}

func f32Value(name string, rows, cols int) *op.Value {
	return &op.Value{Name: name, Role: op.Weight, Type: quant.F32, Cols: cols, Height: rows, Experts: 1, Data: alignedBytes(4 * rows * cols)}
}

func (r *rig) fillCache(t testing.TB, rng *rand.Rand, c *op.Value, dim int) [][]float32 {
	t.Helper()
	rowBytes := c.Type.RowBytes(dim)
	c.Data[0] = 0xff // NaN, or for Q8_0 a scale that is
	for n := 1; n < len(c.Data); n *= 2 {
		copy(c.Data[n:], c.Data[:n])
	}
	vals := make([][]float32, len(r.lens))
	row := make([]float32, dim)
	for slot, n := range r.lens {
		vals[slot] = make([]float32, n*r.kvHeads*dim)
		for h := range r.kvHeads {
			rows := kv.Rows(c, slot, h)
			for j := range n {
				for i := range row {
					row[i] = float32(rng.NormFloat64())
				}
				b := rows[j*rowBytes : (j+1)*rowBytes]
				if err := quant.Quantize(c.Type, b, row); err != nil {
					t.Fatal(err)
				}
				if err := quant.Dequantize(c.Type, vals[slot][(j*r.kvHeads+h)*dim:][:dim], b); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	return vals
}

func (r *rig) scale() float32 { return float32(1 / math.Sqrt(float64(r.headDim))) }

// batch is every slot's last rows.
func (r *rig) batch() *device.Batch {
	b := &device.Batch{}
	for slot, n := range r.lens {
		for i := range r.rows {
			b.Output = append(b.Output, int32(len(b.Tokens)))
			b.Tokens = append(b.Tokens, 0)
			b.Pos = append(b.Pos, int32(n-r.rows+i))
			b.Slot = append(b.Slot, int32(slot))
		}
	}
	return b
}

// run is the output of a lane, [n][heads*vDim], and what the projection was
// given, with the name of the registration that ran.
func (r *rig) run(t testing.TB, d *Device, keys int, disable ...string) (out []float32, packed []byte, chosen string) {
	t.Helper()
	p, o := r.compile(t, d, keys, disable...)
	e, err := d.Load(p, device.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if err := e.Run(r.batch()); err != nil {
		t.Fatal(err)
	}
	out = slices.Clone(floats(e.Output(o)))
	for _, at := range p.Places {
		if strings.HasPrefix(at.Value.Name, "attention.q8") || at.Value.Name == "attention.f32" {
			packed = slices.Clone(e.Output(at.Value))
		}
	}
	return out, packed, p.Decisions[0].Chosen
}

func (r *rig) compile(t testing.TB, d *Device, keys int, disable ...string) (*device.Program, *op.Value) {
	t.Helper()
	n := r.rows * len(r.lens)
	g, out := r.graph()
	p, err := dispatch.Compile(d, g, device.Limits{Tokens: n, Outputs: n, Keys: keys}, dispatch.Options{Disable: disable})
	if err != nil {
		t.Fatal(err)
	}
	return p, out
}

// graph is the attention and its projection; the output is the attention's.
func (r *rig) graph() (*op.Graph, *op.Value) {
	in := []*op.Value{r.q, r.cache.K[0], r.cache.V[0]}
	if r.maskVal != nil {
		in = append(in, r.maskVal)
	}
	out := &op.Value{Name: "attention", Role: op.Output, Type: quant.F32, Per: op.PerToken, Cols: r.heads * r.vDim, Height: 1, Experts: 1}
	y := &op.Value{Name: "y", Role: op.Transient, Type: quant.F32, Per: op.PerToken, Cols: 8, Height: 1, Experts: 1}
	g := &op.Graph{Logits: out, Ops: []*op.Op{
		{Kind: op.Attention, Name: "attention", In: in, Out: []*op.Value{out}, Attr: op.Attr{
			Heads: r.heads, KVHeads: r.kvHeads, HeadDim: r.headDim, VDim: r.vDim, Scale: r.scale(), Window: r.window,
		}},
		{Kind: op.MulMat, Name: "project", In: []*op.Value{out, r.weight}, Out: []*op.Value{y}},
	}}
	return g, out
}

// reference is the same by definition, in float64: [n][heads*vDim], and the
// bound of what a float32 implementation may be off by.
func (r *rig) reference() (want, tol []float64) {
	queries := floats(r.q.Data)
	for slot, n := range r.lens {
		p := attn.Problem{
			Rows: r.rows, Keys: n, Heads: r.heads, KVHeads: r.kvHeads, HeadDim: r.headDim, VDim: r.vDim,
			Scale: float64(r.scale()), Causal: true, Pos: n - r.rows, Window: r.window,
			Q: queries[slot*r.rows*r.heads*r.headDim:], K: r.k[slot], V: r.v[slot],
		}
		if r.mask != nil {
			// F16 holds the masks of these tests exactly.
			for i := range r.rows {
				at := (slot*r.rows + i) * r.maskVal.Cols % len(r.mask)
				p.Mask = append(p.Mask, r.mask[at:at+n]...)
			}
		}
		want = append(want, attn.Reference(p)...)
	}
	// Scores are off by at most headDim/4+5 roundings of sum|q k| ~ 0.64
	// headDim before scaling; weights by that much and their sums by one
	// rounding a key; values are of size 1.
	const u = 0x1p-24
	keys := float64(slices.Max(r.lens))
	e := (float64(r.headDim)/4 + 5) * u * 4 * math.Sqrt(float64(r.headDim))
	tol = make([]float64, len(want))
	for i := range tol {
		tol[i] = 2*e + (keys/8+2*math.Log(keys+1)+64)*u
	}
	return want, tol
}

func (r *rig) check(t *testing.T, what string, got []float32, want, tol []float64) {
	t.Helper()
	for i, w := range want {
		if d := math.Abs(float64(got[i]) - w); !(d <= tol[i]) {
			t.Fatalf("%s: row %d, head %d, channel %d: %g, want %g, off by %.3g, allowed %.3g", what,
				i/(r.heads*r.vDim), i/r.vDim%r.heads, i%r.vDim, got[i], w, d, tol[i])
		}
	}
}

// checkPack compares the packed rows with those that the unfused pack makes.
func (r *rig) checkPack(t *testing.T, what string, d *Device, out []float32, packed []byte) {
	t.Helper()
	kern, _ := simd.MatVecFor(d.level, r.weight.Type)
	n, cols := r.rows*len(r.lens), r.heads*r.vDim
	want := make([]byte, n*kern.ActBytes(cols))
	for i := range n {
		kern.Pack(want[i*kern.ActBytes(cols):], out[i*cols:(i+1)*cols])
	}
	if !slices.Equal(packed, want) {
		t.Errorf("%s: the pack is not that of the output", what)
	}
}

// checkPacked compares what the packed rows stand for with the reference: each
// element is off by what the output may be and half a quantisation step.
func (r *rig) checkPacked(t *testing.T, what string, d *Device, packed []byte, want, tol []float64) {
	t.Helper()
	kern, _ := simd.MatVecFor(d.level, r.weight.Type)
	cols := r.heads * r.vDim
	for i, w := range want {
		row := packed[i/cols*kern.ActBytes(cols):][:kern.ActBytes(cols)]
		x, half := unpack(kern.ActID, row, i%cols)
		if d := math.Abs(x - w); !(d <= half*(1+0x1p-20)+tol[i]) {
			t.Fatalf("%s: packed row %d, element %d: %g, want %g, off by %.3g, allowed %.3g and %.3g", what,
				i/cols, i%cols, x, w, d, half, tol[i])
		}
	}
}

// unpack is an element of a packed row and half a step of its block, by the
// layouts in package simd.
func unpack(actID string, row []byte, i int) (x, half float64) {
	f32 := func(at int) float64 {
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(row[at:])))
	}
	var q int8
	var d float64
	switch actID {
	case "q8k":
		at := i / 256 * 320
		q, d = int8(row[at+i%256]), f32(at+304)
	case "q8b":
		k := len(row) / 40 * 32 // 32 numbers, a scale and a sum
		q, d = int8(row[i]), f32(k+i/32*4)
	case "f32":
		return f32(4 * i), 0
	default:
		panic("unknown pack " + actID)
	}
	return float64(q) * d, d / 2
}

func testDevice(t testing.TB, threads int) *Device {
	t.Helper()
	d, err := New(Config{Threads: threads})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// keyLengths cross every boundary of blocks, splits and reducers.
var keyLengths = []int{
	1, 2, 63, 64, 65, 127, 128, 129, 256, 257, 320, 513, 2047, 2048, 2049, 2100, 2112, 2113, 2304, 3000, 3008, 4096, 4864,
	8192, 32768, 32769, 131072,
}

// Every lane agrees with the float64 reference at every depth, in its output
// and in what it packs for the projection.
func TestEveryAttentionLaneMatchesTheReference(t *testing.T) {
	d := testDevice(t, 2)
	shapes := []struct {
		name string
		rig  rig
		most int // keys
	}{
		{"Qwen3-0.6B", rig{heads: 16, kvHeads: 8, headDim: 128}, 8192},
		{"Qwen3-Coder-30B", rig{heads: 32, kvHeads: 4, headDim: 128}, 8192},
		{"Llama-3-8B", rig{heads: 32, kvHeads: 8, headDim: 128}, 8192},
		{"gqa 1", rig{heads: 3, kvHeads: 3, headDim: 64}, 8192},
		{"gqa 5", rig{heads: 5, kvHeads: 1, headDim: 64}, 8192},
		{"gqa 7", rig{heads: 14, kvHeads: 2, headDim: 64}, 8192},
		{"gqa 16", rig{heads: 16, kvHeads: 1, headDim: 64}, 8192},
		{"gqa 32", rig{heads: 32, kvHeads: 1, headDim: 64}, 8192},
		{"gqa 64", rig{heads: 64, kvHeads: 1, headDim: 32}, 513},
		{"values of another size", rig{heads: 4, kvHeads: 2, headDim: 576, vDim: 512}, 320},
		{"head of 80", rig{heads: 4, kvHeads: 2, headDim: 80, vDim: 48}, 2113},
		{"head of 20", rig{heads: 4, kvHeads: 2, headDim: 20, vDim: 12}, 320},
		{"small", rig{heads: 2, kvHeads: 1, headDim: 16}, 1 << 30},
	}
	for _, s := range shapes {
		t.Run(s.name, func(t *testing.T) {
			for _, n := range keyLengths {
				if n > s.most || testing.Short() && n > 2113 {
					continue
				}
				r := s.rig
				r.typ, r.lens = quant.F16, []int{n}
				r.fill(t, uint64(n))
				r.everyLane(t, d, fmt.Sprintf("%d keys", n), n)
			}
		})
	}
}

// everyLane runs the split lane of so many keys in both forms, and the serial
// lane, and compares them with the reference and the split ones with each
// other.
func (r *rig) everyLane(t *testing.T, d *Device, what string, keys int) {
	t.Helper()
	want, tol := r.reference()
	lane := "attention.decode_split." + attn.ReducerFor(keys).String()
	fused, packed, chosen := r.run(t, d, keys)
	if chosen != lane+".next_q8" {
		t.Fatalf("%s: chose %s, want %s.next_q8", what, chosen, lane)
	}
	r.check(t, what+", "+chosen, fused, want, tol)
	r.checkPack(t, what+", "+chosen, d, fused, packed)
	r.checkPacked(t, what+", "+chosen, d, packed, want, tol)

	plain, packed, chosen := r.run(t, d, keys, lane+".next_q8")
	if chosen != lane {
		t.Fatalf("%s: chose %s, want %s", what, chosen, lane)
	}
	r.checkPack(t, what+", "+chosen, d, plain, packed)
	if i := differ(plain, fused); i >= 0 {
		t.Errorf("%s: %s differs from its fused form at %d: %g and %g", what, lane, i, plain[i], fused[i])
	}
	serial, _, chosen := r.run(t, d, keys, "attention.decode_split")
	if chosen != "attention.serial" {
		t.Fatalf("%s: chose %s, want attention.serial", what, chosen)
	}
	r.check(t, what+", "+chosen, serial, want, tol)
}

// differ is the first index at which two results have different bits, or -1.
func differ(a, b []float32) int {
	for i := range a {
		if math.Float32bits(a[i]) != math.Float32bits(b[i]) {
			return i
		}
	}
	return -1
}

func TestAttentionLanesTakeEveryCacheType(t *testing.T) {
	d := testDevice(t, 2)
	for _, typ := range []quant.Type{quant.F32, quant.F16, quant.BF16, quant.Q8_0} {
		for _, n := range []int{65, 300, 2100} {
			r := (&rig{heads: 8, kvHeads: 2, headDim: 64, typ: typ, lens: []int{n}}).fill(t, 3)
			r.everyLane(t, d, fmt.Sprintf("%s, %d keys", typ, n), n)
		}
	}
}

func TestAttentionLanesTakeRowsAndSequences(t *testing.T) {
	d := testDevice(t, 2)
	for _, c := range []struct {
		name string
		lens []int
		rows int
	}{
		{"two rows of one sequence", []int{130}, 2},
		{"rows on both sides of a split", []int{258}, 5},
		{"sixteen rows", []int{2060}, 16},
		{"sequences of different lengths", []int{1, 70, 2100, 300}, 1},
		{"sequences of several rows", []int{64, 700, 3}, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := (&rig{heads: 8, kvHeads: 2, headDim: 64, typ: quant.F16, lens: c.lens, rows: c.rows}).fill(t, 4)
			keys := slices.Max(c.lens)
			want, tol := r.reference()
			got, _, chosen := r.run(t, d, keys)
			if !strings.HasPrefix(chosen, "attention.decode_split.") {
				t.Fatalf("chose %s", chosen)
			}
			r.check(t, chosen, got, want, tol)
			serial, _, _ := r.run(t, d, keys, "attention.decode_split")
			r.check(t, "serial", serial, want, tol)
		})
	}
}

// masks of one row of n keys.
func masks(n int) map[string][]float32 {
	inf := float32(math.Inf(-1))
	mask := func(left func(j int) bool) []float32 {
		m := make([]float32, n+7)
		for j := range m {
			if !left(j) {
				m[j] = inf
			}
		}
		return m
	}
	biased := mask(func(j int) bool { return j%3 != 0 })
	for j := range biased {
		biased[j] += float32(j%7) / 8
	}
	return map[string][]float32{
		"nothing masked":         mask(func(int) bool { return true }),
		"one block partly":       mask(func(j int) bool { return j < 70 || j > 100 }),
		"one block fully":        mask(func(j int) bool { return j < 64 || j >= 128 }),
		"first block":            mask(func(j int) bool { return j >= 64 }),
		"all but the last key":   mask(func(j int) bool { return j == n-1 }),
		"every other key":        mask(func(j int) bool { return j%2 == 0 }),
		"all":                    mask(func(int) bool { return false }),
		"every third, with bias": biased,
	}
}

func TestAttentionLanesTakeMasks(t *testing.T) {
	d := testDevice(t, 2)
	for _, n := range []int{200, 700, 2500} {
		for name, mask := range masks(n) {
			for _, typ := range []quant.Type{quant.F32, quant.F16} {
				r := (&rig{heads: 4, kvHeads: 2, headDim: 64, typ: quant.F16, lens: []int{n}, mask: mask, maskTyp: typ}).fill(t, 5)
				r.everyLane(t, d, fmt.Sprintf("%d keys, %s mask: %s", n, typ, name), n)
			}
		}
	}
}

// Each row of a batch has a mask of its own: the last alone attends anything,
// the last alone attends nothing, and each attends other keys.
func TestAttentionLanesTakeAMaskForEachRow(t *testing.T) {
	d := testDevice(t, 2)
	inf := float32(math.Inf(-1))
	for _, n := range []int{70, 300, 2100} {
		for name, left := range map[string]func(row, key int) bool{
			"the last row only":    func(row, _ int) bool { return row == 1 },
			"all but the last row": func(row, _ int) bool { return row != 1 },
			"one of three each":    func(row, key int) bool { return key%3 == row },
		} {
			const rows = 2
			mask := make([]float32, rows*(n+7))
			for i := range mask {
				if !left(i/(n+7), i%(n+7)) {
					mask[i] = inf
				}
			}
			r := (&rig{heads: 4, kvHeads: 2, headDim: 64, typ: quant.F16, lens: []int{n}, rows: rows, mask: mask}).fill(t, 11)
			r.everyLane(t, d, fmt.Sprintf("%d keys, attending: %s", n, name), n)
		}
	}
}

// What a masked key holds is of no consequence, be it NaN or infinite.
func TestMaskedKeysAddNothing(t *testing.T) {
	d := testDevice(t, 2)
	for _, n := range []int{200, 700, 2500} {
		for name, mask := range masks(n) {
			r := (&rig{heads: 4, kvHeads: 2, headDim: 64, typ: quant.F16, lens: []int{n}, mask: mask}).fill(t, 6)
			before, _, _ := r.run(t, d, n)
			serial, _, _ := r.run(t, d, n, "attention.decode_split")
			for what, stale := range staleHalves {
				r.overwrite(stale, func(j int) bool { return j >= n || math.IsInf(float64(mask[j]), -1) })
				after, _, chosen := r.run(t, d, n)
				if i := differ(before, after); i >= 0 {
					t.Errorf("%d keys, masked: %s, holding %s, %s: output %d was %g, is %g", n, name, what, chosen, i, before[i], after[i])
				}
				after, _, chosen = r.run(t, d, n, "attention.decode_split")
				if i := differ(serial, after); i >= 0 {
					t.Errorf("%d keys, masked: %s, holding %s, %s: output %d was %g, is %g", n, name, what, chosen, i, serial[i], after[i])
				}
			}
		}
	}
}

// staleHalves are bytes that may lie where nothing is attended, as F16.
var staleHalves = map[string][2]byte{"NaN": {0xff, 0xff}, "+Inf": {0x00, 0x7c}, "-Inf": {0x00, 0xfc}, "65504": {0xff, 0x7b}}

// overwrite fills the keys and values of slot 0 at some positions.
func (r *rig) overwrite(half [2]byte, at func(j int) bool) {
	for _, c := range []*op.Value{r.cache.K[0], r.cache.V[0]} {
		for h := range r.kvHeads {
			for j := range c.Cache.Context {
				if at(j) {
					row := cacheRow(c, 0, h, j)
					copy(row, slices.Repeat(half[:], len(row)/2))
				}
			}
		}
	}
}

// What lies behind a sequence's end or before its window is of no consequence,
// also to rows of a tile that ends later.
func TestStaleKeysAddNothing(t *testing.T) {
	d := testDevice(t, 2)
	for _, n := range []int{1, 63, 65, 200, 257, 2100} {
		for _, window := range []int{0, 50} {
			r := (&rig{heads: 4, kvHeads: 2, headDim: 64, typ: quant.F16, lens: []int{n}, window: window}).fill(t, 12)
			for _, disable := range [][]string{nil, {"attention.decode_split"}} {
				before, _, _ := r.run(t, d, n, disable...)
				for what, stale := range staleHalves {
					r.overwrite(stale, func(j int) bool { return j >= n || window > 0 && j < n-window })
					after, _, chosen := r.run(t, d, n, disable...)
					if i := differ(before, after); i >= 0 {
						t.Errorf("%d keys, window %d, stale %s, %s: output %d was %g, is %g", n, window, what, chosen, i, before[i], after[i])
					}
				}
			}
		}
	}
}

func TestAttentionLanesTakeWindows(t *testing.T) {
	d := testDevice(t, 2)
	for _, n := range []int{50, 300, 2100, 4096} {
		for _, w := range []int{1, 63, 64, 65, 129, 1000, 2048, 5000} {
			r := (&rig{heads: 4, kvHeads: 2, headDim: 64, typ: quant.F16, lens: []int{n}, rows: 3, window: w}).fill(t, 7)
			want, tol := r.reference()
			for _, disable := range [][]string{nil, {"attention.decode_split"}} {
				got, _, chosen := r.run(t, d, n, disable...)
				r.check(t, fmt.Sprintf("%d keys, window %d, %s", n, w, chosen), got, want, tol)
			}
		}
	}
}

// The serial lane does not split, but its bits do not depend on threads either.
func TestSerialAttentionBitsDoNotDependOnThreads(t *testing.T) {
	for _, rows := range []int{1, 5} {
		r := (&rig{heads: 8, kvHeads: 2, headDim: 64, typ: quant.F16, lens: []int{2100, 300}, rows: rows}).fill(t, 13)
		want, _, _ := r.run(t, testDevice(t, 1), 2100, "attention.decode_split")
		for _, threads := range []int{2, 3, 8} {
			got, _, chosen := r.run(t, testDevice(t, threads), 2100, "attention.decode_split")
			if i := differ(want, got); i >= 0 {
				t.Errorf("%d threads, %s: output %d is %g, want %g", threads, chosen, i, got[i], want[i])
			}
		}
	}
}

func TestAttentionAllocatesNothing(t *testing.T) {
	d := testDevice(t, 1)
	for _, n := range []int{200, 2000, 2100} {
		for _, disable := range [][]string{nil, {"attention.decode_split"}} {
			r := (&rig{heads: 8, kvHeads: 2, headDim: 64, typ: quant.F16, lens: []int{n}}).fill(t, 14)
			p, _ := r.compile(t, d, n, disable...)
			e, err := d.Load(p, device.LoadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			b := r.batch()
			if allocs := testing.AllocsPerRun(10, func() {
				if err := e.Run(b); err != nil {
					t.Fatal(err)
				}
			}); allocs != 0 {
				t.Errorf("%d keys, %s: %g allocations a run", n, p.Decisions[0].Chosen, allocs)
			}
			e.Close()
		}
	}
}

// A row's bits depend on nothing but its own keys: not on the number of
// threads, the depth that the program was compiled for (and so the lane), nor
// on the other rows and sequences of the batch.
func TestSplitAttentionBitsDependOnlyOnTheRowsKeys(t *testing.T) {
	alone := (&rig{heads: 8, kvHeads: 2, headDim: 64, typ: quant.F16, lens: []int{200}}).fill(t, 8)
	want, _, _ := alone.run(t, testDevice(t, 1), 200)
	for _, threads := range []int{1, 2, 3, 8} {
		d := testDevice(t, threads)
		for _, keys := range []int{200, 256, 2048, 4096} {
			got, _, chosen := alone.run(t, d, keys)
			if i := differ(want, got); i >= 0 {
				t.Errorf("%d threads, compiled for %d keys (%s): output %d is %g, want %g", threads, keys, chosen, i, got[i], want[i])
			}
		}
	}
	long := (&rig{heads: 8, kvHeads: 2, headDim: 64, typ: quant.F16, lens: []int{2100}, rows: 4}).fill(t, 9)
	all, _, _ := long.run(t, testDevice(t, 2), 2100)
	for i := range 4 {
		one := *long
		one.rows, one.lens = 1, []int{2100 - 3 + i}
		one.q = &op.Value{Name: "q", Role: op.Weight, Type: quant.F32, Cols: long.q.Cols, Height: 1, Experts: 1, Data: long.q.Data[i*4*long.q.Cols:][:4*long.q.Cols]}
		got, _, _ := one.run(t, testDevice(t, 2), 2100)
		if j := differ(got, all[i*len(got):][:len(got)]); j >= 0 {
			t.Errorf("row %d of 4 differs from the row alone at %d", i, j)
		}
	}
}

func TestANaNInAnAttendedKeyIsAFault(t *testing.T) {
	d := testDevice(t, 2)
	for _, n := range []int{100, 500, 2200} {
		for _, disable := range [][]string{nil, {"attention.decode_split"}} {
			for which := range 2 {
				r := (&rig{heads: 4, kvHeads: 2, headDim: 64, typ: quant.F16, lens: []int{n}}).fill(t, 10)
				c := []*op.Value{r.cache.K[0], r.cache.V[0]}[which]
				row := cacheRow(c, 0, 1, n/2)
				row[0], row[1] = 0xff, 0xff
				p, _ := r.compile(t, d, n, disable...)
				e, err := d.Load(p, device.LoadOptions{})
				if err != nil {
					t.Fatal(err)
				}
				err = e.Run(r.batch())
				if err == nil || !strings.Contains(err.Error(), "attention row 0") {
					t.Errorf("%d keys, %s: error %v, want one that names the row", n, p.Decisions[0].Chosen, err)
				}
				e.Close()
			}
		}
	}
}
