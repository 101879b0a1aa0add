package token

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// class is a set of Unicode properties that pre-tokenizers ask for.
type class uint8

const (
	letter   class = 1 << iota // \p{L}
	number                     // \p{N}
	mark                       // \p{M}
	punct                      // \p{P}
	symbolic                   // \p{S}
	space                      // \s, which is Unicode's White_Space
)

// classes holds the class of every character. It is built when first needed,
// in about a millisecond, because a vocabulary may never split a word.
//
// Go 1.26 knows Unicode 15.0 and llama.cpp 15.1: the characters that 15.1 added
// are added here. TestClassesAreUnicode15_1 fails when Go overtakes us.
var classes = sync.OnceValue(func() *[unicode.MaxRune + 1]class {
	table := new([unicode.MaxRune + 1]class)
	for _, c := range []struct {
		class class
		table *unicode.RangeTable
	}{
		{letter, unicode.L},
		{letter, &unicode.RangeTable{R32: []unicode.Range32{{Lo: 0x2EBF0, Hi: 0x2EE5D, Stride: 1}}}}, // CJK extension I
		{number, unicode.N},
		{mark, unicode.M},
		{punct, unicode.P},
		{symbolic, unicode.S},
		{symbolic, &unicode.RangeTable{R16: []unicode.Range16{{Lo: 0x2FFC, Hi: 0x2FFF, Stride: 1}, {Lo: 0x31EF, Hi: 0x31EF, Stride: 1}}}}, // ideographic description
		{space, unicode.White_Space},
	} {
		for _, r := range c.table.R16 {
			for x := uint32(r.Lo); x <= uint32(r.Hi); x += uint32(r.Stride) {
				table[x] |= c.class
			}
		}
		for _, r := range c.table.R32 {
			for x := r.Lo; x <= r.Hi; x += r.Stride {
				table[x] |= c.class
			}
		}
	}
	return table
})

// classAt is the class and the length in bytes of the character at s[i:];
// at the end of s both are zero. An invalid byte counts as U+FFFD, a symbol.
func classAt(s string, i int) (class, int) {
	if i >= len(s) {
		return 0, 0
	}
	if b := s[i]; b < utf8.RuneSelf {
		return classes()[b], 1
	}
	r, w := utf8.DecodeRuneInString(s[i:])
	return classes()[r], w
}

// skip returns the end of the characters from i that have a class of in.
func skip(s string, i int, in class) int {
	for {
		c, w := classAt(s, i)
		if c&in == 0 {
			return i
		}
		i += w
	}
}

// skipUpTo is skip for at most n characters.
func skipUpTo(s string, i, n int, in class) int {
	for ; n > 0; n-- {
		c, w := classAt(s, i)
		if c&in == 0 {
			break
		}
		i += w
	}
	return i
}

// skipBytes returns the end of the bytes from i that are in the ASCII string in.
func skipBytes(s string, i int, in string) int {
	for i < len(s) && strings.IndexByte(in, s[i]) >= 0 {
		i++
	}
	return i
}

// skipOthers returns the end of the characters from i that have no class of out.
func skipOthers(s string, i int, out class) int {
	for {
		c, w := classAt(s, i)
		if w == 0 || c&out != 0 {
			return i
		}
		i += w
	}
}
