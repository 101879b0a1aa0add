//go:build !linux

package mmap

func mapAnonymousAt(uintptr, int) (*Mapping, error) {
	return nil, unsupported("memory at a chosen address")
}

// lockLimit says how much this process may lock, where that is known.
func lockLimit() string { return "" }
