//go:build !windows && (!unix || aix || solaris)

package mmap

import (
	"fmt"
	"io"
	"os"
)

// owner has nothing to keep: the bytes are Go's own.
type owner struct{}

func (owner) release([]byte) error { return nil }

// mapFile reads the file: this platform has no mapping that we use.
func mapFile(f *os.File, n int) (*Mapping, error) {
	data := make([]byte, n)
	if _, err := io.ReadFull(f, data); err != nil {
		return nil, fmt.Errorf("read %s: %w", f.Name(), err)
	}
	return &Mapping{data: data}, nil
}

func mapAnonymous(n int) (*Mapping, error) { return &Mapping{data: make([]byte, n)}, nil }

func mapNoAccess(int) (*Mapping, error) { return nil, unsupported("memory without access") }

func lock([]byte) error { return unsupported("locking memory") }
