package kernel

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/holdfast-llm/holdfast/gguf/quant"
)

// doubles is a buffer that holds x.
func (r *rig) doubles(t testing.TB, name string, x []float64) buffer {
	t.Helper()
	var data []byte
	for _, v := range x {
		data = binary.LittleEndian.AppendUint64(data, math.Float64bits(v))
	}
	return r.bytes(t, name, data)
}

// asHalfs is what a buffer holds.
func (b buffer) asHalfs() []uint16 {
	x := make([]uint16, len(b.Data)/2)
	for i := range x {
		x[i] = binary.LittleEndian.Uint16(b.Data[2*i:])
	}
	return x
}

// ulps is the number of floats from a to b.
func ulps(a, b float32) int64 {
	order := func(x float32) int64 {
		if i := int64(int32(math.Float32bits(x))); i >= 0 {
			return i
		}
		return -int64(math.Float32bits(x) & (1<<31 - 1))
	}
	d := order(a) - order(b)
	return max(d, -d)
}

func TestRopeTableIsWithinAnULPOfGosDoublePrecision(t *testing.T) {
	pos := []int32{0, 1, 2, 63, 710, 2113, 40000, 131071, 999999, 1<<20 - 1, 1 << 20}
	everyMode(t, 32, func(t *testing.T, r *rig) {
		for _, c := range []struct {
			half            int
			base, magnitude float64
		}{{1, 1e4, 1}, {5, 1e4, 1.25}, {32, 1e4, 1}, {64, 1e6, 1}, {65, 5e5, 1.1386}, {64, 0.01, 1}} {
			inv := make([]float64, c.half)
			for i := range inv {
				inv[i] = math.Pow(c.base, -float64(i)/float64(c.half)) // for base 0.01 angles of up to 100 a position
			}
			out := r.garbage(t, "table", 4*len(pos)*2*c.half)
			r.run(t, RopeTable{r.doubles(t, "inv_freq", inv).ptr(), r.ints(t, "pos", pos).ptr(), out.ptr(), uint32(c.half), c.magnitude}.Launch(len(pos)))
			got := out.asFloats()
			for row, p := range pos {
				for i, f := range inv {
					sin, cos := math.Sincos(float64(p) * f)
					at := row*2*c.half + i
					for k, want := range []float32{float32(cos * c.magnitude), float32(sin * c.magnitude)} {
						if g := got[at+k*c.half]; ulps(g, want) > 1 {
							t.Fatalf("position %d, pair %d of %d: %v, want %v", p, i, c.half, g, want)
						}
					}
				}
			}
		}
	})
}

func TestRopeTableNearWholeTurns(t *testing.T) {
	// Angles a rounding away from multiples of a quarter turn, where sine or cosine
	// is next to nothing and has to be right relatively.
	everyMode(t, 32, func(t *testing.T, r *rig) {
		var inv []float64
		for _, k := range []float64{1, 2, 3, 4, 5, 1001, 65536, 1e6, 1<<20 + 1} {
			for _, by := range []float64{0, -1, 1} {
				inv = append(inv, math.FMA(k, math.Pi/2, by*k*0x1p-52))
			}
		}
		half := len(inv)
		out := r.garbage(t, "table", 4*2*half)
		r.run(t, RopeTable{r.doubles(t, "inv_freq", inv).ptr(), r.ints(t, "pos", []int32{1}).ptr(), out.ptr(), uint32(half), 1}.Launch(1))
		got := out.asFloats()
		for i, x := range inv {
			sin, cos := math.Sincos(x)
			if c, s := got[i], got[half+i]; ulps(c, float32(cos)) > 1 || ulps(s, float32(sin)) > 1 {
				t.Errorf("%v: %v, %v; want %v, %v", x, c, s, float32(cos), float32(sin))
			}
		}
	})
}

// ropeShapes are heads with everything rotated or a part, in twos that do not
// fill a workgroup or more than that.
var ropeShapes = []struct{ heads, headDim, half int }{
	{1, 2, 1}, {3, 64, 32}, {2, 128, 64}, {4, 80, 16}, {2, 256, 65}, {1, 7, 3},
}

// angles is a table as rope_table writes it, of random angles.
func angles(rng *rand.Rand, rows, half int) []float32 {
	table := make([]float32, rows*2*half)
	for row := range rows {
		for i := range half {
			sin, cos := math.Sincos(100 * rng.Float64())
			table[row*2*half+i], table[row*2*half+half+i] = float32(cos), float32(sin)
		}
	}
	return table
}

func TestRopeTurnsBothKindsOfPairs(t *testing.T) {
	everyMode(t, 32, func(t *testing.T, r *rig) {
		for _, c := range ropeShapes {
			for _, interleaved := range []uint32{0, 1} {
				const rows = 3
				rng := rand.New(rand.NewPCG(10, uint64(c.headDim)))
				x, table := normals(rng, rows*c.heads*c.headDim), angles(rng, rows, c.half)
				want, bound := make([]float64, len(x)), make([]float64, len(x))
				for i, v := range x {
					want[i] = float64(v)
				}
				for head := range rows * c.heads {
					row := table[head/c.heads*2*c.half:][:2*c.half]
					for i := range c.half {
						a, b := head*c.headDim+i, head*c.headDim+i+c.half
						if interleaved == 1 {
							a, b = head*c.headDim+2*i, head*c.headDim+2*i+1
						}
						cos, sin, va, vb := float64(row[i]), float64(row[c.half+i]), want[a], want[b]
						want[a], want[b] = va*cos-vb*sin, va*sin+vb*cos
						// Two products and a sum, of which one rounding may be missing.
						bound[a] = (math.Abs(va*cos) + math.Abs(vb*sin)) * 2 * 0x1p-24
						bound[b] = (math.Abs(va*sin) + math.Abs(vb*cos)) * 2 * 0x1p-24
					}
				}
				dx := r.floats(t, "x", x)
				r.run(t, Rope{dx.ptr(), r.floats(t, "table", table).ptr(), uint32(c.heads), uint32(c.headDim), uint32(c.half), interleaved}.Launch(rows))
				near(t, fmt.Sprintf("rope %+v", c), dx.asFloats(), want, bound)
			}
		}
	})
}

// caches are a layer's, full of NaNs.
type caches struct{ k, v buffer }

const (
	cacheSlots   = 3
	cacheContext = 5
)

func (r *rig) caches(t testing.TB, heads, headDim, vDim int) caches {
	t.Helper()
	n := 2 * cacheSlots * heads * cacheContext
	return caches{r.garbage(t, "k cache", n*headDim), r.garbage(t, "v cache", n*vDim)}
}

// halfs is what is to be in a cache: x in rows of heads of dim at slots and
// positions, and NaNs elsewhere.
func halfs(x []float32, heads, dim int, pos, slot []int32) []uint16 {
	c := make([]uint16, cacheSlots*heads*cacheContext*dim)
	for i := range c {
		c[i] = 0xffff
	}
	for row := range pos {
		for h := range heads {
			at := ((int(slot[row])*heads+h)*cacheContext + int(pos[row])) * dim
			for i := range dim {
				c[at+i] = quant.F32ToF16(x[(row*heads+h)*dim+i])
			}
		}
	}
	return c
}

// sameHalfs compares to the bit but for the payload of a NaN.
func sameHalfs(t testing.TB, what string, got, want []uint16) {
	t.Helper()
	for i := range want {
		if got[i] != want[i] && (got[i]&0x7fff <= 0x7c00 || want[i]&0x7fff <= 0x7c00) {
			t.Fatalf("%s: element %d is %#x, want %#x", what, i, got[i], want[i])
		}
	}
}

var storeShapes = []struct{ heads, headDim, vDim, half int }{
	{1, 2, 2, 1}, {2, 64, 64, 32}, {2, 128, 128, 64}, {3, 80, 33, 16}, {2, 192, 128, 70}, {1, 7, 5, 3},
}

// extremes are floats that are hard to round to a half: ties, subnormals,
// overflow and what is next to it, infinities, NaN.
var extremes = []float32{
	0, float32(math.Copysign(0, -1)), 1 + 0x1p-11, 1 + 3*0x1p-11, 1 + 0x1p-11 + 0x1p-23, 65504, 65519.996, 65520, -65520, 1e30,
	0x1p-14, 0x1p-14 - 0x1p-25, 0x1p-24, 0x1p-25, 0x1.8p-25, 0x1p-26, 3 * 0x1p-25, -5 * 0x1p-25, 0x1p-149, 0x1p-130, inf, -inf, nan,
}

func TestKVStoreRoundsIntoTheCaches(t *testing.T) {
	pos, slot := []int32{4, 0, 2, 3}, []int32{0, 2, 2, 1}
	rows := len(pos)
	everyMode(t, 32, func(t *testing.T, r *rig) {
		for _, c := range storeShapes {
			rng := rand.New(rand.NewPCG(11, uint64(c.headDim)))
			k, v := normals(rng, rows*c.heads*c.headDim), normals(rng, rows*c.heads*c.vDim)
			copy(k, extremes)
			copy(v[len(v)/2:], extremes)
			d := r.caches(t, c.heads, c.headDim, c.vDim)
			r.run(t, KVStore{
				r.floats(t, "k", k).ptr(), r.floats(t, "v", v).ptr(), d.k.ptr(), d.v.ptr(), r.ints(t, "pos", pos).ptr(), r.ints(t, "slot", slot).ptr(),
				uint32(c.heads), uint32(c.headDim), uint32(c.vDim), cacheContext,
			}.Launch(rows))
			sameHalfs(t, "keys", d.k.asHalfs(), halfs(k, c.heads, c.headDim, pos, slot))
			sameHalfs(t, "values", d.v.asHalfs(), halfs(v, c.heads, c.vDim, pos, slot))
		}
	})
}

func TestRopeKVStoreIsRopeAndThenKVStore(t *testing.T) {
	pos, slot := []int32{1, 4, 3}, []int32{1, 0, 2}
	rows := len(pos)
	everyMode(t, 32, func(t *testing.T, r *rig) {
		for _, c := range storeShapes {
			for _, interleaved := range []uint32{0, 1} {
				rng := rand.New(rand.NewPCG(12, uint64(c.headDim)))
				k, v := normals(rng, rows*c.heads*c.headDim), normals(rng, rows*c.heads*c.vDim)
				table := r.floats(t, "table", angles(rng, rows, c.half)).ptr()
				dk, dv := r.floats(t, "k", k), r.floats(t, "v", v)
				d := r.caches(t, c.heads, c.headDim, c.vDim)
				r.run(t, RopeKVStore{
					dk.ptr(), dv.ptr(), table, d.k.ptr(), d.v.ptr(), r.ints(t, "pos", pos).ptr(), r.ints(t, "slot", slot).ptr(),
					uint32(c.heads), uint32(c.headDim), uint32(c.vDim), cacheContext, uint32(c.half), interleaved,
				}.Launch(rows))
				same(t, "k", dk.asFloats(), k)
				r.run(t, Rope{dk.ptr(), table, uint32(c.heads), uint32(c.headDim), uint32(c.half), interleaved}.Launch(rows))
				sameHalfs(t, "keys", d.k.asHalfs(), halfs(dk.asFloats(), c.heads, c.headDim, pos, slot))
				sameHalfs(t, "values", d.v.asHalfs(), halfs(v, c.heads, c.vDim, pos, slot))
			}
		}
	})
}
