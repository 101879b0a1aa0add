package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// tables are a family's read-only tables, written when first asked for.
type tables struct {
	prefix string
	made   map[string]Mem
}

func newTables(prefix string) *tables { return &tables{prefix, map[string]Mem{}} }

// words is a table of 32-bit words.
func (t *tables) words(name string, words ...uint32) Mem {
	m, ok := t.made[name]
	if !ok {
		m = GLOBL(t.prefix+name, attr.RODATA|attr.NOPTR)
		for i, w := range words {
			DATA(4*i, U32(w))
		}
		t.made[name] = m
	}
	return m
}

// bytes is a table of n bytes, a multiple of four.
func (t *tables) bytes(name string, n int, f func(i int) byte) Mem {
	words := make([]uint32, n/4)
	for i := range n {
		words[i/4] |= uint32(f(i)) << (i % 4 * 8)
	}
	return t.words(name, words...)
}

// repeat is a table of n bytes b.
func (t *tables) repeat(name string, n int, b byte) Mem {
	return t.bytes(name, n, func(int) byte { return b })
}

// quads is a table of 8 64-bit words: four of a, four of b.
func (t *tables) quads(name string, a, b uint32) Mem {
	return t.words(name, a, 0, a, 0, a, 0, a, 0, b, 0, b, 0, b, 0, b, 0)
}

// loadZ and loadX keep a table in a register.
func loadZ(m Mem) reg.VecVirtual {
	v := ZMM()
	VMOVDQU64(m, v)
	return v
}

func loadX(m Mem) reg.VecVirtual {
	v := XMM()
	VMOVDQU32(m, v)
	return v
}

// constant is a table that is kept in a register while one kernel is written.
type constant struct {
	mem Mem // 32 bytes
	y   reg.VecVirtual
}

// keeping is the setup of a row that keeps constants in registers.
func keeping(row rowFunc, keep ...*constant) func() rowFunc {
	return func() rowFunc {
		for _, k := range keep {
			k.y = YMM()
			VMOVDQU(k.mem, k.y)
		}
		return row
	}
}
