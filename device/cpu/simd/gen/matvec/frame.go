package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// streams are the numbers of rows that kernels are written for: one, and four
// at a time. Four rows share the loads of the activations and hide the latency
// of one another's sums.
var streams = []int{1, 4}

// frame is the inside of a kernel's loop over rows.
type frame struct {
	n      int              // streams
	w      []reg.GPVirtual  // the current block of each stream's row
	act    reg.GPVirtual    // the packed activations
	blocks Mem              // the number of blocks in a row
	ahead  reg.GPVirtual    // how far before its use a line of weights is asked for, in bytes
	label  int              // of the next loop
	acc    []reg.VecVirtual // per stream, one vector of partial sums
}

// rowFunc computes one row of each of f.n streams: it moves f.w past it and
// leaves the partial sums in f.acc, 8 or 16 floats that are all added up.
type rowFunc func(f *frame)

// plain is the setup of a row that needs none.
func plain(row rowFunc) func() rowFunc { return func() rowFunc { return row } }

// matvec writes the functions name1 and name4 for rows of blocks of blockBytes
// bytes. setup writes what is done once, such as loading tables, and returns
// what writes a row.
//
// name4 takes four neighbouring rows at a time, name1 one; times says how often.
// Its reads are one stream, to the end of one call and on into the next, and so
// is what it prefetches, ahead bytes before.
func matvec(name string, blockBytes int, setup func() rowFunc) {
	for _, n := range streams {
		TEXT(fmt.Sprintf("%s%d", name, n), attr.NOSPLIT, "func(out *float32, w, act *byte, blocks, times, ahead int)")
		f := &frame{n: n, w: make([]reg.GPVirtual, n), acc: make([]reg.VecVirtual, n)}
		out := Load(Param("out"), GP64()).(reg.GPVirtual)
		f.w[0] = Load(Param("w"), GP64()).(reg.GPVirtual)
		f.act = Load(Param("act"), GP64()).(reg.GPVirtual)
		f.ahead = Load(Param("ahead"), GP64()).(reg.GPVirtual)
		f.blocks = address("blocks")
		times := address("times")
		var others reg.GPVirtual // the bytes of the other three rows
		if n == 4 {
			row := GP64()
			MOVQ(f.blocks, row)
			IMUL3Q(U32(uint32(blockBytes)), row, row)
			for s := 1; s < n; s++ {
				f.w[s] = GP64()
				LEAQ(Mem{Base: f.w[s-1], Index: row, Scale: 1}, f.w[s])
			}
			others = GP64()
			LEAQ(Mem{Base: row, Index: row, Scale: 2}, others)
		}
		row := setup()
		Label("row")
		row(f)
		sum := addUp(f.acc)
		if n == 4 {
			VMOVUPS(sum, Mem{Base: out})
			for _, w := range f.w {
				ADDQ(others, w)
			}
		} else {
			VMOVSS(sum, Mem{Base: out})
		}
		ADDQ(U8(4*n), out)
		DECQ(times)
		JNZ(LabelRef("row"))
		VZEROUPPER()
		RET()
	}
}

// address is where a parameter lies in memory.
func address(param string) Mem {
	b, err := Param(param).Resolve()
	if err != nil {
		panic(err)
	}
	return b.Addr
}

// loop repeats body as often as the counter, already set, says; at least once.
func (f *frame) loop(count reg.GPVirtual, body func()) {
	l := fmt.Sprintf("loop%d", f.label)
	f.label++
	Label(l)
	body()
	DECQ(count)
	JNZ(LabelRef(l))
}

// eachBlock repeats body for every block of a row.
func (f *frame) eachBlock(body func()) {
	b := GP64()
	MOVQ(f.blocks, b)
	f.loop(b, body)
}

// prefetch asks for the lines that a block at w, of the given size, stands for
// later on. Prefetching past the end of the weights is harmless.
func (f *frame) prefetch(w reg.GPVirtual, bytes int) {
	for o := 0; o < bytes; o += 64 {
		PREFETCHT0(Mem{Base: w, Index: f.ahead, Scale: 1, Disp: o})
	}
}

// addUp adds up each of one or four vectors: the sums are the low elements of
// the result. The order of the additions is the same for one and for four.
func addUp(acc []reg.VecVirtual) reg.VecVirtual {
	evex := acc[0].Size() == 64
	if evex {
		for i, a := range acc {
			acc[i] = YMM()
			VEXTRACTF64X4(U8(1), a, acc[i])
			VADDPS(acc[i], a.AsY(), acc[i])
		}
	}
	a := addNeighbours(acc[0], acc[len(acc)/4])
	b := a
	if len(acc) == 4 {
		b = addNeighbours(acc[2], acc[3])
	}
	a = addNeighbours(a, b)
	high := XMM()
	if evex {
		VEXTRACTF32X4(U8(1), a, high)
	} else {
		VEXTRACTF128(U8(1), a, high)
	}
	VADDPS(high, a.AsX(), high)
	return high
}

// addNeighbours is VHADDPS, which has no form for registers above 15: in each
// lane, the sums of a's elements 0 and 1, 2 and 3, then of b's.
func addNeighbours(a, b reg.VecVirtual) reg.VecVirtual {
	even, odd := YMM(), YMM()
	VSHUFPS(U8(0x88), b, a, even)
	VSHUFPS(U8(0xdd), b, a, odd)
	VADDPS(odd, even, even)
	return even
}
