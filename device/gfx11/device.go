package gfx11

import (
	"errors"
	"fmt"
	"sync"

	"github.com/holdfast-llm/holdfast/amd/emu"
	"github.com/holdfast-llm/holdfast/device/kernel"
)

// Config says how the device runs. The zero value is a coherent device of
// wave32 kernels that runs one workgroup after another.
type Config struct {
	// Wave is the wave size, 32 or 64; 0 means 32. With 64, kernels that are not
	// built for it run in waves of 32.
	Wave int
	// Memory is how many bytes may be mapped at once; 0 means any number.
	Memory int64
	// Objects gives the code object of a kernel's source for a wave size; nil
	// is kernel.Object.
	Objects func(source string, wave int) ([]byte, error)
	// Traffic counts the bytes that launches read and write (LaunchStats). It is
	// an observer: it takes the place of Emulator.Observer and makes runs slower.
	Traffic bool
	// Emulator is the device underneath: memory model, seed, schedule, workers,
	// observer, pressure.
	Emulator emu.Config
}

// Device is a software GPU. One program runs at a time; Run calls of several
// goroutines wait for each other.
type Device struct {
	config  Config
	emu     *emu.Device
	traffic *traffic // nil unless Config.Traffic

	mu     sync.Mutex // held while a program runs, is loaded or closed
	memory memory
	values map[valueKey]*mapping // weights and caches, which programs share
	code   map[string]*module    // by kernel.Kernel.Source
	loaded int                   // programs so far
	runs   int                   // so far
}

// New makes a device with nothing in its memory. Errors: a wave size other than
// 32 and 64, less than no memory, or what emu.New refuses.
func New(c Config) (*Device, error) {
	switch {
	case c.Wave == 0:
		c.Wave = 32
	case c.Wave != 32 && c.Wave != 64:
		return nil, fmt.Errorf("gfx11: waves of %d, want 32 or 64", c.Wave)
	}
	if c.Memory < 0 {
		return nil, fmt.Errorf("gfx11: %d bytes of memory", c.Memory)
	}
	if c.Objects == nil {
		c.Objects = kernel.Object
	}
	var t *traffic
	if c.Traffic {
		if c.Emulator.Observer != nil {
			return nil, errors.New("gfx11: traffic is counted by an observer, and there is another")
		}
		t = newTraffic()
		c.Emulator.Observer = t
	}
	e, err := emu.New(c.Emulator)
	if err != nil {
		return nil, fmt.Errorf("gfx11: %w", err)
	}
	return &Device{
		config: c, emu: e, traffic: t, memory: newMemory(e, c.Memory),
		values: map[valueKey]*mapping{}, code: map[string]*module{},
	}, nil
}

// Name is "gfx11".
func (d *Device) Name() string { return "gfx11" }

// Describe says which waves run on which memory from which seed.
func (d *Device) Describe() string {
	c := d.emu.Config()
	return fmt.Sprintf("gfx11 in software, wave%d, %s memory, seed %d, %d workers", d.config.Wave, c.Mode, c.Seed, max(c.Workers, 1))
}

// Emulator is the device underneath: its address space can be looked at.
func (d *Device) Emulator() *emu.Device { return d.emu }

// Close unmaps everything. Programs must be closed before.
func (d *Device) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	var errs []error
	for source, m := range d.code {
		errs = append(errs, d.memory.unload(m))
		delete(d.code, source)
	}
	for key, m := range d.values {
		errs = append(errs, d.memory.free(m.buffer))
		delete(d.values, key)
	}
	return errors.Join(errs...)
}
