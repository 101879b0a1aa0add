package check

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/holdfast-llm/holdfast/amd/emu"
)

// BenchmarkDetectors runs decode attention over 4 KV heads and 36 blocks of 64
// keys, unobserved, under each detector alone and under all of them.
func BenchmarkDetectors(b *testing.B) {
	folder := filepath.Join("..", "amd", "emu", "testdata")
	source, err := os.ReadFile(filepath.Join(folder, "attention.cpp"))
	if err != nil {
		b.Fatal(err)
	}
	path, err := filepath.Abs(folder)
	if err != nil {
		b.Fatal(err)
	}
	o := built(b, "kernel.cpp", string(source), []string{"-x", "c++", "-std=c++20", "-ffreestanding", "-nogpulib", "-O2", "-I", path})
	sets := map[string][]Tool{"all": Tools()}
	names := []string{"none", "all"}
	for _, t := range Tools() {
		sets[string(t)] = []Tool{t}
		names = append(names, string(t))
	}
	for _, name := range names {
		b.Run(name, func(b *testing.B) {
			var config emu.Config
			if tools := sets[name]; tools != nil {
				c, err := New(Options{Tools: tools})
				if err != nil {
					b.Fatal(err)
				}
				config.Observer = c
				defer func() {
					if n := len(c.Report().Findings); n > 0 {
						b.Errorf("%d findings, the first: %v", n, c.Report().Findings[0])
					}
				}()
			}
			benchmarkAttention(b, newRig(b, o, "attention", config))
		})
	}
}

// benchmarkAttention runs the kernel again and again and reports lane
// instructions per second. Keys and values are small whole numbers as halves.
func benchmarkAttention(b *testing.B, r *rig) {
	const heads, blocks, tokens, dims, items = 4, 36, 64, 64, 128
	keys := r.buffer("k", 2*heads*dims*blocks*tokens)
	values := r.buffer("v", len(keys.Data))
	for i := range len(keys.Data) / 2 {
		keys.Data[2*i+1], values.Data[2*i+1] = 0x3c, 0x38+byte(i%3)
	}
	count := r.buffer("count", 4*heads)
	grid, group := [3]uint32{blocks * items, heads, 1}, [3]uint32{items, 1, 1}
	p, err := r.k.Pack(grid, group, r.buffer("q", 4*heads*dims), keys, values, r.buffer("part", 4*heads*blocks*dims),
		r.buffer("most", 4*heads*blocks), r.buffer("sums", 4*heads*blocks), count, r.buffer("out", 4*heads*dims), uint32(blocks*tokens-5))
	if err != nil {
		b.Fatal(err)
	}
	var lanes uint64
	for b.Loop() {
		report, err := r.dev.Run(context.Background(), emu.Dispatch{Kernel: r.k, Grid: grid, Workgroup: group, Kernarg: p.Kernarg})
		if err != nil {
			b.Fatal(err)
		}
		lanes += report.LaneInstructions
		clear(count.Data)
	}
	b.ReportMetric(float64(lanes)/b.Elapsed().Seconds(), "lane-inst/s")
}
