package report

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/holdfast-llm/holdfast/lab"
)

// heat is the map of an arm's rates over the matrix: the last axis across, the
// others down. With one axis a single map has the arms down.
type heat struct {
	Title    string
	Across   string // the axis's name
	Columns  []heatMark
	Rows     []heatRow
	Height   int
	MinWidth int // below it the page lets the map scroll

	labels float64 // the width of the rows' labels, in columns
}

type heatMark struct{ X, Text string }

type heatRow struct {
	Label   string
	Y, Text int // the top of the cells, and the line of their text
	Cells   []heatCell
}

type heatCell struct {
	X, Width, Mid string
	Shade         string // the rate, as an opacity
	Text          string
	Title         string
	Empty         bool // no trial counts
}

const (
	heatCellHeight = 34
	heatHead       = 24
)

func (rep *Report) heats() (hs []heat) {
	axes := rep.Run.Axes
	if len(axes) == 0 {
		return nil
	}
	last := axes[len(axes)-1]
	if len(axes) == 1 {
		h := newHeat("", last, rep.Run.Arms)
		for _, arm := range rep.Run.Arms {
			h.row(arm, func(i int) *Cell { return rep.cellAt(arm, []string{last.Values[i]}) })
		}
		return append(hs, *h)
	}
	down := lab.Points(axes[:len(axes)-1])
	var labels []string
	for _, at := range down {
		labels = append(labels, rep.Run.Where(at))
	}
	for _, arm := range rep.Run.Arms {
		h := newHeat(arm, last, labels)
		for i, at := range down {
			h.row(labels[i], func(i int) *Cell {
				return rep.cellAt(arm, append(append([]string{}, at...), last.Values[i]))
			})
		}
		hs = append(hs, *h)
	}
	return hs
}

func newHeat(title string, axis lab.Axis, labels []string) *heat {
	const column, letter = 60, 6.8 // pixels, at the least
	h := &heat{Title: title, Across: axis.Name, Height: heatHead, labels: 1}
	for _, l := range append([]string{axis.Name}, labels...) {
		h.labels = max(h.labels, letter*float64(utf8.RuneCountInString(l))/column)
	}
	n := float64(len(axis.Values)) + h.labels
	h.MinWidth = int(column * n)
	for i, v := range axis.Values {
		h.Columns = append(h.Columns, heatMark{place((float64(i) + h.labels + 0.5) / n), v})
	}
	return h
}

func (h *heat) row(label string, at func(column int) *Cell) {
	y := h.Height
	h.Height += heatCellHeight
	r := heatRow{Label: label, Y: y, Text: y + 21}
	all := float64(len(h.Columns)) + h.labels
	for i := range h.Columns {
		c := at(i)
		k := c.Faults()
		x := float64(i) + h.labels
		cell := heatCell{X: place(x / all), Width: place(1 / all), Mid: place((x + 0.5) / all), Shade: fmt.Sprintf("%.3f", 0.85*c.Rate), Text: k.String(), Empty: k.N == 0}
		cell.Title = fmt.Sprintf("%s %s %s: %v faults", strings.TrimSpace(h.Title+" "+label), h.Across, h.Columns[i].Text, k)
		if k.N > 0 {
			cell.Title += ", " + between(c.Wilson.Lo, c.Wilson.Hi) + " %"
		}
		r.Cells = append(r.Cells, cell)
	}
	h.Rows = append(h.Rows, r)
}
