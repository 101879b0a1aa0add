package emu

// Apertures: where LDS and scratch lie in the flat address space. Each is 4 GiB
// that a 32-bit offset indexes; the high half of a flat address says which one
// it is in. They are not canonical addresses, so no allocation can be there.
// The values are those that Linux gives the processes of gfx9 and later.
const (
	SharedBase    = 1 << 48                 // of LDS
	SharedLimit   = SharedBase | 1<<32 - 1  // the last byte
	PrivateBase   = 2 << 48                 // of the wave's scratch, a lane's own bytes
	PrivateLimit  = PrivateBase | 1<<32 - 1 // the last byte
	apertureShift = 32                      // addr >> apertureShift tells them apart
)

// systemBase is where a dispatch's packet, queue and kernel arguments are, the
// same in every run. Allocations without an address of their own start above:
// beyond 4 GiB, so that an address that lost its high half is not mapped.
const (
	systemBase = 0x0008_0000_0000
	heapBase   = 0x0010_0000_0000
	heapLimit  = 1 << 47
)
