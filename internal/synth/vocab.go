package synth

import (
	"fmt"

	"github.com/holdfast-llm/holdfast/gguf"
)

// Tokenizer is a kind of vocabulary.
type Tokenizer string

// The kinds of vocabulary. Both encode any text.
const (
	// Bytes is a byte-level BPE vocabulary ("gpt2"): the 256 bytes, merges of
	// letters into pairs and triples, and control tokens.
	Bytes Tokenizer = "gpt2"
	// Pieces is a SentencePiece vocabulary ("llama"): control tokens, byte
	// tokens, characters, and scored pairs and triples of letters.
	Pieces Tokenizer = "llama"
)

// The kinds of token, as tokenizer.ggml.token_type numbers them.
const (
	normal  = 1
	unknown = 2
	control = 3
	unused  = 5
	byteTok = 6
)

const (
	endOfText   = "<|endoftext|>"
	startOfTurn = "<|im_start|>"
	endOfTurn   = "<|im_end|>"
)

// chatTemplate marks turns as ChatML does.
const chatTemplate = `{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\n' + m['content'] + '<|im_end|>\n' }}{% endfor %}` +
	`{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}`

// letters are those that are merged, about as often as English has them, after
// the mark of a space.
const letters = "etaoinshrdlcumwfgypbvkjxqz"

// checkVocab makes sure that the vocabulary has room for what it must have.
func (c Config) checkVocab() error {
	least := map[Tokenizer]int{Bytes: 256 + 1 + 3, Pieces: 6 + 256 + len(plainCharacters())}[c.Tokenizer]
	if least == 0 {
		return fmt.Errorf("no tokenizer %q", c.Tokenizer)
	}
	if c.Vocab < least {
		return fmt.Errorf("a %s vocabulary has at least %d tokens, not %d", c.Tokenizer, least, c.Vocab)
	}
	return nil
}

// vocabulary is the tokenizer's part of the metadata.
func vocabulary(c Config) []gguf.KV {
	if c.Tokenizer == Pieces {
		return pieceVocabulary(c)
	}
	return byteVocabulary(c)
}

// merge joins two tokens into one.
type merge struct{ left, right string }

// merges are up to n merges, pairs of letters first, after space; then triples.
func merges(space string, n int) []merge {
	firsts := []string{space}
	for _, r := range letters {
		firsts = append(firsts, string(r))
	}
	var all []merge
	for sum := range 2 * len(letters) { // by falling frequency of both together
		for i, first := range firsts {
			if j := sum - i; j >= 0 && j < len(letters) {
				all = append(all, merge{first, letters[j : j+1]})
			}
		}
	}
	pairs := all
	for _, p := range pairs {
		for _, r := range letters {
			if len(all) >= n {
				return all[:n]
			}
			all = append(all, merge{p.left + p.right, string(r)})
		}
	}
	return all[:min(n, len(all))]
}

// byteVocabulary has bytes, merges, filling if the vocabulary is larger than
// that, and three control tokens at the end.
func byteVocabulary(c Config) []gguf.KV {
	var v tokens
	for b := range 256 {
		v.add(string(byteRune(byte(b))), normal)
	}
	var joins []string
	for _, m := range merges(string(byteRune(' ')), c.Vocab-3-256) {
		v.add(m.left+m.right, normal)
		joins = append(joins, m.left+" "+m.right)
	}
	v.fill(c.Vocab - 3)
	v.add(endOfText, control)
	v.add(startOfTurn, control)
	v.add(endOfTurn, control)
	pre := "qwen2"
	if c.Arch == "llama" {
		pre = "llama-bpe"
	}
	return []gguf.KV{
		{Key: "tokenizer.ggml.model", Value: string(Bytes)},
		{Key: "tokenizer.ggml.pre", Value: pre},
		{Key: "tokenizer.ggml.tokens", Value: v.texts},
		{Key: "tokenizer.ggml.token_type", Value: v.kinds},
		{Key: "tokenizer.ggml.merges", Value: joins},
		{Key: "tokenizer.ggml.bos_token_id", Value: uint32(c.Vocab - 3)},
		{Key: "tokenizer.ggml.eos_token_id", Value: uint32(c.Vocab - 1)},
		{Key: "tokenizer.ggml.add_bos_token", Value: c.Arch == "llama"},
		{Key: "tokenizer.chat_template", Value: chatTemplate},
	}
}

// byteRune is the printable character that stands for a byte in byte-level BPE:
// itself if printable in Latin-1, else the next free one from 256.
func byteRune(b byte) rune {
	printable := func(b byte) bool { return b > ' ' && b < 0x7f || b > 0xa0 && b != 0xad }
	if printable(b) {
		return rune(b)
	}
	r := rune(256)
	for i := range b {
		if !printable(i) {
			r++
		}
	}
	return r
}

// pieceVocabulary has control tokens, bytes, merges by falling score, then the
// characters, and filling.
func pieceVocabulary(c Config) []gguf.KV {
	var v tokens
	v.add("<unk>", unknown)
	v.add("<s>", control)
	v.add("</s>", control)
	v.add(startOfTurn, control)
	v.add(endOfTurn, control)
	for b := range 256 {
		v.add(fmt.Sprintf("<0x%02X>", b), byteTok)
	}
	characters := append([]string{"▁"}, plainCharacters()...)
	for _, m := range merges("▁", c.Vocab-len(v.texts)-len(characters)) {
		v.add(m.left+m.right, normal)
	}
	for _, s := range characters {
		v.add(s, normal)
	}
	v.fill(c.Vocab)
	scores := make([]float32, c.Vocab)
	for i, kind := range v.kinds {
		if kind == normal {
			scores[i] = -float32(i)
		}
	}
	return []gguf.KV{
		{Key: "tokenizer.ggml.model", Value: string(Pieces)},
		{Key: "tokenizer.ggml.pre", Value: "default"},
		{Key: "tokenizer.ggml.tokens", Value: v.texts},
		{Key: "tokenizer.ggml.scores", Value: scores},
		{Key: "tokenizer.ggml.token_type", Value: v.kinds},
		{Key: "tokenizer.ggml.bos_token_id", Value: uint32(1)},
		{Key: "tokenizer.ggml.eos_token_id", Value: uint32(2)},
		{Key: "tokenizer.ggml.unknown_token_id", Value: uint32(0)},
		{Key: "tokenizer.ggml.add_bos_token", Value: true},
		{Key: "tokenizer.ggml.add_eos_token", Value: false},
		{Key: "tokenizer.chat_template", Value: chatTemplate},
	}
}

// plainCharacters are the visible characters of ASCII.
func plainCharacters() []string {
	var out []string
	for b := byte('!'); b <= '~'; b++ {
		out = append(out, string(rune(b)))
	}
	return out
}

// tokens collects a vocabulary.
type tokens struct {
	texts []string
	kinds []int32
}

func (v *tokens) add(text string, kind int32) {
	v.texts = append(v.texts, text)
	v.kinds = append(v.kinds, kind)
}

// fill adds unused tokens up to n.
func (v *tokens) fill(n int) {
	for len(v.texts) < n {
		v.add(fmt.Sprintf("<unused%d>", len(v.texts)), unused)
	}
}
