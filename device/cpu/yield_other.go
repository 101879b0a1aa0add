//go:build !linux

package cpu

import (
	"runtime"
	"time"
)

// yield lets another goroutine have the processor.
func yield() { runtime.Gosched() }

// nap sleeps for some tens of microseconds.
func nap() { time.Sleep(20 * time.Microsecond) }
