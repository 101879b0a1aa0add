// Package ioctl asks a device driver for something by a request's number.
package ioctl

import (
	"fmt"
	"os"
	"unsafe"
)

// ReadWrite is the number of Linux's request n of a kind, with an argument of size
// bytes that the driver reads and writes (_IOWR).
func ReadWrite(kind byte, n uint8, size uintptr) uintptr {
	return 3<<30 | size<<16 | uintptr(kind)<<8 | uintptr(n)
}

// Call sends a request with its argument, which must be of the size that the request
// says. The error wraps errors.ErrUnsupported where the system has no such requests.
func Call(f *os.File, request uintptr, arg unsafe.Pointer) error {
	c, err := f.SyscallConn()
	if err != nil {
		return fmt.Errorf("ioctl: %w", err)
	}
	var inner error
	if err := c.Control(func(fd uintptr) { inner = call(fd, request, arg) }); err != nil {
		return fmt.Errorf("ioctl: %w", err)
	}
	return inner
}

// File is a descriptor that a request returned, as a file whose reads wait for what
// the driver has next, and end when it is closed.
func File(fd uint32, name string) (*os.File, error) { return file(fd, name) }
