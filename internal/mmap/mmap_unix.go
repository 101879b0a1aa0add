//go:build unix && !aix && !solaris

package mmap

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// owner says how memory was mapped. Package unix keeps a list of what its Mmap
// has mapped and unmaps nothing else.
type owner struct{ raw bool }

func (o owner) release(data []byte) error {
	if o.raw {
		return unix.MunmapPtr(unsafe.Pointer(unsafe.SliceData(data)), uintptr(len(data)))
	}
	return unix.Munmap(data)
}

func mapFile(f *os.File, n int) (*Mapping, error) {
	data, err := unix.Mmap(int(f.Fd()), 0, n, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, &os.PathError{Op: "mmap", Path: f.Name(), Err: err}
	}
	return &Mapping{data: data}, nil
}

func mapAnonymous(n int) (*Mapping, error) {
	data, err := unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return nil, os.NewSyscallError("mmap", err)
	}
	return &Mapping{data: data}, nil
}

func mapNoAccess(n int) (*Mapping, error) {
	data, err := unix.Mmap(-1, 0, n, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return nil, os.NewSyscallError("mmap", err)
	}
	return &Mapping{data: data}, nil
}

func lock(data []byte) error { return unix.Mlock(data) }
