package mmap

import (
	"os"
	"unsafe"

	"golang.org/x/sys/windows"
)

// owner says which kind of memory Close must give back.
type owner struct{ view bool }

func (o owner) release(data []byte) error {
	addr := uintptr(unsafe.Pointer(&data[0]))
	if o.view {
		return os.NewSyscallError("UnmapViewOfFile", windows.UnmapViewOfFile(addr))
	}
	return os.NewSyscallError("VirtualFree", windows.VirtualFree(addr, 0, windows.MEM_RELEASE))
}

func mapFile(f *os.File, n int) (*Mapping, error) {
	h, err := windows.CreateFileMapping(windows.Handle(f.Fd()), nil, windows.PAGE_READONLY, 0, 0, nil)
	if err != nil {
		return nil, &os.PathError{Op: "CreateFileMapping", Path: f.Name(), Err: err}
	}
	// The view keeps the mapping object alive; its handle is no longer needed.
	defer windows.CloseHandle(h)
	addr, err := windows.MapViewOfFile(h, windows.FILE_MAP_READ, 0, 0, uintptr(n))
	if err != nil {
		return nil, &os.PathError{Op: "MapViewOfFile", Path: f.Name(), Err: err}
	}
	return &Mapping{data: at(addr, n), owner: owner{view: true}}, nil
}

func mapAnonymous(n int) (*Mapping, error) {
	addr, err := windows.VirtualAlloc(0, uintptr(n), windows.MEM_COMMIT|windows.MEM_RESERVE, windows.PAGE_READWRITE)
	if err != nil {
		return nil, os.NewSyscallError("VirtualAlloc", err)
	}
	return &Mapping{data: at(addr, n)}, nil
}

func mapNoAccess(n int) (*Mapping, error) {
	addr, err := windows.VirtualAlloc(0, uintptr(n), windows.MEM_COMMIT|windows.MEM_RESERVE, windows.PAGE_NOACCESS)
	if err != nil {
		return nil, os.NewSyscallError("VirtualAlloc", err)
	}
	return &Mapping{data: at(addr, n)}, nil
}

// at is the memory of n bytes at addr. The address comes from the operating
// system, not from Go's heap, so the conversion through a pointer to the
// variable is sound and keeps go vet's unsafeptr check for real mistakes.
func at(addr uintptr, n int) []byte {
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&addr)), n)
}

func lock(data []byte) error {
	return windows.VirtualLock(uintptr(unsafe.Pointer(&data[0])), uintptr(len(data)))
}
