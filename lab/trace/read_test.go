package trace

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdfast-llm/holdfast/internal/golden"
)

func TestFilesOfEachSource(t *testing.T) {
	for _, name := range []string{"gfx11.dmesg", "texts.txt", "rocprof.csv", "rocprof.json"} {
		t.Run(name, func(t *testing.T) {
			b, err := os.ReadFile(filepath.Join("testdata", name))
			if err != nil {
				t.Fatal(err)
			}
			tr, err := Read(name, strings.NewReader(string(b)))
			if err != nil {
				t.Fatal(err)
			}
			var out strings.Builder
			fmt.Fprintf(&out, "clock %q, %d skipped, %d dropped\n", tr.Clock, tr.Skipped, tr.Dropped)
			for _, s := range tr.Odd {
				fmt.Fprintln(&out, "odd:", s)
			}
			for _, e := range tr.Events {
				j, err := json.Marshal(e)
				if err != nil {
					t.Fatal(err)
				}
				fmt.Fprintf(&out, "%s\n", j)
			}
			golden.Check(t, name+".golden", out.String())
		})
	}
}

// The facts of GFX11's page fault, apart from the golden file.
func TestAPageFaultIsPutTogether(t *testing.T) {
	b, err := os.ReadFile("testdata/gfx11.dmesg")
	if err != nil {
		t.Fatal(err)
	}
	tr, err := Read("dmesg", strings.NewReader(string(b)))
	if err != nil {
		t.Fatal(err)
	}
	fs := tr.Faults()
	if len(fs) != 1 || tr.Skipped != 1 {
		t.Fatalf("%d faults, %d lines skipped; want 1 and 1", len(fs), tr.Skipped)
	}
	f := fs[0]
	if f.Addr != 0x7fba10820000 || !f.PageOnly() || f.Client != "TCP (0x8)" || f.Status != "0x00841051" || f.Process != "llama-bench (4711)" || f.Write == nil || !*f.Write {
		t.Errorf("%+v", f)
	}
	if at := tr.Events[0].At; at != 1234_567890_000 {
		t.Errorf("at %d", at)
	}
}

func TestLinesAreMixed(t *testing.T) {
	tr, err := Read("f", strings.NewReader("hello\n9 100 -7 1 1\n\nHW Exception by GPU node-1 reason :GPU Hang\na 200 -7\n9 300 -7 1"))
	if err != nil {
		t.Fatal(err)
	}
	if len(tr.Events) != 2 || tr.Skipped != 3 || len(tr.Odd) != 2 || !tr.Torn || tr.Clock != "boot" {
		t.Errorf("%+v", tr)
	}
	if want := "line 5: trace: restore: want the node"; !strings.HasPrefix(tr.Odd[0], want) {
		t.Errorf("%q, want %q", tr.Odd[0], want)
	}
}

func FuzzRead(f *testing.F) {
	for _, name := range []string{"gfx11.dmesg", "texts.txt", "rocprof.csv", "rocprof.json"} {
		b, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(b))
	}
	f.Add("5 100 -7 @7f001(2) 1->0 ffff:0 1\n6 100 -7 @7f001(2) 1->0 3 -12\na 1 -2 3 \x00\n")
	f.Fuzz(func(t *testing.T, s string) {
		tr, err := Read("f", strings.NewReader(s))
		if err != nil {
			return
		}
		for _, e := range tr.Events {
			if e.Line < 1 || e.Until < e.At || e.At < 0 {
				t.Errorf("%+v", e)
			}
			if _, err := json.Marshal(e); err != nil {
				t.Error(err)
			}
		}
	})
}
