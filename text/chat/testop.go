package chat

import (
	"errors"
	"strings"

	"github.com/ardanlabs/jinja"
)

type test = func(v jinja.Value, args []jinja.Value) (bool, error)

// tests are the names that may follow "is", and that select and its kin take.
// An undefined value is iterable in Jinja, and a sequence: it runs over nothing.
var tests = map[string]test{
	"boolean":     kind(jinja.Value.IsBool),
	"callable":    kind(jinja.Value.IsCallable),
	"defined":     kind(func(v jinja.Value) bool { return !v.IsUndefined() }),
	"eq":          comparing(func(a, b jinja.Value) (bool, error) { return equal(a, b), nil }),
	"equalto":     comparing(func(a, b jinja.Value) (bool, error) { return equal(a, b), nil }),
	"even":        kind(func(v jinja.Value) bool { return v.IsInt() && v.AsInt()%2 == 0 }),
	"false":       kind(func(v jinja.Value) bool { return v.IsBool() && !v.AsBool() }),
	"float":       kind(jinja.Value.IsFloat),
	"ge":          ordered(func(n int) bool { return n >= 0 }),
	"greaterthan": ordered(func(n int) bool { return n > 0 }),
	"gt":          ordered(func(n int) bool { return n > 0 }),
	"in":          comparing(contains),
	"integer":     kind(jinja.Value.IsInt),
	"iterable":    kind(func(v jinja.Value) bool { return v.IsList() || v.IsDict() || v.IsString() || v.IsUndefined() }),
	"le":          ordered(func(n int) bool { return n <= 0 }),
	"lessthan":    ordered(func(n int) bool { return n < 0 }),
	"lower":       kind(func(v jinja.Value) bool { return v.IsString() && v.AsString() == strings.ToLower(v.AsString()) }),
	"lt":          ordered(func(n int) bool { return n < 0 }),
	"mapping":     kind(jinja.Value.IsDict),
	"ne":          comparing(func(a, b jinja.Value) (bool, error) { return !equal(a, b), nil }),
	"none":        kind(jinja.Value.IsNone),
	"number":      kind(jinja.Value.IsNumber),
	"odd":         kind(func(v jinja.Value) bool { return v.IsInt() && v.AsInt()%2 != 0 }),
	"sameas":      comparing(func(a, b jinja.Value) (bool, error) { return a.Equals(b), nil }),
	"sequence":    kind(func(v jinja.Value) bool { return v.IsList() || v.IsDict() || v.IsString() || v.IsUndefined() }),
	"string":      kind(jinja.Value.IsString),
	"true":        kind(func(v jinja.Value) bool { return v.IsBool() && v.AsBool() }),
	"undefined":   kind(jinja.Value.IsUndefined),
	"upper":       kind(func(v jinja.Value) bool { return v.IsString() && v.AsString() == strings.ToUpper(v.AsString()) }),
}

func kind(f func(jinja.Value) bool) test {
	return func(v jinja.Value, _ []jinja.Value) (bool, error) { return f(v), nil }
}

func comparing(f func(a, b jinja.Value) (bool, error)) test {
	return func(v jinja.Value, args []jinja.Value) (bool, error) {
		if len(args) != 1 {
			return false, errors.New("the test takes one argument")
		}
		return f(v, args[0])
	}
}

func ordered(f func(int) bool) test {
	return comparing(func(a, b jinja.Value) (bool, error) {
		n, err := compare(a, b)
		return f(n), err
	})
}

func equal(a, b jinja.Value) bool {
	if n, err := compare(a, b); err == nil {
		return n == 0
	}
	return a.Equals(b)
}

func contains(v, in jinja.Value) (bool, error) {
	switch {
	case in.IsString() && v.IsString():
		return strings.Contains(in.AsString(), v.AsString()), nil
	case in.IsDict():
		return v.IsString() && in.AsDict().Has(v.AsString()), nil
	case in.IsList():
		for _, item := range in.AsList().Items {
			if equal(v, item) {
				return true, nil
			}
		}
		return false, nil
	}
	return false, errors.New("the test takes a list, a mapping or a string")
}
