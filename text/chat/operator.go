package chat

import (
	"errors"
	"fmt"
	"math"
	"math/big"

	"github.com/ardanlabs/jinja"
)

// What rewriting makes of operators: see rewrite.go.

// arithmetic is x * y, /, //, % and **, as Python has them: division rounds
// down, a string times a number repeats it, and a string % values formats them.
func (r *run) arithmetic(args []jinja.Value, _ map[string]jinja.Value) (jinja.Value, error) {
	if len(args) != 3 {
		return jinja.Undefined(), errors.New("an operand is not one value")
	}
	op, a, b := args[0].AsString(), args[1], args[2]
	if op == "*" && b.IsString() {
		a, b = b, a
	}
	switch {
	case op == "*" && a.IsString() && b.IsInt():
		return r.repeat(a.AsString(), b.AsInt())
	case op == "%" && a.IsString() && b.IsList():
		return r.printf(a.AsString(), b.AsList().Items)
	case op == "%" && a.IsString():
		return r.printf(a.AsString(), []jinja.Value{b})
	case !a.IsNumber() || !b.IsNumber():
		return jinja.Undefined(), fmt.Errorf("no %s of %s and %s", op, kindOf(a), kindOf(b))
	case op != "*" && op != "**" && number(b) == 0:
		return jinja.Undefined(), fmt.Errorf("%s by zero", op)
	case op == "/":
		return jinja.NewFloat(number(a) / number(b)), nil
	case a.IsInt() && b.IsInt() && (op != "**" || b.AsInt() >= 0):
		return intArithmetic(op, a.AsInt(), b.AsInt())
	}
	x, y := number(a), number(b)
	switch op {
	case "*":
		x *= y
	case "**":
		x = math.Pow(x, y)
	case "//":
		x = math.Floor(x / y)
	case "%":
		x -= y * math.Floor(x/y)
	}
	return jinja.NewFloat(x), nil
}

// intArithmetic refuses what does not fit in 64 bits; Python's integers have no
// end. y is not 0 for division and not negative for powers.
func intArithmetic(op string, x, y int64) (jinja.Value, error) {
	if op == "//" || op == "%" {
		if y == -1 { // the smallest integer has no negative
			return jinja.NewInt(map[string]int64{"//": -x, "%": 0}[op]), nil
		}
		q, m := x/y, x%y
		if m != 0 && (m < 0) != (y < 0) {
			q, m = q-1, m+y
		}
		if op == "%" {
			q = m
		}
		return jinja.NewInt(q), nil
	}
	exact := new(big.Int).Mul(big.NewInt(x), big.NewInt(y))
	if op == "**" {
		if x < -1 || x > 1 {
			y = min(y, 64) // enough to be out of range
		}
		exact = exact.Exp(big.NewInt(x), big.NewInt(y), nil)
	}
	if !exact.IsInt64() {
		return jinja.Undefined(), fmt.Errorf("%d %s %d is out of range", x, op, y)
	}
	return jinja.NewInt(exact.Int64()), nil
}

// num passes an operand of a subtraction, for which the library takes anything.
func num(args []jinja.Value, _ map[string]jinja.Value) (jinja.Value, error) {
	if len(args) != 1 || !args[0].IsNumber() {
		return jinja.Undefined(), fmt.Errorf("no - of %s", kindOf(args[0]))
	}
	return args[0], nil
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

// slice is x[from:to:step], with none for what is left out. The library's loops
// for as long as the bounds say, not as long as the list is.
func slice(args []jinja.Value, _ map[string]jinja.Value) (jinja.Value, error) {
	var items []jinja.Value
	var runes []rune
	switch v := args[0]; {
	case v.IsList():
		items = v.AsList().Items
	case v.IsString():
		runes = []rune(v.AsString())
	default:
		return jinja.Undefined(), fmt.Errorf("no slice of %s", kindOf(v))
	}
	n := int64(len(items) + len(runes)) // one of them is empty
	bounds := [3]jinja.Value{jinja.None(), jinja.None(), jinja.None()}
	if copy(bounds[:], args[1:]); len(args) > 4 {
		return jinja.Undefined(), errors.New("a slice has three parts at most")
	}
	for _, b := range bounds {
		if !b.IsInt() && !b.IsNone() {
			return jinja.Undefined(), fmt.Errorf("%s bounds a slice: want an integer", kindOf(b))
		}
	}
	step := int64(1)
	if bounds[2].IsInt() {
		step = bounds[2].AsInt()
	}
	if step == 0 {
		return jinja.Undefined(), errors.New("a slice with step 0")
	}
	low, high := int64(0), n // where a bound may lie
	if step < 0 {
		low, high = -1, n-1
	}
	bound := func(v jinja.Value, missing int64) int64 {
		if v.IsNone() {
			return missing
		}
		i := v.AsInt()
		if i < 0 {
			i += n
		}
		return max(low, min(i, high))
	}
	var from, to int64
	if step > 0 {
		from, to = bound(bounds[0], low), bound(bounds[1], high)
	} else {
		from, to = bound(bounds[0], high), bound(bounds[1], low)
	}
	step = max(-n-1, min(step, n+1)) // past either end all the same
	var outItems []jinja.Value
	var outRunes []rune
	for i := from; step > 0 && i < to || step < 0 && i > to; i += step {
		if items != nil {
			outItems = append(outItems, items[i])
		} else {
			outRunes = append(outRunes, runes[i])
		}
	}
	if args[0].IsString() {
		return jinja.NewString(string(outRunes)), nil
	}
	return jinja.NewList(outItems), nil
}

// is is x is test.
func is(args []jinja.Value, _ map[string]jinja.Value) (jinja.Value, error) {
	ok, err := tests[args[1].AsString()](args[0], args[2:])
	return jinja.NewBool(ok), err
}

// small passes an operand of +, ~, ==, != or in, which the library writes out or
// compares whatever its size.
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
