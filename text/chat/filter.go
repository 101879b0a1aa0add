package chat

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ardanlabs/jinja"
)

// call is one use of a filter or method: in|name(args, opts).
type call struct {
	run  *run
	name string
	in   jinja.Value
	args []jinja.Value
	opts map[string]jinja.Value
}

type filter = func(*call) (jinja.Value, error)

// bind makes a filter a function of the library's; an error names the filter.
func (r *run) bind(name string, f filter) function {
	return func(args []jinja.Value, opts map[string]jinja.Value) (jinja.Value, error) {
		v, err := f(&call{run: r, name: name, in: args[0], args: args[1:], opts: opts})
		if err != nil {
			return jinja.Undefined(), fmt.Errorf("%s: %w", name, err)
		}
		return v, nil
	}
}

// arg is the i-th argument behind the filtered value, or undefined.
func (c *call) arg(i int) jinja.Value {
	if i < len(c.args) {
		return c.args[i]
	}
	return jinja.Undefined()
}

// opt is a keyword argument, or undefined.
func (c *call) opt(name string) jinja.Value { return c.opts[name] }

// argOr is an argument that may come by position or by name.
func (c *call) argOr(i int, name string) jinja.Value {
	if v := c.opt(name); !v.IsUndefined() {
		return v
	}
	return c.arg(i)
}

// str makes a string value, if it is small enough.
func (r *run) str(s string) (jinja.Value, error) {
	if len(s) > r.bytesMax {
		return jinja.Undefined(), &LimitError{"bytes in a value", r.bytesMax}
	}
	return jinja.NewString(s), nil
}

// repeat is s n times over.
func (r *run) repeat(s string, n int64) (jinja.Value, error) {
	if n <= 0 || s == "" {
		return jinja.NewString(""), nil
	}
	if n > int64(r.bytesMax/len(s)) {
		return jinja.Undefined(), &LimitError{"bytes in a value", r.bytesMax}
	}
	return jinja.NewString(strings.Repeat(s, int(n))), nil
}

// text is the filtered value as a string; an undefined one is empty, as in Jinja.
func (c *call) text() (string, error) { return c.run.text(c.in) }

// items is the filtered value as a list: a mapping's keys, a string's
// characters. None is an empty list: Python's lazy filters only fail on it when
// somebody looks, which templates rely on.
func (c *call) items() ([]jinja.Value, error) {
	switch v := c.in; {
	case v.IsUndefined(), v.IsNone():
		return nil, nil
	case v.IsList():
		return v.AsList().Items, nil
	case v.IsDict():
		keys := make([]jinja.Value, 0, v.AsDict().Len())
		for _, k := range v.AsDict().Keys {
			keys = append(keys, jinja.NewString(k))
		}
		return keys, nil
	case v.IsString():
		var chars []jinja.Value
		for _, r := range v.AsString() {
			chars = append(chars, jinja.NewString(string(r)))
		}
		return chars, nil
	}
	return nil, fmt.Errorf("cannot go through %s", kindOf(c.in))
}

// filters are all that a template may use. Their rules are Jinja's.
var filters = map[string]filter{
	"abs":        filterAbs,
	"batch":      filterBatch,
	"capitalize": onText(capitalize),
	"count":      filterLength,
	"d":          filterDefault,
	"default":    filterDefault,
	"dictsort":   filterDictSort,
	"e":          onText(escape),
	"escape":     onText(escape),
	"first":      onItems(func(l []jinja.Value) jinja.Value { return l[0] }),
	"float":      filterFloat,
	"from_json":  filterFromJSON,
	"format":     filterFormat,
	"fromjson":   filterFromJSON,
	"indent":     filterIndent,
	"int":        filterInt,
	"items":      filterItems,
	"join":       filterJoin,
	"last":       onItems(func(l []jinja.Value) jinja.Value { return l[len(l)-1] }),
	"length":     filterLength,
	"list":       filterList,
	"lower":      onText(strings.ToLower),
	"map":        filterMap,
	"max":        filterExtreme,
	"min":        filterExtreme,
	"reject":     filterSelect,
	"rejectattr": filterSelect,
	"replace":    filterReplace,
	"reverse":    filterReverse,
	"round":      filterRound,
	"safe":       func(c *call) (jinja.Value, error) { return c.in, nil },
	"select":     filterSelect,
	"selectattr": filterSelect,
	"sort":       filterSort,
	"string":     onText(func(s string) string { return s }),
	"sum":        filterSum,
	"title":      onText(title),
	"tojson":     filterToJSON,
	"trim":       filterTrim,
	"unique":     filterUnique,
	"upper":      onText(strings.ToUpper),
	"wordcount":  filterWordCount,
}

func onText(f func(string) string) filter {
	return func(c *call) (jinja.Value, error) {
		s, err := c.text()
		if err != nil {
			return jinja.Undefined(), err
		}
		return c.run.str(f(s))
	}
}

// onItems applies f to a list that is not empty; of an empty one the result is
// undefined.
func onItems(f func([]jinja.Value) jinja.Value) filter {
	return func(c *call) (jinja.Value, error) {
		items, err := c.items()
		if err != nil || len(items) == 0 {
			return jinja.Undefined(), err
		}
		return f(items), nil
	}
}

func capitalize(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	if n == 0 {
		return ""
	}
	return string(unicode.ToUpper(r)) + strings.ToLower(s[n:])
}

func title(s string) string {
	inWord := false
	return strings.Map(func(r rune) rune {
		first := !inWord
		inWord = unicode.IsLetter(r) || unicode.IsDigit(r) || r == '\''
		if first {
			return unicode.ToUpper(r)
		}
		return unicode.ToLower(r)
	}, s)
}

func escape(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;").Replace(s)
}

func filterDefault(c *call) (jinja.Value, error) {
	if c.in.IsUndefined() || c.argOr(1, "boolean").IsTruthy() && !c.in.IsTruthy() {
		if v := c.argOr(0, "default_value"); !v.IsUndefined() {
			return v, nil
		}
		return jinja.NewString(""), nil
	}
	return c.in, nil
}

func filterLength(c *call) (jinja.Value, error) {
	switch v := c.in; {
	case v.IsUndefined():
		return jinja.NewInt(0), nil
	case v.IsList():
		return jinja.NewInt(int64(v.AsList().Len())), nil
	case v.IsDict():
		return jinja.NewInt(int64(v.AsDict().Len())), nil
	case v.IsString():
		return jinja.NewInt(int64(utf8.RuneCountInString(v.AsString()))), nil
	}
	return jinja.Undefined(), fmt.Errorf("%s has no length", kindOf(c.in))
}

func filterTrim(c *call) (jinja.Value, error) {
	s, err := c.text()
	if err != nil {
		return jinja.Undefined(), err
	}
	if chars := c.argOr(0, "chars"); chars.IsString() {
		return jinja.NewString(strings.Trim(s, chars.AsString())), nil
	}
	return jinja.NewString(strings.TrimSpace(s)), nil
}

func filterReplace(c *call) (jinja.Value, error) {
	s, err := c.text()
	from, to := c.argOr(0, "old"), c.argOr(1, "new")
	if err != nil {
		return jinja.Undefined(), err
	}
	if !from.IsString() || !to.IsString() {
		return jinja.Undefined(), errors.New("takes two strings")
	}
	n := -1
	if v := c.argOr(2, "count"); v.IsInt() {
		n = int(max(-1, min(v.AsInt(), math.MaxInt32)))
	}
	found := strings.Count(s, from.AsString())
	if n >= 0 {
		found = min(found, n)
	}
	if to := len(to.AsString()); to > 0 && found > (c.run.bytesMax-len(s)+found*len(from.AsString()))/to {
		return jinja.Undefined(), &LimitError{"bytes in a value", c.run.bytesMax}
	}
	return jinja.NewString(strings.Replace(s, from.AsString(), to.AsString(), n)), nil
}

func filterIndent(c *call) (jinja.Value, error) {
	s, err := c.text()
	if err != nil {
		return jinja.Undefined(), err
	}
	pad := "    "
	switch w := c.argOr(0, "width"); {
	case w.IsString():
		pad = w.AsString()
	case w.IsInt() && w.AsInt() > indentMax:
		return jinja.Undefined(), &LimitError{"spaces of indent", indentMax}
	case w.IsInt():
		pad = strings.Repeat(" ", int(max(0, w.AsInt())))
	}
	first, blank := c.argOr(1, "first").IsTruthy(), c.argOr(2, "blank").IsTruthy()
	if lines := strings.Count(s, "\n") + 1; len(pad) > 0 && lines > (c.run.bytesMax-min(len(s), c.run.bytesMax))/len(pad) {
		return jinja.Undefined(), &LimitError{"bytes in a value", c.run.bytesMax}
	}
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		if (i > 0 || first) && (l != "" || blank) {
			lines[i] = pad + l
		}
	}
	return jinja.NewString(strings.Join(lines, "\n")), nil
}

func filterInt(c *call) (jinja.Value, error) {
	switch v := c.in; {
	case v.IsInt():
		return v, nil
	case v.IsFloat() && math.Abs(v.AsFloat()) < 1<<63:
		return jinja.NewInt(int64(v.AsFloat())), nil
	case v.IsBool():
		return jinja.NewInt(int64(number(v))), nil
	case v.IsString():
		s := strings.TrimSpace(v.AsString())
		if n, err := strconv.ParseInt(s, 10, 64); err == nil {
			return jinja.NewInt(n), nil
		}
		if f, err := strconv.ParseFloat(s, 64); err == nil && math.Abs(f) < 1<<63 {
			return jinja.NewInt(int64(f)), nil
		}
	}
	if v := c.argOr(0, "default"); !v.IsUndefined() {
		return v, nil
	}
	return jinja.NewInt(0), nil
}

func filterFloat(c *call) (jinja.Value, error) {
	switch v := c.in; {
	case v.IsNumber(), v.IsBool():
		return jinja.NewFloat(number(v)), nil
	case v.IsString():
		if f, err := strconv.ParseFloat(strings.TrimSpace(v.AsString()), 64); err == nil {
			return jinja.NewFloat(f), nil
		}
	}
	if v := c.argOr(0, "default"); !v.IsUndefined() {
		return v, nil
	}
	return jinja.NewFloat(0), nil
}

func filterAbs(c *call) (jinja.Value, error) {
	switch v := c.in; {
	case v.IsInt():
		return jinja.NewInt(max(v.AsInt(), -v.AsInt())), nil
	case v.IsFloat():
		return jinja.NewFloat(math.Abs(v.AsFloat())), nil
	}
	return jinja.Undefined(), fmt.Errorf("takes a number, not %s", kindOf(c.in))
}

// filterRound rounds half to even like Python, to a float.
func filterRound(c *call) (jinja.Value, error) {
	if !c.in.IsNumber() {
		return jinja.Undefined(), fmt.Errorf("takes a number, not %s", kindOf(c.in))
	}
	digits := 0
	if v := c.argOr(0, "precision"); v.IsInt() {
		digits = int(max(-300, min(v.AsInt(), 300)))
	}
	f := number(c.in)
	switch method := c.argOr(1, "method"); {
	case method.IsString() && method.AsString() == "ceil":
		f = math.Ceil(f*math.Pow10(digits)) / math.Pow10(digits)
	case method.IsString() && method.AsString() == "floor":
		f = math.Floor(f*math.Pow10(digits)) / math.Pow10(digits)
	case digits >= 0:
		// Decimal rounding is what Python does; FormatFloat rounds exactly.
		f, _ = strconv.ParseFloat(strconv.FormatFloat(f, 'f', digits, 64), 64)
	default:
		f = math.RoundToEven(f*math.Pow10(digits)) / math.Pow10(digits)
	}
	return jinja.NewFloat(f), nil
}

func filterFromJSON(c *call) (jinja.Value, error) {
	if !c.in.IsString() {
		return jinja.Undefined(), fmt.Errorf("takes a string, not %s", kindOf(c.in))
	}
	return fromJSON([]byte(c.in.AsString()))
}

func filterWordCount(c *call) (jinja.Value, error) {
	s, err := c.text()
	return jinja.NewInt(int64(len(strings.Fields(s)))), err
}
