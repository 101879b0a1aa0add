package cpu

import (
	"sync/atomic"
	"unsafe"
)

//go:noescape
func spinWhile(p *uint32, v uint32, turns int) bool

// spin waits while *p is v, for at most turns pauses, and reports whether *p
// has changed. The loads are plain MOVs, which on amd64 acquire; the caller's
// next atomic load tells the race detector the same.
func spin(p *atomic.Uint32, v uint32, turns int) bool {
	if spinWhile((*uint32)(unsafe.Pointer(p)), v, turns) {
		return p.Load() != v
	}
	return false
}
