// Command gemm writes the assembly of the matrix products of package simd: the
// kernels that unpack a panel of weights (one per weight type), the one that
// packs activations and the tiles that multiply the two. The layouts are
// described in gemm_panel.go of that package.
//
// Everything is written once for both vector widths; isa.go holds what differs.
package main

import (
	"flag"

	. "github.com/mmcloughlin/avo/build"
)

func main() {
	flag.BoolVar(&wide, "avx512", false, "write the AVX-512 kernels, not the AVX2 ones")
	flag.Parse()
	ConstraintExpr("amd64")

	for _, k := range kinds() {
		for _, m := range heights() {
			k.tile(m)
		}
	}
	for _, m := range heights() {
		floatTile(m)
	}
	packRow()
	for _, u := range unpackers {
		u.generate()
	}
	biases(1)
	biases(2)
	Generate()
}
