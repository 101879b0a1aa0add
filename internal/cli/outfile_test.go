package cli

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

func content(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return "absent"
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestWriteFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	text := func(s string) func(io.Writer) error {
		return func(w io.Writer) error { _, err := io.WriteString(w, s); return err }
	}
	if err := WriteFile(path, text("first")); err != nil {
		t.Fatal(err)
	}
	failed := errors.New("half way")
	err := WriteFile(path, func(w io.Writer) error { _ = text("sec")(w); return failed })
	if !errors.Is(err, failed) || content(t, path) != "first" || content(t, path+".tmp") != "absent" {
		t.Errorf("after a failure: %v, out %q, tmp %q", err, content(t, path), content(t, path+".tmp"))
	}
	if err := WriteFile(path, text("second")); err != nil || content(t, path) != "second" {
		t.Errorf("%v, out %q", err, content(t, path))
	}
	if err := WriteFile(filepath.Join(path, "below a file"), text("x")); err == nil {
		t.Error("wrote below a file")
	}
}

func TestCheckOutput(t *testing.T) {
	dir := t.TempDir()
	in, out, link := filepath.Join(dir, "in"), filepath.Join(dir, "out"), filepath.Join(dir, "link")
	if err := os.WriteFile(in, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(in+"2.tmp", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(in, link); err != nil {
		t.Skip(err)
	}
	for _, c := range []struct {
		name    string
		out, in string
		ok      bool
	}{
		{"a new file", out, in, true},
		{"another file", in + "2.tmp", in, true},
		{"the input itself", in, in, false},
		{"the input by a hard link", link, in, false},
		{"the input as the temporary file", in + "2", in + "2.tmp", false},
		{"a directory", dir, in, false},
	} {
		if err := CheckOutput(c.out, c.in); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
