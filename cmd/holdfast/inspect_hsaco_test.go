package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestInspectCodeObjects gives holdfast inspect files that start as ELF does.
func TestInspectCodeObjects(t *testing.T) {
	objects := filepath.Join("..", "..", "amd", "hsaco", "testdata")
	whole, err := os.ReadFile(filepath.Join(objects, "args.hsaco"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name string, b []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	args, lines := filepath.Join(objects, "args.hsaco"), filepath.Join(objects, "lines.hsaco")
	for _, c := range []struct {
		name   string
		args   []string
		code   int
		stdout []string
		absent string
		stderr string
	}{
		{
			"the kernels, as text",
			[]string{args},
			0,
			[]string{"AMDGPU code object version 6, linked, for gfx1151\n", "\nkernel many\n", "by_value"},
			"s_endpgm", "",
		},
		{
			"with every instruction",
			[]string{"--disasm", lines},
			0,
			[]string{"wave64, CU mode, ", "\n; /src/lines.cpp:15:", "\nwait\ts_waitcnt lgkmcnt(0) "},
			"", "",
		},
		{"as JSON", []string{"--json", args}, 0, []string{"\"target\": \"gfx1151\",\n"}, "kernel many", ""},
		{"a truncated one", []string{write("cut.hsaco", whole[:5000])}, 1, nil, "", "cut.hsaco: offset 0x26e0: truncated: "},
		{"five bytes of one", []string{write("five.hsaco", whole[:5])}, 1, nil, "", "truncated: 5 bytes, an ELF header has 64\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			if code := inspectMain(context.Background(), c.args, nil, &stdout, &stderr); code != c.code {
				t.Errorf("exit status %d, want %d: %s", code, c.code, &stderr)
			}
			for _, want := range c.stdout {
				if !strings.Contains(stdout.String(), want) {
					t.Errorf("standard output has no %q:\n%s", want, &stdout)
				}
			}
			if c.absent != "" && strings.Contains(stdout.String(), c.absent) {
				t.Errorf("standard output has %q", c.absent)
			}
			if !strings.Contains(stderr.String(), c.stderr) || (c.stderr == "") != (stderr.Len() == 0) {
				t.Errorf("standard error %q, want %q", &stderr, c.stderr)
			}
		})
	}
}
