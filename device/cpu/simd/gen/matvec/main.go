// Command matvec writes the assembly of package simd's matrix-vector products
// and of the packing of their activations. Each run writes one family for one
// level: see the go:generate lines in matvec_amd64.go.
package main

import (
	"flag"
	"log"

	. "github.com/mmcloughlin/avo/build"
)

// families are the sets of kernels that share a file.
var families = map[string]func(){
	"pack_avx2":     packAVX2,
	"float_avx2":    floatAVX2,
	"float_avx512":  floatAVX512,
	"block_avx2":    blockAVX2,
	"block_avx512":  blockAVX512,
	"kquant_avx2":   kquantAVX2,
	"kquant_avx512": kquantAVX512,
}

func main() {
	family := flag.String("family", "", "which kernels to write")
	flag.Parse()
	emit, ok := families[*family]
	if !ok {
		log.Fatalf("matvec: unknown family %q", *family)
	}
	ConstraintExpr("amd64")
	emit()
	Generate()
}
