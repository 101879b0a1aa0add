package probe

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

// The test binary is its own command: it does what the variable says.
func TestMain(m *testing.M) {
	switch os.Getenv("PROBE_TEST") {
	case "":
		os.Exit(m.Run())
	case "same":
		fmt.Println("the answer")
	case "pid":
		fmt.Println("the answer of", os.Getpid())
	case "exit":
		fmt.Fprintln(os.Stderr, "first\nlast words")
		os.Exit(3)
	case "hang":
		time.Sleep(time.Hour)
	case "utf8":
		os.Stdout.WriteString("a\xff\n")
	case "flood":
		b := make([]byte, 1<<20)
		for range 20 {
			os.Stdout.Write(b)
		}
	case "silent":
	}
	os.Exit(0)
}

func TestCommands(t *testing.T) {
	for name, c := range map[string]struct {
		face, detail string
		classes      int
	}{
		"same":   {"", "", 1},
		"pid":    {"", "", 3},
		"exit":   {"exit-3", "last words", 0},
		"hang":   {"timeout", "still running after 200ms", 0},
		"utf8":   {"invalid-utf8", "not UTF-8", 0},
		"flood":  {"too-large", "more than 16 MiB", 0},
		"silent": {"empty", "no output", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("PROBE_TEST", name)
			o := Options{Command: []string{os.Args[0]}, Requests: 3, Concurrency: 1, Timeout: 20 * time.Second, Digits: 6}
			if name == "hang" {
				o.Timeout, o.Requests = 200*time.Millisecond, 1
			}
			if name == "flood" {
				o.Requests = 1
			}
			r, err := Run(t.Context(), o, nil)
			if err != nil {
				t.Fatal(err)
			}
			a := r.Answers[0]
			if len(r.Classes) != c.classes {
				t.Errorf("%d classes, want %d", len(r.Classes), c.classes)
			}
			if c.face != "" && (len(a.Faces) == 0 || a.Faces[0] != c.face || !strings.Contains(a.Detail, c.detail)) || c.face == "" && len(a.Faces) > 0 {
				t.Errorf("%q, %q; want %q, %q", a.Faces, a.Detail, c.face, c.detail)
			}
			if name == "pid" {
				if d := r.Classes[1].Difference; !d.Bytes || d.Token < len("the answer of ") {
					t.Errorf("%+v", d)
				}
			}
		})
	}
	o := Options{Command: []string{"/no/such/command"}, Requests: 1, Concurrency: 1, Timeout: time.Second}
	r, err := Run(t.Context(), o, nil)
	if err != nil || r.Answers[0].Faces[0] != "start" {
		t.Errorf("%v, %+v", err, r.Answers)
	}
}
