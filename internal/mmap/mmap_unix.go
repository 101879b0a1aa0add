//go:build unix && !aix && !solaris

package mmap

import (
	"os"

	"golang.org/x/sys/unix"
)

// owner has nothing to keep: munmap takes the slice.
type owner struct{}

func (owner) release(data []byte) error { return unix.Munmap(data) }

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

func lock(data []byte) error { return unix.Mlock(data) }

func advise(data []byte, a Advice) error {
	var flag int
	switch a {
	case Normal:
		flag = unix.MADV_NORMAL
	case Sequential:
		flag = unix.MADV_SEQUENTIAL
	case Random:
		flag = unix.MADV_RANDOM
	case WillNeed:
		flag = unix.MADV_WILLNEED
	default:
		var ok bool
		if flag, ok = systemAdvice(a); !ok {
			return unsupported("this advice")
		}
	}
	return os.NewSyscallError("madvise", unix.Madvise(data, flag))
}
