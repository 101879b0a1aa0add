package progen

import (
	"regexp"
	"testing"
)

// TestClang22GetsTheseWrong looks at the assembly of each known miscompilation:
// when it is right, the compiler has changed and the entry is to go.
func TestClang22GetsTheseWrong(t *testing.T) {
	needClang(t)
	texts, err := Assembly(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range Miscompilations {
		if m.Has != "" && !regexp.MustCompile(m.Has).MatchString(texts[i]) {
			t.Errorf("%s: the assembly does not have %s:\n%s", m.Name, m.Has, texts[i])
		}
		if m.Lacks != "" && regexp.MustCompile(m.Lacks).MatchString(texts[i]) {
			t.Errorf("%s: the assembly has %s:\n%s", m.Name, m.Lacks, texts[i])
		}
	}
}
