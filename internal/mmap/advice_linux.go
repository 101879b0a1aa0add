package mmap

import "golang.org/x/sys/unix"

// systemAdvice is the flag of a hint that not every unix has.
func systemAdvice(a Advice) (flag int, ok bool) {
	switch a {
	case HugePages:
		return unix.MADV_HUGEPAGE, true
	case Populate:
		return unix.MADV_POPULATE_READ, true
	}
	return 0, false
}
