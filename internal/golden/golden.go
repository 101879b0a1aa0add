// Package golden compares what a test produced with text kept under testdata.
//
// go test -update rewrites the files; a reviewer reads the difference.
package golden

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files under testdata")

// Updating reports whether the test binary was run with -update.
func Updating() bool { return *update }

// Check fails the test at the first line in which got differs from the file
// testdata/name. With -update it writes the file instead.
func Check(tb testing.TB, name, got string) {
	tb.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
			tb.Fatal(err)
		}
		return
	}
	b, err := os.ReadFile(path)
	if err != nil {
		tb.Fatalf("%v (go test -update writes it)", err)
	}
	want := strings.ReplaceAll(string(b), "\r\n", "\n")
	if got == want {
		return
	}
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			tb.Fatalf("%s:%d:\n got %q\nwant %q", path, i+1, g[i], w[i])
		}
	}
	tb.Fatalf("%s: got %d lines, want %d", path, len(g), len(w))
}
