package engine

import (
	"errors"
	"strings"
	"testing"
)

func TestMemoryIsRefusedBeforeTheMachineSwaps(t *testing.T) {
	const gib = 1 << 30
	machine := machineMemory{total: 16 * gib, available: 10 * gib}
	for _, c := range []struct {
		name        string
		file, cache int64
		m           machineMemory
		want        string // in the error; "" for none
	}{
		{"both fit", 8 * gib, gib, machine, ""},
		{"a file of all memory", 16 * gib, gib, machine, ""},
		{"a file larger than memory", 16*gib + 1, gib, machine, "the model needs 16.00 GiB, the machine has 16.00 GiB: every token would be read from disk"},
		{"a file larger than what is available is only read more slowly", 12 * gib, gib, machine, ""},
		{"a cache of all that is available", gib, 10 * gib, machine, ""},
		{"a cache larger than what is available", gib, 11 * gib, machine, "the key-value cache needs 11.00 GiB, the machine has 10.00 GiB: choose a smaller context"},
		{"a machine that says nothing", 1 << 50, 1 << 50, machineMemory{}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := checkMemory(c.file, c.cache, c.m)
			if c.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			var m *MemoryError
			if !errors.As(err, &m) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want a MemoryError with %q", err, c.want)
			}
		})
	}
}
