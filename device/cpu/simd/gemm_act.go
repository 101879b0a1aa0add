package simd

import (
	"fmt"
	"math"
	"unsafe"
)

// Packed activations of the matrix product are tiles of T rows, side by side,
// so that a kernel reads one stream. T is the RowTile of the level.
//
// For quantised weights a tile is k/32 groups of 48*T bytes:
//
//	   0  q      [8 steps][T rows][4] uint8: 128 + round(x / scale), ties to even
//	32*T  scale  [T] float32: largest |x| of the group / 127
//	36*T  sum    [T] float32: scale * sum of round(x / scale)
//	40*T  lower  [T] float32: the same of the first 16 elements
//	44*T  upper  [T] float32: the same of the last 16
//
// A group with an element that is NaN or infinite has a scale that is NaN or
// infinite, so that it shows in the product; one whose largest |x| is below
// tiny is packed as zeros.
//
// For floating-point weights a tile is k columns of T float32.
//
// The rows that a last tile lacks are left unset: no kernel stores their
// products.
type gemmAct struct {
	tile    int  // T
	float   bool // for floating-point weights
	packRow func(dst, floats []byte, x []float32, tile int)
}

const (
	gemmGroup     = 32                          // elements of a group
	gemmActFloats = 4                           // floats of a row in a group
	gemmActRow    = gemmGroup + 4*gemmActFloats // bytes of a row in a group
)

// id names the format.
func (a gemmAct) id() string {
	if a.float {
		return fmt.Sprintf("gemm.f32x%d", a.tile)
	}
	return fmt.Sprintf("gemm.q8x%d", a.tile)
}

// offset is where element k of a tile is: k must be a multiple of the group.
func (a gemmAct) offset(k int) int {
	if a.float {
		return 4 * a.tile * k
	}
	return k / gemmGroup * gemmActRow * a.tile
}

// bytes is the size of n packed rows of k elements.
func (a gemmAct) bytes(k, n int) int { return (n + a.tile - 1) / a.tile * a.offset(k) }

func (a gemmAct) packRows(act []byte, x []float32, ldx, k, n, i0, i1 int) {
	if i0 < 0 || i1 > n || i0 < i1 && i0%a.tile != 0 {
		panic(fmt.Sprintf("simd: gemm: pack rows %d to %d of %d in tiles of %d", i0, i1, n, a.tile))
	}
	if !a.float && k%gemmGroup != 0 {
		panic(fmt.Sprintf("simd: gemm: pack %d elements, want whole groups of %d", k, gemmGroup))
	}
	if want := a.bytes(k, n); len(act) < want {
		panic(fmt.Sprintf("simd: gemm: %d bytes for %d packed rows of %d elements, want %d", len(act), n, k, want))
	}
	if i0 < i1 && len(x) < (i1-1)*ldx+k {
		panic(fmt.Sprintf("simd: gemm: batch of %d elements for %d rows of %d, %d apart", len(x), i1, k, ldx))
	}
	for i := i0; i < i1; i++ {
		tile, row := act[i/a.tile*a.offset(k):][:a.offset(k)], x[i*ldx:][:k]
		if a.float {
			dst := floatsOf(tile)[i%a.tile:]
			for j, v := range row {
				dst[j*a.tile] = v
			}
			continue
		}
		at := 4 * (i % a.tile)
		a.packRow(tile[at:], tile[gemmGroup*a.tile+at:], row, a.tile)
	}
}

// packGemmRow packs a row into its place in a tile. dst and floats start at
// the row's first quants and at its first scale.
func packGemmRow(dst, floats []byte, x []float32, tile int) {
	for g := 0; g < len(x)/gemmGroup; g++ {
		x := x[gemmGroup*g:][:gemmGroup]
		scale, inverse := gemmScale(x)
		var sums [2]int32
		for j, v := range x {
			var q int32
			if inverse != 0 {
				q = roundEven(v * inverse)
			}
			sums[j/16] += q
			dst[gemmActRow*tile*g+j/4*4*tile+j%4] = byte(q + 128)
		}
		f := floatsOf(floats[gemmActRow*tile*g:])
		f[0] = scale
		f[tile] = float32(sums[0]+sums[1]) * scale
		f[2*tile] = float32(sums[0]) * scale
		f[3*tile] = float32(sums[1]) * scale
	}
}

// gemmScale is a group's scale and the factor that takes an element to its
// integer; the factor is 0 where every integer is to be 0.
func gemmScale(x []float32) (scale, inverse float32) {
	var top uint32 // magnitudes compare like integers, and NaN above all
	for _, v := range x {
		top = max(top, math.Float32bits(v)&^(1<<31))
	}
	peak := math.Float32frombits(top)
	switch {
	case peak < tiny:
		return 0, 0
	case top >= 0x7f800000: // infinite or NaN
		return peak, 0
	}
	return peak * (float32(1) / 127), 127 / peak
}

// roundEven is the integer nearest to v, |v| <= 127.5; ties to even.
func roundEven(v float32) int32 {
	return int32(math.RoundToEven(float64(v)))
}

// floatsOf is b as float32; b starts at a multiple of 4.
func floatsOf(b []byte) []float32 {
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/4)
}
