package engine

import (
	"bufio"
	"fmt"
	"os"
	"strings"
)

// machineMemory is what the operating system says of its memory, in bytes;
// zero where it says nothing.
type machineMemory struct{ total, available int64 }

// availableMemory reads /proc/meminfo; elsewhere than on Linux it knows
// nothing, and nothing is refused.
func availableMemory() machineMemory {
	f, err := os.Open("/proc/meminfo")
	if err != nil {
		return machineMemory{}
	}
	defer f.Close()
	var m machineMemory
	for s := bufio.NewScanner(f); s.Scan(); {
		key, rest, _ := strings.Cut(s.Text(), ":")
		var kib int64
		if _, err := fmt.Sscanf(rest, "%d kB", &kib); err != nil {
			continue
		}
		switch key {
		case "MemTotal":
			m.total = kib << 10
		case "MemAvailable":
			m.available = kib << 10
		}
	}
	return m
}

// MemoryError says that a model and its cache do not fit the machine.
type MemoryError struct {
	What        string // "model" or "key-value cache"
	Need, Have  int64  // bytes
	Consequence string
}

func (e *MemoryError) Error() string {
	const gib = 1 << 30
	return fmt.Sprintf("engine: the %s needs %.2f GiB, the machine has %.2f GiB: %s",
		e.What, float64(e.Need)/gib, float64(e.Have)/gib, e.Consequence)
}

// checkMemory refuses what would swap or be killed: weights larger than the
// machine's memory (they are read for every token), or a cache larger than
// what is available.
func checkMemory(file, cache int64, m machineMemory) error {
	if m.total > 0 && file > m.total {
		return &MemoryError{"model", file, m.total, "every token would be read from disk"}
	}
	if m.available > 0 && cache > m.available {
		return &MemoryError{"key-value cache", cache, m.available, "choose a smaller context, fewer sequences or a smaller cache type"}
	}
	return nil
}
