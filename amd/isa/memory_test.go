package isa

import (
	"math/rand/v2"
	"testing"
)

// memoryItems walks the memory encodings: every opcode with registers in and
// out of every field, the modifiers, offsets and scalar operands.
func memoryItems() [][]uint32 {
	var items [][]uint32
	add := func(w ...uint32) { items = append(items, w) }
	for op := range uint32(256) { // DS
		if ds[op] == nil {
			add(0x36<<26|op<<18, 0x08000402)
			continue
		}
		for _, gds := range []uint32{0, 1 << 17} {
			w := 0x36<<26 | op<<18 | gds
			for _, regs := range []uint32{0, 0x00000002, 0x00000402, 0x00060402, 0x08000002, 0x08000402, 0x08060402, 0x08000000, 0x00000400, 0xf0f0f0f0, 0xfdfdfdfd} {
				add(w|0x1234, regs)
			}
			for _, off := range []uint32{0, 1, 0xff, 0x100, 0xffff} {
				add(w|off, 0x08000002)
				add(w|off, 0x00000402)
				add(w|1<<16|off, 0x00060402)
			}
		}
	}
	flags := []uint32{0, 1 << 13, 1 << 14, 1 << 15, 7 << 13}
	for op := range uint32(128) { // FLAT, SCRATCH, GLOBAL and the reserved segment
		for seg := range uint32(4) {
			w := 0x37<<26 | op<<18 | seg<<16
			if flat[op] == nil && global[op] == nil || seg == 3 {
				add(w, 0x087c0604)
				continue
			}
			for _, regs := range []uint32{0x007c0004, 0x087c0604, 0xf07cf0fe, 0xff7cffff, 0x08fc0604, 0x080c0604, 0x088c0604} {
				for _, f := range flags {
					add(w|f|4, regs)
				}
			}
			for _, off := range []uint32{0, 1, 0xfff, 0x1000, 0x1fff} {
				add(w|off, 0x087c0604)
				add(w|1<<25|off, 0x080c0604)
			}
		}
	}
	for saddr := range uint32(256) {
		add(0xdc520004, 0x08000604|saddr<<16)
		add(0xdc510004, 0x08000604|saddr<<16)
		add(0xdc500004, 0x08000604|saddr<<16)
	}
	for op := range uint32(256) { // MUBUF
		w := 0x38<<26 | op<<18
		if mubuf[op] == nil {
			add(w, 0x80030604)
			continue
		}
		for _, f := range []uint32{0, 1 << 12, 1 << 13, 1 << 14, 7 << 12, 7 << 15} {
			for _, vaddr := range []uint32{0, 1 << 22, 2 << 22, 3 << 22, 1 << 21, 7 << 21} {
				add(w|f|4, 0x80030604|vaddr)
			}
		}
		add(w|0xfff, 0x80030604)
		add(w, 0)
		add(w|1<<25, 0x80030604)
	}
	for op := range uint32(16) { // MTBUF
		for format := range uint32(128) {
			add(0x3a<<26|format<<19|op<<15|4, 0x80030604)
		}
		for _, vaddr := range []uint32{0, 1 << 22, 2 << 22, 3 << 22, 1 << 21} {
			add(0x3a<<26|16<<19|op<<15|7<<12|0xfff, 0x05030604|vaddr)
		}
	}
	for s := range uint32(256) { // every descriptor and every offset
		add(0xe0500004, 0x80000604|s&0x1f<<16, 0x12345678)
		add(0xe0500004, 0x00030604|s<<24, 0x3e345678)
		add(0xe8800004, 0x00030604|s<<24, 1)
	}
	return items
}

func TestMemoryTextIsLLVMs(t *testing.T) {
	t.Parallel()
	compareWaves(t, memoryItems())
}

// TestRandomScalarAndMemoryTextIsLLVMs puts random bits behind the leading bits
// of every scalar and memory encoding.
func TestRandomScalarAndMemoryTextIsLLVMs(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	var items [][]uint32
	for range 1000 {
		for _, lead := range []struct{ bits, shift uint32 }{
			{2, 30}, {0x17d, 23}, {0x17e, 23}, {0x17f, 23}, {0xb, 28}, {0x3d, 26}, {0x36, 26}, {0x37, 26}, {0x38, 26}, {0x3a, 26},
		} {
			items = append(items, []uint32{lead.bits<<lead.shift | r.Uint32()>>(32-lead.shift), r.Uint32(), 0})
		}
	}
	compareWaves(t, items)
}
