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

	// gemmCached is the size of the activations that stay in the second-level
	// cache: a wider product takes several passes over the matrix, each with
	// as many elements of all rows as it has room for.
	gemmCached = 512 << 10
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
	pass := max(gemmCached/g.act.bytes(g.depth(), n), 1) * g.depth()
	for k0 := 0; k0 < k; k0 += pass {
		for r := 0; r < rows; r += 2 * g.lanes {
			p := gemmPanel{
				panel: panel, spare: spare,
				w: w[r*rowBytes : rows*rowBytes], rowBytes: rowBytes, rows: min(2*g.lanes, rows-r),
				out: out[r:], ldo: ldo, act: act, tileBytes: g.act.offset(k), n: n,
			}
			g.multiply(&p, k0, min(k0+pass, k))
		}
	}
}

// gemmPanel is what the product of one panel's rows with all activations is
// made of.
type gemmPanel struct {
	panel, spare   []byte // scratch
	w              []byte // starts with the panel's rows
	rowBytes, rows int
	out            []float32
	ldo            int
	act            []byte
	tileBytes, n   int
}

// multiply adds the products of elements from to to, and sets out if from is 0.
func (g *gemmKernels) multiply(p *gemmPanel, from, to int) {
	for k0 := from; k0 < to; k0 += g.depth() {
		depth := min(g.depth(), to-k0)
		// What is needed next: more of the same rows or the next panel.
		ahead := g.weightBytes(depth)
		if k0+depth == to {
			ahead = 2*g.lanes*p.rowBytes - g.weightBytes(k0-from)
		}
		g.fill(p, k0, depth, ahead)
		for i := 0; i < p.n; i += g.act.tile {
			m := min(g.act.tile, p.n-i)
			act := &p.act[i/g.act.tile*p.tileBytes+g.act.offset(k0)]
			g.tiles[(m-1)/2](&p.out[i*p.ldo], p.ldo, &p.panel[0], act, depth/g.step(), m, p.rows, min(k0, 1))
		}
	}
}

// weightBytes is the size of k elements of a row of weights; k is a multiple
// of the type's block.
func (g *gemmKernels) weightBytes(k int) int { return k * g.unitBytes / g.unit }

// fill unpacks elements k0 to k0+depth of the panel's rows. Rows that fill no
// vector, or that don't end with a whole block, are copied to spare first:
// unpack always reads all lanes.
func (g *gemmKernels) fill(p *gemmPanel, k0, depth, ahead int) {
	size := g.weightBytes(depth)
	blocks := (depth + g.unit - 1) / g.unit
	for r := 0; r < p.rows; r += g.lanes {
		src, stride := p.w[r*p.rowBytes+g.weightBytes(k0):], p.rowBytes
		if p.rows-r < g.lanes || depth%g.unit != 0 {
			stride = blocks * g.unitBytes
			for i := range min(g.lanes, p.rows-r) {
				copy(p.spare[i*stride:][:stride], src[i*p.rowBytes:][:size])
			}
			src = p.spare
		}
		dst := &p.panel[4*r]
		g.unpack(dst, &src[0], stride, blocks, ahead)
		if g.bias != nil {
			g.bias(dst, g.groupBytes, depth/gemmGroup)
		}
	}
}
