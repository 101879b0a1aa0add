package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestQuantizeInterrupted cancels the context, as Ctrl-C does: the output that
// was there stays, and nothing half-written is left.
func TestQuantizeInterrupted(t *testing.T) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.gguf"), filepath.Join(dir, "out.gguf")
	if code := mkmodel([]string{in}); code != 0 {
		t.Fatal(code)
	}
	if err := os.WriteFile(out, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stdout, stderr bytes.Buffer
	code := quantizeMain(ctx, []string{in, out, "Q8_0"}, nil, &stdout, &stderr)
	if code != exitInterrupted || !strings.Contains(stderr.String(), "interrupted") {
		t.Errorf("exit status %d, stderr %q", code, stderr.String())
	}
	if b, err := os.ReadFile(out); err != nil || string(b) != "precious" {
		t.Errorf("the output is %q, %v", b, err)
	}
	if _, err := os.Stat(out + ".tmp"); !os.IsNotExist(err) {
		t.Errorf("the temporary file is still there: %v", err)
	}
}
