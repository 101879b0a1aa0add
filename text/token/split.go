package token

import (
	"slices"
	"strings"
	"unicode"
)

// A matcher is one pass of a pre-tokenizer: it looks at the characters of s
// from byte i and returns how many bytes to take, at least 1, and whether they
// are a piece of their own (true) or belong to a stretch that this pass leaves
// alone (false). The first character of s and its end are the ends of the text
// as far as it is concerned.
type matcher func(s string, i int) (n int, piece bool)

// preTokenizer cuts text into words, within which BPE merges. Each pass cuts
// the pieces that the passes before it left.
type preTokenizer struct {
	passes     []matcher
	wholeWords bool // a word that is a token is taken as it is, unmerged
	addBOS     bool // unless the metadata says otherwise
	noBOS      bool // there is no beginning token unless the metadata names one
}

// split returns the ends of the words of s, in order.
func (p *preTokenizer) split(sc *scratch, s string) []int {
	sc.ends = append(sc.ends[:0], len(s))
	for _, m := range p.passes {
		sc.cuts = sc.cuts[:0]
		start := 0
		for _, end := range sc.ends {
			sc.cuts = m.cut(sc.cuts, s[start:end], start)
			start = end
		}
		sc.ends, sc.cuts = sc.cuts, sc.ends
	}
	return sc.ends
}

// cut appends the ends of the pieces of s, each plus base.
func (m matcher) cut(ends []int, s string, base int) []int {
	between := false // a stretch that is no piece of this pass is open
	for i := 0; i < len(s); {
		n, piece := m(s, i)
		if piece && between {
			ends = append(ends, base+i)
		}
		i += n
		if piece {
			ends = append(ends, base+i)
		}
		between = !piece
	}
	if between {
		ends = append(ends, base+len(s))
	}
	return ends
}

// preTokenizers lists the pre-tokenizers by the names that
// tokenizer.ggml.pre gives them. Names on one line differ in nothing.
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
		preTokenizer{passes: []matcher{each(digits), gpt2}},
	},
	{[]string{"falcon"}, preTokenizer{passes: []matcher{runs(falconPunctuation), gpt2, threeDigits}}},
	{[]string{"deepseek-llm"}, preTokenizer{passes: []matcher{
		each(newlines), wordsOf(deepseekLetters), wordsOf(deepseekPunctuation), trailingSpace, runs(deepseekCJK), runs(digits),
	}}},
	{[]string{"deepseek-coder"}, preTokenizer{passes: []matcher{
		each(newlines), wordsOf(anyLetter), wordsOf(anyPunctuation), runs(deepseekCJK), each(digits),
	}}},
	{[]string{"deepseek-v3", "hunyuan-dense", "joyai-llm"}, preTokenizer{passes: []matcher{upTo(3, number), runs(deepseek3CJK), deepseek3}}},
	{[]string{"", "default"}, preTokenizer{passes: []matcher{runs(defaultPunctuation), gpt2, runs(digits), threeDigits}}},
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

// A set says which characters a pattern's brackets hold.
type set func(r rune) bool

func ofClass(c class) set { return func(r rune) bool { return classes()[r]&c != 0 } }

var (
	digits         = ofClass(number) // \p{N}
	anyLetter      = ofClass(letter) // \p{L}
	anyPunctuation = ofClass(punct)  // \p{P}
)

func newlines(r rune) bool { return r == '\r' || r == '\n' }

// falconPunctuation is [\p{P}\$\+<=>\^~\|`].
func falconPunctuation(r rune) bool { return defaultPunctuation(r) || r == '`' }

// defaultPunctuation is [\p{P}\$\+<=>\^~\|].
func defaultPunctuation(r rune) bool {
	switch r {
	case '$', '+', '<', '=', '>', '^', '~', '|':
		return true
	}
	return anyPunctuation(r)
}

// ranges is the set of the pairs of ends in s, which must be in order, without
// spaces: llama.cpp's regular expressions see every space above ASCII as an
// ASCII one.
func ranges(s string) set {
	ends := []rune(s)
	return func(r rune) bool {
		i, exact := slices.BinarySearch(ends, r)
		return (exact || i%2 == 1) && !(r > unicode.MaxASCII && unicode.IsSpace(r))
	}
}

// The sets of DeepSeek's patterns, written as pairs of ends.
var (
	// deepseekLetters are the letters with case of an older Unicode.
	deepseekLetters = ranges("AZazµµÀÖØöøƺƼƿǄʓʕʯͰͳͶͷͻͽͿͿΆΆΈΊΌΌΎΡΣϵϷҁҊԯԱՖႠჅᎠᏵᏸᏽᲐᲺᲽᲿᴀᴫᵫᵷᵹᶚḀἕἘἝἠὅὈὍὐὗὙὙὛὛὝὝὟώᾀᾴᾶᾼιιῂῄῆῌῐΐῖΊῠῬῲῴῶῼℂℂℇℇℊℓℕℕℙℝℤℤΩΩℨℨKℭℯℴℹℹℼℿⅅⅉⅎⅎↃↄⰀⱻⱾⳤⳫⳮⳲⳳꙀꙭꚀꚛꜢꝯꝱꞇꞋꞎꭰꮿﬀﬆﬓﬗＡＺａｚ𐐀𐑏𐒰𐓓𐓘𐓻𐲀𐲲𐳀𐳲𑢠𑣟𞤀𞥃")
	// deepseekPunctuation holds the ASCII letters too: [!-/:-~], not [!-/:-@].
	deepseekPunctuation = ranges("!/:~‘‟、。！／：～")
	deepseek3CJK        = ranges("぀ゟ゠ヿ一龥")
	deepseekCJK         = ranges("ࠀ一一龥가퟿")
)
