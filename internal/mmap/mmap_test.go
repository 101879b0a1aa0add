package mmap

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"unsafe"
)

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	want := bytes.Repeat([]byte("holdfast"), 3000) // several pages and a part of one
	path := filepath.Join(dir, "f")
	if err := os.WriteFile(path, want, 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(m.Bytes(), want) {
		t.Fatalf("mapping of %d bytes differs from the file's %d", len(m.Bytes()), len(want))
	}
	if err := m.Populate(t.Context()); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("populate: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := m.Populate(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("populate after cancel: %v", err)
	}
	if err := m.Lock(); err != nil {
		t.Logf("lock: %v (needs RLIMIT_MEMLOCK)", err)
	}
	for range 2 {
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if m.Bytes() != nil {
		t.Error("bytes after Close")
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	if _, err := Open(dir); !errors.Is(err, ErrDirectory) {
		t.Errorf("directory: %v", err)
	}
	if _, err := Open(filepath.Join(dir, "absent")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("absent file: %v", err)
	}
	if _, err := Open(os.DevNull); err == nil {
		t.Error("a device was mapped")
	}
}

func TestEmptyFileIsAnEmptyMapping(t *testing.T) {
	path := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Bytes()) != 0 {
		t.Errorf("%d bytes", len(m.Bytes()))
	}
	if err := errors.Join(m.Populate(t.Context()), m.Lock(), m.Close()); err != nil {
		t.Error(err)
	}
}

func TestAnonymousIsZeroedAndWritable(t *testing.T) {
	m, err := Anonymous(100_000)
	if err != nil {
		t.Fatal(err)
	}
	b := m.Bytes()
	for i, v := range b {
		if v != 0 {
			t.Fatalf("byte %d is %d", i, v)
		}
		b[i] = byte(i)
	}
	if b[99_999] != byte(99_999&0xff) {
		t.Error("a store was lost")
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Anonymous(0); err == nil {
		t.Error("an empty anonymous mapping was made")
	}
}

func TestAnonymousAtNeverTakesWhatIsMapped(t *testing.T) {
	taken, err := Anonymous(1 << 16)
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	taken.Bytes()[0] = 7
	addr := uintptr(unsafe.Pointer(unsafe.SliceData(taken.Bytes())))
	if m, err := AnonymousAt(addr, 1<<16); err == nil {
		m.Close()
		t.Errorf("mapped at %#x, which was taken", addr)
	}
	if taken.Bytes()[0] != 7 {
		t.Error("the memory was lost")
	}
	for _, bad := range []uintptr{0, 1, 4097} {
		if _, err := AnonymousAt(bad, 1<<16); err == nil {
			t.Errorf("mapped at %#x", bad)
		}
	}
	const free = 0x5a0000000000
	m, err := AnonymousAt(free, 1<<16)
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if got := uintptr(unsafe.Pointer(unsafe.SliceData(m.Bytes()))); got != free {
		t.Errorf("mapped at %#x, want %#x", got, uintptr(free))
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
}
