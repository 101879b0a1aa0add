package simd

import "github.com/holdfast-llm/holdfast/gguf/quant"

func attentionSIMD(Level, quant.Type, int, int) (Attention, bool) { return Attention{}, false }
