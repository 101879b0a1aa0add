// Package inspect describes an AMDGPU code object, as text for people and as
// JSON for scripts.
package inspect

import (
	"bufio"
	"debug/elf"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/holdfast-llm/holdfast/amd/hsaco"
)

// Options chooses how much is printed.
type Options struct {
	All bool // every relocation (JSON always has them)
}

// relocsShown is how many relocations are listed without Options.All.
const relocsShown = 8

// Text writes the target, the segments, and for each kernel what it needs and
// takes. The error is w's.
func Text(w io.Writer, o *hsaco.Object, opt Options) error {
	p := printer{w: bufio.NewWriter(w)}
	linked := "linked"
	if o.Relocatable {
		linked = "not linked"
	}
	p.line("%s: AMDGPU code object version %d, %s, for %v%s", o.Name, o.Version, linked, o.Target, generic(o.Target))
	if md := o.Metadata; md != nil {
		p.line("metadata: version %d.%d%s", md.Version[0], md.Version[1], quoted(", target ", md.Target))
		for _, s := range md.Printf {
			p.line("printf: %q", s)
		}
	}
	for _, warning := range o.Warnings {
		p.line("note: %s: %s", warning.Reason, warning.Detail)
	}
	p.segments(o.Segments)
	p.relocs(o.Relocs, opt)
	for i := range o.Kernels {
		p.kernel(o, &o.Kernels[i])
	}
	if len(o.Kernels) == 0 {
		p.line("\nno kernels")
	}
	return p.w.Flush()
}

// A printer keeps the first error in its writer, as bufio does.
type printer struct{ w *bufio.Writer }

func (p *printer) line(format string, args ...any) { fmt.Fprintf(p.w, format+"\n", args...) }

// table writes rows of cells with the columns aligned.
func (p *printer) table(indent string, rows [][]string) {
	tw := tabwriter.NewWriter(p.w, 0, 0, 2, ' ', tabwriter.TabIndent)
	for _, row := range rows {
		for len(row) > 0 && row[len(row)-1] == "" {
			row = row[:len(row)-1]
		}
		fmt.Fprintln(tw, indent+strings.Join(row, "\t"))
	}
	tw.Flush()
}

func generic(t hsaco.Target) string {
	if t.Generic == 0 {
		return ""
	}
	return fmt.Sprintf(" version %d", t.Generic)
}

// plain quotes a name only if it needs it.
func plain(s string) string {
	if q := strconv.Quote(s); q[1:len(q)-1] != s || s == "" {
		return q
	}
	return s
}

// quoted is before and s, or nothing without s.
func quoted(before, s string) string {
	if s == "" {
		return ""
	}
	return before + plain(s)
}

func (p *printer) segments(segments []hsaco.Segment) {
	if len(segments) == 0 {
		return
	}
	p.line("\nsegments:")
	rows := [][]string{{"address", "memory", "file", "at", "align", "access"}}
	for _, s := range segments {
		rows = append(rows, []string{
			hex(s.Vaddr), decimal(s.MemBytes), decimal(uint64(len(s.Data))), hex(s.Offset), hex(s.Align), access(s.Flags),
		})
	}
	p.table("  ", rows)
}

// access is "r-x" for a segment with code.
func access(flags elf.ProgFlag) string {
	out := []byte("---")
	for i, flag := range []elf.ProgFlag{elf.PF_R, elf.PF_W, elf.PF_X} {
		if flags&flag != 0 {
			out[i] = "rwx"[i]
		}
	}
	return string(out)
}

func (p *printer) relocs(relocs []hsaco.Reloc, opt Options) {
	if len(relocs) == 0 {
		return
	}
	shown := relocs
	if !opt.All && len(shown) > relocsShown {
		shown = shown[:relocsShown]
	}
	p.line("\nrelocations, none applied: %d", len(relocs))
	rows := make([][]string, len(shown))
	for i, r := range shown {
		where := hex(r.Offset)
		if r.Section != "" {
			where = plain(r.Section) + "+" + where
		}
		rows[i] = []string{where, r.Type.String(), fmt.Sprintf("%s%+#x", quoted("", r.Symbol), r.Addend)}
	}
	p.table("  ", rows)
	if n := len(relocs) - len(shown); n > 0 {
		p.line("  and %d more (--all lists them)", n)
	}
}

func hex(v uint64) string     { return "0x" + strconv.FormatUint(v, 16) }
func decimal(v uint64) string { return strconv.FormatUint(v, 10) }
