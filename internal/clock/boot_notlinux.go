//go:build !linux

package clock

func boot() int64 { return 0 }
