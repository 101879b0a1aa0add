package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/holdfast-llm/holdfast/device/cpu/simd/gen/vec"
)

// A Q8_0 row is blocks of 34 bytes: a scale in half precision, then 32 signed
// bytes. The decode kernels for it do what scores and weigh do, a block at a
// time; the products are those of the widened elements, so the results are too.
const (
	q8Bytes = 34
	q8Elems = 32
)

// q8Scale broadcasts a block's scale.
func q8Scale(w vec.Width, block Mem, d reg.VecVirtual) {
	if w == vec.W512 {
		VPBROADCASTW(block, d.AsY())
		VCVTPH2PS(d.AsY(), d)
		return
	}
	VPBROADCASTW(block, d.AsX())
	VCVTPH2PS(d.AsX(), d)
}

// q8Load widens the part-th vector of a block.
func q8Load(w vec.Width, block Mem, part int, d, x reg.VecVirtual) {
	VPMOVSXBD(block.Offset(2+part*w.Lanes()), x)
	VCVTDQ2PS(x, x)
	VMULPS(d, x, x)
}

// scoresQ8 emits scores for Q8_0 keys; dim is a multiple of 32.
func scoresQ8(w vec.Width, heads int) {
	const keys = 4
	vec.Func(fmt.Sprintf("scores%sQ8_0_%d", w.Suffix(), heads), "func(s, q *float32, k, next *byte, dim, n int)")
	s := Load(Param("s"), GP64())
	q := Load(Param("q"), GP64())
	k := Load(Param("k"), GP64())
	next := Load(Param("next"), GP64())
	dim := Load(Param("dim"), GP64())
	n := Load(Param("n"), GP64())

	qRow, rowBytes := GP64(), GP64()
	MOVQ(dim, qRow)
	SHLQ(U8(2), qRow)
	MOVQ(dim, rowBytes)
	SHRQ(U8(5), rowBytes)
	IMUL3Q(U8(q8Bytes), rowBytes, rowBytes)
	var pick reg.VecVirtual
	if w == vec.W512 {
		pick = ZMM()
		VMOVUPS(everyFour, pick)
	}

	Label("keys")
	rows := []reg.Register{k}
	for j := 1; j < keys; j++ {
		r := GP64()
		LEAQ(Mem{Base: rows[j-1], Index: rowBytes, Scale: 1}, r)
		CMPQ(n, I8(j))
		CMOVQLE(rows[j-1], r)
		rows = append(rows, r)
	}
	acc := make([][]reg.VecVirtual, heads)
	for h := range acc {
		acc[h] = w.Regs(keys)
		for _, a := range acc[h] {
			w.Zero(a)
		}
	}
	// i is the offset of a block in a row, y the queries of its elements.
	i, y := GP64(), GP64()
	XORQ(i, i)
	MOVQ(q, y)
	Label("blocks")
	d := w.Regs(keys)
	for j, r := range rows {
		q8Scale(w, Mem{Base: r, Index: i, Scale: 1}, d[j])
	}
	// The queries of heads 0-3 from two pointers.
	var yh []Mem
	at := reg.Register(y)
	for h := range heads {
		m := Mem{Base: at}
		if h%2 == 1 {
			m.Index, m.Scale = qRow, 1
		}
		yh = append(yh, m)
		if h%2 == 1 && h+1 < heads {
			following := GP64()
			LEAQ(Mem{Base: at, Index: qRow, Scale: 2}, following)
			at = following
		}
	}
	for part := range q8Elems / w.Lanes() {
		x := w.Regs(keys)
		if w == vec.W512 {
			for j, r := range rows {
				q8Load(w, Mem{Base: r, Index: i, Scale: 1}, part, d[j], x[j])
			}
			for h := range heads {
				v := w.Reg()
				VMOVUPS(yh[h].Offset(part*w.Bytes()), v)
				for j := range keys {
					VFMADD231PS(x[j], v, acc[h][j])
				}
			}
			continue
		}
		for j, r := range rows { // one key at a time: sixteen registers
			q8Load(w, Mem{Base: r, Index: i, Scale: 1}, part, d[j], x[j])
			for h := range heads {
				VFMADD231PS(yh[h].Offset(part*w.Bytes()), x[j], acc[h][j])
			}
		}
	}
	// 4 blocks of 34 bytes are a little over two lines; the third prefetch
	// covers what the rounding leaves.
	for line := 0; line < keys*q8Bytes; line += 64 {
		prefetch(Mem{Base: next, Index: i, Scale: keys, Disp: line})
	}
	ADDQ(U8(q8Elems*4), y)
	ADDQ(U8(q8Bytes), i)
	CMPQ(i, rowBytes)
	JL(LabelRef("blocks"))

	for h := range heads {
		VMOVUPS(sumFour(w, acc[h], pick), Mem{Base: s, Disp: 128 * h})
	}
	ADDQ(U8(4*keys), s)
	LEAQ(Mem{Base: next, Index: rowBytes, Scale: keys}, next)
	LEAQ(Mem{Base: k, Index: rowBytes, Scale: keys}, k)
	SUBQ(U8(keys), n)
	JG(LabelRef("keys"))
	vec.Done()
}

// weighQ8 emits weigh for Q8_0 values; dim is a multiple of 32.
func weighQ8(w vec.Width, heads int) {
	vec.Func(fmt.Sprintf("weigh%sQ8_0_%d", w.Suffix(), heads), "func(o, p, f *float32, v, next *byte, dim, n int)")
	o := Load(Param("o"), GP64())
	p := Load(Param("p"), GP64())
	f := Load(Param("f"), GP64())
	v := Load(Param("v"), GP64())
	next := Load(Param("next"), GP64())
	dim := Load(Param("dim"), GP64())
	n := Load(Param("n"), GP64())
	SUBQ(v, next) // next is addressed relative to v

	rowBytes, oRow := GP64(), GP64()
	MOVQ(dim, oRow)
	SHLQ(U8(2), oRow)
	MOVQ(dim, rowBytes)
	SHRQ(U8(5), rowBytes)
	IMUL3Q(U8(q8Bytes), rowBytes, rowBytes)

	chunks := []int{1} // blocks side by side
	if w == vec.W512 {
		chunks = []int{2, 1}
	}
	perBlock := q8Elems / w.Lanes()
	for _, blocks := range chunks {
		cols := blocks * q8Elems
		chunk, after := fmt.Sprintf("chunk%d", cols), fmt.Sprintf("after%d", cols)
		Label(chunk)
		CMPQ(dim, U8(cols))
		JL(LabelRef(after))
		acc := make([][]reg.VecVirtual, heads)
		eachHead(o, oRow, heads, func(h int, m Mem) {
			acc[h] = w.Regs(blocks * perBlock)
			scale := w.Reg()
			VBROADCASTSS(Mem{Base: f, Disp: 4 * h}, scale)
			for c, a := range acc[h] {
				VMULPS(m.Offset(c*w.Bytes()), scale, a)
			}
		})
		pj, vj, left := GP64(), GP64(), GP64()
		MOVQ(p, pj)
		MOVQ(v, vj)
		MOVQ(n, left)
		row := fmt.Sprintf("values%d", cols)
		Label(row)
		weights := w.Regs(heads)
		for h, r := range weights {
			VBROADCASTSS(Mem{Base: pj, Disp: 128 * h}, r)
		}
		for b := range blocks {
			block := Mem{Base: vj, Disp: b * q8Bytes}
			d := w.Reg()
			q8Scale(w, block, d)
			for part := range perBlock {
				x := w.Reg()
				q8Load(w, block, part, d, x)
				for h, r := range weights {
					VFMADD231PS(r, x, acc[h][b*perBlock+part])
				}
			}
			prefetch(Mem{Base: vj, Index: next, Scale: 1, Disp: b * q8Bytes})
		}
		ADDQ(U8(4), pj)
		ADDQ(rowBytes, vj)
		DECQ(left)
		JNZ(LabelRef(row))

		eachHead(o, oRow, heads, func(h int, m Mem) {
			for c, a := range acc[h] {
				VMOVUPS(a, m.Offset(c*w.Bytes()))
			}
		})
		ADDQ(I32(cols*4), o)
		ADDQ(I32(blocks*q8Bytes), v)
		SUBQ(U8(cols), dim)
		JMP(LabelRef(chunk))
		Label(after)
	}
	vec.Done()
}
