package chat

import (
	"errors"
	"fmt"

	"github.com/ardanlabs/jinja"
)

// What rewriting makes of operators: see rewrite.go.

// mul is multiplication, where a string times a number repeats it.
func (r *run) mul(args []jinja.Value, _ map[string]jinja.Value) (jinja.Value, error) {
	if len(args) != 2 {
		return jinja.Undefined(), errors.New("* takes two operands")
	}
	a, b := args[0], args[1]
	if b.IsString() || b.IsList() {
		a, b = b, a
	}
	switch {
	case a.IsString() && b.IsInt():
		return r.repeat(a.AsString(), b.AsInt())
	case a.IsInt() && b.IsInt():
		return jinja.NewInt(a.AsInt() * b.AsInt()), nil
	case a.IsNumber() && b.IsNumber():
		return jinja.NewFloat(number(a) * number(b)), nil
	}
	return jinja.Undefined(), fmt.Errorf("cannot multiply %s by %s", kindOf(a), kindOf(b))
}

// attr is x.name.
func attr(args []jinja.Value, _ map[string]jinja.Value) (jinja.Value, error) {
	switch v, name := args[0], args[1].AsString(); {
	case v.IsUndefined():
		return v, fmt.Errorf("an undefined value has no .%s", name)
	case v.IsDict():
		return v.AsDict().Data[name], nil // undefined if there is none
	}
	return jinja.Undefined(), nil
}

// item is x[key].
func item(args []jinja.Value, _ map[string]jinja.Value) (jinja.Value, error) {
	if len(args) != 2 {
		return jinja.Undefined(), errors.New("a subscript takes one value")
	}
	v, key := args[0], args[1]
	at := func(n int) (int, bool) {
		i := key.AsInt()
		if i < 0 {
			i += int64(n)
		}
		return int(i), i >= 0 && i < int64(n)
	}
	switch {
	case v.IsUndefined():
		return v, errors.New("an undefined value has no items")
	case v.IsDict() && key.IsString():
		return v.AsDict().Data[key.AsString()], nil
	case v.IsList() && key.IsInt():
		if i, ok := at(v.AsList().Len()); ok {
			return v.AsList().Get(i), nil
		}
	case v.IsString() && key.IsInt():
		runes := []rune(v.AsString())
		if i, ok := at(len(runes)); ok {
			return jinja.NewString(string(runes[i])), nil
		}
	}
	return jinja.Undefined(), nil
}

// is is x is test.
func is(args []jinja.Value, _ map[string]jinja.Value) (jinja.Value, error) {
	ok, err := tests[args[1].AsString()](args[0], args[2:])
	return jinja.NewBool(ok), err
}

// small passes an operand of + or ~, which the library writes out whatever its
// size.
func (r *run) small(args []jinja.Value, _ map[string]jinja.Value) (jinja.Value, error) {
	if len(args) != 1 {
		return jinja.Undefined(), errors.New("an operand is not one value")
	}
	_, err := r.measure(args[0], 0)
	return args[0], err
}

// callable passes what is called; the library would write anything else into
// its error, whatever its size.
func callable(args []jinja.Value, _ map[string]jinja.Value) (jinja.Value, error) {
	if len(args) != 1 || !args[0].IsCallable() {
		return jinja.Undefined(), fmt.Errorf("cannot call %s", kindOf(args[0]))
	}
	return args[0], nil
}
