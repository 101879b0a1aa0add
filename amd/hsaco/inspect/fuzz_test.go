package inspect

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/holdfast-llm/holdfast/amd/hsaco"
)

// FuzzInspect prints whatever package hsaco accepts, in every way.
func FuzzInspect(f *testing.F) {
	objects, err := filepath.Glob(filepath.Join("..", "testdata", "*.*o"))
	if err != nil || len(objects) < 5 {
		f.Fatalf("%d objects, %v", len(objects), err)
	}
	for _, name := range objects {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		o, err := hsaco.Parse("fuzz", b)
		if err != nil {
			return
		}
		for _, err := range []error{Text(io.Discard, o, Options{All: true}), JSON(io.Discard, o), Disasm(io.Discard, o)} {
			if err != nil {
				t.Error(err)
			}
		}
	})
}
