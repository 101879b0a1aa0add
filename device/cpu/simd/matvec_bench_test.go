package simd

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"unsafe"
)

// Benchmarks stream weights that no cache holds.
const streamBytes = 384 << 20

// BenchmarkMatVec is the product alone, its weights read from memory: by one
// goroutine, and at the best level by two, each with its own half of the
// weights. MB/s counts the bytes of the weights.
func BenchmarkMatVec(b *testing.B) {
	const k, rowsPerCall = 2048, 256
	rng := rand.New(rand.NewPCG(8, 8))
	buf := make([]byte, streamBytes)
	for i := range portableMatVecs {
		typ := portableMatVecs[i].t
		pattern := randomWeights(rng, typ, rowsPerCall, k, weightFills[0].f)
		for _, l := range Levels() {
			mv, _ := MatVecFor(l, typ)
			act := packed(rng, mv, k, actFills[0].f)
			n := streamBytes / (2 * len(pattern)) * 2 * len(pattern)
			if l == Portable {
				n /= 8 // slow, and still more than caches hold
			}
			w := fillFrom(buf[:n], pattern)
			for threads := 1; threads <= 2; threads++ {
				if threads > 1 && l != detected {
					continue
				}
				b.Run(fmt.Sprintf("%v/level=%v/threads=%d", typ, l, threads), func(b *testing.B) {
					b.SetBytes(int64(len(w)))
					for b.Loop() {
						var wg sync.WaitGroup
						for part := range threads {
							wg.Go(func() {
								out, w := make([]float32, rowsPerCall), w[part*len(w)/threads:][:len(w)/threads]
								for ; len(w) >= len(pattern); w = w[len(pattern):] {
									mv.Dot(out, w[:len(pattern)], act, k)
								}
							})
						}
						wg.Wait()
					}
				})
			}
		}
	}
}

// BenchmarkReadBandwidth is the most that the machine gives to loads, from one
// and from two goroutines, each reading one or four places at a time: what
// BenchmarkMatVec is to be held against.
func BenchmarkReadBandwidth(b *testing.B) {
	buf := fillFrom(make([]byte, streamBytes), []byte{1, 2, 3, 4})
	for threads := 1; threads <= 2; threads++ {
		for _, streams := range []int{1, 4} {
			b.Run(fmt.Sprintf("threads=%d/streams=%d", threads, streams), func(b *testing.B) {
				b.SetBytes(streamBytes)
				for b.Loop() {
					var wg sync.WaitGroup
					for part := range threads {
						wg.Go(func() { touchLines(buf[part*streamBytes/threads:][:streamBytes/threads], streams) })
					}
					wg.Wait()
				}
			})
		}
	}
}

// touchLines loads a byte of every 64-byte line of b, from the start of each of
// 1 or 4 equal parts of b at a time. The sum keeps the loads from being dropped.
func touchLines(b []byte, streams int) (sum byte) {
	if streams == 1 {
		for i := 0; i < len(b); i += 64 {
			sum += b[i]
		}
		return sum
	}
	n := len(b) / 4
	b0, b1, b2, b3 := b[:n], b[n:2*n], b[2*n:3*n], b[3*n:4*n]
	for i := 0; i < n; i += 64 {
		sum += b0[i] + b1[i] + b2[i] + b3[i]
	}
	return sum
}

// fillFrom repeats pattern over b.
func fillFrom(b, pattern []byte) []byte {
	for n := copy(b, pattern); n < len(b); n *= 2 {
		copy(b[n:], b[:n])
	}
	return b
}

// floats is b as float32.
func floats(b []byte) []float32 {
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/4)
}
