package inspect

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdfast-llm/holdfast/amd/hsaco"
	"github.com/holdfast-llm/holdfast/internal/golden"
)

// objects are those of package hsaco's tests.
func parse(t *testing.T, name string) *hsaco.Object {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	o, err := hsaco.Parse(name, b)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestText(t *testing.T) {
	for _, name := range []string{"args.hsaco", "lines.hsaco", "relocs.hsaco", "relocs.o", "descriptor.hsaco"} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			if err := Text(&out, parse(t, name), Options{}); err != nil {
				t.Fatal(err)
			}
			golden.Check(t, name+".txt", out.String())
		})
	}
}

func TestJSON(t *testing.T) {
	for _, name := range []string{"relocs.hsaco", "descriptor.hsaco"} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			if err := JSON(&out, parse(t, name)); err != nil {
				t.Fatal(err)
			}
			if !json.Valid(out.Bytes()) {
				t.Error("not JSON")
			}
			golden.Check(t, name+".json", out.String())
		})
	}
}

func TestNamesCannotForgeLines(t *testing.T) {
	o := parse(t, "args.hsaco")
	o.Kernels[0].Name = "x\nkernel y\x1b[2J"
	var out bytes.Buffer
	if err := Text(&out, o, Options{}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "\nkernel \"x\\nkernel y\\x1b[2J\"\n") {
		t.Errorf("%s", &out)
	}
}

func TestAllListsEveryRelocation(t *testing.T) {
	o := parse(t, "relocs.o")
	for range 40 {
		o.Relocs = append(o.Relocs, o.Relocs[0])
	}
	for _, all := range []bool{false, true} {
		var out bytes.Buffer
		if err := Text(&out, o, Options{All: all}); err != nil {
			t.Fatal(err)
		}
		want := relocsShown
		if all {
			want = len(o.Relocs)
		}
		if got := strings.Count(out.String(), "  R_AMDGPU_"); got != want {
			t.Errorf("all %v: %d relocations, want %d", all, got, want)
		}
		if strings.Contains(out.String(), "more (--all lists them)") == all {
			t.Errorf("all %v:\n%s", all, &out)
		}
	}
}

type fullDisk struct{}

var errFull = errors.New("no space left")

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

func TestWriteErrors(t *testing.T) {
	o := parse(t, "args.hsaco")
	if err := Text(fullDisk{}, o, Options{}); !errors.Is(err, errFull) {
		t.Errorf("text: %v", err)
	}
	if err := JSON(fullDisk{}, o); !errors.Is(err, errFull) {
		t.Errorf("JSON: %v", err)
	}
}
