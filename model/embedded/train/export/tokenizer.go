package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/holdfast-llm/holdfast/gguf"
)

// endOfText ends every document of the corpus. It is the only control token.
const endOfText = "<|endoftext|>"

// GGUF's token types.
const (
	normalToken  = 1
	controlToken = 3
)

// tokenizerKVs turns the tokenizer.json that bpe.py wrote into GGUF's metadata.
func tokenizerKVs(path string) ([]gguf.KV, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var t struct {
		Model struct {
			Vocab  map[string]int `json:"vocab"`
			Merges [][2]string    `json:"merges"`
		} `json:"model"`
	}
	if err := json.Unmarshal(text, &t); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	tokens := make([]string, len(t.Model.Vocab))
	types := make([]int32, len(tokens))
	for token, id := range t.Model.Vocab {
		if id < 0 || id >= len(tokens) || tokens[id] != "" {
			return nil, fmt.Errorf("%s: token %q: id %d is taken or outside 0..%d", path, token, id, len(tokens)-1)
		}
		tokens[id], types[id] = token, normalToken
	}
	end, ok := t.Model.Vocab[endOfText]
	if !ok {
		return nil, fmt.Errorf("%s: no token %s", path, endOfText)
	}
	types[end] = controlToken
	merges := make([]string, len(t.Model.Merges))
	for i, m := range t.Model.Merges {
		merges[i] = m[0] + " " + m[1]
	}
	return []gguf.KV{
		{Key: "tokenizer.ggml.model", Value: "gpt2"},
		{Key: "tokenizer.ggml.pre", Value: "qwen2"},
		{Key: "tokenizer.ggml.tokens", Value: tokens},
		{Key: "tokenizer.ggml.token_type", Value: types},
		{Key: "tokenizer.ggml.merges", Value: merges},
		{Key: "tokenizer.ggml.bos_token_id", Value: uint32(end)},
		{Key: "tokenizer.ggml.eos_token_id", Value: uint32(end)},
		{Key: "tokenizer.ggml.padding_token_id", Value: uint32(end)},
		{Key: "tokenizer.ggml.add_bos_token", Value: false},
	}, nil
}
