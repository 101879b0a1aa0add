//go:build unix && !aix && !solaris && !linux

package mmap

// systemAdvice is the flag of a hint that not every unix has.
func systemAdvice(Advice) (flag int, ok bool) { return 0, false }
