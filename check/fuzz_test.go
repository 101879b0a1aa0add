package check

import (
	"os"
	"path/filepath"
	"testing"
)

// FuzzParseCase reads case files: bad ones are errors, and good ones are read
// again from what Text makes of them.
func FuzzParseCase(f *testing.F) {
	paths, err := FindCases(filepath.Join("testdata", "cases") + "/...")
	if err != nil {
		f.Fatal(err)
	}
	for i, path := range paths {
		if i%20 != 0 {
			continue
		}
		b, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := ParseCase("x.toml", b)
		if err != nil {
			return
		}
		if _, err := ParseCase("again.toml", []byte(c.Text())); err != nil {
			t.Fatalf("%v\n%s", err, c.Text())
		}
	})
}

// FuzzParseArg reads the arguments of a quick look.
func FuzzParseArg(f *testing.F) {
	for _, s := range []string{"x=f32x1024:random", "n=u32:7", "lds:4096", "null", "f16x10:expr:i*2", "u8x3:file:x"} {
		f.Add(s)
	}
	f.Fuzz(func(_ *testing.T, s string) { _, _ = ParseArg(s) })
}

// FuzzParseLayouts reads layouts; those it accepts print as they are read.
func FuzzParseLayouts(f *testing.F) {
	for _, s := range []string{"all", "0,256,0", "0x7f0000000000,4096,64", "1,3,5"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		list, err := ParseLayouts(s)
		if err != nil || s == "all" {
			return
		}
		if again, err := ParseLayouts(list[0].String()); err != nil || again[0] != list[0] {
			t.Fatalf("%q: %v, read again %v, %v", s, list, again, err)
		}
	})
}
