package report

import (
	"fmt"
	"strings"
)

// heat is the map of an arm's rates over the matrix: the last axis across, the
// others down. With one axis a single map has the arms down.
type heat struct {
	Title      string
	Across     string // the axis's name
	Columns    []heatMark
	Rows       []heatRow
	Height     int
	MinWidth   int // below it the page lets the map scroll
	LabelWidth string
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
		h := newHeat("", last)
		for _, arm := range rep.Run.Arms {
			h.row(arm, len(last.Values), func(i int) *Cell { return rep.cellAt(arm, []string{last.Values[i]}) })
		}
		return append(hs, h.done())
	}
	for _, arm := range rep.Run.Arms {
		h := newHeat(arm, last)
		for _, at := range points(axes[:len(axes)-1]) {
			h.row(rep.Run.where(at), len(last.Values), func(i int) *Cell {
				return rep.cellAt(arm, append(append([]string{}, at...), last.Values[i]))
			})
		}
		hs = append(hs, h.done())
	}
	return hs
}

// The labels of the rows take as much as some columns.
const heatLabelColumns = 1.6

func newHeat(title string, axis Axis) *heat {
	h := &heat{Title: title, Across: axis.Name, MinWidth: 60 * (len(axis.Values) + 2)}
	n := float64(len(axis.Values)) + heatLabelColumns
	for i, v := range axis.Values {
		h.Columns = append(h.Columns, heatMark{place((float64(i) + heatLabelColumns + 0.5) / n), v})
	}
	return h
}

func (h *heat) row(label string, n int, at func(int) *Cell) {
	y := heatHead + heatCellHeight*len(h.Rows)
	r := heatRow{Label: label, Y: y, Text: y + 21}
	all := float64(n) + heatLabelColumns
	for i := range n {
		c := at(i)
		k := c.Faults()
		x := float64(i) + heatLabelColumns
		cell := heatCell{X: place(x / all), Width: place(1 / all), Mid: place((x + 0.5) / all), Shade: fmt.Sprintf("%.3f", 0.85*c.Rate), Text: k.String(), Empty: k.N == 0}
		cell.Title = fmt.Sprintf("%s %s %s: %v faults", strings.TrimSpace(h.Title+" "+label), h.Across, h.Columns[i].Text, k)
		if k.N > 0 {
			cell.Title += ", " + between(c.Wilson.Lo, c.Wilson.Hi) + " %"
		}
		r.Cells = append(r.Cells, cell)
	}
	h.Rows = append(h.Rows, r)
}

func (h *heat) done() heat {
	h.Height = heatHead + heatCellHeight*len(h.Rows)
	return *h
}
