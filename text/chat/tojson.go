package chat

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ardanlabs/jinja"
)

// jsonStyle is how tojson writes: the arguments of Python's json.dumps, with
// ensure_ascii off unless asked for, as in Hugging Face's environment.
type jsonStyle struct {
	item, key string // separators
	indent    int    // spaces per level; 0 is one line
	ascii     bool
	sorted    bool
}

func filterToJSON(c *call) (jinja.Value, error) {
	st := jsonStyle{item: ", ", key: ": ", ascii: c.opt("ensure_ascii").IsTruthy(), sorted: c.opt("sort_keys").IsTruthy()}
	indent := c.opt("indent")
	if indent.IsUndefined() {
		indent = c.arg(0)
	}
	if indent.IsInt() && indent.AsInt() > 0 {
		if st.indent = int(min(indent.AsInt(), indentMax+1)); st.indent > indentMax {
			return jinja.Undefined(), &LimitError{"spaces of indent", indentMax}
		}
		st.item = ","
	}
	if sep := c.opt("separators"); !sep.IsUndefined() && !sep.IsNone() {
		if !sep.IsList() || sep.AsList().Len() != 2 || !sep.AsList().Get(0).IsString() || !sep.AsList().Get(1).IsString() {
			return jinja.Undefined(), errors.New("tojson: separators are two strings")
		}
		st.item, st.key = sep.AsList().Get(0).AsString(), sep.AsList().Get(1).AsString()
	}
	if _, err := c.run.measure(c.in, 0); err != nil {
		return jinja.Undefined(), err
	}
	var b strings.Builder
	st.write(&b, c.in, 0)
	return c.run.str(b.String())
}

// indentMax bounds what one level of nesting adds to a line.
const indentMax = 64

func (st jsonStyle) write(b *strings.Builder, v jinja.Value, depth int) {
	line := func(depth int) {
		if st.indent > 0 {
			b.WriteByte('\n')
			b.WriteString(strings.Repeat(" ", st.indent*depth))
		}
	}
	switch {
	case v.IsBool():
		fmt.Fprint(b, v.AsBool())
	case v.IsInt(), v.IsFloat():
		writeRepr(b, v)
	case v.IsString():
		st.quote(b, v.AsString())
	case v.IsList() && v.AsList().Len() == 0:
		b.WriteString("[]")
	case v.IsList():
		b.WriteByte('[')
		for i, item := range v.AsList().Items {
			if i > 0 {
				b.WriteString(st.item)
			}
			line(depth + 1)
			st.write(b, item, depth+1)
		}
		line(depth)
		b.WriteByte(']')
	case v.IsDict() && v.AsDict().Len() == 0:
		b.WriteString("{}")
	case v.IsDict():
		b.WriteByte('{')
		keys := v.AsDict().Keys
		if st.sorted {
			keys = slices.Sorted(slices.Values(keys))
		}
		for i, key := range keys {
			if i > 0 {
				b.WriteString(st.item)
			}
			line(depth + 1)
			st.quote(b, key)
			b.WriteString(st.key)
			st.write(b, v.AsDict().Data[key], depth+1)
		}
		line(depth)
		b.WriteByte('}')
	default:
		b.WriteString("null")
	}
}

func (st jsonStyle) quote(b *strings.Builder, s string) {
	b.WriteByte('"')
	for _, c := range s {
		switch {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteRune(c)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\r':
			b.WriteString(`\r`)
		case c == '\t':
			b.WriteString(`\t`)
		case c == '\b':
			b.WriteString(`\b`)
		case c == '\f':
			b.WriteString(`\f`)
		case c < ' ' || st.ascii && c >= 0x7f && c < 0x10000:
			fmt.Fprintf(b, `\u%04x`, c)
		case st.ascii && c >= 0x10000:
			c -= 0x10000
			fmt.Fprintf(b, `\u%04x\u%04x`, 0xd800+c>>10, 0xdc00+c&0x3ff)
		default:
			b.WriteRune(c)
		}
	}
	b.WriteByte('"')
}
