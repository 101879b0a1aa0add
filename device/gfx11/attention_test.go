package gfx11

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/holdfast-llm/holdfast/attn/kv"
	"github.com/holdfast-llm/holdfast/device"
	"github.com/holdfast-llm/holdfast/dispatch"
	"github.com/holdfast-llm/holdfast/gguf/quant"
	"github.com/holdfast-llm/holdfast/op"
)

// heads is an attention's shape and depth.
type heads struct {
	heads, kvHeads, keyDim, valueDim int
	window                           int
	rows, depth                      int // the last row attends depth keys
}

// trial is an attention with a projection behind it: its values are the queries,
// the result, the projection's weights and its result.
func (h heads) trial(c Config, disable ...string) trial {
	return trial{config: c, rows: h.rows, pos: h.depth - h.rows, keys: h.depth, disable: disable, build: func(b *builder) []*op.Value {
		kc, vc := b.caches(quant.F16, 1, h.depth+3, h.depth, h.kvHeads, h.keyDim, h.valueDim)
		q := b.input("q", h.rows, h.heads*h.keyDim)
		o := b.Attention("attention", q, kc, vc, h.heads, float32(1/math.Sqrt(float64(h.keyDim))))
		b.Ops[len(b.Ops)-1].Attr.Window = h.window
		w := b.weight("w", quant.Q8_0, 1, 8, h.heads*h.valueDim)
		return []*op.Value{q, o, w, b.MulMat("project", o, w, nil)}
	}}
}

// bound is how far two results of the shape may be apart, if queries and
// probabilities are rounded to F16 on one device (tile): eight standard
// deviations. Queries, keys and values have deviation 1, and so have scores:
// those of n keys share their weight as n/e equal ones would. A relative error r
// of a score or a probability moves the result by r times its weight, those of
// all keys at random: r * sqrt(e/n). Rounding to F16 has a deviation below 2^-12,
// the float32 sums and exponentials below 16 ULP.
func (h heads) bound(tile bool) float64 {
	n, r := h.depth-h.rows+1, 16*ulp
	if h.window > 0 {
		n = min(n, h.window)
	}
	if tile {
		r = math.Hypot(r, math.Sqrt2/(1<<12))
	}
	return 8 * math.Sqrt(math.E/float64(n)) * r
}

func TestAttentionLanesAreTheCPUs(t *testing.T) {
	t.Parallel()
	shapes := []heads{
		{8, 2, 64, 64, 0, 1, 65},     // the embedded model's heads
		{16, 8, 128, 128, 0, 2, 200}, // Qwen3-0.6B's
		{6, 2, 80, 48, 0, 1, 257},    // neither size has matrix units
		{5, 1, 64, 64, 100, 3, 300},  // a window, rows of several positions
		{4, 1, 64, 64, 0, 1, 2113},   // many splits
		{14, 2, 128, 128, 0, 1, 300}, // 7 heads a KV head
		{32, 1, 32, 32, 0, 1, 64},    // 32 heads a KV head
	}
	for _, h := range shapes {
		_, values := h.trial(Config{}).graph(t)
		w := dequantized(t, values[2])
		host := h.trial(Config{}).on(t, newCPU(t))
		want := host.floats(1)
		tile := h.keyDim == h.valueDim && (h.keyDim == 64 || h.keyDim == 128)
		depths := strings.TrimPrefix(strings.TrimSuffix(host.program.Decisions[1].Chosen, ".next_q8"), "attention.decode_split.")
		for _, c := range []struct {
			disable []string
			want    string
		}{
			{nil, "attention.decode_split." + depths + ".next_q8"},
			{[]string{"attention.decode_split." + depths + ".next_q8"}, "attention.decode_split." + depths},
			{[]string{"attention.decode_split." + depths}, "attention.decode_split.fused.next_q8"},
			{[]string{"attention.decode_split." + depths, "attention.decode_split.fused.next_q8"}, "attention.decode_split.fused"},
			{[]string{"attention.decode_split"}, "attention.serial"},
		} {
			for _, wave := range []int{32, 64} {
				if c.want == "attention.decode_split.fused.next_q8" && h.heads/h.kvHeads*h.valueDim%128 != 0 {
					continue
				}
				got := h.trial(Config{Wave: wave}, c.disable...).on(t, newDevice(t, Config{Wave: wave}))
				what := fmt.Sprintf("%v on %s, wave%d", h, c.want, wave)
				if lane := got.program.Decisions[1].Chosen; lane != c.want {
					t.Errorf("%s: ran on %s", what, lane)
				}
				bound := h.bound(tile && c.want != "attention.serial")
				near(t, what, got.floats(1), want, func(int) float64 { return bound })
				// The pack is of what was written.
				cols := h.heads * h.valueDim
				near(t, what+", projected", got.floats(3), host.floats(3), func(i int) float64 {
					row, o := i%8, i/8
					return productBound(w[row*cols:(row+1)*cols], peakOf(want[o*cols:(o+1)*cols]), true)
				})
			}
		}
	}
}

func TestMasksLeaveTheSameKeysOut(t *testing.T) {
	const rows, keys = 2, 300
	for _, typ := range []quant.Type{quant.F32, quant.F16} {
		c := trial{rows: rows, pos: keys - rows, keys: keys, build: func(b *builder) []*op.Value {
			kc, vc := b.caches(quant.F16, 1, keys+3, keys, 2, 64, 64)
			q := b.input("q", rows, 8*64)
			o := b.Attention("attention", q, kc, vc, 8, 0.125)
			// Every third key is left out, and all of the first 70.
			bias := b.random(rows * (keys + 1))
			for i := range bias {
				if key := i % (keys + 1); key%3 == 0 || key < 70 {
					bias[i] = float32(math.Inf(-1))
				}
			}
			m := &op.Value{Name: "mask", Role: op.Weight, Type: typ, Cols: keys + 1, Height: rows, Experts: 1, Data: make([]byte, rows*typ.RowBytes(keys+1))}
			if err := quant.Quantize(typ, m.Data, bias); err != nil {
				t.Fatal(err)
			}
			b.Ops[len(b.Ops)-1].In = append(b.Ops[len(b.Ops)-1].In, m)
			return []*op.Value{o}
		}}
		want := c.on(t, newCPU(t)).floats(0)
		bound := heads{depth: (keys - 70) * 2 / 3, rows: rows}.bound(true) * math.E // scores of deviation sqrt(2)
		for _, disable := range []string{"none", "attention.decode_split.coop", "attention.decode_split"} {
			c.disable = []string{disable}
			got := c.on(t, newDevice(t, Config{}))
			near(t, got.lanes()+", mask of "+typ.String(), got.floats(0), want, func(int) float64 { return bound })
		}
	}
}

func TestAttentionDeclinesWhatItsKernelsDoNotTake(t *testing.T) {
	for _, c := range []struct {
		name       string
		h          heads
		typ        quant.Type
		mask       int
		rows       int
		lane, want string
	}{
		{"keys of Q8_0", heads{4, 2, 64, 64, 0, 1, 64}, quant.Q8_0, 0, 1, "attention.serial", "type (caches are Q8_0 and Q8_0, want F16)"},
		{"65 heads a KV head", heads{65, 1, 16, 16, 0, 1, 64}, quant.F16, 0, 1, "attention.serial", "shape (65 query heads of a KV head, takes 64)"},
		{"heads of 40", heads{2, 1, 40, 64, 0, 1, 64}, quant.F16, 0, 1, "attention.serial", "shape (heads of 40 and 64, takes multiples of 16 up to 576)"},
		{"heads of 592", heads{2, 1, 64, 592, 0, 1, 64}, quant.F16, 0, 1, "attention.serial", "shape (heads of 64 and 592, takes multiples of 16 up to 576)"},
		{"a short mask", heads{2, 1, 64, 64, 0, 1, 64}, quant.F16, 63, 1, "attention.serial", "shape (mask of 63 keys, 64 may be attended)"},
		{"17 rows", heads{2, 1, 64, 64, 0, 17, 64}, quant.F16, 0, 17, "attention.decode_split.direct", "shape (up to 17 rows, takes 16)"},
		{"a KV head of 48 elements in one launch", heads{3, 1, 16, 16, 0, 1, 64}, quant.F16, 0, 1, "attention.decode_split.fused.next_q8", "shape (a KV head's results are 48 elements, want a multiple of 128)"},
	} {
		d := newDevice(t, Config{})
		g := &op.Graph{}
		cache, err := kv.New([]kv.Layer{{Heads: c.h.kvHeads, KeyDim: c.h.keyDim, ValueDim: c.h.valueDim, TypeK: c.typ, TypeV: c.typ, NamePrefix: "blk.0"}}, 1, 64)
		if c.typ == quant.F16 {
			err = nil
		}
		if err != nil {
			t.Fatal(err)
		}
		q := g.New("q", c.h.heads*c.h.keyDim, op.PerToken)
		q.Role = op.Weight
		o := g.Attention("attention", q, cache.K[0], cache.V[0], c.h.heads, 1)
		o.Role = op.Output
		g.Logits = o
		if c.mask > 0 {
			m := g.New("mask", c.mask, op.PerToken)
			m.Role = op.Weight
			g.Ops[0].In = append(g.Ops[0].In, m)
		}
		site := &device.Site{Compile: device.NewCompile(device.Limits{Tokens: c.rows, Outputs: c.rows}), Ops: g.Ops}
		found := false
		for _, r := range d.Registrations(op.Attention) {
			if r.Name != c.lane {
				continue
			}
			found = true
			site.Begin()
			if _, decline := r.Match(site); decline == nil || decline.String() != ": "+c.want {
				t.Errorf("%s: %v, want %s", c.name, decline, c.want)
			}
		}
		if !found {
			t.Errorf("no registration %s", c.lane)
		}
		cache.Close()
	}
}

// A cache type that no kernel takes leaves the operation without a
// registration: the error names it, and nothing was loaded.
func TestAnUnsupportedTypeIsNamedBeforeAnythingIsLoaded(t *testing.T) {
	for want, build := range map[string]func(b *builder) []*op.Value{
		"device gfx11 takes no kv_store for store; kv_store: type (caches are BF16 and BF16, want F16)": func(b *builder) []*op.Value {
			kc, vc := b.caches(quant.BF16, 1, 4, 0, 1, 32, 32)
			k, v := b.input("k", 1, 32), b.input("v", 1, 32)
			b.KVStore("store", k, v, kc, vc)
			return []*op.Value{k}
		},
		"device gfx11 takes no mul_mat for y; mul_mat.swiglu: fusion (y is not followed by another product and their SwiGLU); mul_mat.vec: type (w is Q5_K)": func(b *builder) []*op.Value {
			return []*op.Value{b.MulMat("y", b.input("x", 1, 256), b.weight("w", quant.Q5_K, 1, 4, 256), nil)}
		},
		"device gfx11 takes no get_rows for x; get_rows: type (w is Q4_0)": func(b *builder) []*op.Value {
			return []*op.Value{b.GetRows("x", b.weight("w", quant.Q4_0, 1, 4, 256))}
		},
		"device gfx11 takes no rms_norm for y; rms_norm.next_q8: type (w is F16, want F32); rms_norm: type (w is F16, want F32)": func(b *builder) []*op.Value {
			return []*op.Value{b.RMSNorm("y", b.input("x", 1, 256), b.weight("w", quant.F16, 1, 1, 256), 1)}
		},
	} {
		d := newDevice(t, Config{})
		_, _, err := trial{rows: 1, build: build}.compile(t, d, dispatch.Options{})
		if err == nil || err.Error() != "dispatch: "+want {
			t.Errorf("error %v\nwant dispatch: %s", err, want)
		}
		if d.memory.used != 0 {
			t.Errorf("%s: %s", want, d.memory.holders())
		}
	}
}

// BenchmarkAttention is a decode step's attention of 32 heads of 128 over 4 KV
// heads at 2304 tokens, on each lane, on one core.
func BenchmarkAttention(b *testing.B) {
	h := heads{32, 4, 128, 128, 0, 1, 2304}
	for name, disable := range map[string]string{
		"two_launches": "none", "fused": "attention.decode_split.multi", "serial": "attention.decode_split",
	} {
		b.Run(name, func(b *testing.B) {
			c := h.trial(Config{}, disable)
			_, e, _ := c.load(b, newDevice(b, Config{}), dispatch.Options{}, device.LoadOptions{})
			for range b.N {
				if err := e.Run(c.batch()); err != nil {
					b.Fatal(err)
				}
			}
			n := 0.0
			for _, s := range e.(*Executable).Stats() {
				if strings.HasPrefix(s.Lane, "attention.") {
					n += float64(s.Instructions) / float64(s.Runs)
				}
			}
			b.ReportMetric(n, "instructions/op")
		})
	}
}
