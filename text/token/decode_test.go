package token

import (
	"slices"
	"strings"
	"testing"
)

func TestStreamGivesWholeCharacters(t *testing.T) {
	tok := mustNew(t, byteLevel("gpt-2", nil, []string{"<s>"}))
	for _, tt := range []struct {
		name  string
		bytes string // one token each
		want  []string
	}{
		{"ASCII at once", "ab", []string{"a", "b", ""}},
		{"two bytes when the second has come", "\xC3\xA9", []string{"", "é", ""}},
		{"four bytes when the fourth has come", "😀", []string{"", "", "", "😀", ""}},
		{"a byte that begins nothing at once", "\x80", []string{"\uFFFD", ""}},
		{"a byte that no text has at once", "\xFF", []string{"\uFFFD", ""}},
		{"a broken character when it breaks", "\xE4\xB8a", []string{"", "", "\uFFFD\uFFFDa", ""}},
		{"a broken one before the next", "\xE4\xC3\xA9", []string{"", "\uFFFD", "é", ""}},
		{"an overlong form as soon as it shows", "\xE0\x80\x80", []string{"", "\uFFFD\uFFFD", "\uFFFD", ""}},
		{"a surrogate as soon as it shows", "\xED\xA0\x80", []string{"", "\uFFFD\uFFFD", "\uFFFD", ""}},
		{"an unfinished character at the end", "\xF0\x9F", []string{"", "", "\uFFFD\uFFFD"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := tok.NewStream()
			for range 2 { // Flush makes it ready for another text
				var got []string
				for _, b := range []byte(tt.bytes) {
					got = append(got, s.Push(int32(b)))
				}
				if got = append(got, s.Flush()); !slices.Equal(got, tt.want) {
					t.Errorf("got %q, want %q", got, tt.want)
				}
			}
		})
	}
	s := tok.NewStream()
	if got := s.Push(256) + s.Push(-1) + s.Push('a') + s.Flush(); got != "a" {
		t.Errorf("control tokens and ids outside the vocabulary gave %q", got)
	}
}

// streamed pushes every id and flushes.
func streamed(tok *Tokenizer, ids []int32) string {
	var text strings.Builder
	s := tok.NewStream()
	for _, id := range ids {
		text.WriteString(s.Push(id))
	}
	text.WriteString(s.Flush())
	return text.String()
}
