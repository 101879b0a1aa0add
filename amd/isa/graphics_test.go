package isa

import (
	"math/rand/v2"
	"testing"
)

// graphicsItems walks what only shaders of pixels and vertices have: VINTERP,
// LDSDIR and EXP, every opcode with each bit of its fields, and every target.
func graphicsItems() [][]uint32 {
	var items [][]uint32
	add := func(w ...uint32) { items = append(items, w) }
	const regs = 0x104 | 0x106<<9 | 0x108<<18
	for op := range uint32(128) {
		w := 0xcd<<24 | op<<16
		add(w|2, regs)
		if vinterp[op] == nil {
			continue
		}
		for bit := range 16 {
			add(w|1<<bit, regs)
		}
		for bit := 27; bit < 32; bit++ {
			add(w|2, regs|1<<bit)
		}
		for i := range 3 {
			for _, src := range []uint32{0, 0x6a, 0x80, 0xf2, 0xfe, 0xff, 0x1ff} {
				add(w|2, regs&^(0x1ff<<(9*i))|src<<(9*i), 0x3e345678)
			}
		}
	}
	for op := range uint32(16) {
		add(0xce<<24 | op<<20 | 2)
		for bit := range 20 {
			add(0xce<<24 | op<<20 | 1<<bit)
		}
		add(0xce<<24 | op<<20 | 0xfffff)
	}
	add(0xcf<<24|2, regs)
	for target := range uint32(64) {
		for en := range uint32(16) {
			add(0xf8<<24|target<<4|en, 0x04030201)
		}
	}
	for bit := 10; bit < 26; bit++ {
		add(0xf8<<24|1<<bit|0xf, 0xff00fe03)
	}
	return items
}

func TestGraphicsTextIsLLVMs(t *testing.T) {
	t.Parallel()
	items := graphicsItems()
	r := rand.New(rand.NewPCG(7, 8))
	for range 1000 {
		for _, lead := range []uint32{0xcd, 0xce, 0xf8} {
			items = append(items, []uint32{lead<<24 | r.Uint32()>>8, r.Uint32()})
		}
		// Sources that are vector registers.
		items = append(items, []uint32{0xcd<<24 | r.Uint32N(6)<<16 | r.Uint32()>>16, r.Uint32() | 0x100<<18 | 0x100<<9 | 0x100})
	}
	compareWaves(t, items)
}
