package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// The plots are SVG whose places along x are shares of its width, so the page
// stretches them without stretching the letters.

// forest is the plot of the rates with their intervals, a row for each cell.
type forest struct {
	Conf  string
	Ticks []tick
	Rows  []forestRow
}

type forestRow struct {
	Group  string // the point of the matrix, at its first row
	Label  string // the arm
	Hue    int    // of the arm
	Counts string
	Empty  bool // no trial counts
	// The places are along x: the point, the ends of Wilson's interval, and those
	// of Clopper and Pearson's.
	X, W1, W2, C1, C2 string
	Title             string
}

// tick is a place of an axis with its label.
type tick struct {
	X, Label string
	Anchor   string // how the label is laid at X
}

// place is a share of the width.
func place(share float64) string {
	return strconv.FormatFloat(100*min(1, max(0, share)), 'f', 2, 64) + "%"
}

func (rep *Report) forest() *forest {
	var top float64
	for i := range rep.Cells {
		if c := &rep.Cells[i]; c.Faults().N > 0 {
			top = max(top, c.ClopperPearson.Hi)
		}
	}
	top = niceTop(top)
	f := &forest{Conf: percent0(rep.Run.Conf), Ticks: rateTicks(top)}
	last := ""
	for i := range rep.Cells {
		c := &rep.Cells[i]
		row := forestRow{Label: c.Arm, Hue: rep.hue(c.Arm), Counts: c.Faults().String(), Empty: c.Faults().N == 0}
		where := rep.Run.Where(c.At)
		if where != last {
			row.Group, last = where, where
		}
		row.X = place(c.Rate / top)
		row.W1, row.W2 = place(c.Wilson.Lo/top), place(c.Wilson.Hi/top)
		row.C1, row.C2 = place(c.ClopperPearson.Lo/top), place(c.ClopperPearson.Hi/top)
		row.Title = fmt.Sprintf("%s: %v faults, %s, Wilson %s %%, Clopper-Pearson %s %%", strings.Trim(c.Arm+", "+where, ", "), c.Faults(), percent(c.Rate), between(c.Wilson.Lo, c.Wilson.Hi), between(c.ClopperPearson.Lo, c.ClopperPearson.Hi))
		f.Rows = append(f.Rows, row)
	}
	return f
}

// hue is the number of the arm's colour.
func (rep *Report) hue(arm string) int {
	for i, a := range rep.Run.Arms {
		if a == arm {
			return i % 6
		}
	}
	return 0
}

// niceTop is the end of an axis of rates that reaches x.
func niceTop(x float64) float64 {
	if x <= 0 {
		return 1
	}
	unit := math.Pow10(int(math.Floor(math.Log10(x))))
	for _, m := range []float64{1, 2, 4, 5, 10} {
		if top := unit * m; top >= x*(1-1e-9) {
			return min(1, top)
		}
	}
	return 1
}

func rateTicks(top float64) (ts []tick) {
	const parts = 4
	for i := 0; i <= parts; i++ {
		x := top * float64(i) / parts
		t := tick{X: place(float64(i) / parts), Label: strconv.FormatFloat(100*x, 'g', 4, 64), Anchor: "middle"}
		switch i {
		case 0:
			t.Anchor = "start"
		case parts:
			t.Anchor, t.Label = "end", t.Label+" %"
		}
		ts = append(ts, t)
	}
	return ts
}
