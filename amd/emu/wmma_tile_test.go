package emu_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/holdfast-llm/holdfast/amd/emu"
)

// TestMatrixInstructionsAgainstFloat64 multiplies one tile with each matrix
// instruction. What integers give is exact. The order in which hardware adds
// up sixteen products is not published: floats must be within sixteen roundings
// to the accumulator's type of the exact sum.
func TestMatrixInstructionsAgainstFloat64(t *testing.T) {
	t.Parallel()
	bf16 := func(x float64) uint16 { return uint16((math.Float32bits(float32(x)) + 0x8000) >> 16) }
	bf16Value := func(b uint16) float64 { return float64(math.Float32frombits(uint32(b) << 16)) }
	kernels := []struct {
		name   string
		bits   int // of an element of a and b
		encode func(float64) uint16
		value  func(uint16) float64
		result string // float, half, bfloat or int
		digits int    // of the result
		signed [2]bool
		clamp  bool
	}{
		{name: "f32_f16", bits: 16, encode: halfBits, value: halfValue, result: "float", digits: 24},
		{name: "f32_bf16", bits: 16, encode: bf16, value: bf16Value, result: "float", digits: 24},
		{name: "f16_f16", bits: 16, encode: halfBits, value: halfValue, result: "half", digits: 11},
		{name: "bf16_bf16", bits: 16, encode: bf16, value: bf16Value, result: "bfloat", digits: 8},
		{name: "i8_i8", bits: 8, result: "int", signed: [2]bool{true, true}},
		{name: "u8_i8", bits: 8, result: "int", signed: [2]bool{false, true}},
		{name: "u8_u8_clamp", bits: 8, result: "int", clamp: true},
		{name: "i4_i4", bits: 4, result: "int", signed: [2]bool{true, true}},
		{name: "u4_i4", bits: 4, result: "int", signed: [2]bool{false, true}},
		{name: "u4_u4_clamp", bits: 4, result: "int", clamp: true},
	}
	for wave, flags := range map[uint32]string{32: "-O2", 64: "-O2 -mwavefrontsize64 -DWAVE64=1"} {
		o := compile(t, "wmma.cpp", flags)
		for _, k := range kernels {
			t.Run(map[uint32]string{32: "w32/", 64: "w64/"}[wave]+k.name, func(t *testing.T) {
				rng := rand.New(rand.NewPCG(uint64(wave), 9))
				for round := range 8 {
					var a, b [16][16]float64 // a[row][k], b[column][k]
					lines := [2][]byte{make([]byte, 16*16*k.bits/8), make([]byte, 16*16*k.bits/8)}
					for side, m := range []*[16][16]float64{&a, &b} {
						for i := range m {
							for j := range m[i] {
								at := (i*16 + j) * k.bits
								if k.bits == 16 {
									v := k.encode(rng.NormFloat64() * math.Exp2(float64(rng.IntN(6)-3)))
									m[i][j] = k.value(v)
									lines[side][at/8], lines[side][at/8+1] = byte(v), byte(v>>8)
									continue
								}
								v := rng.IntN(1 << k.bits)
								lines[side][at/8] |= byte(v << (at % 8))
								if k.signed[side] && v >= 1<<(k.bits-1) {
									v -= 1 << k.bits
								}
								m[i][j] = float64(v)
							}
						}
					}
					var c [256]float64
					c32, c16 := make([]uint32, 256), make([]uint16, 256)
					for i := range c {
						switch k.result {
						case "int":
							v := int32(rng.Uint32())
							if k.clamp && rng.IntN(2) == 0 {
								v = math.MaxInt32 - int32(rng.IntN(3000))
							}
							c32[i], c[i] = uint32(v), float64(v)
						case "float":
							v := float32(rng.NormFloat64())
							c32[i], c[i] = math.Float32bits(v), float64(v)
						default:
							c16[i] = k.encode(rng.NormFloat64())
							c[i] = k.value(c16[i])
						}
					}
					var err error
					if k.result == "half" || k.result == "bfloat" {
						_, err = launch(o, k.name, emu.Config{}, [3]uint32{wave}, [3]uint32{wave}, lines[0], lines[1], c16)
					} else {
						_, err = launch(o, k.name, emu.Config{}, [3]uint32{wave}, [3]uint32{wave}, lines[0], lines[1], c32)
					}
					if err != nil {
						t.Fatal(err)
					}
					for row := range 16 {
						for column := range 16 {
							i := row*16 + column
							want, size := c[i], math.Abs(c[i])
							for j := range 16 {
								want += a[row][j] * b[column][j]
								size += math.Abs(a[row][j] * b[column][j])
							}
							got, bound := 0.0, math.Ldexp(size, 4-k.digits)
							switch k.result {
							case "int":
								got, bound = float64(int32(c32[i])), 0
								if k.clamp {
									want = max(min(want, math.MaxInt32), math.MinInt32)
								} else {
									want = float64(int32(uint32(int64(want))))
								}
							case "float":
								got = float64(math.Float32frombits(c32[i]))
							default:
								got = k.value(c16[i])
							}
							if !(math.Abs(got-want) <= bound) {
								t.Fatalf("round %d, [%d][%d]: %v, want %v within %v", round, row, column, got, want, bound)
							}
						}
					}
				}
			})
		}
	}
}
