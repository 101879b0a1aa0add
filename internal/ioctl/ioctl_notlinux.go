//go:build !linux

package ioctl

import (
	"errors"
	"os"
	"unsafe"
)

func call(uintptr, uintptr, unsafe.Pointer) error { return errors.ErrUnsupported }

func file(uint32, string) (*os.File, error) { return nil, errors.ErrUnsupported }
