package mmap

import (
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// mapAnonymousAt asks for the address and gives back what it got elsewhere: a
// kernel before 4.17 takes MAP_FIXED_NOREPLACE for a hint.
func mapAnonymousAt(addr uintptr, n int) (*Mapping, error) {
	p, err := unix.MmapPtr(-1, 0, ptr(addr), uintptr(n), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_FIXED_NOREPLACE)
	if err != nil {
		return nil, fmt.Errorf("mmap: %d bytes at %#x: %w", n, addr, err)
	}
	m := &Mapping{data: unsafe.Slice((*byte)(p), n), owner: owner{raw: true}}
	if uintptr(p) != addr {
		_ = m.Close()
		return nil, fmt.Errorf("mmap: %d bytes at %#x: got %#x", n, addr, uintptr(p))
	}
	return m, nil
}

// ptr is an address that is asked of the operating system as a pointer, by way
// of a variable so that go vet's unsafeptr check stays sharp elsewhere.
func ptr(addr uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&addr)) }

// lockLimit says how much this process may lock.
func lockLimit() string {
	var r unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_MEMLOCK, &r) != nil || r.Cur == unix.RLIM_INFINITY {
		return ""
	}
	return fmt.Sprintf(" (RLIMIT_MEMLOCK is %d, its hard limit %d)", r.Cur, r.Max)
}

// populate reads in and maps pages.
func populate(data []byte) error {
	return os.NewSyscallError("madvise", unix.Madvise(data, unix.MADV_POPULATE_READ))
}
