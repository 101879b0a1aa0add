package emu

import (
	"context"
	"math"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/holdfast-llm/holdfast/amd/hsaco"
)

// sample compiles one of the kernels in testdata.
func sample(b testing.TB, source string) *hsaco.Object {
	b.Helper()
	dir := b.TempDir()
	object, linked := filepath.Join(dir, "k.o"), filepath.Join(dir, "k.hsaco")
	command(b, "", "clang-22", "-target", "amdgcn-amd-amdhsa", "-mcpu=gfx1151", "-x", "c++", "-std=c++20",
		"-ffreestanding", "-nogpulib", "-O2", "-c", filepath.Join("testdata", source), "-o", object)
	command(b, "", "ld.lld-22", "-shared", object, "-o", linked)
	o, err := hsaco.Open(linked)
	if err != nil {
		b.Fatal(err)
	}
	return o
}

// benchmarkKernel runs a kernel again and again and reports lane instructions
// per second, in all and for each worker. Slices of arguments are sizes in
// bytes of buffers; random ones hold floats or halves from -1 to 1.
func benchmarkKernel(b *testing.B, c Config, source, name string, grid, workgroup [3]uint32, args ...any) {
	d, err := New(c)
	if err != nil {
		b.Fatal(err)
	}
	m, err := d.Load(sample(b, source))
	if err != nil {
		b.Fatal(err)
	}
	k, err := m.Kernel(name)
	if err != nil {
		b.Fatal(err)
	}
	for i, a := range args {
		if data, ok := a.([]byte); ok {
			if args[i], err = d.Map(k.Meta.Args[i].Name, data, Placement{}); err != nil {
				b.Fatal(err)
			}
		}
	}
	p, err := k.Pack(grid, workgroup, args...)
	if err != nil {
		b.Fatal(err)
	}
	var lanes, instructions uint64
	for b.Loop() {
		r, err := d.Run(context.Background(), Dispatch{Kernel: k, Grid: grid, Workgroup: workgroup, Kernarg: p.Kernarg})
		if err != nil {
			b.Fatal(err)
		}
		lanes += r.LaneInstructions
		instructions += r.Instructions
		for i, a := range args { // counters start at zero
			if buf, ok := a.(*Buffer); ok && k.Meta.Args[i].Name == "count" {
				clear(buf.Data)
			}
		}
	}
	s := b.Elapsed().Seconds()
	b.ReportMetric(float64(lanes)/s, "lane-inst/s")
	b.ReportMetric(float64(instructions)/s, "inst/s")
	b.ReportMetric(float64(lanes)/float64(b.N), "lane-inst/op")
}

// randomFloats are n floats from -1 to 1 as bytes; randomHalves likewise.
func randomFloats(n int) []byte {
	return randomWords(n, 4, func(x float32) uint32 { return math.Float32bits(x) })
}

func randomHalves(n int) []byte {
	return randomWords(n, 2, func(x float32) uint32 { return narrow(math.Float32bits(x)) })
}

func randomWords(n, size int, f func(x float32) uint32) []byte {
	r := rand.New(rand.NewPCG(7, 7))
	data := make([]byte, n*size)
	for i := range n {
		putUint(data[i*size:(i+1)*size], uint64(f(2*r.Float32()-1)))
	}
	return data
}

// BenchmarkAttention is a multi-pass decode attention: 4 KV heads, 36 blocks of
// 64 tokens.
func BenchmarkAttention(b *testing.B) {
	for _, c := range []struct {
		name string
		Config
	}{
		{"workers=1", Config{}},
		{"workers=all", Config{Workers: runtime.NumCPU()}},
		{"observed", Config{Observer: NopObserver{}}},
		{"random", Config{Schedule: Schedule{Waves: Random}}},
	} {
		b.Run(c.name, func(b *testing.B) {
			const heads, blocks, tokens, dims, items = 4, 36, 64, 64, 128
			benchmarkKernel(b, c.Config, "attention.cpp", "attention", [3]uint32{blocks * items, heads, 1}, [3]uint32{items, 1, 1},
				randomFloats(heads*dims), randomHalves(heads*dims*blocks*tokens), randomHalves(heads*dims*blocks*tokens),
				make([]byte, 4*heads*blocks*dims), make([]byte, 4*heads*blocks), make([]byte, 4*heads*blocks),
				make([]byte, 4*heads), make([]byte, 4*heads*dims), uint32(blocks*tokens-5))
		})
	}
}

// BenchmarkMatmul multiplies 64x64 matrices in single precision.
func BenchmarkMatmul(b *testing.B) {
	for _, c := range []struct {
		name string
		Config
	}{
		{"workers=1", Config{}},
		{"workers=all", Config{Workers: runtime.NumCPU()}},
	} {
		b.Run(c.name, func(b *testing.B) {
			const n = 64
			benchmarkKernel(b, c.Config, "matmul.cpp", "matmul", [3]uint32{n / 16 * 256, n / 16, 1}, [3]uint32{256, 1, 1},
				randomFloats(n*n), randomFloats(n*n), make([]byte, 4*n*n))
		})
	}
}
