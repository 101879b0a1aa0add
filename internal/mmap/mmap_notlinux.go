//go:build !linux

package mmap

import (
	"errors"
	"fmt"
	"runtime"
)

func mapAnonymousAt(uintptr, int) (*Mapping, error) {
	return nil, unsupported("memory at a chosen address")
}

// lockLimit says how much this process may lock, where that is known.
func lockLimit() string { return "" }

func populate([]byte) error { return unsupported("reading pages in") }

func unsupported(what string) error {
	return fmt.Errorf("mmap: %s on %s: %w", what, runtime.GOOS, errors.ErrUnsupported)
}
