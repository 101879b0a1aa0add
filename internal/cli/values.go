package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// maxListed bounds the values that one flag may expand to.
const maxListed = 10_000

// scalar is a flag.Value of one value.
type scalar[T any] struct {
	p     *T
	parse func(string) (T, error)
	print func(T) string
}

func (s scalar[T]) String() string {
	if s.p == nil {
		return ""
	}
	return s.print(*s.p)
}

func (s scalar[T]) Set(v string) error {
	x, err := s.parse(v)
	if err != nil {
		return err
	}
	*s.p = x
	return nil
}

// list is a flag.Value of several: the first Set replaces the default, later
// ones add to it.
type list[T any] struct {
	p     *[]T
	parse func(string) ([]T, error)
	print func(T) string
	set   bool
}

func (l *list[T]) String() string {
	if l.p == nil {
		return ""
	}
	var s []string
	for _, x := range *l.p {
		s = append(s, l.print(x))
	}
	return strings.Join(s, ",")
}

func (l *list[T]) Set(v string) error {
	x, err := l.parse(v)
	if err != nil {
		return err
	}
	if !l.set {
		*l.p, l.set = nil, true
	}
	if len(*l.p)+len(x) > maxListed {
		return fmt.Errorf("more than %d values", maxListed)
	}
	*l.p = append(*l.p, x...)
	return nil
}

func identity(s string) string { return s }

// String declares a flag with a string value.
func (f *FlagSet) String(p *string, spec, usage string) {
	f.Var(scalar[string]{p, func(s string) (string, error) { return s, nil }, identity}, spec, usage)
}

// Bool declares a switch, or a flag with the value 0 or 1 if spec names one.
func (f *FlagSet) Bool(p *bool, spec, usage string) {
	f.Var(scalar[bool]{p, ParseBool, strconv.FormatBool}, spec, usage)
}

// Int declares a flag with an integer value from min to max.
func (f *FlagSet) Int(p *int, spec, usage string, low, high int) {
	f.Var(scalar[int]{p, func(s string) (int, error) { return parseInt(s, low, high) }, strconv.Itoa}, spec, usage)
}

// Uint64 declares a flag with an integer value that is not negative, in
// decimal or with 0x in hexadecimal.
func (f *FlagSet) Uint64(p *uint64, spec, usage string) {
	parse := func(s string) (uint64, error) {
		v, err := strconv.ParseUint(s, 0, 64)
		if err != nil {
			return 0, fmt.Errorf("not an integer from 0 to 2^64-1")
		}
		return v, nil
	}
	f.Var(scalar[uint64]{p, parse, func(v uint64) string { return strconv.FormatUint(v, 10) }}, spec, usage)
}

// Float32 declares a flag with a finite number from low to high.
func (f *FlagSet) Float32(p *float32, spec, usage string, low, high float32) {
	parse := func(s string) (float32, error) {
		v, err := strconv.ParseFloat(s, 32)
		// Written so that a NaN is refused.
		if err != nil || !(float32(v) >= low && float32(v) <= high) {
			return 0, fmt.Errorf("not a number from %g to %g", low, high)
		}
		return float32(v), nil
	}
	f.Var(scalar[float32]{p, parse, func(v float32) string { return strconv.FormatFloat(float64(v), 'g', -1, 32) }}, spec, usage)
}

// Choice declares a flag whose value is one of a few words.
func (f *FlagSet) Choice(p *string, spec, usage string, words ...string) {
	f.Var(scalar[string]{p, func(s string) (string, error) { return choose(s, words) }, identity}, spec, usage)
}

// Strings declares a flag with a list of strings: separated by commas, or the
// flag repeated.
func (f *FlagSet) Strings(p *[]string, spec, usage string) {
	f.Var(&list[string]{p: p, parse: splitList, print: identity}, spec, usage)
}

// Choices declares a flag with a list of words out of a few.
func (f *FlagSet) Choices(p *[]string, spec, usage string, words ...string) {
	parse := func(s string) ([]string, error) {
		return mapList(s, func(s string) (string, error) { return choose(s, words) })
	}
	f.Var(&list[string]{p: p, parse: parse, print: identity}, spec, usage)
}

// Bools declares a flag with a list of zeros and ones.
func (f *FlagSet) Bools(p *[]bool, spec, usage string) {
	parse := func(s string) ([]bool, error) { return mapList(s, ParseBool) }
	f.Var(&list[bool]{p: p, parse: parse, print: func(b bool) string {
		if b {
			return "1"
		}
		return "0"
	}}, spec, usage)
}

// Ints declares a flag with a list of integers and ranges (see ParseInts), each
// from low to high.
func (f *FlagSet) Ints(p *[]int, spec, usage string, low, high int) {
	parse := func(s string) ([]int, error) { return ParseInts(s, low, high) }
	f.Var(&list[int]{p: p, parse: parse, print: strconv.Itoa}, spec, usage)
}

// ParseBool takes 1, true, on, yes and 0, false, off, no.
func ParseBool(s string) (bool, error) {
	switch strings.ToLower(s) {
	case "1", "true", "on", "yes":
		return true, nil
	case "0", "false", "off", "no":
		return false, nil
	}
	return false, fmt.Errorf("want 0 or 1")
}

// ParseInts parses llama-bench's grammar: integers and ranges separated by
// commas, a range being first-last, first-last+step or first-last*factor. Every
// value must be from low to high.
func ParseInts(s string, low, high int) ([]int, error) {
	var out []int
	for item := range strings.SplitSeq(s, ",") {
		r, err := parseRange(item, low, high)
		if err != nil {
			return nil, err
		}
		for v := r.first; v <= r.last; {
			if len(out) == maxListed {
				return nil, fmt.Errorf("range %q has more than %d values", item, maxListed)
			}
			out = append(out, v)
			next := v + r.step
			if r.geometric {
				next = v * r.step
			}
			if next <= v {
				return nil, fmt.Errorf("range %q does not advance from %d", item, v)
			}
			v = next
		}
	}
	return out, nil
}

// intRange is one item of ParseInts.
type intRange struct {
	first, last, step int
	geometric         bool // multiply by step, not add it
}

func parseRange(item string, low, high int) (r intRange, err error) {
	r.step = 1
	// A leading minus is a sign, not a range.
	dash := strings.IndexByte(strings.TrimPrefix(item, "-"), '-')
	if dash < 0 {
		r.first, err = parseInt(item, low, high)
		r.last = r.first
		return r, err
	}
	dash += len(item) - len(strings.TrimPrefix(item, "-"))
	last, step := item[dash+1:], ""
	if i := strings.IndexAny(last, "+*"); i >= 0 {
		r.geometric = last[i] == '*'
		last, step = last[:i], last[i+1:]
		// The step is bounded like the values, so that no sum or product of a
		// value and a step overflows.
		if r.step, err = parseInt(step, 1, maxStep); err != nil {
			return r, fmt.Errorf("range %q: step: %w", item, err)
		}
	}
	if r.first, err = parseInt(item[:dash], low, high); err != nil {
		return r, fmt.Errorf("range %q: %w", item, err)
	}
	if r.last, err = parseInt(last, low, high); err != nil {
		return r, fmt.Errorf("range %q: %w", item, err)
	}
	if r.first > r.last {
		return r, fmt.Errorf("range %q: the first value is above the last", item)
	}
	return r, nil
}

const maxStep = 1 << 30

func parseInt(s string, low, high int) (int, error) {
	v, err := strconv.Atoi(s)
	if err != nil {
		return 0, fmt.Errorf("%q is not an integer", s)
	}
	if v < low || v > high {
		return 0, fmt.Errorf("%d is not from %d to %d", v, low, high)
	}
	return v, nil
}

func splitList(s string) ([]string, error) { return strings.Split(s, ","), nil }

func mapList[T any](s string, parse func(string) (T, error)) ([]T, error) {
	var out []T
	for item := range strings.SplitSeq(s, ",") {
		v, err := parse(item)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", item, err)
		}
		out = append(out, v)
	}
	return out, nil
}

func choose(s string, words []string) (string, error) {
	if slices.Contains(words, s) {
		return s, nil
	}
	if near := Nearest(s, words); near != "" {
		return "", fmt.Errorf("want one of %s (did you mean %s?)", strings.Join(words, " "), near)
	}
	return "", fmt.Errorf("want one of %s", strings.Join(words, " "))
}
