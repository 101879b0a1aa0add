package chat

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ardanlabs/jinja"
)

func filterList(c *call) (jinja.Value, error) {
	items, err := c.items()
	return jinja.NewList(slices.Clone(items)), err
}

func filterReverse(c *call) (jinja.Value, error) {
	items, err := c.items()
	if err != nil {
		return jinja.Undefined(), err
	}
	items = slices.Clone(items)
	slices.Reverse(items)
	if !c.in.IsString() {
		return jinja.NewList(items), nil
	}
	var b strings.Builder
	for _, r := range items {
		b.WriteString(r.AsString())
	}
	return jinja.NewString(b.String()), nil
}

func filterBatch(c *call) (jinja.Value, error) {
	items, err := c.items()
	n := c.arg(0)
	if err != nil || !n.IsInt() || n.AsInt() < 1 {
		return jinja.Undefined(), errors.Join(err, errors.New("takes a length of at least 1"))
	}
	var rows []jinja.Value
	for row := range slices.Chunk(items, int(min(n.AsInt(), int64(len(items)+1)))) {
		rows = append(rows, jinja.NewList(slices.Clone(row)))
	}
	return jinja.NewList(rows), nil
}

func filterJoin(c *call) (jinja.Value, error) {
	items, err := c.items()
	if err != nil {
		return jinja.Undefined(), err
	}
	sep, err := c.run.text(c.argOr(0, "d"))
	if err != nil {
		return jinja.Undefined(), err
	}
	attr := c.argOr(1, "attribute")
	var b strings.Builder
	for i, item := range items {
		if !attr.IsUndefined() {
			item = attribute(item, attr)
		}
		s, err := c.run.text(item)
		if err != nil {
			return jinja.Undefined(), err
		}
		if i > 0 {
			b.WriteString(sep)
		}
		if b.WriteString(s); b.Len() > c.run.bytesMax {
			break // str refuses it
		}
	}
	return c.run.str(b.String())
}

// attribute is item.name or item[index]; a name may be a path with dots.
func attribute(v, attr jinja.Value) jinja.Value {
	if attr.IsInt() {
		if i := attr.AsInt(); v.IsList() && i >= 0 && i < int64(v.AsList().Len()) {
			return v.AsList().Get(int(i))
		}
		return jinja.Undefined()
	}
	if !attr.IsString() {
		return jinja.Undefined()
	}
	for part := range strings.SplitSeq(attr.AsString(), ".") {
		if !v.IsDict() {
			return jinja.Undefined()
		}
		v = v.AsDict().Data[part]
	}
	return v
}

func filterItems(c *call) (jinja.Value, error) {
	if c.in.IsUndefined() {
		return jinja.NewList(nil), nil
	}
	if !c.in.IsDict() {
		return jinja.Undefined(), fmt.Errorf("takes a mapping, not %s", kindOf(c.in))
	}
	return jinja.NewList(pairs(c.in.AsDict(), c.in.AsDict().Keys)), nil
}

func pairs(d *jinja.Dict, keys []string) []jinja.Value {
	out := make([]jinja.Value, 0, len(keys))
	for _, k := range keys {
		out = append(out, jinja.NewList([]jinja.Value{jinja.NewString(k), d.Data[k]}))
	}
	return out
}

// order compares two values; what cannot be compared is an error. Case does not
// count unless asked for.
type order struct {
	caseSensitive bool
	err           error
}

func (o *order) key(v jinja.Value) jinja.Value {
	if v.IsString() && !o.caseSensitive {
		return jinja.NewString(strings.ToLower(v.AsString()))
	}
	return v
}

func (o *order) compare(a, b jinja.Value) int {
	n, err := compare(o.key(a), o.key(b))
	if err != nil && o.err == nil {
		o.err = err
	}
	return n
}

func compare(a, b jinja.Value) (int, error) {
	numeric := func(v jinja.Value) bool { return v.IsNumber() || v.IsBool() }
	switch {
	case a.IsString() && b.IsString():
		return strings.Compare(a.AsString(), b.AsString()), nil
	case numeric(a) && numeric(b):
		switch x, y := number(a), number(b); {
		case x < y:
			return -1, nil
		case x > y:
			return +1, nil
		}
		return 0, nil
	}
	return 0, fmt.Errorf("cannot compare %s with %s", kindOf(a), kindOf(b))
}

func filterSort(c *call) (jinja.Value, error) {
	items, err := c.items()
	if err != nil {
		return jinja.Undefined(), err
	}
	o := &order{caseSensitive: c.argOr(1, "case_sensitive").IsTruthy()}
	attr := c.argOr(2, "attribute")
	key := func(v jinja.Value) jinja.Value {
		if attr.IsUndefined() {
			return v
		}
		return attribute(v, attr)
	}
	return c.sorted(items, o, c.argOr(0, "reverse").IsTruthy(), key)
}

func (c *call) sorted(items []jinja.Value, o *order, reverse bool, key func(jinja.Value) jinja.Value) (jinja.Value, error) {
	items = slices.Clone(items)
	slices.SortStableFunc(items, func(a, b jinja.Value) int {
		if reverse {
			a, b = b, a
		}
		return o.compare(key(a), key(b))
	})
	return jinja.NewList(items), o.err
}

func filterDictSort(c *call) (jinja.Value, error) {
	if !c.in.IsDict() {
		return jinja.Undefined(), fmt.Errorf("takes a mapping, not %s", kindOf(c.in))
	}
	by := int64(0)
	if v := c.argOr(1, "by"); v.IsString() && v.AsString() == "value" {
		by = 1
	}
	o := &order{caseSensitive: c.argOr(0, "case_sensitive").IsTruthy()}
	key := func(v jinja.Value) jinja.Value { return attribute(v, jinja.NewInt(by)) }
	return c.sorted(pairs(c.in.AsDict(), c.in.AsDict().Keys), o, c.argOr(2, "reverse").IsTruthy(), key)
}

func filterUnique(c *call) (jinja.Value, error) {
	items, err := c.items()
	if err != nil {
		return jinja.Undefined(), err
	}
	o := &order{caseSensitive: c.argOr(0, "case_sensitive").IsTruthy()}
	seen, out := map[string]bool{}, []jinja.Value{}
	for _, item := range items {
		key := item
		if attr := c.argOr(1, "attribute"); !attr.IsUndefined() {
			key = attribute(item, attr)
		}
		var b strings.Builder
		writeRepr(&b, o.key(key))
		if !seen[b.String()] {
			seen[b.String()] = true
			out = append(out, item)
		}
	}
	return jinja.NewList(out), nil
}

// filterExtreme is min and max.
func filterExtreme(c *call) (jinja.Value, error) {
	items, err := c.items()
	if err != nil || len(items) == 0 {
		return jinja.Undefined(), err
	}
	o := &order{caseSensitive: c.argOr(0, "case_sensitive").IsTruthy()}
	best := items[0]
	for _, v := range items[1:] {
		if n := o.compare(v, best); n > 0 && c.name == "max" || n < 0 && c.name == "min" {
			best = v
		}
	}
	return best, o.err
}

func filterSum(c *call) (jinja.Value, error) {
	items, err := c.items()
	if err != nil {
		return jinja.Undefined(), err
	}
	ints, sum, whole := int64(0), 0.0, true
	for _, v := range items {
		if attr := c.argOr(0, "attribute"); !attr.IsUndefined() {
			v = attribute(v, attr)
		}
		if !v.IsNumber() {
			return jinja.Undefined(), fmt.Errorf("cannot add %s", kindOf(v))
		}
		if sum += number(v); v.IsInt() {
			ints += v.AsInt()
		} else {
			whole = false
		}
	}
	if whole {
		return jinja.NewInt(ints), nil
	}
	return jinja.NewFloat(sum), nil
}

// filterMap is map(attribute=...) or map('filter', its arguments).
func filterMap(c *call) (jinja.Value, error) {
	items, err := c.items()
	if err != nil {
		return jinja.Undefined(), err
	}
	out := make([]jinja.Value, len(items))
	if attr := c.opt("attribute"); !attr.IsUndefined() {
		for i, item := range items {
			if out[i] = attribute(item, attr); out[i].IsUndefined() {
				out[i] = c.opt("default")
			}
		}
		return jinja.NewList(out), nil
	}
	if !c.arg(0).IsString() {
		return jinja.Undefined(), errors.New("takes attribute= or the name of a filter")
	}
	f := c.run.filters[c.arg(0).AsString()]
	if f == nil {
		return jinja.Undefined(), fmt.Errorf("no filter %q", c.arg(0).AsString())
	}
	if err := c.run.step(len(items)); err != nil {
		return jinja.Undefined(), err
	}
	for i, item := range items {
		if out[i], err = f(&call{c.run, c.arg(0).AsString(), item, c.args[1:], c.opts}); err != nil {
			return jinja.Undefined(), err
		}
	}
	_, err = c.run.measure(jinja.NewList(out), 0)
	return jinja.NewList(out), err
}

// filterSelect is select, reject, selectattr and rejectattr.
func filterSelect(c *call) (jinja.Value, error) {
	items, err := c.items()
	if err != nil {
		return jinja.Undefined(), err
	}
	args, attr := c.args, jinja.Undefined()
	if strings.HasSuffix(c.name, "attr") {
		if len(args) == 0 {
			return jinja.Undefined(), errors.New("takes the name of an attribute")
		}
		attr, args = args[0], args[1:]
	}
	test := func(v jinja.Value, _ []jinja.Value) (bool, error) { return v.IsTruthy(), nil }
	if len(args) > 0 {
		if !args[0].IsString() || tests[args[0].AsString()] == nil {
			return jinja.Undefined(), errors.New("takes the name of a test")
		}
		test, args = tests[args[0].AsString()], args[1:]
	}
	want, out := strings.HasPrefix(c.name, "select"), []jinja.Value{}
	for _, item := range items {
		v := item
		if !attr.IsUndefined() {
			v = attribute(item, attr)
		}
		ok, err := test(v, args)
		if err != nil {
			return jinja.Undefined(), err
		}
		if ok == want {
			out = append(out, item)
		}
	}
	return jinja.NewList(out), nil
}
