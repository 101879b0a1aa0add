package chat

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ardanlabs/jinja"
)

// methods are those that the library lacks, gets wrong, or does not bound. The
// others (get, keys, values, strip, startswith, upper, ...) are its own.
var methods = map[string]filter{
	"append":     methodAppend,
	"capitalize": methodText(capitalize),
	"extend":     methodExtend,
	"format":     methodFormat,
	"index":      methodIndex,
	"insert":     methodInsert,
	"items":      methodItems,
	"join":       methodJoin,
	"replace":    methodReplace,
	"rsplit":     methodSplit,
	"split":      methodSplit,
	"title":      methodText(title),
	"update":     methodUpdate,
}

func (c *call) needs(ok bool, want string) error {
	if ok {
		return nil
	}
	return fmt.Errorf("%s has no such method: want %s", kindOf(c.in), want)
}

func methodText(f func(string) string) filter {
	return func(c *call) (jinja.Value, error) {
		if err := c.needs(c.in.IsString(), "a string"); err != nil {
			return jinja.Undefined(), err
		}
		return c.run.str(f(c.in.AsString()))
	}
}

// methodItems differs from the filter: it is not for undefined values. The
// library would take a key named "items" for it, which JSON schemas have.
func methodItems(c *call) (jinja.Value, error) {
	if err := c.needs(c.in.IsDict(), "a mapping"); err != nil {
		return jinja.Undefined(), err
	}
	return filterItems(c)
}

func methodReplace(c *call) (jinja.Value, error) {
	if err := c.needs(c.in.IsString(), "a string"); err != nil {
		return jinja.Undefined(), err
	}
	return filterReplace(c)
}

func methodJoin(c *call) (jinja.Value, error) {
	if err := c.needs(c.in.IsString(), "a string"); err != nil {
		return jinja.Undefined(), err
	}
	return filterJoin(&call{c.run, c.name, c.arg(0), []jinja.Value{c.in}, nil})
}

// methodSplit is split and rsplit, with a separator or at whitespace, and with
// at most maxsplit cuts.
func methodSplit(c *call) (jinja.Value, error) {
	if err := c.needs(c.in.IsString(), "a string"); err != nil {
		return jinja.Undefined(), err
	}
	s, sep, limit := c.in.AsString(), c.argOr(0, "sep"), -1
	if v := c.argOr(1, "maxsplit"); v.IsInt() && v.AsInt() >= 0 {
		limit = int(min(v.AsInt(), math.MaxInt32))
	}
	var parts []string
	switch {
	case sep.IsNone() || sep.IsUndefined():
		parts = strings.Fields(s)
		if limit >= 0 && len(parts) > limit {
			return jinja.Undefined(), errors.New("maxsplit without a separator is not supported")
		}
	case !sep.IsString() || sep.AsString() == "":
		return jinja.Undefined(), errors.New("the separator is not a string or empty")
	case limit < 0 || c.name == "split":
		if limit >= 0 {
			limit++
		}
		parts = strings.SplitN(s, sep.AsString(), limit)
	default:
		for ; limit > 0; limit-- {
			i := strings.LastIndex(s, sep.AsString())
			if i < 0 {
				break
			}
			parts, s = append(parts, s[i+len(sep.AsString()):]), s[:i]
		}
		parts = append(parts, s)
		slices.Reverse(parts)
	}
	if err := c.run.step(len(parts)); err != nil {
		return jinja.Undefined(), err
	}
	out := make([]jinja.Value, len(parts))
	for i, p := range parts {
		out[i] = jinja.NewString(p)
	}
	return jinja.NewList(out), nil
}

// methodFormat knows {}, {0} and {name}, not format specifications.
func methodFormat(c *call) (jinja.Value, error) {
	if err := c.needs(c.in.IsString(), "a string"); err != nil {
		return jinja.Undefined(), err
	}
	var b strings.Builder
	rest, next := c.in.AsString(), 0
	for rest != "" && b.Len() <= c.run.bytesMax {
		i := strings.IndexAny(rest, "{}")
		if i < 0 {
			break
		}
		b.WriteString(rest[:i])
		if strings.HasPrefix(rest[i:], "{{") || strings.HasPrefix(rest[i:], "}}") {
			b.WriteByte(rest[i])
			rest = rest[i+2:]
			continue
		}
		end := strings.IndexByte(rest[i:], '}')
		if rest[i] == '}' || end < 0 {
			return jinja.Undefined(), fmt.Errorf("a single %q", rest[i])
		}
		field := rest[i+1 : i+end]
		v := c.opt(field)
		if index, ok := fieldIndex(field, &next); ok {
			v = c.arg(index)
		}
		if v.IsUndefined() {
			return jinja.Undefined(), fmt.Errorf("nothing for {%s}", field)
		}
		s, err := c.run.text(v)
		if err != nil {
			return jinja.Undefined(), err
		}
		b.WriteString(s)
		rest = rest[i+end+1:]
	}
	if b.Len() > c.run.bytesMax {
		return jinja.Undefined(), &LimitError{"bytes in a value", c.run.bytesMax}
	}
	return c.run.str(b.String() + rest)
}

// fieldIndex reads {} and {12}; next counts the empty ones.
func fieldIndex(field string, next *int) (int, bool) {
	if field == "" {
		*next++
		return *next - 1, true
	}
	n := 0
	for _, r := range field {
		if r < '0' || r > '9' || n > 1000 {
			return 0, false
		}
		n = 10*n + int(r-'0')
	}
	return n, true
}

func methodIndex(c *call) (jinja.Value, error) {
	i := -1
	switch v := c.in; {
	case v.IsString() && c.arg(0).IsString():
		if i = strings.Index(v.AsString(), c.arg(0).AsString()); i > 0 {
			i = utf8.RuneCountInString(v.AsString()[:i])
		}
	case v.IsList():
		i = slices.IndexFunc(v.AsList().Items, func(item jinja.Value) bool { return equal(item, c.arg(0)) })
	}
	if i < 0 {
		return jinja.Undefined(), fmt.Errorf("not found in %s", kindOf(c.in))
	}
	return jinja.NewInt(int64(i)), nil
}

func (c *call) list() (*jinja.List, error) {
	if err := c.needs(c.in.IsList(), "a list"); err != nil {
		return nil, err
	}
	return c.in.AsList(), nil
}

func methodAppend(c *call) (jinja.Value, error) {
	l, err := c.list()
	if err == nil {
		err = c.run.grow(c.arg(0), c.in)
	}
	if err != nil {
		return jinja.Undefined(), err
	}
	l.Append(c.arg(0))
	return jinja.None(), nil
}

func methodExtend(c *call) (jinja.Value, error) {
	l, err := c.list()
	if err == nil && !c.arg(0).IsList() {
		err = fmt.Errorf("takes a list, not %s", kindOf(c.arg(0)))
	}
	if err == nil {
		err = c.run.grow(c.arg(0), c.in)
	}
	if err != nil {
		return jinja.Undefined(), err
	}
	l.Items = append(l.Items, c.arg(0).AsList().Items...)
	return jinja.None(), nil
}

func methodInsert(c *call) (jinja.Value, error) {
	l, err := c.list()
	if err == nil && !c.arg(0).IsInt() {
		err = errors.New("takes an index and a value")
	}
	if err == nil {
		err = c.run.grow(c.arg(1), c.in)
	}
	if err != nil {
		return jinja.Undefined(), err
	}
	i := c.arg(0).AsInt()
	if i < 0 {
		i += int64(l.Len())
	}
	l.Items = slices.Insert(l.Items, int(max(0, min(i, int64(l.Len())))), c.arg(1))
	return jinja.None(), nil
}

func methodUpdate(c *call) (jinja.Value, error) {
	err := c.needs(c.in.IsDict(), "a mapping")
	if err == nil && (len(c.args) != 1 || !c.arg(0).IsDict() || len(c.opts) > 0) {
		err = errors.New("takes one mapping")
	}
	if err == nil {
		err = c.run.grow(c.arg(0), c.in)
	}
	if err != nil {
		return jinja.Undefined(), err
	}
	for _, k := range c.arg(0).AsDict().Keys {
		c.in.AsDict().Set(k, c.arg(0).AsDict().Data[k])
	}
	return jinja.None(), nil
}
