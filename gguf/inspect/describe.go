package inspect

import (
	"fmt"

	"github.com/holdfast-llm/holdfast/gguf"
	"github.com/holdfast-llm/holdfast/gguf/quant"
)

// Description is architecture, size class and file type as llama.cpp words
// them, such as "qwen3 0.6B Q4_K - Medium", so that tables of the two can be
// compared. What is not known is "?"; a file type that the file does not state
// is guessed from its tensors and says so.
func Description(f *gguf.File) string {
	arch, ok := f.String("general.architecture")
	if !ok {
		return "no model"
	}
	return fmt.Sprintf("%s %s %s", arch, sizeClass(f, arch), fileType(f))
}

// sizeClass recognises published models by their number of layers, with the
// widths that tell apart those with the same number.
func sizeClass(f *gguf.File, arch string) string {
	number := func(key string) uint64 { v, _ := f.Uint(arch + "." + key); return v }
	layers, embd := number("block_count"), number("embedding_length")
	heads, kvHeads := number("attention.head_count"), number("attention.head_count_kv")
	pick := func(first bool, a, b string) string {
		if first {
			return a
		}
		return b
	}
	switch arch {
	case "llama":
		if number("expert_count") == 8 {
			return lookup(map[uint64]string{32: "8x7B", 56: "8x22B"}, layers)
		}
		vocab, ok := f.Uint("llama.vocab_size")
		if !ok {
			tokens, _ := f.Strings("tokenizer.ggml.tokens")
			vocab = uint64(len(tokens))
		}
		switch layers {
		case 32:
			if vocab == 49152 {
				return "3B"
			}
			return pick(vocab < 40000, "7B", "8B")
		case 80:
			return pick(heads == kvHeads, "65B", "70B")
		}
		return lookup(map[uint64]string{16: "1B", 22: "1B", 26: "3B", 28: "3B", 30: "256M", 36: "8B", 40: "13B", 48: "34B", 60: "30B"}, layers)
	case "qwen2":
		switch layers {
		case 24:
			return pick(embd == 1024, "0.5B", "1B")
		case 28:
			return pick(embd == 1536, "1.5B", "7B")
		case 40:
			return pick(heads == 20, "4B", "13B")
		}
		return lookup(map[uint64]string{32: "7B", 36: "3B", 48: "14B", 64: "32B", 80: "70B"}, layers)
	case "qwen3":
		switch layers {
		case 28:
			return pick(embd == 1024, "0.6B", "1.7B")
		case 36:
			return pick(embd == 2560, "4B", "8B")
		}
		return lookup(map[uint64]string{40: "14B", 64: "32B"}, layers)
	case "qwen3moe":
		return lookup(map[uint64]string{48: "30B.A3B", 94: "235B.A22B"}, layers)
	}
	return "?B"
}

func lookup(m map[uint64]string, key uint64) string {
	if s, ok := m[key]; ok {
		return s
	}
	return "?B"
}

// fileTypes words general.file_type (enum llama_ftype).
var fileTypes = map[uint64]string{
	0: "all F32", 1: "F16", 2: "Q4_0", 3: "Q4_1", 7: "Q8_0", 8: "Q5_0", 9: "Q5_1",
	10: "Q2_K - Medium", 11: "Q3_K - Small", 12: "Q3_K - Medium", 13: "Q3_K - Large",
	14: "Q4_K - Small", 15: "Q4_K - Medium", 16: "Q5_K - Small", 17: "Q5_K - Medium", 18: "Q6_K",
	19: "IQ2_XXS - 2.0625 bpw", 20: "IQ2_XS - 2.3125 bpw", 21: "Q2_K - Small",
	22: "IQ3_XS - 3.3 bpw", 23: "IQ3_XXS - 3.0625 bpw", 24: "IQ1_S - 1.5625 bpw",
	25: "IQ4_NL - 4.5 bpw", 26: "IQ3_S - 3.4375 bpw", 27: "IQ3_S mix - 3.66 bpw",
	28: "IQ2_S - 2.5 bpw", 29: "IQ2_M - 2.7 bpw", 30: "IQ4_XS - 4.25 bpw", 31: "IQ1_M - 1.75 bpw",
	32: "BF16", 36: "TQ1_0 - 1.69 bpw ternary", 37: "TQ2_0 - 2.06 bpw ternary", 38: "MXFP4 MoE",
}

// guesses words the type of most tensors where the file states none. The block
// types that come in mixes are taken for the middle one.
var guesses = map[quant.Type]string{
	quant.F32: "all F32", quant.Q2_K: "Q2_K - Medium", quant.Q3_K: "Q3_K - Medium", quant.Q4_K: "Q4_K - Medium",
	quant.Q5_K: "Q5_K - Medium", quant.IQ4_NL: "IQ4_NL - 4.5 bpw", quant.IQ4_XS: "IQ4_XS - 4.25 bpw",
}

func fileType(f *gguf.File) string {
	if v, ok := f.Uint("general.file_type"); ok {
		if name, ok := fileTypes[v]; ok {
			return name
		}
		return fmt.Sprintf("file type %d", v)
	}
	most := quant.F32
	tensors := 0
	for _, t := range Totals(f) {
		// F32 counts only if there is nothing else: norms are F32 in every file.
		if t.Type != quant.F32 && t.Tensors > tensors {
			most, tensors = t.Type, t.Tensors
		}
	}
	if name, ok := guesses[most]; ok {
		return "(guessed) " + name
	}
	return "(guessed) " + gguf.TypeName(most)
}
