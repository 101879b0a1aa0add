package main

import (
	"slices"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// accumulators are the float32 sums of a tile: two vectors of weight rows for
// each of m activation rows.
type accumulators struct {
	m     int
	regs  [2][]reg.VecVirtual
	stack Mem // where regs is empty
}

func registers(m int) accumulators {
	return accumulators{m: m, regs: [2][]reg.VecVirtual{vecs(m), vecs(m)}}
}

// onStack is for AVX2, whose registers the integers take.
func onStack(m int) accumulators {
	return accumulators{m: m, stack: AllocLocal(2 * m * vecBytes())}
}

func (s accumulators) slot(j, i int) Mem { return s.stack.Offset((2*i + j) * vecBytes()) }

func (s accumulators) clear() {
	z := vec()
	if s.regs[0] == nil {
		zero(z)
	}
	for i := range s.m {
		for j := range 2 {
			if s.regs[0] == nil {
				store(z, s.slot(j, i))
			} else {
				zero(s.regs[j][i])
			}
		}
	}
}

// get returns the register that holds a sum until put.
func (s accumulators) get(j, i int) reg.VecVirtual {
	if s.regs[0] != nil {
		return s.regs[j][i]
	}
	v := vec()
	VMOVUPS(s.slot(j, i), v)
	return v
}

func (s accumulators) put(j, i int, v reg.VecVirtual) {
	if s.regs[0] == nil {
		VMOVUPS(v, s.slot(j, i))
	}
}

// finish writes the sums of the first m activation rows and the first rows
// weight rows, or adds them to what is there if add is 1.
func (s accumulators) finish(a tileArgs) {
	m := Load(Param("m"), GP64())
	rows := Load(Param("rows"), GP64())
	add := Load(Param("add"), GP64())
	stored, added := masks(rows, add)
	SHLQ(U8(2), a.ldo)
	for i := range s.m {
		for j := range 2 {
			v := s.get(j, i)
			o := at(a.out, j*vecBytes())
			t := vec()
			if wide {
				VMOVUPS_Z(o, added[j], t)
				VADDPS(t, v, t)
				VMOVUPS(t, stored[j], o)
			} else {
				VMASKMOVPS(o, added[j], t)
				VADDPS(t, v, t)
				VMASKMOVPS(t, stored[j], o)
			}
		}
		if i+1 < s.m {
			ADDQ(a.ldo, a.out)
			DECQ(m)
			JZ(LabelRef("done"))
		}
	}
	Label("done")
}

// masks are those of the lanes below rows, and the same if add is 1, else none.
func masks(rows, add reg.Register) (stored, added [2]reg.Register) {
	if wide {
		bits := GP64()
		MOVQ(rows, reg.RCX)
		MOVQ(I32(-1), bits)
		SHLQ(reg.CL, bits)
		NOTQ(bits)
		NEGQ(add)
		ANDQ(bits, add)
		for _, mask := range []struct {
			bits reg.Register
			k    *[2]reg.Register
		}{{bits, &stored}, {add, &added}} {
			for j := range 2 {
				k := K()
				KMOVW(mask.bits.(reg.GPVirtual).As32(), k)
				mask.k[j] = k
				SHRQ(U8(16), mask.bits)
			}
		}
		return stored, added
	}
	ones := slices.Repeat([]uint32{0xffffffff}, panelRows())
	below := table("below", append(ones, make([]uint32, panelRows())...)...)
	p := GP64()
	LEAQ(below, p)
	SHLQ(U8(2), rows)
	SUBQ(rows, p)
	all := vec()
	NEGQ(add)
	VMOVQ(add, all.AsX())
	VPBROADCASTQ(all.AsX(), all)
	for j := range 2 {
		s, d := vec(), vec()
		VMOVDQU(at(p, 4*panelRows()+j*vecBytes()), s)
		VPAND(all, s, d)
		stored[j], added[j] = s, d
	}
	return stored, added
}
