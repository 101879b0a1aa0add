package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// wide selects AVX-512; otherwise the kernels are for AVX2, FMA and F16C.
var wide bool

// suffix ends the names of the functions.
func suffix() string {
	if wide {
		return "AVX512"
	}
	return "AVX2"
}

// lanes is the number of 32-bit lanes of a vector, vecBytes its size.
func lanes() int {
	if wide {
		return 16
	}
	return 8
}

func vecBytes() int { return 4 * lanes() }

// panelRows is the number of weight rows of a panel: two vectors of them.
func panelRows() int { return 2 * lanes() }

// rowTile is the number of activation rows of a tile.
func rowTile() int {
	if wide {
		return 6
	}
	return 4
}

// heights are the numbers of rows that there are tile kernels for: a tile with
// fewer rows in use takes the next larger one.
func heights() []int {
	if wide {
		return []int{2, 4, 6}
	}
	return []int{2, 4}
}

func vec() reg.VecVirtual {
	if wide {
		return ZMM()
	}
	return YMM()
}

func vecs(n int) []reg.VecVirtual {
	v := make([]reg.VecVirtual, n)
	for i := range v {
		v[i] = vec()
	}
	return v
}

func load(m Mem, v reg.VecVirtual) {
	if wide {
		VMOVDQU32(m, v)
	} else {
		VMOVDQU(m, v)
	}
}

func store(v reg.VecVirtual, m Mem) {
	if wide {
		VMOVDQU32(v, m)
	} else {
		VMOVDQU(v, m)
	}
}

func move(src, dst reg.VecVirtual) {
	if wide {
		VMOVDQA32(src, dst)
	} else {
		VMOVDQA(src, dst)
	}
}

func and(a, b, dst Op) {
	if wide {
		VPANDD(a, b, dst)
	} else {
		VPAND(a, b, dst)
	}
}

func or(a, b, dst Op) {
	if wide {
		VPORD(a, b, dst)
	} else {
		VPOR(a, b, dst)
	}
}

func zero(v reg.VecVirtual) {
	if wide {
		VPXORD(v, v, v)
	} else {
		VPXOR(v, v, v)
	}
}

// at is base + disp.
func at(base reg.Register, disp int) Mem { return Mem{Base: base, Disp: disp} }

var tables = map[string]Mem{}

// table is a static table of doublewords, made when it is first asked for.
func table(name string, values ...uint32) Mem {
	m, ok := tables[name]
	if !ok {
		m = GLOBL("gemm_"+name, RODATA|NOPTR)
		for i, v := range values {
			DATA(4*i, U32(v))
		}
		tables[name] = m
	}
	return m
}

// inMemory is 32 bytes of v.
func inMemory(v uint32) Mem {
	return table(fmt.Sprintf("%08x", v), v, v, v, v, v, v, v, v)
}

// constant is a vector whose every lane is v: in a register with AVX-512, in
// memory with AVX2, which has only 16 of them. Ask for it outside loops.
func constant(v uint32) Op {
	if !wide {
		return inMemory(v)
	}
	z := ZMM()
	VPBROADCASTD(inMemory(v), z)
	return z
}

// lowHalves converts the half floats in the low 16 bits of the lanes of v.
func lowHalves(v, dst reg.VecVirtual) {
	if wide {
		y := YMM()
		VPMOVDW(v, y)
		VCVTPH2PS(y, dst)
		return
	}
	and(constant(0xffff), v, dst)
	VPACKUSDW(dst, dst, dst)
	VPERMQ(U8(0xd8), dst, dst)
	VCVTPH2PS(dst.AsX(), dst)
}

// highHalves is lowHalves of the high 16 bits; it destroys v.
func highHalves(v, dst reg.VecVirtual) {
	VPSRLD(U8(16), v, v)
	lowHalves(v, dst)
}
