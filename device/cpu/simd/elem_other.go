//go:build !amd64

package simd

func elemSIMD(Level) *Elem { return nil }
