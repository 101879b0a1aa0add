//go:build !amd64

package simd

import "github.com/holdfast-llm/holdfast/gguf/quant"

func nativeGemm(Level, quant.Type) (*gemmKernels, bool) { return nil, false }
