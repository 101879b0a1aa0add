package stage

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/holdfast-llm/holdfast/device"
	"github.com/holdfast-llm/holdfast/gguf/quant"
	"github.com/holdfast-llm/holdfast/op"
)

// Planted is a fault to be raised in the run under way. Those of the kinds oob
// and panic are the device's to raise, in Launch; the others are Hooks'.
type Planted struct {
	Kind   device.FaultKind
	Launch int // index in Program.Launches
	value  *op.Value
}

// injection is one with where it goes.
type injection struct {
	step int
	Planted
}

// inject keeps the injections whose registration is in the program.
func (h *Hooks) inject(in []device.Injection) error {
	for _, x := range in {
		switch x.Kind {
		case device.FaultMemory, device.FaultNaN, device.FaultPanic:
		case device.FaultCanary:
			if h.guard == 0 {
				return errors.New("a canary cannot be broken without a guard")
			}
		default:
			return fmt.Errorf("injection of kind %q, want oob, nan, panic or canary", x.Kind)
		}
		if p, ok := h.locate(x); ok {
			h.injections = append(h.injections, injection{x.Step, p})
		}
	}
	return nil
}

// Injects says whether any run of the program has a fault planted.
func (h *Hooks) Injects() bool { return h.injections != nil }

// locate finds the first launch of the injection's registration, for a NaN the
// first that writes floats. It is false if the program has none.
func (h *Hooks) locate(x device.Injection) (Planted, bool) {
	for i, l := range h.prog.Launches {
		if !strings.HasPrefix(h.prog.Decisions[l.Op].Chosen, x.Lane) {
			continue
		}
		if x.Kind == device.FaultMemory || x.Kind == device.FaultPanic {
			return Planted{x.Kind, i, nil}, true
		}
		for _, b := range l.Bindings {
			v := b.Value
			_, placed := h.places[v]
			isFloats := v.Type == quant.F32 && v.Cols > 0
			if placed && b.Access&device.Write != 0 && (isFloats || x.Kind == device.FaultCanary) {
				return Planted{x.Kind, i, v}, true
			}
		}
	}
	return Planted{}, false
}

// armed is the fault planned for a run, or nil.
func (h *Hooks) armed(run int) *Planted {
	for i := range h.injections {
		if x := &h.injections[i]; x.step == run {
			return &x.Planted
		}
	}
	return nil
}

// Raise is the kind of fault that the device is to raise in a launch of the run
// under way; false if it is to raise none.
func (h *Hooks) Raise(launch int) (device.FaultKind, bool) {
	p := h.planted
	if p == nil || p.Launch != launch || p.value != nil {
		return "", false
	}
	return p.Kind, true
}

// plant changes memory after the stage of the planted launch.
func (h *Hooks) plant(stage int) {
	p := h.planted
	if p == nil || p.value == nil || h.stageOf[p.Launch] != stage {
		return
	}
	switch p.Kind {
	case device.FaultNaN:
		mem, _ := h.Bytes(p.value)
		binary.NativeEndian.PutUint32(mem, math.Float32bits(float32(math.NaN())))
	case device.FaultCanary:
		h.canaries(h.places[p.value])[1][0] ^= 0xff
	}
}
