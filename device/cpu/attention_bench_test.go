package cpu

import (
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-llm/holdfast/device"
	"github.com/holdfast-llm/holdfast/dispatch"
	"github.com/holdfast-llm/holdfast/gguf/quant"
	"github.com/holdfast-llm/holdfast/op"
)

// streamed is how much the layers of a benchmark hold together, so that each
// is read from memory and not from a cache.
const streamed = 512 << 20

// caches is memory for the caches of all benchmarks, touched once: fresh pages
// are slow for a while. Every half is a small number, 1/16 to 1/8.
var caches = sync.OnceValue(func() []byte {
	b := alignedBytes(2 * streamed)
	h := halves(b)
	for i := range 1 << 16 {
		h[i] = uint16(0x2c00 + i*7%0x400)
	}
	for n := 1 << 16; n < len(h); n *= 2 {
		copy(h[n:], h[:n])
	}
	return b
})

// borrow puts the rig's caches at the start of from and returns the rest.
func (r *rig) borrow(from []byte) []byte {
	for _, c := range []*op.Value{r.cache.K[0], r.cache.V[0]} {
		n := len(c.Data)
		c.Data, from = from[:n:n], from[(n+63)&^63:]
	}
	return from
}

// copies is how many caches of so many bytes hold streamed bytes.
func copies(kvBytes int) int { return max(2, streamed/kvBytes) }

// layers loads the same attention on caches of their own, enough of them to
// hold streamed bytes.
func layers(b *testing.B, threads, heads, kvHeads, keys int, disable ...string) (run func(i int), kvBytes int) {
	b.Helper()
	d := testDevice(b, threads)
	kvBytes = keys * kvHeads * 128 * 2 * 2
	var loaded []device.Executable
	var batches []*device.Batch
	rest := caches()
	for range copies(kvBytes) {
		r := &rig{heads: heads, kvHeads: kvHeads, headDim: 128, typ: quant.F16, lens: []int{keys}}
		r.fillShape(b)
		rest = r.borrow(rest)
		g, _ := r.graph()
		p, err := dispatch.Compile(d, g, device.Limits{Tokens: 1, Outputs: 1, Keys: keys}, dispatch.Options{Disable: disable})
		if err != nil {
			b.Fatal(err)
		}
		e, err := d.Load(p, device.LoadOptions{})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { e.Close() })
		loaded, batches = append(loaded, e), append(batches, r.batch())
	}
	return func(i int) {
		k := i % len(loaded)
		if err := loaded[k].Run(batches[k]); err != nil {
			b.Fatal(err)
		}
	}, kvBytes
}

// BenchmarkReadBandwidth is the ceiling: threads that do nothing but read.
func BenchmarkReadBandwidth(b *testing.B) {
	for _, threads := range []int{1, 2} {
		b.Run(fmt.Sprintf("threads=%d", threads), func(b *testing.B) {
			d := testDevice(b, 1)
			parts := make([][]float32, threads)
			for i := range parts {
				parts[i] = floats(alignedBytes(streamed / threads))
				for j := range parts[i] {
					parts[i][j] = 1
				}
			}
			runtime.GC()
			start := time.Now()
			for b.Loop() {
				var wg sync.WaitGroup
				for _, p := range parts {
					wg.Go(func() { d.elem.Max(p) })
				}
				wg.Wait()
			}
			report(b, start, streamed)
		})
	}
}

// report gives the time of a megabyte and the bandwidth.
func report(b *testing.B, start time.Time, bytes int) {
	s := time.Since(start).Seconds() / float64(b.N)
	b.ReportMetric(s*1e6/(float64(bytes)/1e6), "us/MB")
	b.ReportMetric(float64(bytes)/s/1e9, "GB/s")
}

// BenchmarkAttention streams the keys and values of one token at depth 8192,
// by lane, sharing of KV heads and threads.
func BenchmarkAttention(b *testing.B) {
	for _, threads := range []int{1, 2} {
		for _, group := range []int{2, 4, 8} {
			for _, lane := range []string{"split", "serial"} {
				b.Run(fmt.Sprintf("threads=%d/gqa=%d/%s", threads, group, lane), func(b *testing.B) {
					benchmarkAttention(b, threads, 4*group, 4, 8192, lane)
				})
			}
		}
	}
	for _, kvHeads := range []int{1, 2} {
		for _, lane := range []string{"split", "serial"} {
			b.Run(fmt.Sprintf("threads=2/kv_heads=%d/%s", kvHeads, lane), func(b *testing.B) {
				benchmarkAttention(b, 2, 4*kvHeads, kvHeads, 8192, lane)
			})
		}
	}
}

// BenchmarkAttentionDepth is what a megabyte of keys and values costs as a
// sequence grows.
func BenchmarkAttentionDepth(b *testing.B) {
	for _, threads := range []int{1, 2} {
		for _, keys := range []int{128, 256, 257, 512, 1024, 2047, 2048, 2049, 2100, 3000, 4096, 8192, 16384, 32768} {
			for _, lane := range []string{"split", "serial"} {
				b.Run(fmt.Sprintf("threads=%d/keys=%d/%s", threads, keys, lane), func(b *testing.B) {
					benchmarkAttention(b, threads, 16, 8, keys, lane)
				})
			}
		}
	}
}

func benchmarkAttention(b *testing.B, threads, heads, kvHeads, keys int, lane string) {
	var disable []string
	if lane == "serial" {
		disable = []string{"attention.decode_split"}
	}
	run, bytes := layers(b, threads, heads, kvHeads, keys, disable...)
	for i := range copies(bytes) {
		run(i)
	}
	runtime.GC() // not while the clock runs
	i := 0
	start := time.Now()
	for b.Loop() {
		run(i)
		i++
	}
	report(b, start, bytes)
}
