package token

import (
	"slices"
	"strings"
	"testing"
	"unicode"
)

func TestWordsOfEachPreTokenizer(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"gpt-2", "I'll DON'T  go\n\n x", "I|'ll| DON|'|T| | go|\n\n| x"},
		{"gpt-2", " 1234 a1½", " 1234| a|1½"},
		{"gpt-2", "a   ", "a|   "},
		{"llama-bpe", "I'll DON'T", "I|'ll| DON|'T"},
		{"llama-bpe", "12345 (hi)\r\n\r\n  x", "123|45| (|hi|)\r\n\r\n| | x"},
		{"llama-bpe", "a \n \n b", "a| \n \n| b"},
		{"llama-bpe", "\tx .é", "\tx| .|é"},
		{"qwen2", "12 ab", "1|2| ab"},
		{"qwen2", "e\u0301x", "e|\u0301x"},
		{"qwen35", "e\u0301x \u0301", "e\u0301x| \u0301"},
		{"gpt-4o", "helloWorld XMLHttp's ÀÉb", "hello|World| XMLHttp's| ÀÉb"},
		{"gpt-4o", "ÀAB a!\n/", "À|AB| a|!\n/"},
		{"tekken", "it's 12", "it|'s| |1|2"},
		{"deepseek-v3", "1234 汉字かな x.y", "123|4| |汉字かな| x|.y"},
		{"deepseek-llm", "x\r\ny héllo, 汉1234 ", "x|\r|\n|y| h|é|llo|,| |汉|1234| "},
		{"deepseek-coder", "ab  12 (c)", "ab|  |1|2| (|c|)"},
		{"falcon", "a(b) 1234", "a|(|b|)| |123|4"},
		{"starcoder", "a 12", "a| |1|2"},
		{"default", "a`b 1234$", "a|`|b| |123|4|$"},
	} {
		pre, err := preTokenizerNamed(tt.name)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(words(pre, tt.text), "|"); got != tt.want {
			t.Errorf("%s: %q\n got %q\nwant %q", tt.name, tt.text, got, tt.want)
		}
	}
}

func words(pre preTokenizer, text string) []string {
	var words []string
	start := 0
	for _, end := range pre.split(&scratch{}, text) {
		words = append(words, text[start:end])
		start = end
	}
	return words
}

// TestSplittingIsLinear would not end if a pre-tokenizer looked ahead without
// bound from every character: a quadratic one takes 10^10 steps a text.
func TestSplittingIsLinear(t *testing.T) {
	const size = 1 << 18
	for _, unit := range []string{" ", "\n", "a", "1", "!", "'", " \n", "\u3000", "中", "À", "\u0301", "\xE4"} {
		text := strings.Repeat(unit, size/len(unit))
		for _, p := range preTokenizers {
			sc := &scratch{}
			if ends := p.split(sc, text); ends[len(ends)-1] != len(text) {
				t.Errorf("%s: %q ends at %d, not %d", p.names, unit, ends[len(ends)-1], len(text))
			}
			if ends := p.split(sc, text+"x"); ends[len(ends)-1] != len(text)+1 {
				t.Errorf("%s: %q and x ends at %d, not %d", p.names, unit, ends[len(ends)-1], len(text)+1)
			}
		}
	}
}

// TestClassesAreUnicode15_1 counts what llama.cpp counts in each class. When Go's
// tables grow past Unicode 15.1, fillClasses has to take characters back.
func TestClassesAreUnicode15_1(t *testing.T) {
	want := map[class]int{letter: 136726, number: 1831, mark: 2450, punct: 842, symbolic: 7775, space: 25}
	for c, n := range want {
		got := 0
		for _, r := range classes() {
			if r&c != 0 {
				got++
			}
		}
		if got != n {
			t.Errorf("class %06b has %d characters with Go's Unicode %s, want %d", c, got, unicode.Version, n)
		}
	}
}

func TestNamesOfPreTokenizersAreUnique(t *testing.T) {
	var names []string
	for _, p := range preTokenizers {
		names = append(names, p.names...)
	}
	slices.Sort(names)
	if len(slices.Compact(slices.Clone(names))) != len(names) {
		t.Errorf("a name stands twice in %q", names)
	}
}
