package engine

import (
	"strings"
	"testing"
)

func TestAStopStringCutsTheText(t *testing.T) {
	for _, c := range []struct {
		name   string
		stops  []string
		pieces []string
		want   string
		done   bool
	}{
		{"no stop strings", nil, []string{"one ", "two"}, "one two", false},
		{"an empty stop string never stops", []string{""}, []string{"one"}, "one", false},
		{"in one piece", []string{"END"}, []string{"a END b"}, "a ", true},
		{"over three pieces", []string{"</s>"}, []string{"a<", "/", "s>b"}, "a", true},
		{"a beginning that does not go on", []string{"</s>"}, []string{"a<", "/b", "</"}, "a</b</", false},
		{"a beginning that restarts inside itself", []string{"aab"}, []string{"xa", "a", "a", "b"}, "xa", true},
		{"two, the earlier in the text wins", []string{"late", "la"}, []string{"so la", "te"}, "so ", true},
		{"two that overlap", []string{"bcd", "ab"}, []string{"xa", "bcd"}, "x", true},
		{"a longer one that would come later", []string{"abcdef", "cd"}, []string{"abc", "d"}, "ab", true},
		{"at the very end", []string{"\n\n"}, []string{"line\n", "\n"}, "line", true},
		{"at the very start", []string{"x"}, []string{"xyz"}, "", true},
		{"of several runes", []string{"終わり"}, []string{"これで終", "わり。"}, "これで", true},
		{"a repeated letter", []string{"aaa"}, []string{"aa", "b", "aa", "a"}, "aab", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := stopper{stops: c.stops}
			var out strings.Builder
			done := false
			for _, p := range c.pieces {
				var text string
				text, done = s.push(p)
				out.WriteString(text)
				if done {
					break
				}
				if !strings.HasPrefix(strings.Join(c.pieces, ""), out.String()) {
					t.Fatalf("%q is not how the text begins", out.String())
				}
			}
			if !done {
				out.WriteString(s.flush())
			}
			if out.String() != c.want || done != c.done {
				t.Errorf("%q, stopped %v; want %q, %v", out.String(), done, c.want, c.done)
			}
		})
	}
}

func TestOnlyWhatMayBeginAStopStringIsHeldBack(t *testing.T) {
	s := stopper{stops: []string{"<|end|>", "\n\n"}}
	for _, c := range []struct{ push, want string }{
		{"text", "text"},
		{" <", " "},
		{"|e", ""},
		{"at\n", "<|eat"},
		{"more", "\nmore"},
	} {
		if got, _ := s.push(c.push); got != c.want {
			t.Errorf("after %q: %q, want %q", c.push, got, c.want)
		}
	}
}
