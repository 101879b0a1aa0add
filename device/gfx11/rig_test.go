package gfx11

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/holdfast-llm/holdfast/attn/kv"
	"github.com/holdfast-llm/holdfast/device"
	"github.com/holdfast-llm/holdfast/device/cpu"
	"github.com/holdfast-llm/holdfast/dispatch"
	"github.com/holdfast-llm/holdfast/gguf/quant"
	"github.com/holdfast-llm/holdfast/op"
)

// trial is a graph that runs on this device and on the CPU, each with inputs
// and caches of its own.
type trial struct {
	config  Config
	rows    int // of the batch; all are outputs
	pos     int // of the first row, in slot 0
	keys    int // the limit; 0: the cache's context
	disable []string
	// build makes the graph and returns the values that are compared; the last
	// is the program's output. It is called once for each device and must make
	// the same each time.
	build func(b *builder) []*op.Value
}

// builder makes graphs with random inputs.
type builder struct {
	op.Graph
	t     testing.TB
	rng   *rand.Rand
	cache *kv.Cache
}

// random is n floats of deviation 1.
func (b *builder) random(n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(b.rng.NormFloat64())
	}
	return x
}

// weight is a random matrix, or a stack of them.
func (b *builder) weight(name string, t quant.Type, experts, height, cols int) *op.Value {
	b.t.Helper()
	data := make([]byte, experts*height*t.RowBytes(cols))
	if err := quant.Quantize(t, data, b.random(experts*height*cols)); err != nil {
		b.t.Fatal(err)
	}
	return &op.Value{Name: name, Role: op.Weight, Type: t, Cols: cols, Height: height, Experts: experts, Data: data}
}

// input is rows of random floats: a transient, by a look-up of tokens 0, 1, ....
func (b *builder) input(name string, rows, cols int) *op.Value {
	b.t.Helper()
	return b.GetRows(name, b.weight(name+".rows", quant.F32, 1, rows, cols))
}

// caches makes the caches of a layer with random keys and values up to
// position filled of each slot, and NaNs behind.
func (b *builder) caches(t quant.Type, slots, context, filled, heads, keyDim, valueDim int) (k, v *op.Value) {
	b.t.Helper()
	c, err := kv.New([]kv.Layer{{Heads: heads, KeyDim: keyDim, ValueDim: valueDim, TypeK: t, TypeV: t, NamePrefix: "blk.0"}}, slots, context)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { c.Close() })
	for _, v := range []*op.Value{c.K[0], c.V[0]} {
		n := v.Type.RowBytes(v.Cache.HeadDim)
		for slot := range slots {
			for h := range heads {
				rows := kv.Rows(v, slot, h)
				for i := range rows {
					rows[i] = 0xff
				}
				if err := quant.Quantize(t, rows[:filled*n], b.random(filled*v.Cache.HeadDim)); err != nil {
					b.t.Fatal(err)
				}
			}
		}
	}
	b.cache = c
	return c.K[0], c.V[0]
}

// result is what a device made of a trial.
type result struct {
	program *device.Program
	values  [][]byte // as build returned them; a cache's is all of it
}

// floats is a value of floats.
func (r *result) floats(i int) []float32 { return asFloats(r.values[i]) }

// lanes are the registrations that were chosen, in order.
func (r *result) lanes() string {
	var names []string
	for _, d := range r.program.Decisions {
		names = append(names, d.Chosen)
	}
	return strings.Join(names, " ")
}

// run runs the trial on both devices.
func (c trial) run(t testing.TB) (gpu, host *result) {
	t.Helper()
	return c.on(t, newDevice(t, c.config)), c.on(t, newCPU(t))
}

func newDevice(t testing.TB, c Config) *Device {
	t.Helper()
	d, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		if d.memory.used != 0 {
			t.Errorf("closed with memory in use: %s", d.memory.holders())
		}
	})
	return d
}

func newCPU(t testing.TB) device.Device {
	t.Helper()
	d, err := cpu.New(cpu.Config{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// graph is the trial's graph.
func (c trial) graph(t testing.TB) (*builder, []*op.Value) {
	b := &builder{t: t, rng: rand.New(rand.NewPCG(1, 2))}
	values := c.build(b)
	for _, v := range values {
		if v.Role == op.Transient {
			v.Role = op.Output
		}
	}
	b.Logits = values[len(values)-1]
	return b, values
}

func (c trial) compile(t testing.TB, d device.Device, opt dispatch.Options) (*device.Program, []*op.Value, error) {
	t.Helper()
	b, values := c.graph(t)
	opt.Disable = c.disable
	p, err := dispatch.Compile(d, &b.Graph, device.Limits{Tokens: c.rows, Outputs: c.rows, Keys: c.keys}, opt)
	return p, values, err
}

func (c trial) load(t testing.TB, d device.Device, opt dispatch.Options, o device.LoadOptions) (*device.Program, device.Executable, []*op.Value) {
	t.Helper()
	p, values, err := c.compile(t, d, opt)
	if err != nil {
		t.Fatal(err)
	}
	e, err := d.Load(p, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return p, e, values
}

// batch is the trial's: rows of slot 0, tokens and outputs all of them.
func (c trial) batch() *device.Batch {
	b := &device.Batch{}
	for i := range c.rows {
		b.Tokens = append(b.Tokens, int32(i))
		b.Pos = append(b.Pos, int32(c.pos+i))
		b.Slot = append(b.Slot, 0)
		b.Output = append(b.Output, int32(i))
	}
	return b
}

func (c trial) on(t testing.TB, d device.Device) *result {
	t.Helper()
	p, e, values := c.load(t, d, dispatch.Options{}, device.LoadOptions{Poison: true})
	if err := e.Run(c.batch()); err != nil {
		t.Fatalf("%s: %v", d.Name(), err)
	}
	r := &result{program: p}
	for _, v := range values {
		b := v.Data
		if v.Role == op.Output {
			b = e.Output(v)
		}
		r.values = append(r.values, append([]byte(nil), b...))
	}
	return r
}

func asFloats(b []byte) []float32 {
	x := make([]float32, len(b)/4)
	for i := range x {
		x[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return x
}

// near compares floats, each within a bound of its own.
func near(t testing.TB, what string, got, want []float32, bound func(i int) float64) {
	t.Helper()
	if len(got) != len(want) || len(got) == 0 {
		t.Fatalf("%s: %d results, want %d", what, len(got), len(want))
	}
	worst := 0.0
	for i := range got {
		d := math.Abs(float64(got[i]) - float64(want[i]))
		if !(d <= bound(i)) {
			t.Fatalf("%s: element %d is %v, the CPU's %v: %.3g apart, want at most %.3g", what, i, got[i], want[i], d, bound(i))
		}
		if bound(i) > 0 {
			worst = max(worst, d/bound(i))
		}
	}
	t.Logf("%s: at most %.2g of the bound", what, worst)
}

// within is a bound relative to the value.
func within(want []float32, relative float64) func(int) float64 {
	return func(i int) float64 { return relative * math.Abs(float64(want[i])) }
}

const ulp = 1.0 / (1 << 23) // of 1, in float32

// dequantized is a weight's elements.
func dequantized(t testing.TB, w *op.Value) []float32 {
	t.Helper()
	x := make([]float32, w.Experts*w.Height*w.Cols)
	if err := quant.Dequantize(w.Type, x, w.Data); err != nil {
		t.Fatal(err)
	}
	return x
}

// productBound is how far two products of one vector of n elements, the
// largest of them peak, with a row of weights may be apart: eight standard
// deviations. Each of the n terms of a sum rounds by half an ULP of the sum so
// far, which is about as large as the sum's own deviation. Packed vectors round
// each element to a step of at most peak/127 on both devices (deviation of a
// rounding: a step over the root of 12), and their scales to F16.
func productBound(row []float32, peak float64, packed bool) float64 {
	sum := 0.0
	for _, w := range row {
		sum += float64(w) * float64(w)
	}
	rounding := math.Sqrt(2*float64(len(row))) * ulp / 2
	if packed {
		rounding = math.Hypot(rounding, math.Sqrt(2.0/12)/127)
		rounding = math.Hypot(rounding, 1.0/(1<<11))
	}
	return 8 * math.Sqrt(sum) * peak * rounding
}

func peakOf(x []float32) float64 {
	p := 0.0
	for _, v := range x {
		p = max(p, math.Abs(float64(v)))
	}
	return p
}
