package ioctl

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

func call(fd, request uintptr, arg unsafe.Pointer) error {
	for {
		_, _, e := unix.Syscall(unix.SYS_IOCTL, fd, request, uintptr(arg))
		if e != unix.EINTR {
			if e != 0 {
				return os.NewSyscallError("ioctl", e)
			}
			return nil
		}
	}
}

// file lets the runtime wait for the descriptor: drivers answer a read of nothing with
// EAGAIN even if it may block.
func file(fd uint32, name string) (*os.File, error) {
	if err := unix.SetNonblock(int(fd), true); err != nil {
		return nil, os.NewSyscallError("fcntl", err)
	}
	return os.NewFile(uintptr(fd), name), nil
}
