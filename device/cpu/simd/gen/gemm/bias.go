package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// biases writes the kernel that completes a panel with minus 128 times the sums
// of the weights of each group, or of its halves.
func biases(parts int) {
	name := fmt.Sprintf("gemmBias%d%s", group/parts, suffix())
	TEXT(name, NOSPLIT, "func(dst *byte, bytes, groups int)")
	Doc(name + " fills in the biases of groups that are a number of bytes apart, for one vector's worth of rows.")
	dst := Load(Param("dst"), GP64())
	size := Load(Param("bytes"), GP64())
	groups := Load(Param("groups"), GP64())
	ones := vec()
	if wide {
		VPBROADCASTD(inMemory(0x01010101), ones)
	} else {
		VMOVDQU(inMemory(0x01010101), ones)
	}
	Label("group")
	for part := range parts {
		sum := vec()
		zero(sum)
		for s := range 8 / parts {
			w := at(dst, panelQuants(part*8/parts+s))
			if wide {
				VPDPBUSD(w, ones, sum)
			} else {
				t := vec()
				VPMADDUBSW(w, ones, t)
				VPADDW(t, sum, sum)
			}
		}
		if !wide {
			VPMADDWD(inMemory(0x00010001), sum, sum)
		}
		minus := vec()
		zero(minus)
		VPSLLD(U8(7), sum, sum)
		VPSUBD(sum, minus, minus)
		store(minus, at(dst, kind{}.bias(part)))
	}
	ADDQ(size, dst)
	DECQ(groups)
	JNZ(LabelRef("group"))
	VZEROUPPER()
	RET()
}
