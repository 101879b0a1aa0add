package isa

import (
	"errors"
	"math/rand/v2"
	"testing"
)

// The words of an image operation: vdata v10, vaddr v4, srsrc s[8:15], ssamp
// s[4:7] or none, and with nsa v17 to v20.
const (
	imageWord0 = 0x3c << 26
	imageWord1 = 0x00020a04
	imageSamp  = 1 << 26
	imageNSA   = 0x14131211
)

// imageItems walks MIMG: every opcode with every dim, nsa, a16, d16 and tfe,
// every dmask, each of the other modifiers, and every scalar register.
func imageItems() [][]uint32 {
	var items [][]uint32
	add := func(w ...uint32) { items = append(items, w) }
	for op := range uint32(256) {
		w0, w1 := imageWord0|op<<18, uint32(imageWord1)
		switch {
		case mimg[op] == nil:
			add(w0, w1)
			continue
		case mimg[op].Args[len(mimg[op].Args)-1].Field == fImgSamp:
			w1 |= imageSamp
		}
		add(w0|3<<8|1<<2, w1)
		add(w0|3<<8|1<<2, w1^imageSamp)
		for dim := range uint32(8) {
			for bits := range uint32(16) { // nsa, a16, d16, tfe
				add(w0|0xf<<8|dim<<2|bits&1|bits>>1&3<<16, w1|bits>>3<<21, imageNSA)
			}
		}
		for dmask := range uint32(16) {
			for _, m := range []uint32{0, 1 << 17} {
				add(w0|dmask<<8|1<<2|m, w1)
				add(w0|dmask<<8|1<<2|m, w1|1<<21)
			}
		}
		for bit := range 18 {
			add(w0|1<<8|1<<2|1<<bit, w1, imageNSA)
			add(w0|0x8f80^1<<bit, w1, imageNSA) // what rays need
		}
		add(w0|0x8f81, w1, imageNSA)
		add(w0|0x18f81, w1, imageNSA)
		for bit := 21; bit < 32; bit++ {
			add(w0|1<<8|1<<2, w1|1<<bit)
			add(w0|0x8f80, w1|1<<bit)
		}
	}
	for s := range uint32(32) {
		add(imageWord0|0xf<<8|1<<2, 0x00000a04|s<<16)
		add(imageWord0|27<<18|0xf<<8|1<<2, 0x00020a04|s<<26)
		add(imageWord0|25<<18|0x8f80, 0x00000a04|s<<16)
	}
	return items
}

func TestImageTextIsLLVMs(t *testing.T) {
	t.Parallel()
	compareWaves(t, imageItems())
}

// TestRandomImageTextIsLLVMs keeps registers so low that none passes v255.
func TestRandomImageTextIsLLVMs(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	var items [][]uint32
	for range 4000 {
		op := r.Uint32N(102)
		items = append(items, []uint32{imageWord0 | op<<18 | r.Uint32()>>14, r.Uint32() & 0x87ff7f7f, r.Uint32() & 0x7f7f7f7f})
		items = append(items, []uint32{imageWord0 | op<<18 | r.Uint32()>>14, r.Uint32() & 0xffff7f7f, r.Uint32() & 0x7f7f7f7f})
	}
	compareWaves(t, items)
}

// LLVM prints what does not fit as if it had one register.
func TestImageRegistersPastTheLastAreUnknown(t *testing.T) {
	for _, c := range []struct {
		name  string
		words []uint32
		ok    bool
	}{
		{"four of data from v252", []uint32{imageWord0 | 0xf<<8 | 1<<2, 0x0002fc04}, true},
		{"four of data from v253", []uint32{imageWord0 | 0xf<<8 | 1<<2, 0x0002fd04}, false},
		{"one of data and the status from v255", []uint32{imageWord0 | 1<<8 | 1<<2, 0x0022ff04}, false},
		{"two of an address from v254", []uint32{imageWord0 | 1<<8 | 1<<2, 0x000200fe}, true},
		{"two of an address from v255", []uint32{imageWord0 | 1<<8 | 1<<2, 0x000200ff}, false},
		{"five more of an address from v252", []uint32{imageWord0 | 28<<18 | 1<<8 | 2<<2 | 1, imageWord1, 0xfc131211}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			in, err := Decode(0, slots([][]uint32{c.words}), Wave32)
			var unknown *Unknown
			if c.ok != (err == nil) || !c.ok && !errors.As(err, &unknown) {
				t.Errorf("%v, %v", &in, err)
			}
		})
	}
}
