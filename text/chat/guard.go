package chat

import (
	"errors"
	"fmt"
	"time"

	"github.com/ardanlabs/jinja"
)

// A chat template is a program out of a file from a stranger. These bounds stop
// one that would run, print or grow for ever; real ones stay far below.
const (
	stepsMax = 4 << 20          // guarded expressions and loop rounds
	depthMax = 100              // macros inside macros
	timeMax  = 10 * time.Second // the whole rendering
	valueMin = 1 << 20          // bytes of one value, and of the output, plus
	valuePer = 16               // ... so many times the conversation's bytes
)

// LimitError is a template that was stopped.
type LimitError struct {
	What string // "steps", "seconds", "bytes of output", ...
	Max  int
}

func (e *LimitError) Error() string { return fmt.Sprintf("more than %d %s", e.Max, e.What) }

// RaiseError is a call of raise_exception: the template refuses the
// conversation, and says why.
type RaiseError struct{ Message string }

func (e *RaiseError) Error() string { return "the template says: " + e.Message }

// run is the state of one rendering.
type run struct {
	bytesMax int // of one value, and of all output
	deadline time.Time
	now      time.Time
	filters  map[string]filter // for map, which looks one up

	line  int // of the last tag entered
	steps int
	out   int // bytes printed, inside macros too
	depth int // of macros
	grown int // bytes put into lists and mappings
}

type function = func(args []jinja.Value, kwargs map[string]jinja.Value) (jinja.Value, error)

// functions returns everything that a template can call by name, ours and those
// that rewriting added.
func (r *run) functions() map[string]jinja.Value {
	fns := map[string]function{
		"range":           r.rangeFn,
		"raise_exception": raise,
		"strftime_now":    r.strftimeNow,
		reserved + "at":   r.at,
		reserved + "out":  r.print,
		reserved + "set":  r.assign,
		reserved + "own":  r.own,
		reserved + "each": r.each,
		reserved + "enter": func(args []jinja.Value, _ map[string]jinja.Value) (jinja.Value, error) {
			return r.enter(args)
		},
		reserved + "leave": func([]jinja.Value, map[string]jinja.Value) (jinja.Value, error) {
			r.depth--
			return jinja.NewString(""), nil
		},
		reserved + "fn":    callable,
		reserved + "small": r.small,
		reserved + "op":    r.arithmetic,
		reserved + "num":   num,
		reserved + "attr":  attr,
		reserved + "item":  item,
		reserved + "slice": slice,
		reserved + "is":    is,
	}
	for name, f := range r.filters {
		fns[reserved+"filter_"+name] = r.bind(name, f)
	}
	for name, f := range methods {
		fns[reserved+"method_"+name] = r.bind(name, f)
	}
	vals := make(map[string]jinja.Value, len(fns))
	for name, f := range fns {
		vals[name] = jinja.NewCallable(name, f)
	}
	return vals
}

// step counts n steps, and looks at the clock.
func (r *run) step(n int) error {
	if r.steps += n; r.steps > stepsMax || n > stepsMax {
		return &LimitError{"steps", stepsMax}
	}
	if time.Now().After(r.deadline) {
		return &LimitError{"seconds", int(timeMax / time.Second)}
	}
	return nil
}

// at notes the line of the tag that is entered. It is true.
func (r *run) at(args []jinja.Value, _ map[string]jinja.Value) (jinja.Value, error) {
	r.line = int(args[0].AsInt())
	return jinja.NewBool(true), r.step(1)
}

// print turns a value into output, within the limit.
func (r *run) print(args []jinja.Value, _ map[string]jinja.Value) (jinja.Value, error) {
	s, err := r.text(args[1])
	if err != nil {
		return jinja.Undefined(), err
	}
	if r.out += len(s); r.out > r.bytesMax {
		return jinja.Undefined(), &LimitError{"bytes of output", r.bytesMax}
	}
	return jinja.NewString(s), nil
}

// assign lets a value into a variable if it is small enough.
func (r *run) assign(args []jinja.Value, _ map[string]jinja.Value) (jinja.Value, error) {
	_, err := r.measure(args[1], 0)
	return args[1], err
}

// own lets a value into a namespace, which must not hold itself.
func (r *run) own(args []jinja.Value, _ map[string]jinja.Value) (jinja.Value, error) {
	if _, err := r.measure(args[1], 0); err != nil {
		return jinja.Undefined(), err
	}
	if holds(args[1], args[2]) {
		return jinja.Undefined(), errSelf
	}
	return args[1], nil
}

// grow lets a value into a list or mapping, which must not hold itself. All
// that a rendering puts into them counts together, as it can all end up in one.
func (r *run) grow(v, into jinja.Value) error {
	n, err := r.measure(v, 0)
	if err != nil {
		return err
	}
	if r.grown += n; r.grown > r.bytesMax {
		return &LimitError{"bytes put into lists", r.bytesMax}
	}
	if holds(v, into) {
		return errSelf
	}
	return nil
}

var errSelf = errors.New("a value cannot be put into itself")

// each checks what a loop runs over and counts its rounds.
func (r *run) each(args []jinja.Value, _ map[string]jinja.Value) (jinja.Value, error) {
	switch v := args[1]; {
	case v.IsUndefined():
		return jinja.NewList(nil), nil
	case v.IsList():
		// A copy, as the body may append to it.
		return jinja.NewList(append([]jinja.Value(nil), v.AsList().Items...)), r.step(v.AsList().Len())
	case v.IsDict():
		return v, r.step(v.AsDict().Len())
	case v.IsString():
		return v, r.step(len(v.AsString()))
	default:
		return v, fmt.Errorf("cannot loop over %s", kindOf(v))
	}
}

func (r *run) enter(args []jinja.Value) (jinja.Value, error) {
	if r.depth++; r.depth > depthMax {
		return jinja.Undefined(), &LimitError{"macros inside each other", depthMax}
	}
	_, err := r.measure(args[1], 0)
	return jinja.NewString(""), err
}

func (r *run) rangeFn(args []jinja.Value, _ map[string]jinja.Value) (jinja.Value, error) {
	bounds := []int64{0, 0, 1}
	for i, a := range args {
		if !a.IsInt() || len(args) > 3 {
			return jinja.Undefined(), errors.New("range takes one to three integers")
		}
		bounds[i] = a.AsInt()
	}
	start, stop, step := bounds[0], bounds[1], bounds[2]
	switch len(args) {
	case 0:
		return jinja.Undefined(), errors.New("range takes one to three integers")
	case 1:
		start, stop = 0, start
	}
	if step == 0 {
		return jinja.Undefined(), errors.New("range with step 0")
	}
	var items []jinja.Value
	for i := start; step > 0 && i < stop || step < 0 && i > stop; {
		if len(items) == rangeMax {
			return jinja.Undefined(), &LimitError{"numbers in a range", rangeMax}
		}
		items = append(items, jinja.NewInt(i))
		if next := i + step; next > i == (step > 0) {
			i = next
		} else {
			break // past the last int64
		}
	}
	return jinja.NewList(items), r.step(len(items))
}

// rangeMax is the sandbox limit of Python's Jinja.
const rangeMax = 100_000

func raise(args []jinja.Value, _ map[string]jinja.Value) (jinja.Value, error) {
	if len(args) != 1 || !args[0].IsString() {
		return jinja.Undefined(), errors.New("raise_exception takes one string")
	}
	return jinja.Undefined(), &RaiseError{args[0].AsString()}
}

func (r *run) strftimeNow(args []jinja.Value, _ map[string]jinja.Value) (jinja.Value, error) {
	if len(args) != 1 || !args[0].IsString() {
		return jinja.Undefined(), errors.New("strftime_now takes one string")
	}
	s, err := strftime(r.now, args[0].AsString())
	return jinja.NewString(s), err
}
