package emu_test

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdfast-llm/holdfast/amd/emu"
	"github.com/holdfast-llm/holdfast/amd/hsaco"
)

// objects are code objects that are there without a compiler.
func objects(t testing.TB) map[string][]byte {
	t.Helper()
	paths, err := filepath.Glob("../hsaco/testdata/*.hsaco")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no code objects: %v", err)
	}
	all := map[string][]byte{}
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all[filepath.Base(path)] = b
	}
	return all
}

// fuzzConfig makes a configuration of a byte: every mode and schedule, with
// pressure and timing or not, and a budget that ends every loop soon.
func fuzzConfig(how byte) emu.Config {
	c := emu.Config{Budget: 4096, Seed: uint64(how), Poison: how&1 != 0, Mode: emu.Mode(how >> 1 & 1)}
	c.Schedule.Waves = emu.WaveOrder(how >> 2 & 3)
	c.Schedule.Groups = emu.GroupOrder(how >> 4 % 3)
	if how&0x80 != 0 {
		c.Schedule.Quantum = 8
		c.Pressure = &emu.Pressure{Evict: 0.1, Migrate: 0.5}
		if c.Mode == emu.Relaxed {
			c.Timing = emu.Timing{LateLoads: true, EarlyLoads: 0.1, EarlyStores: 0.1}
		}
	}
	return c
}

// try runs a kernel with a buffer for each pointer and checks that what goes
// wrong is an error that says what.
func try(t *testing.T, dev *emu.Device, k *emu.Kernel) {
	t.Helper()
	n := k.KernargBytes()
	if n > 1<<16 {
		return
	}
	b, err := dev.Alloc("buffer", 4096, emu.Placement{})
	if err != nil {
		t.Fatal(err)
	}
	kernarg := make([]byte, n)
	for at := 0; at+8 <= n; at += 8 {
		binary.LittleEndian.PutUint64(kernarg[at:], b.Addr)
	}
	l := emu.Dispatch{Kernel: k, Grid: [3]uint32{80}, Workgroup: [3]uint32{40}, Kernarg: kernarg}
	if k.Meta != nil && k.Meta.ReqdWorkgroupSize != [3]uint32{} {
		l.Workgroup = k.Meta.ReqdWorkgroupSize
	}
	_, err = dev.Run(ctx, l)
	var fault *emu.Fault
	var unsupported *emu.Unsupported
	var launch *emu.LaunchError
	switch {
	case err == nil:
	case errors.As(err, &fault) && fault.Detail != "":
	case errors.As(err, &unsupported) && unsupported.Text != "":
	case errors.As(err, &launch) && launch.Detail != "":
	default:
		t.Fatalf("an error of no known sort: %T %v", err, err)
	}
}

// FuzzRun puts words in the place of a kernel's code: whatever they are, the
// device runs them, stops at the budget or says what is wrong.
func FuzzRun(f *testing.F) {
	all := objects(f)
	for name, b := range all {
		o, err := hsaco.Parse(name, b)
		if err != nil {
			f.Fatal(err)
		}
		for i := range o.Segments {
			if s := &o.Segments[i]; s.Flags&1 != 0 && len(s.Data) >= 64 {
				f.Add(s.Data[:min(len(s.Data), 1024)], byte(len(name)))
			}
		}
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range 16 {
		words := make([]byte, 0, 256)
		for range 64 {
			words = binary.LittleEndian.AppendUint32(words, rng.Uint32())
		}
		f.Add(words, byte(i*17))
	}
	f.Fuzz(func(t *testing.T, code []byte, how byte) {
		name := "args.hsaco"
		if how&0x40 != 0 {
			name = "lines.hsaco" // wave64
		}
		runWords(t, all[name], code, how)
	})
}

// runWords runs the words as the first kernel of an object.
func runWords(t *testing.T, object, code []byte, how byte) {
	o, err := hsaco.Parse("object", object)
	if err != nil {
		t.Fatal(err)
	}
	dev, err := emu.New(fuzzConfig(how))
	if err != nil {
		t.Fatal(err)
	}
	m, err := dev.Load(o)
	if err != nil {
		t.Fatal(err)
	}
	k, err := m.Kernel(m.Kernels()[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range m.Buffers {
		if strings.HasSuffix(b.Name, ": code") {
			copy(b.Data[k.EntryPC()-b.Addr:], code)
		}
	}
	try(t, dev, k)
}

// TestRandomWordsAreRunOrRefused is what FuzzRun does, from a fixed seed and
// with words that are more often instructions: encodings' prefixes with random
// fields.
func TestRandomWordsAreRunOrRefused(t *testing.T) {
	t.Parallel()
	prefixes := []struct{ prefix, bits uint32 }{
		{0x80000000, 30}, {0xbe800000, 23}, {0xbf000000, 23}, {0xb0000000, 28}, {0xf4000000, 26}, // scalar
		{0x00000000, 31}, {0x7e000000, 25}, {0x7c000000, 25}, {0xd4000000, 26}, {0xcc000000, 26}, {0xc8000000, 26}, // vector
		{0xd8000000, 26}, {0xdc000000, 26}, {0xe0000000, 26}, {0xe8000000, 26}, // memory
	}
	all := objects(t)
	n := 3000
	if testing.Short() {
		n = 300
	}
	rng := rand.New(rand.NewPCG(2, 2))
	for i := range n {
		var code []byte
		for range 24 {
			p := prefixes[rng.IntN(len(prefixes))]
			code = binary.LittleEndian.AppendUint32(code, p.prefix|rng.Uint32()&(1<<p.bits-1))
			if p.bits == 26 {
				code = binary.LittleEndian.AppendUint32(code, rng.Uint32())
			}
		}
		runWords(t, all[[]string{"args.hsaco", "lines.hsaco"}[i&1]], code, byte(rng.Uint32()))
	}
}

// FuzzLoad loads whatever reads as a code object and runs its kernels.
func FuzzLoad(f *testing.F) {
	for _, b := range objects(f) {
		f.Add(b, byte(0))
		f.Add(b, byte(0x2d))
	}
	f.Fuzz(func(t *testing.T, b []byte, how byte) {
		o, err := hsaco.Parse("fuzzed", b)
		if err != nil {
			return
		}
		for i := range o.Segments {
			if o.Segments[i].MemBytes > 1<<20 {
				return // allowed up to 1 GiB, which would only take time here
			}
		}
		dev, err := emu.New(fuzzConfig(how))
		if err != nil {
			t.Fatal(err)
		}
		m, err := dev.Load(o)
		if err != nil {
			var load *emu.LoadError
			if !errors.As(err, &load) || load.Detail == "" {
				t.Fatalf("an error of no known sort: %T %v", err, err)
			}
			return
		}
		for i, name := range m.Kernels() {
			if i == 4 {
				break
			}
			if k, err := m.Kernel(name); err == nil {
				try(t, dev, k)
			}
		}
	})
}
