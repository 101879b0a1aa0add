// Package mmap maps files and anonymous memory, reads pages in and locks them.
// It knows nothing of what the bytes mean.
//
// A mapping of a file sees the file as it is on disk: if another process
// truncates the file while it is mapped, touching the lost pages is a fault
// (SIGBUS on unix) that no check in this process can prevent.
package mmap

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
)

// Mapping is a range of mapped memory. Its methods are safe for concurrent
// use, but Close must not run while somebody still reads Bytes.
type Mapping struct {
	mu     sync.Mutex
	data   []byte // protected by mu for Close; the slice never changes before
	locked bool   // protected by mu
	owner  owner  // what Close must release besides data
}

// ErrDirectory is wrapped by Open when the path names a directory.
var ErrDirectory = errors.New("is a directory")

// Open maps the whole file at path, read-only. An empty file gives an empty
// mapping. Errors: those of os.Open, ErrDirectory, a path that is no regular
// file, and a file larger than the address space.
func Open(path string) (*Mapping, error) {
	// Ask before opening: opening a named pipe waits for its writer.
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	switch {
	case info.IsDir():
		return nil, &fs.PathError{Op: "open", Path: path, Err: ErrDirectory}
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("open %s: not a regular file (%s)", path, info.Mode().Type())
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil {
		return nil, err
	}
	switch {
	case info.Size() == 0:
		return &Mapping{}, nil
	case int64(int(info.Size())) != info.Size():
		return nil, fmt.Errorf("open %s: %d bytes do not fit this machine's address space", path, info.Size())
	}
	return mapFile(f, int(info.Size()))
}

// Anonymous returns n bytes of zeroed memory, page aligned and outside Go's
// heap, so that it can be locked on its own. n must be positive.
func Anonymous(n int) (*Mapping, error) {
	if n <= 0 {
		return nil, fmt.Errorf("mmap: anonymous mapping of %d bytes", n)
	}
	return mapAnonymous(n)
}

// AnonymousAt is Anonymous at an address, a multiple of the page size. It never
// takes memory that is already mapped: that is an error.
func AnonymousAt(addr uintptr, n int) (*Mapping, error) {
	if n <= 0 || addr == 0 || addr%uintptr(os.Getpagesize()) != 0 {
		return nil, fmt.Errorf("mmap: anonymous mapping of %d bytes at %#x, want a multiple of %d", n, addr, os.Getpagesize())
	}
	return mapAnonymousAt(addr, n)
}

// NoAccess is n bytes that may be neither read nor written: touching them is a
// fault. n must be positive.
func NoAccess(n int) (*Mapping, error) {
	if n <= 0 {
		return nil, fmt.Errorf("mmap: mapping without access of %d bytes", n)
	}
	return mapNoAccess(n)
}

// Bytes is the mapped memory: read-only for a file, writable for an anonymous
// mapping. It must not be used after Close.
func (m *Mapping) Bytes() []byte { return m.data }

// Populate reads in and maps every page, so that touching one later is no
// fault. It works a piece at a time until all is done or ctx ends; errors are
// ctx's, one that wraps errors.ErrUnsupported where the operating system cannot,
// and those of reading the file.
func (m *Mapping) Populate(ctx context.Context) error {
	const piece = 16 << 20 // a few ms from a warm page cache
	for at := 0; ; at += piece {
		if err := ctx.Err(); err != nil {
			return err
		}
		more, err := m.populate(at, piece)
		if err != nil || !more {
			return err
		}
	}
}

// populate maps up to n bytes from at and reports whether there are more.
func (m *Mapping) populate(at, n int) (more bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if at >= len(m.data) {
		return false, nil
	}
	return true, populate(m.data[at:min(at+n, len(m.data))])
}

// Lock keeps the mapping's pages in physical memory until Close. It needs the
// operating system's leave (RLIMIT_MEMLOCK on Linux).
func (m *Mapping) Lock() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.data) == 0 || m.locked {
		return nil
	}
	if err := lock(m.data); err != nil {
		return fmt.Errorf("mmap: lock %d bytes%s: %w", len(m.data), lockLimit(), err)
	}
	m.locked = true
	return nil
}

// Close unmaps the memory. Closing twice is harmless.
func (m *Mapping) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	data := m.data
	m.data = nil
	if len(data) == 0 {
		return nil
	}
	return m.owner.release(data)
}
