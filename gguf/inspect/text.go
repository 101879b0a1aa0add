package inspect

import (
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/holdfast-llm/holdfast/gguf"
)

// Text prints a file for people. The error is w's.
func Text(w io.Writer, f *gguf.File, o Options) error {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	elements, bytes := Size(f)
	fmt.Fprintf(out, "%s: GGUF version %d, %s\n", f.Name, f.Version, humanBytes(f.Size()))
	fmt.Fprintf(out, "model: %s, %s parameters in %d tensors", Description(f), humanCount(elements), len(f.Tensors))
	if bytes > 0 {
		fmt.Fprintf(out, ", %s", humanBytes(bytes))
		if unknown := slices.ContainsFunc(Totals(f), func(t Total) bool { return !t.Type.Known() }); unknown {
			fmt.Fprint(out, " and those of unknown size")
		} else {
			fmt.Fprintf(out, ", %.2f bits each", 8*float64(bytes)/float64(elements))
		}
	}
	fmt.Fprint(out, "\n")
	if t := tokenizerOf(f); t != nil {
		tokenizerText(out, f, t)
	}

	fmt.Fprintf(out, "\nmetadata: %d keys\n", len(f.KV))
	for _, kv := range f.KV {
		fmt.Fprintf(out, "  %s\t%s\t%s\n", printable(kv.Key, o), typeName(kv.Value), valueText(kv.Value, o))
	}

	if len(f.Tensors) > 0 {
		// Each table is a section of its own, so that its columns fit it alone.
		fmt.Fprintf(out, "\ftypes:\n")
		fmt.Fprint(out, "  type\ttensors\tparameters\tsize\tshare\n")
		for _, t := range Totals(f) {
			size, share := "unknown", ""
			if t.Type.Known() {
				size, share = humanBytes(t.Bytes), fmt.Sprintf("%.1f%%", 100*float64(t.Bytes)/float64(max(bytes, 1)))
			} else {
				share = "not supported"
			}
			fmt.Fprintf(out, "  %s\t%d\t%s\t%s\t%s\n", gguf.TypeName(t.Type), t.Tensors, humanCount(t.Elements), size, share)
		}
	}
	if o.Tensors {
		fmt.Fprintf(out, "\ftensors: %d, data from byte %d, aligned to %d\n", len(f.Tensors), f.DataOffset(), f.Alignment)
		fmt.Fprint(out, "  name\ttype\tshape\toffset\tbytes\n")
		for i := range f.Tensors {
			t := &f.Tensors[i]
			size := "unknown"
			if t.Type.Known() {
				size = fmt.Sprint(len(t.Data))
			}
			fmt.Fprintf(out, "  %s\t%s\t%s\t%d\t%s\n", printable(t.Name, o), gguf.TypeName(t.Type), shape(t.Dims), t.Offset, size)
		}
	}
	return out.Flush()
}

func tokenizerText(w io.Writer, f *gguf.File, t *tokenizer) {
	fmt.Fprintf(w, "tokenizer: %q", t.Model)
	if t.Pre != "" {
		fmt.Fprintf(w, " (pre %q)", t.Pre)
	}
	fmt.Fprintf(w, ", %d tokens, %d merges", t.Tokens, t.Merges)
	for _, name := range specials {
		if id, ok := t.Special[name]; ok {
			fmt.Fprintf(w, ", %s %d", name, id)
			if text, ok := token(f, id); ok {
				fmt.Fprintf(w, " %q", text)
			}
		}
	}
	if t.ChatTemplate > 0 {
		fmt.Fprintf(w, ", chat template of %d bytes", t.ChatTemplate)
	}
	fmt.Fprint(w, "\n")
}

// valueText prints a metadata value on one line.
func valueText(v any, o Options) string {
	if s, ok := v.(string); ok {
		return quoted(s, o)
	}
	r := reflect.ValueOf(v)
	if r.Kind() != reflect.Slice {
		return fmt.Sprint(v)
	}
	short, cut := abridged(v, o)
	r = reflect.ValueOf(short)
	parts := make([]string, r.Len())
	for i := range parts {
		parts[i] = valueText(r.Index(i).Interface(), o)
	}
	if cut {
		parts = append(parts, "...")
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

func quoted(s string, o Options) string {
	if o.All || len(s) <= stringShown {
		return fmt.Sprintf("%q", s)
	}
	return fmt.Sprintf("%q... (%d bytes)", s[:stringShown], len(s))
}

// printable is a name from the file, with quotes if it holds anything that
// could upset a terminal or the columns.
func printable(s string, o Options) string {
	q := quoted(s, o)
	if q == `"`+s+`"` {
		return s
	}
	return q
}

func shape(dims []int) string {
	parts := make([]string, len(dims))
	for i, d := range dims {
		parts[i] = fmt.Sprint(d)
	}
	return strings.Join(parts, " x ")
}

func humanBytes(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.2f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.2f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.2f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d bytes", n)
}

func humanCount(n int) string {
	switch {
	case n >= 1e9:
		return fmt.Sprintf("%.2f B", float64(n)/1e9)
	case n >= 1e6:
		return fmt.Sprintf("%.2f M", float64(n)/1e6)
	}
	return fmt.Sprint(n)
}
