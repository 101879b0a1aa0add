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
// once, at the place of the first, with all the numbers.
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
		k, _ := strconv.Atoi(m[1])
		s = strings.ReplaceAll(s, "blk."+m[1]+".", "blk.\x00.")
		if layers[s] == nil {
			order = append(order, s)
		}
		layers[s] = append(layers[s], k)
	}
	for i, s := range order {
		order[i] = strings.ReplaceAll(s, "\x00", ranges(layers[s]))
	}
	return order
}

// ranges writes ascending numbers as "0-3,5".
func ranges(v []int) string {
	var s []string
	for i := 0; i < len(v); {
		j := i
		for j+1 < len(v) && v[j+1] <= v[j]+1 {
			j++
		}
		if v[i] == v[j] {
			s = append(s, strconv.Itoa(v[i]))
		} else {
			s = append(s, fmt.Sprintf("%d-%d", v[i], v[j]))
		}
		i = j + 1
	}
	return strings.Join(s, ",")
}
