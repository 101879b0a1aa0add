package progen

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// seenIn is the compiler whose miscompilations are listed.
const seenIn = "clang version 22.1.8"

// TestClang22GetsTheseWrong looks at the assembly of each known miscompilation,
// in the compiler that it was seen in: another may have mended it, and the entry
// is to go when the listed one is no longer used.
func TestClang22GetsTheseWrong(t *testing.T) {
	needClang(t)
	if out, err := exec.Command("clang-22", "--version").Output(); err != nil || !strings.Contains(string(out), seenIn) {
		t.Skipf("the miscompilations are those of %s, not of %s", seenIn, out)
	}
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
