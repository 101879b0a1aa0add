// Package cli adds to the standard flag package what llama.cpp's users expect
// of a command line: several names for one flag, lists and ranges of values,
// values from the environment, grouped help with examples, and a suggestion for
// a misspelt flag. It prints; it decides nothing.
package cli

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
)

// EnvPrefix starts the name of the environment variable that stands in for a
// flag: HOLDFAST_ARG_N_PROMPT for --n-prompt.
const EnvPrefix = "HOLDFAST_ARG_"

// UsageError is a mistake on the command line. Its exit code is 2.
type UsageError struct{ Msg string }

func (e *UsageError) Error() string { return e.Msg }

// Usagef makes a UsageError.
func Usagef(format string, args ...any) error {
	return &UsageError{fmt.Sprintf(format, args...)}
}

// ErrHelp is returned by Parse for -h and --help. Its exit code is 0.
var ErrHelp = flag.ErrHelp

// FlagSet is the flags of one command, in the order and groups of its help.
type FlagSet struct {
	Synopsis string   // the line after "usage: ", such as "holdfast inspect FILE [flags]"
	About    string   // what the command does, a sentence or two
	Examples []string // commands worth copying

	flags  []*option
	groups []string // by option.group
	byName map[string]*option
}

// option is one flag under all its names.
type option struct {
	names []string // with dashes, as printed: "-m", "--model"
	arg   string   // what the value is called in help; "" for a switch
	usage string
	def   string // the default as printed; "" if there is none to speak of
	group int
	value flag.Value
	given bool // on the command line
}

// Group starts a group of flags; those declared before the first call have no
// heading.
func (f *FlagSet) Group(title string) { f.groups = append(f.groups, title) }

// Var declares a flag. spec is its names and the name of its value as help
// prints them, "-m, --model FILE"; a flag without the last is a switch, whose
// value accepts "true". The value's present content is the default. Var panics
// if a name is taken.
func (f *FlagSet) Var(value flag.Value, spec, usage string) {
	o := &option{value: value, usage: usage, group: len(f.groups)}
	names, arg, _ := strings.Cut(strings.ReplaceAll(spec, ", ", ","), " ")
	o.arg = arg
	o.names = strings.Split(names, ",")
	if def := value.String(); def != "false" && def != "0" {
		o.def = def
	}
	if f.byName == nil {
		f.byName = map[string]*option{}
	}
	for _, name := range o.names {
		key := strings.TrimLeft(name, "-")
		if f.byName[key] != nil || key == "h" || key == "help" {
			panic("cli: flag " + name + " declared twice")
		}
		f.byName[key] = o
	}
	f.flags = append(f.flags, o)
}

// env is the name of the variable that stands in for the flag: it is made from
// the last name, which is the long one.
func (o *option) env() string {
	name := strings.TrimLeft(o.names[len(o.names)-1], "-")
	return EnvPrefix + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

// Given reports whether the flag was set on the command line or by the
// environment. It panics on a name that was not declared.
func (f *FlagSet) Given(name string) bool {
	o := f.byName[strings.TrimLeft(name, "-")]
	if o == nil {
		panic("cli: flag " + name + " not declared")
	}
	return o.given
}

// Parse sets flags from args, then those not in args from the environment as
// lookup (os.LookupEnv) gives it, and returns the other arguments, which may
// stand before, between and after the flags; "--" ends the flags. One dash or
// two make no difference, nor do underscores for dashes after two. Errors:
// ErrHelp, UsageError.
func (f *FlagSet) Parse(args []string, lookup func(string) (string, bool)) (rest []string, err error) {
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		if arg == "--" {
			rest = append(rest, args...)
			break
		}
		if len(arg) < 2 || arg[0] != '-' {
			rest = append(rest, arg)
			continue
		}
		name, value, hasValue := strings.Cut(arg, "=")
		if strings.HasPrefix(name, "--") {
			name = strings.ReplaceAll(name, "_", "-")
		}
		key := strings.TrimPrefix(strings.TrimPrefix(name, "-"), "-")
		if key == "h" || key == "help" {
			return nil, ErrHelp
		}
		o := f.byName[key]
		switch {
		case o == nil:
			return nil, f.unknown(name)
		case o.arg == "" && !hasValue:
			value = "true"
		case !hasValue && len(args) == 0:
			return nil, Usagef("flag %s needs a value: %s %s", name, name, o.arg)
		case !hasValue:
			value = args[0]
			args = args[1:]
		}
		if err := o.value.Set(value); err != nil {
			return nil, Usagef("flag %s %q: %v", name, value, err)
		}
		o.given = true
	}
	if lookup == nil {
		return rest, nil
	}
	for _, o := range f.flags {
		value, ok := lookup(o.env())
		if o.given || !ok {
			continue
		}
		if err := o.value.Set(value); err != nil {
			return nil, Usagef("environment variable %s=%q: %v", o.env(), value, err)
		}
		o.given = true
	}
	return rest, nil
}

func (f *FlagSet) unknown(name string) error {
	names := []string{"-h", "--help"}
	for _, o := range f.flags {
		names = append(names, o.names...)
	}
	if near := Nearest(name, names); near != "" {
		return Usagef("unknown flag %s (did you mean %s?)", name, near)
	}
	return Usagef("unknown flag %s", name)
}

// Help prints the usage line, the flags by group with their defaults, and the
// examples.
func (f *FlagSet) Help(w io.Writer) {
	fmt.Fprintf(w, "usage: %s\n", f.Synopsis)
	if f.About != "" {
		fmt.Fprintf(w, "\n%s\n", f.About)
	}
	const column = 36
	group := -1
	for _, o := range f.flags {
		if o.group != group {
			group = o.group
			if group > 0 {
				fmt.Fprintf(w, "\n%s:\n", f.groups[group-1])
			} else {
				fmt.Fprint(w, "\nflags:\n")
			}
		}
		left := "  " + strings.Join(o.names, ", ")
		if o.arg != "" {
			left += " " + o.arg
		}
		usage := o.usage
		if o.def != "" {
			usage += " [" + o.def + "]"
		}
		if len(left) >= column {
			left += "\n" + strings.Repeat(" ", column)
		}
		fmt.Fprintf(w, "%-*s %s\n", column, left, usage)
	}
	if len(f.flags) > 0 {
		fmt.Fprintf(w, "\nEvery flag can be set by a variable, such as %s; the flag wins.\n", f.flags[0].env())
	}
	if len(f.Examples) > 0 {
		fmt.Fprint(w, "\nexamples:\n")
		for _, e := range f.Examples {
			fmt.Fprintf(w, "  %s\n", e)
		}
	}
}

// ExitCode is the exit status for a command's error: 0 for none and for
// ErrHelp, 2 for a UsageError, else 1.
func ExitCode(err error) int {
	var usage *UsageError
	switch {
	case err == nil, errors.Is(err, ErrHelp):
		return 0
	case errors.As(err, &usage):
		return 2
	}
	return 1
}
