package token

import "unicode/utf8"

// gpt2 matches GPT-2's words. In order of preference, as a regular expression:
//
//	's|'t|'re|'ve|'m|'ll|'d    an English contraction, lower case
//	 ?\p{L}+                   letters, with the space before them
//	 ?\p{N}+                   digits
//	 ?[^\s\p{L}\p{N}]+         anything else but spaces
//	\s+(?!\S)|\s+              spaces, but the last one belongs to the word after it
func gpt2(s string, i int) (int, bool) {
	if n := contraction(s[i:], false); n > 0 {
		return n, true
	}
	j := i
	if s[i] == ' ' {
		j++
	}
	switch c, w := classAt(s, j); {
	case c&letter != 0:
		return skip(s, j, letter) - i, true
	case c&number != 0:
		return skip(s, j, number) - i, true
	case w > 0 && c&space == 0:
		return skipOthers(s, j, space|letter|number) - i, true
	}
	return spaces(s, i) - i, true
}

// gpt4 matches the words of GPT-4's pattern, which Llama 3 and Qwen took over
// with other lengths for numbers; Qwen 3.5 also lets combining marks into words:
//
//	(?i:'s|'t|'re|'ve|'m|'ll|'d)    an English contraction
//	[^\r\n\p{L}\p{N}]?\p{L}+        letters, with one character before them
//	\p{N}{1,3}                      up to 3 (or 1) digits
//	 ?[^\s\p{L}\p{N}]+[\r\n]*       anything else but spaces, with the newlines after it
//	\s*[\r\n]+                      spaces up to the last newline
//	\s+(?!\S)|\s+                   spaces, but the last one belongs to the word after it
//
// in is what a word is made of: letter, or letter|mark.
func gpt4(maxDigits int, in class) matcher {
	return func(s string, i int) (int, bool) {
		if n := contraction(s[i:], true); n > 0 {
			return n, true
		}
		c, w := classAt(s, i)
		if c&in != 0 {
			return skip(s, i, in) - i, true
		}
		if c&number != 0 {
			return skipUpTo(s, i, maxDigits, number) - i, true
		}
		if s[i] != '\r' && s[i] != '\n' {
			if c, _ := classAt(s, i+w); c&in != 0 {
				return skip(s, i+w, in) - i, true
			}
		}
		if end := others(s, i, in|letter|number|space, "\r\n"); end > i {
			return end - i, true
		}
		return newlineOrSpaces(s, i) - i, true
	}
}

// gpt4o matches the words of GPT-4o's pattern, which Mistral's Tekken took over
// without contractions. A word is capitals before small letters:
//
//	[^\r\n\p{L}\p{N}]?U*L+(?i:'s|...)?|[^\r\n\p{L}\p{N}]?U+L*(?i:'s|...)?
//	\p{N}{1,3}                      up to 3 (or 1) digits
//	 ?[^\s\p{L}\p{N}]+[\r\n/]*      anything else but spaces, with the newlines and slashes after it
//	\s*[\r\n]+|\s+(?!\S)|\s+       as in gpt4
//
// In the models' own pattern U and L know every script's case. llama.cpp, which
// this follows, knows ASCII's: U is any letter but a-z and L any letter but A-Z.
func gpt4o(maxDigits int, contractions bool) matcher {
	return func(s string, i int) (int, bool) {
		c, w := classAt(s, i)
		start := i
		if c&(letter|number) == 0 && s[i] != '\r' && s[i] != '\n' {
			start += w
		}
		if c, _ := classAt(s, start); c&letter != 0 {
			end := casedWord(s, start)
			if contractions {
				end += contraction(s[end:], true)
			}
			return end - i, true
		}
		if c&number != 0 {
			return skipUpTo(s, i, maxDigits, number) - i, true
		}
		if end := others(s, i, letter|number|space, "\r\n/"); end > i {
			return end - i, true
		}
		return newlineOrSpaces(s, i) - i, true
	}
}

// casedWord is the end of U*L+|U+L* at i, where s has a letter. A letter above
// ASCII is both U and L: if no a-z follows the U's, the last such letter must
// be the L, and what comes after it is left to the next word.
func casedWord(s string, i int) int {
	both := -1 // end of the last letter above ASCII
	for {
		c, w := classAt(s, i)
		if c&letter == 0 || s[i] >= 'a' && s[i] <= 'z' {
			break
		}
		if i += w; w > 1 {
			both = i
		}
	}
	if i < len(s) && s[i] >= 'a' && s[i] <= 'z' {
		for {
			c, w := classAt(s, i)
			if c&letter == 0 || s[i] >= 'A' && s[i] <= 'Z' {
				return i
			}
			i += w
		}
	}
	if both >= 0 {
		return both
	}
	return i
}

// deepseek3 matches the last pass of DeepSeek-V3's pattern, after numbers and
// Chinese and Japanese have been cut out:
//
//	[!-/:-@[-`{-~][A-Za-z]+                an ASCII punctuation mark and letters
//	[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+   letters and marks, with one character before them
//	 ?[\p{P}\p{S}]+[\r\n]*                 punctuation, with the newlines after it
//	\s*[\r\n]+|\s+(?!\S)|\s+              as in gpt4
func deepseek3(s string, i int) (int, bool) {
	c, w := classAt(s, i)
	if c&(punct|symbolic) != 0 && s[i] < utf8.RuneSelf {
		j := i + 1
		for j < len(s) && isASCIILetter(s[j]) {
			j++
		}
		if j > i+1 {
			return j - i, true
		}
	}
	if c&(letter|mark) != 0 {
		return skip(s, i, letter|mark) - i, true
	}
	if c&(punct|symbolic) == 0 && s[i] != '\r' && s[i] != '\n' {
		if c, _ := classAt(s, i+w); c&(letter|mark) != 0 {
			return skip(s, i+w, letter|mark) - i, true
		}
	}
	j := i
	if s[i] == ' ' {
		j++
	}
	if end := skip(s, j, punct|symbolic); end > j {
		return skipBytes(s, end, "\r\n") - i, true
	}
	if c&space != 0 {
		return newlineOrSpaces(s, i) - i, true
	}
	return w, false
}

func isASCIILetter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }

// others is the end of a space, if any, characters with no class of out, and
// bytes of after:  ?[^...]+[...]*. It is i if there is no such character.
func others(s string, i int, out class, after string) int {
	j := i
	if s[i] == ' ' {
		j++
	}
	end := skipOthers(s, j, out)
	if end == j {
		return i
	}
	return skipBytes(s, end, after)
}

// contraction is the length of the English contraction that s begins with, or
// 0: 's 't 'm 'd 're 've 'll, in either case if fold is set.
func contraction(s string, fold bool) int {
	if len(s) < 2 || s[0] != '\'' {
		return 0
	}
	a, b := s[1], byte(0)
	if len(s) > 2 {
		b = s[2]
	}
	if fold {
		a, b = a|0x20, b|0x20 // lower case; what else this changes is not compared with
	}
	switch a {
	case 's', 't', 'm', 'd':
		return 2
	case 'r', 'v':
		if b == 'e' {
			return 3
		}
	case 'l':
		if b == 'l' {
			return 3
		}
	}
	return 0
}

// spaces is the end of \s+(?!\S)|\s+ at i: all spaces if the text ends with
// them, else all but the last, but at least one.
func spaces(s string, i int) int {
	end, last := i, i
	for {
		c, w := classAt(s, end)
		if w == 0 {
			return end
		}
		if c&space == 0 {
			break
		}
		last, end = end, end+w
	}
	if last > i {
		return last
	}
	return end
}

// newlineOrSpaces is the end of \s*[\r\n]+|\s+(?!\S)|\s+ at i: the spaces up
// to the last newline among them, if there is one.
func newlineOrSpaces(s string, i int) int {
	newline := 0
	for j := i; ; {
		c, w := classAt(s, j)
		if c&space == 0 {
			break
		}
		if s[j] == '\r' || s[j] == '\n' {
			newline = j + 1
		}
		j += w
	}
	if newline > 0 {
		return newline
	}
	return spaces(s, i)
}

// lines matches [^\n]+|[\n]+.
func lines(s string, i int) (int, bool) {
	j := i + 1
	for j < len(s) && (s[j] == '\n') == (s[i] == '\n') {
		j++
	}
	return j - i, true
}
