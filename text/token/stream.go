package token

import "unicode/utf8"

// Stream decodes tokens as they are generated. A character may be spread over
// several tokens; a Stream holds its first bytes back until the rest has come.
//
// A byte becomes U+FFFD as soon as it is certain that it can be part of no
// character, each such byte by itself, as when Go ranges over a string. Control
// tokens have no text. A Stream must not be used by two goroutines at once.
type Stream struct {
	tokenizer *Tokenizer
	held      []byte // at most 3 bytes between calls: the beginning of a character
	text      []byte
}

// NewStream returns a Stream at the beginning of a text.
func (t *Tokenizer) NewStream() *Stream { return &Stream{tokenizer: t} }

// Push returns the text that token id completes, which may be empty.
func (s *Stream) Push(id int32) string {
	s.held = s.tokenizer.Append(s.held, id, false)
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
