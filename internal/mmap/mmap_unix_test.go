//go:build linux || darwin

package mmap

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestOpenDoesNotWaitForANamedPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	if _, err := Open(path); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("named pipe: %v", err)
	}
}
