//go:build !amd64

package simd

import "github.com/holdfast-llm/holdfast/gguf/quant"

func attentionSIMD(Level, quant.Type, quant.Type, int, int) (Attention, bool) {
	return Attention{}, false
}
