package simd

import (
	"encoding/binary"
	"unsafe"

	"github.com/holdfast-llm/holdfast/gguf/quant"
)

// portableGemm is the plain Go form: a row of weights is unpacked into one
// int8 an element, with a scale and perhaps an offset for each part of 32 or
// 16 elements, and multiplied with all rows of activations:
//
//	w = scale*q + offset
//
// Floating-point types have neither and are unpacked into float32.
type portableGemm struct {
	part    int // elements that share a scale; 0 for floating-point types
	offsets bool
	unpack  func(w []byte, q []int8, scale, offset []float32) // one block
	float   func(w []byte) float32                            // one element
}

var portableGemms = map[quant.Type]portableGemm{
	quant.F32:    {float: f32},
	quant.F16:    {float: f16},
	quant.BF16:   {float: bf16},
	quant.Q4_0:   {part: 32, unpack: unpackQ4_0},
	quant.Q4_1:   {part: 32, offsets: true, unpack: unpackQ4_1},
	quant.Q5_0:   {part: 32, unpack: unpackQ5_0},
	quant.Q5_1:   {part: 32, offsets: true, unpack: unpackQ5_1},
	quant.Q8_0:   {part: 32, unpack: unpackQ8_0},
	quant.IQ4_NL: {part: 32, unpack: unpackIQ4NL},
	quant.Q2_K:   {part: 16, offsets: true, unpack: unpackQ2K},
	quant.Q3_K:   {part: 16, unpack: unpackQ3K},
	quant.Q4_K:   {part: 32, offsets: true, unpack: unpackQ4K},
	quant.Q5_K:   {part: 32, offsets: true, unpack: unpackQ5K},
	quant.Q6_K:   {part: 16, unpack: unpackQ6K},
	quant.IQ4_XS: {part: 32, unpack: unpackIQ4XS},
}

func (p portableGemm) gemm(t quant.Type) Gemm {
	a := gemmAct{tile: 1, float: p.part == 0, packRow: packGemmRow}
	scratch := func(k int) int { return 4 * k } // float32, or int8 and at most k/16*2 float32
	return Gemm{
		Name:     gemmName(t, Portable),
		ActID:    a.id(),
		RowTile:  1,
		Panel:    1,
		Scratch:  scratch,
		ActBytes: a.bytes,
		PackRows: a.packRows,
		Run: func(out []float32, ldo int, w []byte, k, rows int, act []byte, n int, buf []byte) {
			rowBytes := checkGemm(t, out, ldo, w, k, rows, act, a.bytes(k, n), n, len(buf), scratch(k))
			row := p.row(k, floatsOf(buf[:scratch(k)]))
			for r := range rows {
				row.fill(t, w[r*rowBytes:][:rowBytes])
				for i := range n {
					out[i*ldo+r] = row.dot(act[i*a.offset(k):][:a.offset(k)])
				}
			}
		},
	}
}

// gemmRow is one unpacked row of weights.
type gemmRow struct {
	portableGemm
	f             []float32 // floating-point types
	q             []int8
	scale, offset []float32
}

// row divides buf, 4*k bytes, among the parts of a row.
func (p portableGemm) row(k int, buf []float32) gemmRow {
	if p.part == 0 {
		return gemmRow{portableGemm: p, f: buf[:k]}
	}
	parts := k / p.part
	q := unsafe.Slice((*int8)(unsafe.Pointer(unsafe.SliceData(buf[2*parts:]))), k)
	return gemmRow{portableGemm: p, q: q, scale: buf[:parts], offset: buf[parts:][:parts]}
}

func (r *gemmRow) fill(t quant.Type, w []byte) {
	if r.part == 0 {
		size := t.BlockBytes()
		for j := range r.f {
			r.f[j] = r.float(w[j*size:])
		}
		return
	}
	elems, size := t.BlockElems(), t.BlockBytes()
	parts := elems / r.part
	for b := range len(w) / size {
		r.unpack(w[b*size:][:size], r.q[b*elems:][:elems], r.scale[b*parts:][:parts], r.offset[b*parts:][:parts])
	}
}

func (r *gemmRow) dot(act []byte) float32 {
	var sum float32
	if r.part == 0 {
		for j, v := range floatsOf(act) {
			sum += float32(v * r.f[j])
		}
		return sum
	}
	for g := 0; g < len(r.q)/gemmGroup; g++ {
		a := (*[gemmActRow]byte)(act[gemmActRow*g:])
		f := floatsOf(a[gemmGroup:]) // scale, sum, lower, upper
		for h := range gemmGroup / r.part {
			part, xs := g*(gemmGroup/r.part)+h, a[h*r.part:][:r.part]
			var s int32
			for j, q := range r.q[part*r.part:][:r.part] {
				s += int32(q) * (int32(xs[j]) - 128)
			}
			sum += float32(float32(s) * r.scale[part] * f[0])
			if r.offsets {
				which := 1
				if r.part == 16 {
					which = 2 + h
				}
				sum += float32(r.offset[part] * f[which])
			}
		}
	}
	return sum
}

// The decoders of one block. Package quant describes the blocks.

func unpackQ4_0(w []byte, q []int8, scale, _ []float32) {
	scale[0] = f16(w)
	for i, v := range w[2:18] {
		q[i], q[i+16] = int8(v&15)-8, int8(v>>4)-8
	}
}

func unpackQ4_1(w []byte, q []int8, scale, offset []float32) {
	scale[0], offset[0] = f16(w), f16(w[2:])
	for i, v := range w[4:20] {
		q[i], q[i+16] = int8(v&15), int8(v>>4)
	}
}

func unpackQ5_0(w []byte, q []int8, scale, _ []float32) {
	scale[0] = f16(w)
	high := binary.LittleEndian.Uint32(w[2:])
	for i, v := range w[6:22] {
		q[i] = int8(v&15|byte(high>>i&1)<<4) - 16
		q[i+16] = int8(v>>4|byte(high>>(i+16)&1)<<4) - 16
	}
}

func unpackQ5_1(w []byte, q []int8, scale, offset []float32) {
	scale[0], offset[0] = f16(w), f16(w[2:])
	high := binary.LittleEndian.Uint32(w[4:])
	for i, v := range w[8:24] {
		q[i] = int8(v&15 | byte(high>>i&1)<<4)
		q[i+16] = int8(v>>4 | byte(high>>(i+16)&1)<<4)
	}
}

func unpackQ8_0(w []byte, q []int8, scale, _ []float32) {
	scale[0] = f16(w)
	for i, v := range w[2:34] {
		q[i] = int8(v)
	}
}

func unpackIQ4NL(w []byte, q []int8, scale, _ []float32) {
	scale[0] = f16(w)
	unpackGridIQ4(w[2:18], q)
}

func unpackGridIQ4(w []byte, q []int8) {
	for i, v := range w[:16] {
		q[i], q[i+16] = iq4nlValues[v&15], iq4nlValues[v>>4]
	}
}

func unpackIQ4XS(w []byte, q []int8, scale, _ []float32) {
	d, high := f16(w), binary.LittleEndian.Uint16(w[2:])
	for g := range 8 {
		s := int32(w[4+g/2]>>(g%2*4)&15) | int32(high>>(2*g)&3)<<4
		scale[g] = d * float32(s-32)
		unpackGridIQ4(w[8+16*g:], q[32*g:])
	}
}

func unpackQ2K(w []byte, q []int8, scale, offset []float32) {
	d, dmin := f16(w[80:]), f16(w[82:])
	for g, s := range w[:16] {
		scale[g], offset[g] = d*float32(s&15), -dmin*float32(s>>4)
	}
	for i := range q {
		q[i] = int8(w[16+i/128*32+i%32] >> (i % 128 / 32 * 2) & 3)
	}
}

func unpackQ3K(w []byte, q []int8, scale, _ []float32) {
	d := f16(w[108:])
	for g, s := range q3kScales(w[96:108]) {
		scale[g] = d * float32(int32(s)-32)
	}
	for i := range q {
		low := w[32+i/128*32+i%32] >> (i % 128 / 32 * 2) & 3
		high := w[i%32] >> (i / 32) & 1
		q[i] = int8(low|high<<2) - 4
	}
}

// unpackScalesMins unpacks the scales and offsets of a Q4_K or Q5_K block.
func unpackScalesMins(w []byte, scale, offset []float32) {
	d, dmin := f16(w), f16(w[2:])
	scales, mins := q4kScales(w[4:16])
	for g := range scales {
		scale[g], offset[g] = d*float32(scales[g]), -dmin*float32(mins[g])
	}
}

func unpackQ4K(w []byte, q []int8, scale, offset []float32) {
	unpackScalesMins(w, scale, offset)
	for i, v := range w[16:144] {
		g := i/32*64 + i%32
		q[g], q[g+32] = int8(v&15), int8(v>>4)
	}
}

func unpackQ5K(w []byte, q []int8, scale, offset []float32) {
	unpackScalesMins(w, scale, offset)
	for i, v := range w[48:176] {
		high := w[16+i%32] >> (i / 32 * 2)
		g := i/32*64 + i%32
		q[g], q[g+32] = int8(v&15|high&1<<4), int8(v>>4|high>>1&1<<4)
	}
}

func unpackQ6K(w []byte, q []int8, scale, _ []float32) {
	d := f16(w[208:])
	for g, s := range w[192:208] {
		scale[g] = d * float32(int8(s))
	}
	for i, v := range w[:128] {
		half, j := i/64, i%64
		high := w[128+32*half+j%32] >> (j / 32 * 2)
		g := 128*half + j
		q[g] = int8(v&15|high&3<<4) - 32
		q[g+64] = int8(v>>4|high>>4&3<<4) - 32
	}
}
