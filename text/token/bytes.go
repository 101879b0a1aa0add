package token

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// byteRunes is GPT-2's alphabet: the character that stands for each byte in a
// byte-level token. Printable Latin-1 bytes stand for themselves; the other 68
// take U+0100 onwards, in order, so that no token contains a space or control.
var byteRunes = func() (runes [256]rune) {
	next := rune(0x100)
	for b := range runes {
		switch {
		case b >= '!' && b <= '~', b >= 0xA1 && b <= 0xAC, b >= 0xAE:
			runes[b] = rune(b)
		default:
			runes[b] = next
			next++
		}
	}
	return runes
}()

// runeBytes inverts byteRunes; -1 marks characters outside the alphabet.
var runeBytes = func() (bytes [0x144]int16) {
	for r := range bytes {
		bytes[r] = -1
	}
	for b, r := range byteRunes {
		bytes[r] = int16(b)
	}
	return bytes
}()

// appendByteRunes appends s as it is spelled in byte-level tokens.
func appendByteRunes(dst []byte, s string) []byte {
	for i := range len(s) {
		dst = utf8.AppendRune(dst, byteRunes[s[i]])
	}
	return dst
}

// appendByteLevel appends the bytes that a byte-level token spells. A
// character outside the alphabet, which no sound vocabulary has, is kept.
func appendByteLevel(dst, text []byte) []byte {
	for i := 0; i < len(text); {
		r, w := utf8.DecodeRune(text[i:])
		if int(r) < len(runeBytes) && runeBytes[r] >= 0 {
			dst = append(dst, byte(runeBytes[r]))
		} else {
			dst = append(dst, text[i:i+w]...)
		}
		i += w
	}
	return dst
}

// spaceMark is U+2581, which spm and gemma4 vocabularies write for a space.
const spaceMark = "\u2581"

// appendMarked appends text with every space turned into a spaceMark.
func appendMarked(dst []byte, text string) []byte {
	for {
		i := strings.IndexByte(text, ' ')
		if i < 0 {
			return append(dst, text...)
		}
		dst = append(append(dst, text[:i]...), spaceMark...)
		text = text[i+1:]
	}
}

// appendUnmarked appends text with every spaceMark turned back into a space.
func appendUnmarked(dst, text []byte) []byte {
	for {
		i := bytes.Index(text, []byte(spaceMark))
		if i < 0 {
			return append(dst, text...)
		}
		dst = append(append(dst, text[:i]...), ' ')
		text = text[i+len(spaceMark):]
	}
}

// parseByteToken reads a byte token's name: "<0x0A>" is the byte 10.
func parseByteToken(text []byte) (byte, bool) {
	if len(text) != 6 || string(text[:3]) != "<0x" || text[5] != '>' {
		return 0, false
	}
	b := 0
	for _, c := range text[3:5] {
		switch {
		case c >= '0' && c <= '9':
			b = b<<4 | int(c-'0')
		case c >= 'A' && c <= 'F':
			b = b<<4 | int(c-'A'+10)
		case c >= 'a' && c <= 'f':
			b = b<<4 | int(c-'a'+10)
		default:
			return 0, false
		}
	}
	return byte(b), true
}
