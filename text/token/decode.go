package token

import "unicode/utf8"

// Append appends the bytes of token id to dst. Control and unknown tokens have
// bytes only when special is set; unused tokens and ids outside the vocabulary
// have none. The bytes of one token need not be whole UTF-8: see Stream.
func (t *Tokenizer) Append(dst []byte, id int32, special bool) []byte {
	if id < 0 || int(id) >= len(t.kinds) {
		return dst
	}
	text := t.vocab.text(id)
	switch t.kinds[id] {
	case control, unknown:
		if special {
			dst = append(dst, text...)
		}
	case userDefined:
		dst = append(dst, text...)
	case normal:
		if t.model == bpeBytes {
			return appendByteLevel(dst, text)
		}
		return appendUnmarked(dst, text)
	case singleByte:
		if b, ok := parseByteToken(text); ok {
			dst = append(dst, b)
		}
	}
	return dst
}

// Stream decodes tokens as they are generated. A character may be spread over
// several tokens; a Stream holds its first bytes back until the rest has come.
// Words of spm vocabularies carry the space before them, the first one too.
//
// A byte becomes U+FFFD as soon as it is certain that it can be part of no
// character, each such byte by itself, as when Go ranges over a string. A Stream
// must not be used by two goroutines at once.
type Stream struct {
	Special bool // control tokens are written as they are spelled; else they have no text

	tokenizer *Tokenizer
	held      []byte // at most 3 bytes between calls: the beginning of a character
	text      []byte
}

// NewStream returns a Stream at the beginning of a text.
func (t *Tokenizer) NewStream() *Stream { return &Stream{tokenizer: t} }

// Push returns the text that token id completes, which may be empty.
func (s *Stream) Push(id int32) string {
	s.held = s.tokenizer.Append(s.held, id, s.Special)
	return s.take(false)
}

// Flush returns what is held back, as U+FFFD, and makes the Stream ready for
// another text.
func (s *Stream) Flush() string { return s.take(true) }

// take returns the whole characters that are held; with all set, everything.
func (s *Stream) take(all bool) string {
	s.text = s.text[:0]
	i := 0
	for i < len(s.held) && (all || utf8.FullRune(s.held[i:])) {
		r, w := utf8.DecodeRune(s.held[i:])
		s.text = utf8.AppendRune(s.text, r)
		i += w
	}
	s.held = append(s.held[:0], s.held[i:]...)
	return string(s.text)
}
