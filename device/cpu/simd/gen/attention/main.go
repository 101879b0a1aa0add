// Command attention generates the attention kernels: scores of a block of
// keys, the softmax step, the weighted sum of values (decode), and a small
// matrix product and transpose (prefill). The Go side composes them.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"

	"github.com/holdfast-llm/holdfast/device/cpu/simd/gen/vec"
)

var (
	table      *vec.Table
	laneNumber [4]Mem // 0..15, 16..31, ... as floats, for comparisons with a count
	everyFour  Mem    // dwords 0, 4, 8, 12
)

func main() {
	ConstraintExpr("amd64")
	table = vec.NewTable("attnConst")
	for i := range laneNumber {
		laneNumber[i] = table.Lanes(floatRange(16 * i))
	}
	everyFour = table.Lanes([16]uint32{0, 4, 8, 12})
	for _, w := range []vec.Width{vec.W256, vec.W512} {
		for _, heads := range []int{4, 2, 1} {
			few := w == vec.W512 || heads <= 2 // 4 heads take over 16 registers
			for _, e := range []elem{f16, bf16, f32} {
				if few {
					scores(w, e, heads)
				}
				weigh(w, e, heads)
			}
			if few {
				scoresQ8(w, heads)
				weighQ8(w, heads)
			}
		}
		softmax(w, 32)
		softmax(w, 64)
		products(w)
	}
	transpose()
	Generate()
}
