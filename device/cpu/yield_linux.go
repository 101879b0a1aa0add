package cpu

import "syscall"

// yield lets another thread have the processor. It is a system call in Go's
// eyes, so a garbage collection need not wait for the caller.
func yield() { _, _, _ = syscall.Syscall(syscall.SYS_SCHED_YIELD, 0, 0, 0) }

// nap sleeps for some tens of microseconds without leaving the thread.
func nap() {
	_ = syscall.Nanosleep(&syscall.Timespec{Nsec: 20_000}, nil)
}
