package token

import (
	"math"
	"slices"
	"unicode"
	"unicode/utf8"
)

// A set says which characters a pattern's brackets hold.
type set func(r rune) bool

// ofClass is the set of the characters that have c.
func ofClass(c class) set { return func(r rune) bool { return classes()[r]&c != 0 } }

// ranges is the set of the characters between pairs of ends: "AZaz" is [A-Za-z]. The
// ends must be in order. It leaves out spaces above ASCII, which
// llama.cpp turns into ASCII ones before it matches.
func ranges(s string) set {
	ends := []rune(s)
	return func(r rune) bool {
		i, isEnd := slices.BinarySearch(ends, r)
		return (isEnd || i%2 == 1) && (r <= unicode.MaxASCII || !unicode.IsSpace(r))
	}
}

var (
	anyNumber      = ofClass(number) // \p{N}
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

// The sets of DeepSeek's patterns, written as pairs of ends.
var (
	// deepseekLetters are the letters with case of an older Unicode.
	deepseekLetters = ranges("AZazµµÀÖØöøƺƼƿǄʓʕʯͰͳͶͷͻͽͿͿΆΆΈΊΌΌΎΡΣϵϷҁҊԯԱՖႠჅᎠᏵᏸᏽᲐᲺᲽᲿᴀᴫᵫᵷᵹᶚḀἕἘἝἠὅὈὍὐὗὙὙὛὛὝὝὟώᾀᾴᾶᾼιιῂῄῆῌῐΐῖΊῠῬῲῴῶῼℂℂℇℇℊℓℕℕℙℝℤℤΩΩℨℨKℭℯℴℹℹℼℿⅅⅉⅎⅎↃↄⰀⱻⱾⳤⳫⳮⳲⳳꙀꙭꚀꚛꜢꝯꝱꞇꞋꞎꭰꮿﬀﬆﬓﬗＡＺａｚ𐐀𐑏𐒰𐓓𐓘𐓻𐲀𐲲𐳀𐳲𑢠𑣟𞤀𞥃")
	// deepseekPunctuation holds the ASCII letters too: [!-/:-~], not [!-/:-@].
	deepseekPunctuation = ranges("!/:~‘‟、。！／：～")
	deepseek3CJK        = ranges("぀ゟ゠ヿ一龥")
	deepseekCJK         = ranges("\u0800一一龥가\uD7FF")
)

// upTo matches up to n characters of in: [...]{1,n}
func upTo(n int, in set) matcher {
	return func(s string, i int) (int, bool) {
		if end := skipSet(s, i, n, in); end > i {
			return end - i, true
		}
		_, w := utf8.DecodeRuneInString(s[i:])
		return w, false
	}
}

// each matches single characters of in: [...]
func each(in set) matcher { return upTo(1, in) }

// runs matches characters of in: [...]+
func runs(in set) matcher { return upTo(math.MaxInt, in) }

// wordsOf matches characters of in with the space before them: \s?[...]+
func wordsOf(in set) matcher {
	return func(s string, i int) (int, bool) {
		c, w := classAt(s, i)
		if c&space != 0 {
			if end := skipSet(s, i+w, math.MaxInt, in); end > i+w {
				return end - i, true
			}
		}
		if end := skipSet(s, i, math.MaxInt, in); end > i {
			return end - i, true
		}
		return w, false
	}
}

// skipSet returns the end of at most n characters from i that are in the set.
func skipSet(s string, i, n int, in set) int {
	for ; n > 0 && i < len(s); n-- {
		r, w := utf8.DecodeRuneInString(s[i:])
		if !in(r) {
			break
		}
		i += w
	}
	return i
}

// threeDigits matches [0-9][0-9][0-9].
func threeDigits(s string, i int) (int, bool) {
	n := 0
	for n < 3 && i+n < len(s) && s[i+n] >= '0' && s[i+n] <= '9' {
		n++
	}
	return max(n, 1), n == 3
}

// trailingSpace matches \s+$.
func trailingSpace(s string, i int) (int, bool) {
	if end := skip(s, i, space); end > i {
		return end - i, end == len(s)
	}
	_, w := classAt(s, i)
	return w, false
}
