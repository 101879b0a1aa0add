package gfx11

import (
	"errors"
	"fmt"

	"github.com/holdfast-llm/holdfast/amd/emu"
	"github.com/holdfast-llm/holdfast/amd/hsaco"
	"github.com/holdfast-llm/holdfast/device/kernel"
)

// module is a code object on the device, with the kernels that were asked for.
type module struct {
	*emu.Module
	wave    int
	kernels map[string]*emu.Kernel
}

// kernel is an entry point, loaded with its code object when it is first asked
// for. Errors name the object: missing, broken, without the entry point, no
// memory.
func (d *Device) kernel(k *kernel.Kernel) (*emu.Kernel, error) {
	m := d.code[k.Source]
	if m == nil {
		var err error
		if m, err = d.loadCode(k.Source); err != nil {
			return nil, err
		}
		d.code[k.Source] = m
	}
	if e := m.kernels[k.Name]; e != nil {
		return e, nil
	}
	e, err := m.Kernel(k.Name)
	if err != nil {
		return nil, fmt.Errorf("gfx11: code object %s for wave%d: %w", k.Source, m.wave, err)
	}
	m.kernels[k.Name] = e
	return e, nil
}

// loadCode loads a source's code object: that for the device's wave size, or
// for wave32 if there is no other.
func (d *Device) loadCode(source string) (*module, error) {
	wave := d.config.Wave
	b, err := d.config.Objects(source, wave)
	if err != nil && wave == 64 {
		wave = 32
		b, err = d.config.Objects(source, wave)
	}
	var o *hsaco.Object
	if err == nil {
		o, err = hsaco.Parse(source, b)
	}
	var m *emu.Module
	if err == nil {
		m, err = d.memory.load(o)
	}
	if err != nil {
		return nil, fmt.Errorf("gfx11: code object %s for wave%d: %w", source, wave, err)
	}
	return &module{m, wave, map[string]*emu.Kernel{}}, nil
}

// load places a code object.
func (m *memory) load(o *hsaco.Object) (*emu.Module, error) {
	l, err := m.dev.Load(o)
	if err != nil {
		return nil, err
	}
	for i, b := range l.Buffers {
		if err := m.reserve(Code, b.Name, int64(len(b.Data))); err != nil {
			for _, b := range l.Buffers[:i] {
				m.count(Code, -int64(len(b.Data)), -1)
			}
			return nil, errors.Join(err, l.Unload())
		}
	}
	return l, nil
}

// unload frees a code object's memory.
func (m *memory) unload(l *module) error {
	for _, b := range l.Buffers {
		m.count(Code, -int64(len(b.Data)), -1)
	}
	return l.Unload()
}
