package isa

import "testing"

// scalarItems walks the scalar encodings: every opcode with every kind of source
// and destination, and SMEM with its bases, offsets and modifiers.
func scalarItems() [][]uint32 {
	var items [][]uint32
	add := func(w ...uint32) { items = append(items, w) }
	const lit = 0x3e345678
	// Source codes: registers, their ends, specials, constants, reserved ones.
	sources := []uint32{0, 1, 8, 104, 105, 106, 107, 108, 122, 123, 124, 125, 126, 127, 128, 192, 193, 208, 209, 235, 239, 240, 248, 249, 251, 253, 254, 255}
	dests := []uint32{0, 5, 104, 105, 106, 107, 108, 123, 124, 125, 126, 127}
	for op := range uint32(96) { // SOP2
		for _, s := range sources {
			add(2<<30|op<<23|4<<16|6<<8|s, lit)
			add(2<<30|op<<23|4<<16|s<<8|8, lit)
		}
		for _, d := range dests {
			add(2<<30|op<<23|d<<16|6<<8|8, lit)
		}
	}
	for op := range uint32(256) { // SOP1
		for _, s := range sources {
			add(0x17d<<23|4<<16|op<<8|s, lit)
		}
		for _, d := range dests {
			add(0x17d<<23|d<<16|op<<8|8, lit)
		}
	}
	for op := range uint32(128) { // SOPC, SOPP
		for _, s := range sources {
			add(0x17e<<23|op<<16|6<<8|s, lit)
			add(0x17e<<23|op<<16|s<<8|8, lit)
		}
		for _, imm := range []uint32{0, 1, 4, 64, 65, 0x7c, 0xfff, 0x8000, 0xffff} {
			add(0x17f<<23 | op<<16 | imm)
		}
	}
	for op := range uint32(30) { // SOPK; 30 and 31 are other encodings
		for _, d := range dests {
			add(0xb<<28|op<<23|d<<16|0x8765, lit)
		}
		for _, imm := range []uint32{0, 1, 64, 65, 0x7fff, 0xffff, 0x2004, 0x4006, 0xe009, 0x1006} {
			add(0xb<<28|op<<23|4<<16|imm, 0)
		}
	}
	for op := range uint32(256) { // SMEM
		if smem[op] == nil {
			add(0x3d<<26|op<<18|8<<6|4, 0xf8000010)
			continue
		}
		for base := range uint32(64) {
			add(0x3d<<26|op<<18|8<<6|base, 0xf8000010)
		}
		for _, d := range append(dests, 2, 4, 6, 88, 92, 96, 97, 100, 112, 116, 120) {
			add(0x3d<<26|op<<18|d<<6|4, 0xf8000010)
			add(0x3d<<26|op<<18|8<<6|4, d<<25|0x1ffff0)
		}
		for _, mod := range []uint32{0, 1 << 13, 1 << 14, 3 << 13} {
			for _, off := range []uint32{0, 1, 0xfffff, 0x100000, 0x1fffff} {
				add(0x3d<<26|op<<18|mod|8<<6|4, 0xf8000000|off)
				add(0x3d<<26|op<<18|mod|8<<6|4, 12<<25|off)
			}
		}
	}
	return items
}

// immediateItems has values of the immediates with parts, and literals near the
// constants that have source codes of their own.
func immediateItems() [][]uint32 {
	var items [][]uint32
	for v := range uint32(1 << 16) {
		if v < 1<<11 || v%41 == 0 {
			items = append(items, []uint32{0xbf870000 | v}, []uint32{0xbf880000 | v}, []uint32{0xbf890000 | v})
			items = append(items, []uint32{0xd8d40000 | v, 0x08000002})
		}
		if v < 1<<10 || v%97 == 0 {
			items = append(items, []uint32{0xbfb60000 | v}, []uint32{0xb8840000 | v}, []uint32{0xb9040000 | v})
		}
		if v < 256 {
			items = append(items, []uint32{0xbe844c00 | v})
		}
	}
	for _, op := range []uint32{0xa28406ff, 0xa30406ff, 0xa00406ff, 0xa48406ff, 0x848406ff, 0x868406ff, 0x8b8406ff, 0xbe8400ff, 0xbe8401ff, 0xbe8469ff, 0xbe846aff, 0xbf5106ff, 0xb9848765} {
		for _, k := range []uint32{0, 1, 64, 65, 0x3800, 0x3c00, 0x12345678, 0x3f000000, 0xbf800000, 0x40800000, 0x3e22f983, 0x3118, 0x7fffffff, 0x80000000, 0xffffffef, 0xfffffff0, 0xffffffff} {
			items = append(items, []uint32{op, k})
		}
	}
	return items
}

func TestScalarTextIsLLVMs(t *testing.T) {
	t.Parallel()
	compareWaves(t, scalarItems())
}

func TestImmediateTextIsLLVMs(t *testing.T) {
	t.Parallel()
	compareWithOracle(t, Wave32, immediateItems())
}
