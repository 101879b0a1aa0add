package kernel

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/holdfast-llm/holdfast/amd/emu"
	"github.com/holdfast-llm/holdfast/amd/hsaco"
)

// rig is a software device with buffers for one launch of a kernel.
type rig struct {
	dev     *emu.Device
	kernels map[string]*emu.Kernel
	wave    int
}

// everyMode runs f on a device in each memory mode and three seeds: coherent
// memory in order, relaxed memory under three schedules.
func everyMode(t *testing.T, wave int, f func(t *testing.T, r *rig)) {
	t.Helper()
	for _, c := range []emu.Config{
		{Mode: emu.Coherent, Seed: 1, Poison: true},
		{Mode: emu.Relaxed, Seed: 1, Poison: true},
		{Mode: emu.Relaxed, Seed: 2, Poison: true, Schedule: emu.Schedule{Waves: emu.Random}},
		{Mode: emu.Relaxed, Seed: 3, Poison: true, Schedule: emu.Schedule{Waves: emu.ReverseAfterBarriers}},
	} {
		t.Run(fmt.Sprintf("wave%d/%s/seed=%d", wave, c.Mode, c.Seed), func(t *testing.T) {
			dev, err := emu.New(c)
			if err != nil {
				t.Fatal(err)
			}
			f(t, &rig{dev: dev, kernels: map[string]*emu.Kernel{}, wave: wave})
		})
	}
}

// buffer is device memory of exactly n bytes.
type buffer struct{ *emu.Buffer }

func (b buffer) ptr() Pointer { return Pointer(b.Addr) }

// bytes is a buffer that holds data.
func (r *rig) bytes(t testing.TB, name string, data []byte) buffer {
	t.Helper()
	b, err := r.dev.Alloc(name, max(len(data), 1), emu.Placement{})
	if err != nil {
		t.Fatal(err)
	}
	copy(b.Data, data)
	return buffer{b}
}

// floats is a buffer that holds x.
func (r *rig) floats(t testing.TB, name string, x []float32) buffer {
	t.Helper()
	data := make([]byte, 0, 4*len(x))
	for _, v := range x {
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(v))
	}
	return r.bytes(t, name, data)
}

// ints is a buffer that holds x.
func (r *rig) ints(t testing.TB, name string, x []int32) buffer {
	t.Helper()
	data := make([]byte, 0, 4*len(x))
	for _, v := range x {
		data = binary.LittleEndian.AppendUint32(data, uint32(v))
	}
	return r.bytes(t, name, data)
}

// garbage is a buffer for n bytes of results, full of NaNs.
func (r *rig) garbage(t testing.TB, name string, n int) buffer {
	t.Helper()
	b := r.bytes(t, name, make([]byte, n))
	for i := range b.Data {
		b.Data[i] = 0xff
	}
	return b
}

// asFloats is what a buffer holds.
func (b buffer) asFloats() []float32 {
	x := make([]float32, len(b.Data)/4)
	for i := range x {
		x[i] = math.Float32frombits(binary.LittleEndian.Uint32(b.Data[4*i:]))
	}
	return x
}

// asInts is what a buffer holds.
func (b buffer) asInts() []int32 {
	x := make([]int32, len(b.Data)/4)
	for i := range x {
		x[i] = int32(binary.LittleEndian.Uint32(b.Data[4*i:]))
	}
	return x
}

// run launches and reports what ran. Every instruction must be modelled.
func (r *rig) run(t testing.TB, l Launch) *emu.Report {
	t.Helper()
	k := l.Args.Kernel()
	loaded := r.kernels[k.Name]
	if loaded == nil {
		b, err := Object(k.Source, r.wave)
		if err != nil {
			t.Fatal(err)
		}
		o, err := hsaco.Parse(k.Source, b)
		if err != nil {
			t.Fatal(err)
		}
		m, err := r.dev.Load(o)
		if err != nil {
			t.Fatal(err)
		}
		if loaded, err = m.Kernel(k.Name); err != nil {
			t.Fatal(err)
		}
		r.kernels[k.Name] = loaded
	}
	d := emu.Dispatch{
		Kernel:    loaded,
		Grid:      [3]uint32{l.Groups[0] * uint32(k.Items), l.Groups[1], l.Groups[2]},
		Workgroup: [3]uint32{uint32(k.Items), 1, 1},
		Kernarg:   Kernarg(l.Args),
	}
	report, err := r.record(t, l, d)
	if report == nil && err == nil {
		report, err = r.dev.Run(context.Background(), d)
	}
	if err != nil {
		t.Fatalf("%s: %v", k.Name, err)
	}
	return report
}

// near compares results with a reference, each within its bound.
func near(t testing.TB, what string, got []float32, want, bound []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d results, want %d", what, len(got), len(want))
	}
	for i := range got {
		if d := math.Abs(float64(got[i]) - want[i]); !(d <= bound[i]) {
			t.Fatalf("%s: element %d is %v, want %v within %v", what, i, got[i], want[i], bound[i])
		}
	}
}

// same compares results with a reference to the bit.
func same(t testing.TB, what string, got, want []float32) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d results, want %d", what, len(got), len(want))
	}
	for i := range got {
		if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
			t.Fatalf("%s: element %d is %v (%#x), want %v (%#x)", what, i, got[i], math.Float32bits(got[i]), want[i], math.Float32bits(want[i]))
		}
	}
}

// normals are n numbers around 0.
func normals(rng *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(rng.NormFloat64())
	}
	return x
}

var (
	inf = float32(math.Inf(1))
	nan = float32(math.NaN())
)
