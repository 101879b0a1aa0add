package cpu

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"unsafe"

	"github.com/holdfast-llm/holdfast/device"
	"github.com/holdfast-llm/holdfast/internal/mmap"
)

// planted is a fault to be raised in the run under way.
type planted struct {
	kind device.FaultKind
	step int // the launch that raises it
	read byte
}

// loadInjections keeps the injections whose registration is in the program.
func (e *executable) loadInjections(in []device.Injection) error {
	for _, x := range in {
		switch x.Kind {
		case device.FaultMemory, device.FaultNaN, device.FaultPanic:
		case device.FaultCanary:
			if e.prog.Arena.Guard == 0 {
				return errors.New("cpu: a canary cannot be broken without a guard")
			}
		default:
			return fmt.Errorf("cpu: injection of kind %q, want oob, nan, panic or canary", x.Kind)
		}
		if l := e.launchOf(x.Lane); l >= 0 {
			e.inject = append(e.inject, injection{x, l})
		}
	}
	if len(e.inject) > 0 {
		var err error
		e.nowhere, err = mmap.NoAccess()
		return err
	}
	return nil
}

// injection is one with the launch that it goes to.
type injection struct {
	device.Injection
	launch int
}

// launchOf is the first launch of a registration, or -1.
func (e *executable) launchOf(prefix string) int {
	for i, l := range e.prog.Launches {
		if strings.HasPrefix(e.prog.Decisions[l.Op].Chosen, prefix) {
			return i
		}
	}
	return -1
}

// armed is the fault planned for this run, or nil.
func (e *executable) armed() *planted {
	for i := range e.inject {
		if x := &e.inject[i]; x.Step == e.dev.runs {
			e.plant = planted{kind: x.Kind, step: x.launch}
			return &e.plant
		}
	}
	return nil
}

// raise is called by the worker that takes the first task of a launch.
func (e *executable) raise(launch int) {
	p := e.hooks.plant
	if p == nil || p.step != launch {
		return
	}
	switch p.kind {
	case device.FaultMemory:
		// A read of a page that nobody may read: the processor's own fault.
		e.plant.read = *unsafe.SliceData(e.nowhere.Bytes())
	case device.FaultPanic:
		panic("injected")
	}
}

// applyPlanted changes memory after the stage of the planted launch.
func (e *executable) applyPlanted(stage int) {
	p := e.hooks.plant
	if p == nil || e.hooks.stageOf[p.step] != stage {
		return
	}
	for _, b := range e.prog.Launches[p.step].Bindings {
		mem, ok := e.places[b.Value]
		if !ok || b.Access&device.Write == 0 || len(mem) < 4 {
			continue
		}
		switch p.kind {
		case device.FaultNaN:
			floats(mem)[0] = float32(math.NaN())
		case device.FaultCanary:
			for i := range e.prog.Places {
				if at := &e.prog.Places[i]; at.Value == b.Value {
					e.canaries(at)[1][0] ^= 0xff
				}
			}
		}
		return
	}
}
