package cpu

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"unsafe"

	"github.com/holdfast-llm/holdfast/device"
	"github.com/holdfast-llm/holdfast/gguf/quant"
	"github.com/holdfast-llm/holdfast/internal/memory"
	"github.com/holdfast-llm/holdfast/op"
)

// planted is a fault to be raised in the run under way.
type planted struct {
	kind  device.FaultKind
	step  int // the launch that raises it
	value *op.Value
	read  byte
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
		if y, ok := e.locate(x); ok {
			e.inject = append(e.inject, y)
		}
	}
	if len(e.inject) == 0 {
		return nil
	}
	var err error
	e.nowhere, err = memory.Alloc(memory.Params{Access: memory.None, Usage: "page that is not there"}, 1, 0)
	return err
}

// injection is one with the launch that it goes to and, for those that change
// memory, the value.
type injection struct {
	device.Injection
	launch int
	value  *op.Value
}

// locate finds the first launch of the injection's registration, for a NaN the
// first that writes floats. It is false if the program has none.
func (e *executable) locate(x device.Injection) (injection, bool) {
	for i, l := range e.prog.Launches {
		if !strings.HasPrefix(e.prog.Decisions[l.Op].Chosen, x.Lane) {
			continue
		}
		if x.Kind == device.FaultMemory || x.Kind == device.FaultPanic {
			return injection{x, i, nil}, true
		}
		for _, b := range l.Bindings {
			v := b.Value
			_, placed := e.places[v]
			isFloats := v.Type == quant.F32 && v.Cols > 0
			if placed && b.Access&device.Write != 0 && (isFloats || x.Kind == device.FaultCanary) {
				return injection{x, i, v}, true
			}
		}
	}
	return injection{}, false
}

// armed is the fault planned for this run, or nil.
func (e *executable) armed() *planted {
	for i := range e.inject {
		if x := &e.inject[i]; x.Step == e.dev.runs {
			e.plant = planted{kind: x.Kind, step: x.launch, value: x.value}
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
	switch p.kind {
	case device.FaultNaN:
		floats(e.places[p.value])[0] = float32(math.NaN())
	case device.FaultCanary:
		for i := range e.prog.Places {
			if at := &e.prog.Places[i]; at.Value == p.value {
				e.canaries(at)[1][0] ^= 0xff
			}
		}
	}
}
