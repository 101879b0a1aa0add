package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/holdfast-llm/holdfast/device/cpu/simd/gen/vec"
)

// elem is the type of keys and values in memory.
type elem struct {
	name string
	size int
}

var (
	f16  = elem{"F16", 2}
	bf16 = elem{"BF16", 2}
	f32  = elem{"F32", 4}
)

// load widens a vector's worth of elements.
func (e elem) load(m Mem, r reg.VecVirtual) {
	switch e {
	case f16:
		VCVTPH2PS(m, r)
	case bf16:
		VPMOVZXWD(m, r)
		VPSLLD(U8(16), r, r)
	case f32:
		VMOVUPS(m, r)
	}
}

// scores emits q . k for some heads and n keys, 1 <= n <= 32:
//
//	s[h*32+j] = sum over i < dim of q[h*dim+i] * k[j*dim+i]
//
// Keys go by fours; the last four repeat the last key and so may write up to
// three scores beyond n. Lines of next are prefetched, as many as k has,
// and those after them.
func scores(w vec.Width, e elem, heads int) {
	const keys = 4
	vec.Func(fmt.Sprintf("scores%s%s_%d", w.Suffix(), e.name, heads), "func(s, q *float32, k, next *byte, dim, n int)")
	s := Load(Param("s"), GP64())
	q := Load(Param("q"), GP64())
	k := Load(Param("k"), GP64())
	next := Load(Param("next"), GP64())
	dim := Load(Param("dim"), GP64())
	n := Load(Param("n"), GP64())

	// Rows are addressed from their ends by i, which counts up to zero.
	rowBytes := dim
	qRow := GP64()
	if e.size == 2 {
		ADDQ(rowBytes, rowBytes)
		LEAQ(Mem{Base: rowBytes, Index: rowBytes, Scale: 1}, qRow)
	} else {
		SHLQ(U8(2), rowBytes)
		MOVQ(rowBytes, qRow)
	}
	var qs []Mem
	at := q
	for range heads {
		end := GP64()
		LEAQ(Mem{Base: at, Index: qRow, Scale: 1}, end)
		qs = append(qs, Mem{Base: end})
		at = end
	}
	ADDQ(rowBytes, k)
	LEAQ(Mem{Base: next, Index: rowBytes, Scale: keys}, next)
	var pick reg.VecVirtual
	if w == vec.W512 {
		pick = ZMM()
		VMOVUPS(everyFour, pick)
	}

	Label("keys")
	// k1..k3 step from k only while there is another key.
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
	i := GP64()
	MOVQ(rowBytes, i)
	NEGQ(i)
	Label("dims")
	x := w.Regs(keys)
	for j, r := range rows {
		e.load(Mem{Base: r, Index: i, Scale: 1}, x[j])
	}
	for h := range heads {
		y := w.Reg()
		m := qs[h]
		m.Index, m.Scale = i, uint8(4/e.size)
		VMOVUPS(m, y)
		for j := range keys {
			VFMADD231PS(x[j], y, acc[h][j])
		}
	}
	step := w.Lanes() * e.size
	for line := 0; line < keys*step; line += 64 {
		prefetch(Mem{Base: next, Index: i, Scale: keys, Disp: line})
	}
	ADDQ(U8(step), i)
	JNZ(LabelRef("dims"))

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

// farther is from the lines that are needed next to those after them: a tile of
// 32 keys of 128 values of 2 bytes.
const farther = 32 * 128 * 2

// prefetch asks for a line into the first-level cache, and for one farther on
// into the second, which gives memory more time than the arithmetic of one tile
// does. Beyond the end of the cache it is harmless.
func prefetch(m Mem) {
	PREFETCHT0(m)
	PREFETCHT1(m.Offset(farther))
}

// sumFour adds up the lanes of each of four vectors, into an XMM register.
func sumFour(w vec.Width, a []reg.VecVirtual, pick reg.VecVirtual) reg.Register {
	if w == vec.W256 {
		t, u, x := YMM(), YMM(), XMM()
		VHADDPS(a[1], a[0], t)
		VHADDPS(a[3], a[2], u)
		VHADDPS(u, t, t)
		VEXTRACTF128(U8(1), t, x)
		VADDPS(x, t.AsX(), x)
		return x
	}
	t0, t1, t2, t3 := ZMM(), ZMM(), ZMM(), ZMM()
	// Halves of a[0] and a[1], of a[2] and a[3]; then quarters of all four.
	VSHUFF32X4(U8(0x44), a[1], a[0], t0)
	VSHUFF32X4(U8(0xee), a[1], a[0], t1)
	VADDPS(t0, t1, t0)
	VSHUFF32X4(U8(0x44), a[3], a[2], t2)
	VSHUFF32X4(U8(0xee), a[3], a[2], t3)
	VADDPS(t2, t3, t2)
	VSHUFF32X4(U8(0x88), t2, t0, t1)
	VSHUFF32X4(U8(0xdd), t2, t0, t3)
	VADDPS(t1, t3, t0)
	VPERMILPS(U8(0x4e), t0, t1)
	VADDPS(t0, t1, t0)
	VPERMILPS(U8(0xb1), t0, t1)
	VADDPS(t0, t1, t0)
	VPERMPS(t0, pick, t0)
	return t0.AsX()
}

// eachHead calls f with the address of each head's row.
func eachHead(base, rowBytes reg.Register, heads int, f func(h int, m Mem)) {
	for h := range heads {
		f(h, Mem{Base: base})
		if h+1 < heads {
			following := GP64()
			LEAQ(Mem{Base: base, Index: rowBytes, Scale: 1}, following)
			base = following
		}
	}
}

// weigh emits the weighted sum of n values, n >= 1, for some heads, after
// rescaling what was summed before:
//
//	o[h*dim+i] = o[h*dim+i] * f[h] + sum over j < n of p[h*32+j] * v[j*dim+i]
//
// dim is a multiple of 16. Lines of next are prefetched, as many as v has,
// and those after them.
func weigh(w vec.Width, e elem, heads int) {
	vec.Func(fmt.Sprintf("weigh%s%s_%d", w.Suffix(), e.name, heads), "func(o, p, f *float32, v, next *byte, dim, n int)")
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
	MOVQ(oRow, rowBytes)
	if e.size == 2 {
		SHRQ(U8(1), rowBytes)
	}

	// Columns go in wide chunks, then chunks of 16.
	wide := 4
	if w == vec.W256 && heads == 4 {
		wide = 2
	}
	narrow := 16 / w.Lanes()
	for _, vecs := range []int{wide, narrow} {
		cols := vecs * w.Lanes()
		chunk, after := fmt.Sprintf("chunk%d", cols), fmt.Sprintf("after%d", cols)
		Label(chunk)
		CMPQ(dim, U8(cols))
		JL(LabelRef(after))
		acc := make([][]reg.VecVirtual, heads)
		eachHead(o, oRow, heads, func(h int, m Mem) {
			acc[h] = w.Regs(vecs)
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
		for c := range vecs {
			x := w.Reg()
			e.load(Mem{Base: vj, Disp: c * w.Lanes() * e.size}, x)
			for h, r := range weights {
				VFMADD231PS(r, x, acc[h][c])
			}
		}
		for line := 0; line < cols*e.size; line += 64 {
			prefetch(Mem{Base: vj, Index: next, Scale: 1, Disp: line})
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
		ADDQ(I32(cols*e.size), v)
		SUBQ(U8(cols), dim)
		JMP(LabelRef(chunk))
		Label(after)
		if wide == narrow {
			break
		}
	}
	vec.Done()
}
