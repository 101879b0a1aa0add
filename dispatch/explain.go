package dispatch

import (
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/holdfast-llm/holdfast/device"
)

// Explain prints what a program runs and why, as a table: each operation, what
// was chosen and what declined with the reason, then every transient. Layers
// that were decided alike share a line, unless all is set.
func Explain(w io.Writer, p *device.Program, all bool) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "operation\tchosen\tsplits\tdeclined: reason (detail)\n")
	for _, f := range foldLayers(len(p.Decisions), all, func(i int) string { return decisionLine(&p.Decisions[i]) }) {
		lines := strings.Split(f, "\n")
		fmt.Fprintln(t, lines[0])
		for _, l := range lines[1:] {
			fmt.Fprintf(t, "\t\t\t%s\n", l)
		}
	}
	fmt.Fprintf(t, "\ntransient\tbytes\toffset\tstages\n")
	for _, f := range foldLayers(len(p.Places), all, func(i int) string {
		at := &p.Places[i]
		if all {
			return fmt.Sprintf("%s\t%d\t%d\t%d-%d", at.Value.Name, at.Bytes, at.Offset, at.First, at.Last)
		}
		return fmt.Sprintf("%s\t%d\t%d\t%d", at.Value.Name, at.Bytes, at.Offset, at.Last-at.First+1)
	}) {
		fmt.Fprintln(t, f)
	}
	return t.Flush()
}

func decisionLine(d *device.Decision) string {
	splits := "-"
	if d.Splits > 0 {
		splits = strconv.Itoa(d.Splits)
	}
	s := fmt.Sprintf("%s\t%s\t%s\t", d.Op, d.Chosen, splits)
	for i, no := range d.Declined {
		if i > 0 {
			s += "\n"
		}
		s += no.String()
	}
	return s
}

var layerName = regexp.MustCompile(`\bblk\.(\d+)\.`)

// foldLayers lists lines, those that differ in nothing but the layer's number
// once, at the place of the first, with all the numbers. A line may name two
// layers: "blk.0-26.ffn_add + blk.1-27.attn_norm".
func foldLayers(n int, all bool, line func(int) string) []string {
	var order []string
	layers := map[string][]int{}
	for i := range n {
		s := line(i)
		m := layerName.FindStringSubmatch(s)
		if m == nil || all {
			order = append(order, s)
			continue
		}
		first, _ := strconv.Atoi(m[1])
		s = layerName.ReplaceAllStringFunc(s, func(m string) string {
			k, _ := strconv.Atoi(m[len("blk.") : len(m)-1])
			return fmt.Sprintf("blk.\x00%d\x00.", k-first)
		})
		if layers[s] == nil {
			order = append(order, s)
		}
		layers[s] = append(layers[s], first)
	}
	for i, s := range order {
		order[i] = folded.ReplaceAllStringFunc(s, func(m string) string {
			k, _ := strconv.Atoi(strings.Trim(m, "\x00"))
			return ranges(layers[s], k)
		})
	}
	return order
}

// folded is a layer's number in a line that stands for several, counted from
// the line's first.
var folded = regexp.MustCompile("\x00-?\\d+\x00")

// ranges writes ascending numbers, each plus k, as "0-3,5".
func ranges(v []int, k int) string {
	var s []string
	for i := 0; i < len(v); {
		j := i
		for j+1 < len(v) && v[j+1] <= v[j]+1 {
			j++
		}
		if v[i] == v[j] {
			s = append(s, strconv.Itoa(v[i]+k))
		} else {
			s = append(s, fmt.Sprintf("%d-%d", v[i]+k, v[j]+k))
		}
		i = j + 1
	}
	return strings.Join(s, ",")
}
