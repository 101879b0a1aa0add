package addr

import (
	"fmt"
	"io"
	"strings"
)

// maxListed bounds how many ranges of a kind are printed.
const maxListed = 6

// Write prints an explanation.
func (x *Explanation) Write(w io.Writer) error {
	var b strings.Builder
	where := "address"
	if x.PageOnly {
		where = "page of"
	}
	fmt.Fprintf(&b, "%s %#x: ", where, x.Addr)
	switch x.Class {
	case Inside:
		fmt.Fprintf(&b, "inside a live allocation, byte %d of %s\n", x.Addr-x.In[0].Start, x.In[0].Name)
	case Freed:
		fmt.Fprintf(&b, "in memory that was freed: %s\n", x.Was[0].Name)
	case Edge:
		fmt.Fprintf(&b, "in no allocation itself, but its page has bytes of %s\n", x.In[0].Name)
	case Gap:
		fmt.Fprintf(&b, "in a gap between allocations\n")
	case Outside:
		fmt.Fprintf(&b, "outside of all allocations\n")
	}
	x.writeRanges(&b)
	x.writeWraps(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

func (x *Explanation) writeRanges(b *strings.Builder) {
	for i, r := range x.In {
		if i == maxListed {
			fmt.Fprintf(b, "  and %d more\n", len(x.In)-i)
			break
		}
		switch {
		case r.contains(x.Addr):
			fmt.Fprintf(b, "  in      %s%s: byte %d, %d before the end\n", r, r.more(), x.Addr-r.Start, r.End()-x.Addr)
		default:
			fmt.Fprintf(b, "  on page %s%s: starts %d bytes into the page\n", r, r.more(), r.Start-x.Addr)
		}
		if x.PageOnly && r.contains(x.Addr) && r.End()-x.Addr < Page {
			fmt.Fprintf(b, "          it ends on this page: an access less than %d bytes past the end faults here too\n", Page-(r.End()-x.Addr))
		}
	}
	for i, r := range x.Was {
		if i == maxListed {
			fmt.Fprintf(b, "  and %d more that were freed\n", len(x.Was)-i)
			break
		}
		at := ""
		if r.contains(x.Addr) {
			at = fmt.Sprintf(": byte %d", x.Addr-r.Start)
		}
		fmt.Fprintf(b, "  was     %s%s%s\n", r, r.more(), at)
	}
	if x.Below != nil {
		fmt.Fprintf(b, "  past    %s%s: %s past its end\n", x.Below, x.Below.more(), amount(x.Past))
	}
	if x.Above != nil {
		fmt.Fprintf(b, "  before  %s%s: %s before its start\n", x.Above, x.Above.more(), amount(x.Before))
	}
}

func (x *Explanation) writeWraps(b *strings.Builder) {
	if len(x.Wraps) == 0 {
		return
	}
	fmt.Fprint(b, "an index out of range leads here:\n")
	for _, w := range x.Wraps {
		product := fmt.Sprintf("%#x x %d", w.Index, w.Stride)
		switch {
		case w.Wide:
			product += fmt.Sprintf(" = %d", w.Index*w.Stride)
		case w.Signed:
			product += fmt.Sprintf(" mod 2^32 = %#x, as a signed number %d", w.Product, int32(w.Product))
		default:
			product += fmt.Sprintf(" mod 2^32 = %#x = %d", w.Product, w.Product)
		}
		at := ""
		if x.PageOnly {
			at = "at least "
		}
		fmt.Fprintf(b, "  %s + %s + %s%d = %#x\n", w.Range.Name, product, at, w.Rest, x.Addr+w.offset(x))
		for _, index := range w.Also {
			fmt.Fprintf(b, "          the index %#x has the same product\n", index)
		}
		switch {
		case w.Derived:
			fmt.Fprintf(b, "          if its %d bytes are %d elements of %d\n", w.Range.Bytes, w.Count, w.Stride)
		case w.Count > 0:
			fmt.Fprintf(b, "          it has %d elements of %d bytes\n", w.Count, w.Stride)
		}
	}
	fmt.Fprintf(b, "  of the products tried with elements no larger, %.2g would lead to a random address within 4 GiB\n", x.Chance)
}

// offset is how far into the page the wrap's access is.
func (w *Wrap) offset(x *Explanation) uint64 {
	target := w.Range.Start + uint64(w.Product)
	switch {
	case w.Wide:
		target = w.Range.Start + w.Index*w.Stride
	case w.Signed:
		target = w.Range.Start + uint64(int64(int32(w.Product)))
	}
	return target + w.Rest - x.Addr
}

// more is what a map says of a range besides its place.
func (r *Range) more() string {
	var parts []string
	for _, p := range []struct{ what, value string }{{"", r.Detail}, {"allocated ", r.Allocated}, {"freed ", r.FreedAt}} {
		if p.value != "" {
			parts = append(parts, p.what+p.value)
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

// amount is a number of bytes, the large ones also in a unit.
func amount(n uint64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%d bytes (%.2f GiB)", n, float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%d bytes (%.2f MiB)", n, float64(n)/(1<<20))
	}
	return fmt.Sprintf("%d bytes", n)
}
