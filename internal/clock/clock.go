// Package clock reads the clock that drivers stamp their events with.
package clock

import "time"

// Boot is the time since the machine started, with the time that it slept
// (CLOCK_BOOTTIME), in nanoseconds; 0 on systems where it cannot be read.
func Boot() int64 { return boot() }

// Both are the wall's clock and Boot at one moment: between the two readings is as
// little time as could be had in a few tries.
func Both() (time.Time, int64) {
	var wall time.Time
	var at int64
	least := time.Duration(1<<63 - 1)
	for range 3 {
		t0 := time.Now()
		b := boot()
		if took := time.Since(t0); took < least {
			least, wall, at = took, t0, b
		}
	}
	return wall, at
}
