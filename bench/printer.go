package bench

import (
	"fmt"
	"io"
	"strings"
)

// A Printer writes results in one format. Errors are its writer's.
type Printer interface {
	Header(p Params) error
	Result(r Result) error
	Footer() error
}

// Formats are the names that NewPrinter knows, besides "none".
func Formats() []string { return []string{"csv", "json", "jsonl", "md", "sql", "benchstat"} }

// NewPrinter makes the printer of a format.
func NewPrinter(format string, w io.Writer, b Build) (Printer, error) {
	switch format {
	case "none":
		return nonePrinter{}, nil
	case "csv":
		return &csvPrinter{w}, nil
	case "json":
		return &jsonPrinter{w: w}, nil
	case "jsonl":
		return &jsonlPrinter{w}, nil
	case "md":
		return &markdownPrinter{w: w, build: b}, nil
	case "sql":
		return &sqlPrinter{w}, nil
	case "benchstat":
		return &benchstatPrinter{w: w, build: b}, nil
	}
	return nil, fmt.Errorf("bench: output format %q is not one of %s none", format, strings.Join(Formats(), " "))
}

// Build identifies the program in footers.
type Build struct {
	Commit string
	Number int
}

// nonePrinter prints nothing.
type nonePrinter struct{}

func (nonePrinter) Header(Params) error { return nil }
func (nonePrinter) Result(Result) error { return nil }
func (nonePrinter) Footer() error       { return nil }

type csvPrinter struct{ w io.Writer }

func (p *csvPrinter) Header(Params) error {
	_, err := fmt.Fprintln(p.w, fieldNames(","))
	return err
}

func (p *csvPrinter) Result(r Result) error {
	values := make([]string, len(fields))
	for i, f := range fields {
		values[i] = `"` + strings.ReplaceAll(f.value(&r), `"`, `""`) + `"`
	}
	_, err := fmt.Fprintln(p.w, strings.Join(values, ","))
	return err
}

func (p *csvPrinter) Footer() error { return nil }

// jsonFields is a result's columns as "name": value.
func jsonFields(r *Result) []string {
	out := make([]string, len(fields))
	for i, f := range fields {
		v := f.value(r)
		switch f.kind {
		case kindString:
			// The array of one string without its brackets is the string.
			v = strings.TrimSuffix(strings.TrimPrefix(jsonStrings([]string{v}), "["), "]")
		case kindBool:
			v = map[string]string{"0": "false", "1": "true"}[v]
		}
		out[i] = fmt.Sprintf("%q: %s", f.name, v)
	}
	return out
}

// samples is "samples_ns" and "samples_ts" with their arrays.
func samples(r *Result) [2]string {
	var ns, ts []string
	for _, v := range r.SamplesNS {
		ns = append(ns, fmt.Sprint(v))
	}
	for _, v := range r.TokensPerSec() {
		ts = append(ts, fmt.Sprintf("%.6g", v))
	}
	return [2]string{
		fmt.Sprintf(`"samples_ns": [ %s ]`, strings.Join(ns, ", ")),
		fmt.Sprintf(`"samples_ts": [ %s ]`, strings.Join(ts, ", ")),
	}
}

type jsonPrinter struct {
	w     io.Writer
	count int
}

func (p *jsonPrinter) Header(Params) error {
	_, err := fmt.Fprint(p.w, "[\n")
	return err
}

func (p *jsonPrinter) Result(r Result) error {
	separator := ""
	if p.count > 0 {
		separator = ",\n"
	}
	p.count++
	s := samples(&r)
	lines := append(jsonFields(&r), s[0], s[1])
	_, err := fmt.Fprintf(p.w, "%s  {\n    %s\n  }", separator, strings.Join(lines, ",\n    "))
	return err
}

func (p *jsonPrinter) Footer() error {
	_, err := fmt.Fprint(p.w, "\n]\n")
	return err
}

type jsonlPrinter struct{ w io.Writer }

func (p *jsonlPrinter) Header(Params) error { return nil }

func (p *jsonlPrinter) Result(r Result) error {
	s := samples(&r)
	_, err := fmt.Fprintf(p.w, "{%s, %s,%s}\n", strings.Join(jsonFields(&r), ", "), s[0], s[1])
	return err
}

func (p *jsonlPrinter) Footer() error { return nil }

type sqlPrinter struct{ w io.Writer }

var sqlTypes = map[kind]string{kindString: "TEXT", kindBool: "INTEGER", kindInt: "INTEGER", kindFloat: "REAL", kindStrings: "TEXT"}

func (p *sqlPrinter) Header(Params) error {
	columns := make([]string, len(fields))
	for i, f := range fields {
		columns[i] = "  " + f.name + " " + sqlTypes[f.kind]
	}
	_, err := fmt.Fprintf(p.w, "CREATE TABLE IF NOT EXISTS llama_bench (\n%s\n);\n\n", strings.Join(columns, ",\n"))
	return err
}

func (p *sqlPrinter) Result(r Result) error {
	values := make([]string, len(fields))
	for i, f := range fields {
		values[i] = "'" + strings.ReplaceAll(f.value(&r), "'", "''") + "'"
	}
	_, err := fmt.Fprintf(p.w, "INSERT INTO llama_bench (%s) VALUES (%s);\n", fieldNames(", "), strings.Join(values, ", "))
	return err
}

func (p *sqlPrinter) Footer() error { return nil }
