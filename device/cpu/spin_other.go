//go:build !amd64

package cpu

import "sync/atomic"

// spin waits while *p is v, for at most turns loads, and reports whether *p
// has changed.
func spin(p *atomic.Uint32, v uint32, turns int) bool {
	for range turns {
		if p.Load() != v {
			return true
		}
	}
	return false
}
