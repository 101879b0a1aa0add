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

// asciiClasses holds the classes of the ASCII characters.
var asciiClasses = func() (table [utf8.RuneSelf]class) {
	fillClasses(table[:])
	return table
}()

// classes holds the class of every character. It is a megabyte and takes a
// millisecond to build, so it is built when a text first needs it.
var classes = sync.OnceValue(func() []class {
	table := make([]class, unicode.MaxRune+1)
	fillClasses(table)
	return table
})

// fillClasses sets table[r] to the class of r.
//
// Go 1.26 knows Unicode 15.0 and llama.cpp 15.1: the characters that 15.1 added
// are added here. TestClassesAreUnicode15_1 fails when Go overtakes us.
func fillClasses(table []class) {
	fill := func(c class, lo, hi, stride rune) {
		for r := lo; r <= hi && int(r) < len(table); r += stride {
			table[r] |= c
		}
	}
	for _, t := range []struct {
		class class
		table *unicode.RangeTable
	}{
		{letter, unicode.L},
		{number, unicode.N},
		{mark, unicode.M},
		{punct, unicode.P},
		{symbolic, unicode.S},
		{space, unicode.White_Space},
	} {
		for _, r := range t.table.R16 {
			fill(t.class, rune(r.Lo), rune(r.Hi), rune(r.Stride))
		}
		for _, r := range t.table.R32 {
			fill(t.class, rune(r.Lo), rune(r.Hi), rune(r.Stride))
		}
	}
	fill(letter, 0x2EBF0, 0x2EE5D, 1) // CJK extension I
	fill(symbolic, 0x2FFC, 0x2FFF, 1) // ideographic description
	fill(symbolic, 0x31EF, 0x31EF, 1) // ideographic description
}

// classAt is the class and the length in bytes of the character at s[i:];
// at the end of s both are zero. An invalid byte counts as U+FFFD, a symbol.
func classAt(s string, i int) (class, int) {
	if i >= len(s) {
		return 0, 0
	}
	if b := s[i]; b < utf8.RuneSelf {
		return asciiClasses[b], 1
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
