package token

import (
	"slices"
	"strings"
)

// preTokenizers lists the pre-tokenizers by the names that tokenizer.ggml.pre
// gives them; the last is for files that name none. Most do in one pass what the
// model's own pattern does. Those with several passes follow models whose
// tokenizers split again and again.
var preTokenizers = []struct {
	names []string
	preTokenizer
}{
	{
		[]string{"gpt-2", "gpt2", "phi-2", "gigachat", "a.x-4.0", "mellum", "mpt", "olmo", "jais", "trillion", "granite-docling", "exaone4"},
		preTokenizer{passes: []matcher{gpt2}},
	},
	{
		[]string{"llama-bpe", "llama3", "llama-v3", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2"},
		preTokenizer{passes: []matcher{gpt4(3, letter)}, wholeWords: true, addBOS: true},
	},
	{[]string{"dbrx", "smaug-bpe"}, preTokenizer{passes: []matcher{gpt4(3, letter)}}},
	{[]string{"chatglm-bpe", "glm4"}, preTokenizer{passes: []matcher{gpt4(3, letter)}, noBOS: true}},
	{
		[]string{"qwen2", "deepseek-r1-qwen", "kormo", "megrez", "stablelm2", "hunyuan", "solar-open", "grok-2"},
		preTokenizer{passes: []matcher{gpt4(1, letter)}},
	},
	{[]string{"qwen35"}, preTokenizer{passes: []matcher{gpt4(1, letter|mark)}}},
	{[]string{"gpt-4o", "llama4", "kanana2", "talkie", "minimax-m2"}, preTokenizer{passes: []matcher{gpt4o(3, true)}}},
	{[]string{"tekken"}, preTokenizer{passes: []matcher{gpt4o(1, false)}, wholeWords: true, addBOS: true}},
	{
		[]string{"starcoder", "refact", "command-r", "smollm", "codeshell", "exaone", "minerva-7b", "mellum2"},
		preTokenizer{passes: []matcher{each(anyNumber), gpt2}},
	},
	{[]string{"falcon"}, preTokenizer{passes: []matcher{runs(falconPunctuation), gpt2, threeDigits}}},
	{[]string{"deepseek-llm"}, preTokenizer{passes: []matcher{
		each(newlines), wordsOf(deepseekLetters), wordsOf(deepseekPunctuation), trailingSpace, runs(deepseekCJK), runs(anyNumber),
	}}},
	{[]string{"deepseek-coder"}, preTokenizer{passes: []matcher{
		each(newlines), wordsOf(anyLetter), wordsOf(anyPunctuation), runs(deepseekCJK), each(anyNumber),
	}}},
	{[]string{"deepseek-v3", "hunyuan-dense", "joyai-llm"}, preTokenizer{passes: []matcher{upTo(3, anyNumber), runs(deepseek3CJK), deepseek3}}},
	{[]string{"", "default"}, preTokenizer{passes: []matcher{runs(defaultPunctuation), gpt2, runs(anyNumber), threeDigits}}},
}

// preTokenizerNamed returns the pre-tokenizer that goes by name.
func preTokenizerNamed(name string) (preTokenizer, error) {
	var known []string
	for _, p := range preTokenizers {
		if slices.Contains(p.names, name) {
			return p.preTokenizer, nil
		}
		known = append(known, p.names...)
	}
	known = slices.DeleteFunc(known, func(s string) bool { return s == "" })
	slices.Sort(known)
	return preTokenizer{}, &UnsupportedError{Key: "tokenizer.ggml.pre", Name: strings.Clone(name), Supported: known}
}
