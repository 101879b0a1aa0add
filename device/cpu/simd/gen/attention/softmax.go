package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"github.com/holdfast-llm/holdfast/device/cpu/simd/gen/vec"
)

func floatRange(from int) (lanes [16]uint32) {
	for i := range lanes {
		lanes[i] = math.Float32bits(float32(from + i))
	}
	return lanes
}

// softmax emits the online softmax step over rows >= 1 rows of so many
// scores. Of row r the first count[r] (a whole number) count; the others are
// treated as -Inf whatever they hold. With M = max(m, scores):
//
//	f = exp(m-M)   l = l*f + sum exp(s-M)   s = exp(s-M)   m = M
//
// If M is -Inf, f and all s become 0.
func softmax(w vec.Width, width int) {
	vec.Func(fmt.Sprintf("softmax%s_%d", w.Suffix(), width), "func(s, count, m, l, f *float32, rows int)")
	s := Load(Param("s"), GP64())
	count := Load(Param("count"), GP64())
	m := Load(Param("m"), GP64())
	l := Load(Param("l"), GP64())
	f := Load(Param("f"), GP64())
	rows := Load(Param("rows"), GP64())
	vecs := width / w.Lanes()

	exp := w.NewExpNegative(table)
	Label("row")
	limit, top := w.Reg(), w.Reg()
	VBROADCASTSS(Mem{Base: count}, limit)
	VBROADCASTSS(table.U32(0xff800000), top)
	x := make([]reg.VecVirtual, vecs)
	for i := range x {
		x[i] = masked(w, Mem{Base: s, Disp: i * w.Bytes()}, i, limit)
		VMAXPS(x[i], top, top)
	}
	before, base := XMM(), w.Reg()
	VMOVSS(Mem{Base: m}, before)
	most := w.Fold(VMAXPS, top)
	VMAXSS(before, most, most)
	VMOVSS(most, Mem{Base: m})
	// exp(-Inf - -Inf) is to be 0, so subtract a finite number.
	VMAXSS(table.F32(-math.MaxFloat32), most, most)
	VBROADCASTSS(most, base)

	sum := w.Reg()
	w.Zero(sum)
	for i, x := range x {
		VSUBPS(base, x, x)
		exp.Apply(x)
		VADDPS(x, sum, sum)
		VMOVUPS(x, Mem{Base: s, Disp: i * w.Bytes()})
	}
	factor, total := w.Reg(), XMM()
	VSUBSS(base.AsX(), before, before)
	VMOVAPS(before, factor.AsX())
	exp.Apply(factor)
	VMOVSS(factor.AsX(), Mem{Base: f})
	VMOVSS(Mem{Base: l}, total)
	VFMADD213SS(w.Fold(VADDPS, sum), factor.AsX(), total)
	VMOVSS(total, Mem{Base: l})

	ADDQ(U32(4*width), s)
	for _, p := range []reg.Register{count, m, l, f} {
		ADDQ(U8(4), p)
	}
	DECQ(rows)
	JNZ(LabelRef("row"))
	vec.Done()
}

// masked loads the i-th vector of a row with -Inf in place of the scores from
// limit on.
func masked(w vec.Width, m Mem, i int, limit reg.VecVirtual) reg.VecVirtual {
	const less = 1 // ordered, signalling
	x, lanes := w.Reg(), w.Reg()
	first := i * w.Lanes()
	VMOVUPS(laneNumber[first/16].Offset(first%16*4), lanes)
	if w == vec.W512 {
		k := K()
		VCMPPS(U8(less), limit, lanes, k)
		VBROADCASTSS(table.U32(0xff800000), x)
		VMOVUPS(m, k, x)
		return x
	}
	VCMPPS(U8(less), limit, lanes, lanes)
	VBROADCASTSS(table.U32(0xff800000), x)
	VBLENDVPS(lanes, m, x, x)
	return x
}
