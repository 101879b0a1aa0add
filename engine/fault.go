package engine

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/holdfast-llm/holdfast/device"
	"github.com/holdfast-llm/holdfast/dispatch"
	"github.com/holdfast-llm/holdfast/gguf/quant"
	"github.com/holdfast-llm/holdfast/op"
)

// FaultRecord is a fault of a running kernel that a step survived, or did not.
type FaultRecord struct {
	Step int    // counted from 0
	Lane string // the registration that is blamed; empty if none could be
	Op   string
	Kind device.FaultKind
	Keys int    // of the step's class: the depth that it was compiled for
	Text string // what the device said
	Then string // what was done: "quarantined", "run again", "given up"
}

// FaultError says that a step could not be run on any registration.
type FaultError struct {
	Tried []string // registrations that faulted, in order
	First error    // the first fault
}

func (e *FaultError) Error() string {
	return fmt.Sprintf("engine: no registration ran the step without a fault (tried %s): %v", strings.Join(e.Tried, ", "), e.First)
}

func (e *FaultError) Unwrap() error { return e.First }

// rescue is one step's way through faults.
type rescue struct {
	tried  []string
	first  error
	again  map[string]bool // registrations that had a second chance
	adding []string        // quarantined in this step
}

// runBatch runs the engine's batch on the program of a class. A registration
// that faults is quarantined for the class and the batch runs again on the
// next one; the last of its kind gets a second chance. Transients are garbage
// after a fault, but a step changes nothing else than the cache rows it
// writes again.
func (e *Engine) runBatch(c class) (*program, error) {
	p, err := e.program(c)
	if err != nil {
		return nil, err
	}
	if err = p.exec.Run(&e.batch); err == nil {
		return p, nil
	}
	var r rescue
	for {
		var f *device.Fault
		if !errors.As(err, &f) || e.cfg.Strict {
			return nil, err
		}
		if f.Kind == device.FaultNaN {
			// A NaN spreads: who shows it need not be who made it.
			var well *program
			if well, f, err = e.diagnose(c, f); err != nil {
				return nil, err
			}
			if well != nil {
				return well, e.blame(p, f)
			}
		}
		if p, err = e.quarantine(p, f, &r); err != nil {
			return nil, err
		}
		if err = p.exec.Run(&e.batch); err == nil {
			return p, nil
		}
	}
}

// blame puts the registration of a NaN that did not come again away for later
// steps, if it is known and there is another. This step has its answer.
func (e *Engine) blame(p *program, f *device.Fault) error {
	rec := FaultRecord{Step: e.steps, Op: f.Launch, Kind: f.Kind, Keys: p.class.keys, Text: f.Error(), Then: "run again"}
	if f.Op >= 0 {
		d := p.Decisions[f.Op]
		rec.Lane, rec.Op = d.Chosen, d.Op
		_, ok, err := e.replace(p, d.Chosen, f)
		if err != nil {
			return err
		}
		if ok {
			rec.Then = "quarantined"
		}
	}
	e.note(rec)
	return nil
}

// keptFaults is how many faults an engine describes: one that faults for ever
// does not grow for ever.
const keptFaults = 1000

// note records a fault, the latest ones in full.
func (e *Engine) note(rec FaultRecord) {
	e.faulted++
	if len(e.faults) == keptFaults {
		e.faults = append(e.faults[:0], e.faults[1:]...)
	}
	e.faults = append(e.faults, rec)
}

// replace puts a registration in quarantine and a program without it in the
// place of p. It is false if there is no other registration: nothing changes.
func (e *Engine) replace(p *program, lane string, f *device.Fault) (*program, bool, error) {
	if e.quarantined[p.class] == nil {
		e.quarantined[p.class] = map[string]string{}
	}
	e.quarantined[p.class][lane] = fmt.Sprintf("%s fault in step %d", f.Kind, e.steps)
	q, err := e.compile(p.class, e.cfg.Serial, e.watch())
	var none *dispatch.UnsupportedError
	if errors.As(err, &none) {
		e.release(p.class, []string{lane})
		return p, false, nil
	}
	if err == nil {
		err = e.retire(p)
	}
	if err != nil {
		return nil, false, err
	}
	e.programs[q.class] = q
	return q, true, nil
}

// quarantine puts the registration of a fault away for its class and returns
// the program without it.
func (e *Engine) quarantine(p *program, f *device.Fault, r *rescue) (*program, error) {
	d := p.Decisions[f.Op]
	rec := FaultRecord{Step: e.steps, Lane: d.Chosen, Op: d.Op, Kind: f.Kind, Keys: p.class.keys, Text: f.Error()}
	if r.first == nil {
		r.first = f
	}
	r.tried = append(r.tried, d.Chosen)
	if r.again[d.Chosen] {
		rec.Then = "given up"
		e.note(rec)
		e.release(p.class, r.adding) // the fault is not theirs: all of them have it
		if err := e.retire(p); err != nil {
			return nil, err
		}
		return nil, &FaultError{Tried: r.tried, First: r.first}
	}
	q, ok, err := e.replace(p, d.Chosen, f)
	if err != nil {
		return nil, err
	}
	rec.Then = "quarantined"
	if ok {
		r.adding = append(r.adding, d.Chosen)
	} else {
		// There is no other: once more.
		if r.again == nil {
			r.again = map[string]bool{}
		}
		r.again[d.Chosen] = true
		rec.Then = "run again"
	}
	e.note(rec)
	return q, nil
}

// release takes registrations out of quarantine.
func (e *Engine) release(c class, names []string) {
	for _, n := range names {
		delete(e.quarantined[c], n)
	}
}

// diagnose looks for the command behind a NaN: it runs the batch again one
// command at a time, until one writes a NaN. If that run is well it gives its
// program, whose answer stands, and the fault as it was. Otherwise it gives the
// fault of that run, with its operation.
func (e *Engine) diagnose(c class, f *device.Fault) (well *program, g *device.Fault, err error) {
	first := -1
	what := ""
	p, err := e.compile(c, true, func(p *program, w *device.Watched) {
		for _, m := range w.Written {
			if i := nonFinite(m); i >= 0 && first < 0 {
				first = w.Launch
				what = fmt.Sprintf("%s, element %d", m.Value.Name, i)
			}
		}
	})
	if err != nil {
		return nil, nil, err
	}
	err = p.exec.Run(&e.batch)
	switch {
	case err == nil && first < 0:
		e.retiring = append(e.retiring, p) // once its output has been read
		return p, f, nil
	case first >= 0:
		l := p.Launches[first]
		g = &device.Fault{Device: f.Device, Kind: device.FaultNaN, Launch: l.Kernel, Op: l.Op, Err: fmt.Errorf("NaN or infinity in %s; %w", what, f.Err)}
	case errors.As(err, &g) && g.Op >= 0:
	default:
		return nil, nil, errors.Join(err, p.exec.Close())
	}
	return nil, g, p.exec.Close()
}

// nonFinite is the first element that is no number of a value of floats by
// rows; -1 if there is none, or if the value is something else.
func nonFinite(m device.Memory) int {
	if m.Value.Type != quant.F32 || m.Value.Cols == 0 || m.Value.Per == op.Once {
		return -1
	}
	for i, x := range float32s(m.Data) {
		if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
			return i
		}
	}
	return -1
}
