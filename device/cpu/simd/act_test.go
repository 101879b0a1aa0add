package simd

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/holdfast-llm/holdfast/gguf/quant"
)

// actCases are vectors of 512 elements.
var actCases = []struct {
	name string
	f    func(rng *rand.Rand, i int) float32
}{
	{"normal", func(rng *rand.Rand, i int) float32 { return float32(rng.NormFloat64()) }},
	{"many magnitudes", func(rng *rand.Rand, i int) float32 {
		return float32(rng.NormFloat64() * math.Exp2(float64(rng.IntN(200)-100)))
	}},
	{"ties", func(rng *rand.Rand, i int) float32 { return float32(rng.IntN(509)-254) / 2 }},
	{"zero", func(*rand.Rand, int) float32 { return 0 }},
	{"negative zero", func(*rand.Rand, int) float32 { return float32(math.Copysign(0, -1)) }},
	{"subnormal", func(rng *rand.Rand, i int) float32 { return math.Float32frombits(rng.Uint32() & (1<<23 - 1)) }},
	{"around tiny", func(rng *rand.Rand, i int) float32 { return tiny * float32(rng.NormFloat64()) }},
	{"just tiny", func(*rand.Rand, int) float32 { return tiny }},
	{"below tiny", func(*rand.Rand, int) float32 { return math.Nextafter32(tiny, 0) }},
	{"largest", func(rng *rand.Rand, i int) float32 { return math.MaxFloat32 * float32(1-i%2*2) }},
	{"one NaN", func(rng *rand.Rand, i int) float32 {
		if i == 300 {
			return float32(math.NaN())
		}
		return float32(rng.NormFloat64())
	}},
	{"NaNs with payloads", func(rng *rand.Rand, i int) float32 {
		if i%3 == 0 {
			return math.Float32frombits(0x7f800001 + uint32(i) | uint32(i)<<31)
		}
		return float32(rng.NormFloat64())
	}},
	{"one infinity", func(rng *rand.Rand, i int) float32 {
		if i == 37 {
			return float32(math.Inf(-1))
		}
		return float32(rng.NormFloat64())
	}},
}

func TestPackIsTheSameAtEveryLevel(t *testing.T) {
	for _, typ := range []quant.Type{quant.F32, quant.Q8_0, quant.Q4_K} {
		want, _ := MatVecFor(Portable, typ)
		for _, l := range Levels() {
			mv, _ := MatVecFor(l, typ)
			for _, tt := range actCases {
				t.Run(mv.ActID+"/"+l.String()+"/"+tt.name, func(t *testing.T) {
					rng := rand.New(rand.NewPCG(5, 5))
					x := make([]float32, 768)
					for i := range x {
						x[i] = tt.f(rng, i)
					}
					for _, k := range []int{0, 256, 512, 768} {
						n := mv.ActBytes(k)
						got, ref := bytes.Repeat([]byte{0xee}, n+1), bytes.Repeat([]byte{0xee}, n+1)
						mv.Pack(got, x[:k])
						want.Pack(ref, x[:k])
						for i := range ref {
							if got[i] != ref[i] {
								t.Fatalf("k=%d: byte %d is %#02x, portable %#02x", k, i, got[i], ref[i])
							}
						}
						if got[n] != 0xee {
							t.Fatalf("k=%d: wrote past the end", k)
						}
					}
				})
			}
		}
	}
}

func TestPackQuantizes(t *testing.T) {
	for _, typ := range []quant.Type{quant.Q8_0, quant.Q4_K} {
		mv, _ := MatVecFor(Portable, typ)
		block := typ.BlockElems()
		for _, tt := range actCases {
			t.Run(mv.ActID+"/"+tt.name, func(t *testing.T) {
				rng := rand.New(rand.NewPCG(6, 6))
				x := make([]float32, 512)
				for i := range x {
					x[i] = tt.f(rng, i)
				}
				act := make([]byte, mv.ActBytes(len(x)))
				mv.Pack(act, x)
				for b := range len(x) / block {
					checkPackedBlock(t, b, x[b*block:][:block], unpacked(mv.ActID, act, len(x))[b*block:])
				}
				checkPackedSums(t, mv.ActID, act, len(x))
			})
		}
	}
}

// checkPackedBlock makes sure that a block's values are within half a step of
// the elements, with a little for the rounding of the step itself.
func checkPackedBlock(t *testing.T, b int, x []float32, got []float64) {
	t.Helper()
	var amax float64
	bad := false
	for _, v := range x {
		v := float64(v)
		amax = max(amax, math.Abs(v))
		bad = bad || math.IsNaN(v) || math.IsInf(v, 0)
	}
	tol := amax / 127 * 0.5001
	if amax < tiny {
		tol = tiny
	}
	for i, v := range x {
		if bad != math.IsNaN(got[i]) || !bad && math.Abs(got[i]-float64(v)) > tol {
			t.Fatalf("block %d: element %d: %g packed as %g, tolerance %g", b, i, v, got[i], tol)
		}
	}
}

func checkPackedSums(t *testing.T, actID string, act []byte, k int) {
	t.Helper()
	sum := func(q []byte) (s int) {
		for _, v := range q {
			s += int(int8(v))
		}
		return s
	}
	switch actID {
	case actQ8K:
		for ; len(act) > 0; act = act[q8kBytes:] {
			for g := range 16 {
				if got, want := int(int16(binary.LittleEndian.Uint16(act[q8kS16+2*g:]))), sum(act[16*g:][:16]); got != want {
					t.Fatalf("sum of 16 %d is %d, want %d", g, got, want)
				}
			}
			for g := range 8 {
				if got, want := int(int16(binary.LittleEndian.Uint16(act[q8kS32+2*g:]))), sum(act[32*g:][:32]); got != want {
					t.Fatalf("sum of 32 %d is %d, want %d", g, got, want)
				}
			}
		}
	case actQ8B:
		for b := range k / 32 {
			got, want := f32(act[k+k/8+4*b:]), f32(act[k+4*b:])*float32(sum(act[32*b:][:32]))
			if got != want && (got == got || want == want) {
				t.Fatalf("scaled sum %d is %g, want %g", b, got, want)
			}
		}
	}
}
