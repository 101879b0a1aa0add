package chat

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ardanlabs/jinja"
)

// conversion is a percent sign of Python's formatting: flags, width, precision
// and the type.
var conversion = regexp.MustCompile(`%([-+ #0]*)(\d{0,3})(?:\.(\d{0,3}))?(.?)`)

// printf is format % args. It knows %s, %r, %d, %i, %c, %x, %X, %o, %e, %f, %g
// and %%.
func (r *run) printf(format string, args []jinja.Value) (jinja.Value, error) {
	var b strings.Builder
	rest, used := format, 0
	for {
		m := conversion.FindStringSubmatchIndex(rest)
		if m == nil || b.Len() > r.bytesMax {
			break
		}
		b.WriteString(rest[:m[0]])
		verb := rest[m[8]:m[9]]
		spec := "%" + rest[m[2]:m[3]] + rest[m[4]:m[5]]
		if m[6] >= 0 {
			spec += "." + rest[m[6]:m[7]]
		}
		rest = rest[m[1]:]
		if verb == "%" {
			b.WriteByte('%')
			continue
		}
		if used == len(args) {
			return jinja.Undefined(), fmt.Errorf("%d values for more conversions than that", len(args))
		}
		s, err := r.convert(spec, verb, args[used])
		if err != nil {
			return jinja.Undefined(), err
		}
		b.WriteString(s)
		used++
	}
	if used < len(args) && b.Len() <= r.bytesMax {
		return jinja.Undefined(), fmt.Errorf("%d values for %d conversions", len(args), used)
	}
	if b.Len() > r.bytesMax {
		return r.str(b.String())
	}
	return r.str(b.String() + rest)
}

// convert writes one value; spec is Go's format without its verb, which has the
// same flags.
func (r *run) convert(spec, verb string, v jinja.Value) (string, error) {
	switch verb {
	case "s":
		s, err := r.text(v)
		if v.IsNone() {
			s = "None"
		}
		return fmt.Sprintf(spec+"s", s), err
	case "r":
		if _, err := r.measure(v, 0); err != nil {
			return "", err
		}
		var b strings.Builder
		writeRepr(&b, v)
		return fmt.Sprintf(spec+"s", b.String()), nil
	case "c":
		if v.IsString() && utf8.RuneCountInString(v.AsString()) == 1 {
			return fmt.Sprintf(spec+"s", v.AsString()), nil
		}
		if v.IsInt() && v.AsInt() >= 0 && v.AsInt() <= utf8.MaxRune {
			return fmt.Sprintf(spec+"s", string(rune(v.AsInt()))), nil
		}
	case "d", "i", "u":
		if v.IsNumber() || v.IsBool() {
			return fmt.Sprintf(spec+"d", int64(number(v))), nil
		}
	case "x", "X", "o":
		if v.IsInt() {
			return fmt.Sprintf(spec+verb, v.AsInt()), nil
		}
	case "e", "f", "g":
		if v.IsNumber() || v.IsBool() {
			return fmt.Sprintf(spec+verb, number(v)), nil
		}
	default:
		return "", fmt.Errorf("conversion %%%s is not supported", strconv.Quote(verb))
	}
	return "", fmt.Errorf("no %%%s of %s", verb, kindOf(v))
}

func filterFormat(c *call) (jinja.Value, error) {
	s, err := c.text()
	if err != nil {
		return jinja.Undefined(), err
	}
	if len(c.opts) > 0 {
		return jinja.Undefined(), fmt.Errorf("keyword arguments are not supported")
	}
	return c.run.printf(s, c.args)
}
