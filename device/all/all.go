// Package all is the list of devices: the one place that names every backend.
package all

import (
	"fmt"
	"strings"

	"github.com/holdfast-llm/holdfast/device"
	"github.com/holdfast-llm/holdfast/device/cpu"
	"github.com/holdfast-llm/holdfast/device/gfx11"
)

// Options say how a device is made.
type Options struct {
	// Threads are the workers; 0 means all processors for the CPU, and one for the
	// software GPU, which then does the same in every run.
	Threads int
	GFX11   gfx11.Config // its workers are Threads if it says none
}

// backends are the devices by name, the default first.
var backends = []struct {
	name string
	make func(Options) (device.Device, error)
}{
	{"cpu", func(o Options) (device.Device, error) { return made(cpu.New(cpu.Config{Threads: o.Threads})) }},
	{"gfx11", func(o Options) (device.Device, error) {
		c := o.GFX11
		if c.Emulator.Workers == 0 {
			c.Emulator.Workers = o.Threads
		}
		return made(gfx11.New(c))
	}},
}

// made keeps a nil pointer from becoming a device.
func made[D device.Device](d D, err error) (device.Device, error) {
	if err != nil {
		return nil, err
	}
	return d, nil
}

// Names are the devices' names, the default first.
func Names() []string {
	var names []string
	for _, b := range backends {
		names = append(names, b.name)
	}
	return names
}

// New makes the device of a name; "" is the default. Errors: there is none of
// that name, or what the device says.
func New(name string, o Options) (device.Device, error) {
	if name == "" {
		name = backends[0].name
	}
	for _, b := range backends {
		if b.name == name {
			return b.make(o)
		}
	}
	names := Names()
	last := len(names) - 1
	return nil, fmt.Errorf("device: no device %q, there are %s and %s", name, strings.Join(names[:last], ", "), names[last])
}
