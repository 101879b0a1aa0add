package chat

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/ardanlabs/jinja"
)

// jsonDepthMax bounds the nesting of tools and arguments.
const jsonDepthMax = 100

// fromJSON reads one JSON value. Objects keep the order of their keys, as a
// template prints them in that order.
func fromJSON(data []byte) (jinja.Value, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	v, err := decode(dec, 0)
	if err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return v, fmt.Errorf("json at byte %d: %w", dec.InputOffset(), err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return v, fmt.Errorf("json at byte %d: more after the value", dec.InputOffset())
	}
	return v, nil
}

func decode(dec *json.Decoder, depth int) (jinja.Value, error) {
	if depth > jsonDepthMax {
		return jinja.Undefined(), fmt.Errorf("nested deeper than %d", jsonDepthMax)
	}
	t, err := dec.Token()
	if err != nil {
		return jinja.Undefined(), err
	}
	switch t {
	case json.Delim('['):
		items := []jinja.Value{}
		for dec.More() {
			item, err := decode(dec, depth+1)
			if err != nil {
				return jinja.Undefined(), err
			}
			items = append(items, item)
		}
		_, err := dec.Token()
		return jinja.NewList(items), err
	case json.Delim('{'):
		d := jinja.NewDict()
		for dec.More() {
			key, err := dec.Token()
			if err != nil {
				return jinja.Undefined(), err
			}
			v, err := decode(dec, depth+1)
			if err != nil {
				return jinja.Undefined(), err
			}
			d.AsDict().Set(key.(string), v)
		}
		_, err := dec.Token()
		return d, err
	}
	return jinja.FromGoValue(t), nil
}

// errNested is the error for a value that is too deep to walk.
var errNested = &LimitError{"levels of nesting", 2 * jsonDepthMax}

// measure returns about how many bytes v takes, written as a tree, and fails
// when it is more than a value may have.
func (r *run) measure(v jinja.Value, depth int) (int, error) {
	if depth > errNested.Max {
		return 0, errNested
	}
	total := 16
	add := func(v jinja.Value) error {
		n, err := r.measure(v, depth+1)
		if total += n; err == nil && total > r.bytesMax {
			err = &LimitError{"bytes in a value", r.bytesMax}
		}
		return err
	}
	switch {
	case v.IsString():
		if total += len(v.AsString()); total > r.bytesMax {
			return total, &LimitError{"bytes in a value", r.bytesMax}
		}
	case v.IsList():
		for _, item := range v.AsList().Items {
			if err := add(item); err != nil {
				return total, err
			}
		}
	case v.IsDict():
		for _, key := range v.AsDict().Keys {
			total += len(key)
			if err := add(v.AsDict().Data[key]); err != nil {
				return total, err
			}
		}
	}
	return total, nil
}

// holds reports whether v is the list or mapping x, or has it inside. v must
// have been measured.
func holds(v, x jinja.Value) bool {
	switch {
	case v.IsList():
		if x.IsList() && v.AsList() == x.AsList() {
			return true
		}
		return slices.ContainsFunc(v.AsList().Items, func(item jinja.Value) bool { return holds(item, x) })
	case v.IsDict():
		if x.IsDict() && v.AsDict() == x.AsDict() {
			return true
		}
		for _, item := range v.AsDict().Data {
			if holds(item, x) {
				return true
			}
		}
	}
	return false
}

// kindOf names a value's kind for an error.
func kindOf(v jinja.Value) string {
	switch {
	case v.IsUndefined():
		return "an undefined value"
	case v.IsNone():
		return "none"
	case v.IsBool():
		return "a boolean"
	case v.IsNumber():
		return "a number"
	case v.IsString():
		return "a string"
	case v.IsList():
		return "a list"
	case v.IsDict():
		return "a mapping"
	}
	return "a function"
}

func number(v jinja.Value) float64 {
	switch {
	case v.IsInt():
		return float64(v.AsInt())
	case v.IsFloat():
		return v.AsFloat()
	case v.IsBool() && v.AsBool():
		return 1
	}
	return 0
}

// text is what {{ v }} prints. None prints as nothing, like llama.cpp; Python's
// Jinja prints "None".
func (r *run) text(v jinja.Value) (string, error) {
	switch {
	case v.IsString():
		return v.AsString(), nil
	case v.IsNone(), v.IsUndefined(), v.IsCallable():
		return "", nil
	}
	if _, err := r.measure(v, 0); err != nil {
		return "", err
	}
	var b strings.Builder
	writeRepr(&b, v)
	return b.String(), nil
}

// writeRepr writes v as Python's repr does.
func writeRepr(b *strings.Builder, v jinja.Value) {
	switch {
	case v.IsBool():
		b.WriteString(map[bool]string{true: "True", false: "False"}[v.AsBool()])
	case v.IsInt():
		b.WriteString(strconv.FormatInt(v.AsInt(), 10))
	case v.IsFloat():
		b.WriteString(formatFloat(v.AsFloat()))
	case v.IsString():
		writeQuoted(b, v.AsString())
	case v.IsList():
		b.WriteByte('[')
		for i, item := range v.AsList().Items {
			if i > 0 {
				b.WriteString(", ")
			}
			writeRepr(b, item)
		}
		b.WriteByte(']')
	case v.IsDict():
		b.WriteByte('{')
		for i, key := range v.AsDict().Keys {
			if i > 0 {
				b.WriteString(", ")
			}
			writeQuoted(b, key)
			b.WriteString(": ")
			writeRepr(b, v.AsDict().Data[key])
		}
		b.WriteByte('}')
	case v.IsUndefined():
		b.WriteString("Undefined")
	default:
		b.WriteString("None")
	}
}

// writeQuoted quotes like Python: single quotes, unless only those are inside.
func writeQuoted(b *strings.Builder, s string) {
	q := '\''
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		q = '"'
	}
	b.WriteRune(q)
	for _, c := range s {
		switch {
		case c == q || c == '\\':
			b.WriteByte('\\')
			b.WriteRune(c)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\r':
			b.WriteString(`\r`)
		case c == '\t':
			b.WriteString(`\t`)
		case unicode.IsPrint(c):
			b.WriteRune(c)
		case c < 0x100:
			fmt.Fprintf(b, `\x%02x`, c)
		case c < 0x10000:
			fmt.Fprintf(b, `\u%04x`, c)
		default:
			fmt.Fprintf(b, `\U%08x`, c)
		}
	}
	b.WriteRune(q)
}

// formatFloat writes a float as Python does: the shortest digits that come
// back, with a point or an exponent.
func formatFloat(f float64) string {
	switch {
	case math.IsNaN(f):
		return "nan"
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	}
	if a := math.Abs(f); a != 0 && (a < 1e-4 || a >= 1e16) {
		return strconv.FormatFloat(f, 'e', -1, 64)
	}
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}
