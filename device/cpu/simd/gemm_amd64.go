package simd

import (
	"unsafe"

	"github.com/holdfast-llm/holdfast/gguf/quant"
)

// nativeGemm returns the assembly kernels for t at level l, if it has any.
func nativeGemm(l Level, t quant.Type) (*gemmKernels, bool) {
	u, ok := gemmUnpackers[t]
	if !ok || l == Portable {
		return nil, false
	}
	s, unpack := &gemmAVX2, u.avx2
	if l == AVX512 {
		s, unpack = &gemmAVX512, u.avx512
	}
	g := &gemmKernels{
		t:         t,
		act:       gemmAct{tile: s.rowTile, packRow: s.packRow},
		lanes:     s.lanes,
		unpack:    unpack,
		unit:      t.BlockElems(),
		unitBytes: t.BlockBytes(),
	}
	if u.form == gemmFloat {
		g.act.float = true
		g.tiles = s.float
		g.groupBytes = 4 * 2 * s.lanes
		g.unitBytes = 16 // what a float kernel reads of a row at once
		g.unit = g.unitBytes / t.BlockBytes()
		return g, true
	}
	f := gemmForms[u.form]
	g.groupBytes = (gemmGroup + 4*f.parts*f.fields) * 2 * s.lanes
	g.tiles = s.tiles[u.form]
	g.bias = s.bias[f.parts-1]
	if u.bits8 && s.signed != nil {
		g.tiles, g.bias = s.signed, nil
	}
	return g, true
}

// gemmForm is a form of panel.
type gemmForm int

const (
	gemmFloat gemmForm = iota // columns of float32
	gemmSym32                 // one scale for 32 elements
	gemmOff32                 // and an offset
	gemmSym16                 // one scale for 16 elements
	gemmOff16                 // and an offset
)

// gemmForms has the scales of a group and the values that come with each.
var gemmForms = [...]struct{ parts, fields int }{
	gemmSym32: {1, 2},
	gemmOff32: {1, 3},
	gemmSym16: {2, 2},
	gemmOff16: {2, 3},
}

// gemmUnpackers has the form of each weight type's panel and the kernels that
// fill it; bits8 is set where weights need more than -32..31.
var gemmUnpackers = map[quant.Type]struct {
	form         gemmForm
	bits8        bool
	avx2, avx512 func(dst, w *byte, stride, blocks, ahead int)
}{
	quant.F32:    {gemmFloat, false, gemmUnpackF32AVX2, gemmUnpackF32AVX512},
	quant.F16:    {gemmFloat, false, gemmUnpackF16AVX2, gemmUnpackF16AVX512},
	quant.BF16:   {gemmFloat, false, gemmUnpackBF16AVX2, gemmUnpackBF16AVX512},
	quant.Q4_0:   {gemmSym32, false, gemmUnpackQ4_0AVX2, gemmUnpackQ4_0AVX512},
	quant.Q4_1:   {gemmOff32, false, gemmUnpackQ4_1AVX2, gemmUnpackQ4_1AVX512},
	quant.Q5_0:   {gemmSym32, false, gemmUnpackQ5_0AVX2, gemmUnpackQ5_0AVX512},
	quant.Q5_1:   {gemmOff32, false, gemmUnpackQ5_1AVX2, gemmUnpackQ5_1AVX512},
	quant.Q8_0:   {gemmSym32, true, gemmUnpackQ8_0AVX2, gemmUnpackQ8_0AVX512},
	quant.IQ4_NL: {gemmSym32, true, gemmUnpackIQ4_NLAVX2, gemmUnpackIQ4_NLAVX512},
	quant.Q2_K:   {gemmOff16, false, gemmUnpackQ2_KAVX2, gemmUnpackQ2_KAVX512},
	quant.Q3_K:   {gemmSym16, false, gemmUnpackQ3_KAVX2, gemmUnpackQ3_KAVX512},
	quant.Q4_K:   {gemmOff32, false, gemmUnpackQ4_KAVX2, gemmUnpackQ4_KAVX512},
	quant.Q5_K:   {gemmOff32, false, gemmUnpackQ5_KAVX2, gemmUnpackQ5_KAVX512},
	quant.Q6_K:   {gemmSym16, false, gemmUnpackQ6_KAVX2, gemmUnpackQ6_KAVX512},
	quant.IQ4_XS: {gemmSym32, true, gemmUnpackIQ4_XSAVX2, gemmUnpackIQ4_XSAVX512},
}

// gemmSet is what one level has for all types.
type gemmSet struct {
	lanes, rowTile int
	packRow        func(dst, floats []byte, x []float32, tile int)
	bias           [2]func(dst *byte, bytes, groups int) // by scales of a group
	tiles          [gemmOff16 + 1][]gemmTile
	float          []gemmTile
	signed         []gemmTile // gemmSym32 with weights of 8 bits, where they need their own
}

var gemmAVX512 = gemmSet{
	lanes:   16,
	rowTile: 6,
	packRow: func(dst, floats []byte, x []float32, _ int) {
		gemmPackRowAVX512(unsafe.SliceData(dst), unsafe.SliceData(floats), unsafe.SliceData(x), len(x)/gemmGroup)
	},
	bias:  [2]func(*byte, int, int){gemmBias32AVX512, gemmBias16AVX512},
	float: []gemmTile{gemmF32x2AVX512, gemmF32x4AVX512, gemmF32x6AVX512},
	tiles: [...][]gemmTile{
		gemmSym32: {gemmSym32x2AVX512, gemmSym32x4AVX512, gemmSym32x6AVX512},
		gemmOff32: {gemmOff32x2AVX512, gemmOff32x4AVX512, gemmOff32x6AVX512},
		gemmSym16: {gemmSym16x2AVX512, gemmSym16x4AVX512, gemmSym16x6AVX512},
		gemmOff16: {gemmOff16x2AVX512, gemmOff16x4AVX512, gemmOff16x6AVX512},
	},
}

var gemmAVX2 = gemmSet{
	lanes:   8,
	rowTile: 4,
	packRow: func(dst, floats []byte, x []float32, _ int) {
		gemmPackRowAVX2(unsafe.SliceData(dst), unsafe.SliceData(floats), unsafe.SliceData(x), len(x)/gemmGroup)
	},
	bias:  [2]func(*byte, int, int){gemmBias32AVX2, gemmBias16AVX2},
	float: []gemmTile{gemmF32x2AVX2, gemmF32x4AVX2},
	tiles: [...][]gemmTile{
		gemmSym32: {gemmSym32x2AVX2, gemmSym32x4AVX2},
		gemmOff32: {gemmOff32x2AVX2, gemmOff32x4AVX2},
		gemmSym16: {gemmSym16x2AVX2, gemmSym16x4AVX2},
		gemmOff16: {gemmOff16x2AVX2, gemmOff16x4AVX2},
	},
	signed: []gemmTile{gemmSym32Signedx2AVX2, gemmSym32Signedx4AVX2},
}
