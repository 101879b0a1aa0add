package simd

import (
	"unsafe"

	"github.com/holdfast-llm/holdfast/gguf/quant"
)

// The vector kernels unpack a panel of weights, R rows of up to depth elements
// and small enough for the first-level cache, and multiply it with all tiles
// of activations before they take the next. R is two vectors of 32-bit lanes.
//
// For quantised weights, w = scale*q + offset, a panel is groups of 32
// elements with one or two (P) scales for each row:
//
//	        0  q       [8 steps][R rows][4] int8
//	     32*R  bias    [P][R] int32: -128 * sum of q
//	32*R+4*P*R scale   [P][R] float32
//	32*R+8*P*R offset  [P][R] float32, where the type has offsets
//
// Steps of four elements are what VPDPBUSD and VPMADDUBSW multiply: unsigned
// activations with signed weights. The activations are 128 too large; an
// accumulator that starts at the bias makes up for it.
//
// For floating-point weights a panel is columns of R float32.
const (
	gemmDepth      = 512 // elements of a row in a panel of quantised weights
	gemmFloatDepth = 256 // the same of floating-point weights
)

// gemmKernels are the assembly kernels for one weight type at one level.
type gemmKernels struct {
	t          quant.Type
	act        gemmAct
	lanes      int // rows that unpack takes
	groupBytes int // of a panel; of a column for floating-point types
	unit       int // elements of a block of unpack
	unitBytes  int

	// unpack writes one vector of rows of a panel from blocks of rows that
	// are stride bytes apart, prefetching what lies ahead bytes further on.
	unpack func(dst, w *byte, stride, blocks, ahead int)
	// bias completes what unpack wrote; nil if the tiles don't need it.
	bias func(dst *byte, bytes, groups int)
	// tiles multiply a panel with the first 2, 4, ... rows of a tile, and
	// store, or add to out, the products of m rows with the panel's first
	// rows rows. count is groups, or columns.
	tiles []gemmTile
}

type gemmTile func(out *float32, ldo int, panel, act *byte, count, m, rows, add int)

func (g *gemmKernels) gemm(l Level) Gemm {
	return Gemm{
		Name:     gemmName(g.t, l),
		ActID:    g.act.id(),
		RowTile:  g.act.tile,
		Panel:    2 * g.lanes,
		Scratch:  g.scratch,
		ActBytes: g.act.bytes,
		PackRows: g.act.packRows,
		Run:      g.run,
	}
}

const cacheLine = 64

func (g *gemmKernels) scratch(int) int { return g.panelBytes() + g.spareBytes() + cacheLine }

func (g *gemmKernels) depth() int {
	if g.act.float {
		return gemmFloatDepth
	}
	return gemmDepth
}

// step is the number of elements that groupBytes are for.
func (g *gemmKernels) step() int {
	if g.act.float {
		return 1
	}
	return gemmGroup
}

func (g *gemmKernels) panelBytes() int { return g.depth() / g.step() * g.groupBytes }

// spareBytes is the size of a copy of one vector's rows of a panel.
func (g *gemmKernels) spareBytes() int { return g.lanes * g.depth() / g.unit * g.unitBytes }

func (g *gemmKernels) run(out []float32, ldo int, w []byte, k, rows int, act []byte, n int, scratch []byte) {
	if n == 0 || rows == 0 {
		return
	}
	rowBytes := checkGemm(g.t, out, ldo, w, k, rows, act, g.act.bytes(k, n), n, len(scratch), g.scratch(k))
	skip := -int(uintptr(unsafe.Pointer(unsafe.SliceData(scratch)))) & (cacheLine - 1)
	panel := scratch[skip:][:g.panelBytes()]
	spare := scratch[skip+len(panel):][:g.spareBytes()]
	tileBytes := g.act.offset(k)
	for r := 0; r < rows; r += 2 * g.lanes {
		panelRows := min(2*g.lanes, rows-r)
		add := 0
		for k0 := 0; k0 < k; k0 += g.depth() {
			depth := min(g.depth(), k-k0)
			g.fill(panel, w[r*rowBytes:rows*rowBytes], rowBytes, k0, depth, panelRows, spare)
			a := act[g.act.offset(k0):]
			for i := 0; i < n; i += g.act.tile {
				m := min(g.act.tile, n-i)
				g.tiles[(m-1)/2](&out[i*ldo+r], ldo, &panel[0], &a[i/g.act.tile*tileBytes], depth/g.step(), m, panelRows, add)
			}
			add = 1
		}
	}
}

// fill unpacks elements k0 to k0+depth of the first rows rows of w. Rows that
// fill no vector, or that don't end with a whole block, are copied to spare
// first: unpack always reads all lanes.
func (g *gemmKernels) fill(panel, w []byte, rowBytes, k0, depth, rows int, spare []byte) {
	from := k0 * g.unitBytes / g.unit
	size := depth * g.unitBytes / g.unit
	blocks := (depth + g.unit - 1) / g.unit
	ahead := size // the next elements of the same rows
	if from+size == rowBytes {
		ahead = 2*g.lanes*rowBytes - from // the first ones of the next panel
	}
	for r := 0; r < rows; r += g.lanes {
		src, stride := w[r*rowBytes+from:], rowBytes
		if rows-r < g.lanes || depth%g.unit != 0 {
			stride = blocks * g.unitBytes
			for i := range min(g.lanes, rows-r) {
				copy(spare[i*stride:][:stride], src[i*rowBytes:][:size])
			}
			src = spare
		}
		dst := &panel[4*r]
		g.unpack(dst, &src[0], stride, blocks, ahead)
		if g.bias != nil {
			g.bias(dst, g.groupBytes, depth/gemmGroup)
		}
	}
}
