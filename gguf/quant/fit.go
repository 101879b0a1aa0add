package quant

// The searches for a group's scale. Each tries a handful of scales and keeps the
// one with the least weighted error; the order of the float32 operations is
// ggml's, because the last bits decide which candidate wins.

// tiny is the magnitude below which a group counts as all zeros.
const tiny = 1e-15

// fitEven returns the scale s of the grid s*(q-n), 0 <= q < 2n, that fits x best
// in squared error with weights x². The candidates put the element furthest from
// zero on step -n - k/10, |k| < 10. q becomes the steps for the best of them.
func fitEven(q []uint8, x []float32, n int32) float32 {
	top := peak(x)
	if abs(top) < tiny {
		clear(q)
		return 0
	}
	// With the steps fixed, s = xq/qq is the best scale, and leaves an error
	// that is smaller by xq²/qq than without any.
	try := func(inv float32) (xq, qq float32) {
		for _, v := range x {
			l := float32(max(-n, min(n-1, nearest(inv*v))))
			w := v * v
			xq += float32(w * v * l)
			qq += float32(w * l * l)
		}
		return xq, qq
	}
	best := -float32(n) / top
	xq, qq := try(best)
	var s float32
	if qq != 0 {
		s = xq / qq
	}
	gain := s * xq
	for k := -9; k <= 9; k++ {
		if k == 0 {
			continue
		}
		inv := -(float32(n) + float32(0.1*float32(k))) / top
		if xq, qq := try(inv); qq > 0 && xq*xq > gain*qq {
			best, s = inv, xq/qq
			gain = s * xq
		}
	}
	for i, v := range x {
		q[i] = uint8(n + max(-n, min(n-1, nearest(best*v))))
	}
	return s
}

// fitEvenByDescent is fitEven for coarse grids: it starts from one scale and
// then, five times over, moves single elements to the step that is best for the
// scale of all the others.
func fitEvenByDescent(q []uint8, x []float32, n int32) float32 {
	top := peak(x)
	if abs(top) < tiny {
		clear(q)
		return 0
	}
	inv := -float32(n) / top
	var xq, qq float32
	for i, v := range x {
		l := max(-n, min(n-1, nearest(inv*v)))
		q[i] = uint8(l + n)
		w := v * v
		xq += float32(w * v * float32(l))
		qq += float32(w * float32(l) * float32(l))
	}
	for range 5 {
		moved := false
		for i, v := range x {
			w, old := v*v, float32(int32(q[i])-n)
			xq1 := xq - float32(w*v*old)
			if !(xq1 > 0) {
				continue
			}
			qq1 := qq - float32(w*old*old)
			l := max(-n, min(n-1, nearest(v*qq1/xq1)))
			if l == int32(q[i])-n {
				continue
			}
			xq1 += float32(w * v * float32(l))
			qq1 += float32(w * float32(l) * float32(l))
			if qq1 > 0 && xq1*xq1*qq > xq*xq*qq1 {
				q[i], xq, qq, moved = uint8(l+n), xq1, qq1, true
			}
		}
		if !moved {
			break
		}
	}
	if qq > 0 {
		return xq / qq
	}
	return 0
}

// fitParams says how fitMinimum searches.
type fitParams struct {
	steps    int32   // the largest q
	first    float32 // the first candidate has steps+first steps from least to greatest
	tries    int     // how many candidates follow, each with 0.1 more steps
	absolute bool    // the error is a sum of magnitudes, not of squares
}

// fitMinimum returns the scale s and the minimum m >= 0 with which s*q - m,
// 0 <= q <= p.steps, fits x best with weights w. q becomes the steps.
func fitMinimum(q []uint8, x, w []float32, p fitParams) (s, m float32) {
	low, high := x[0], x[0]
	sumW, sumX := w[0], float32(w[0]*x[0])
	for i := 1; i < len(x); i++ {
		low, high = min(low, x[i]), max(high, x[i])
		sumW += w[i]
		sumX += float32(w[i] * x[i])
	}
	if low > 0 {
		low = 0
	}
	if high == low {
		clear(q)
		return 0, -low
	}
	step := func(inv, v float32) uint8 { return uint8(max(0, min(p.steps, nearest(inv*(v-low))))) }
	var trial [32]uint8
	cost := func(q []uint8, s, low float32) (sum float32) {
		for i, v := range x {
			diff := float32(s*float32(q[i])) + low - v
			if p.absolute {
				diff = abs(diff)
			} else {
				diff *= diff
			}
			sum += float32(w[i] * diff)
		}
		return sum
	}

	inv := float32(p.steps) / (high - low)
	s = 1 / inv
	for i, v := range x {
		q[i] = step(inv, v)
	}
	least := cost(q, s, low)
	for k := range p.tries + 1 {
		// A better minimum found on the way moves the candidates that follow.
		inv := (p.first + float32(0.1*float32(k)) + float32(p.steps)) / (high - low)
		// With the steps fixed, scale and minimum solve two linear equations.
		var l, ll, xl float32
		for i, v := range x {
			trial[i] = step(inv, v)
			t := float32(trial[i])
			l += float32(w[i] * t)
			ll += float32(w[i] * t * t)
			xl += float32(w[i] * t * v)
		}
		det := float32(sumW*ll) - float32(l*l)
		if !(det > 0) {
			continue
		}
		s1 := (float32(sumW*xl) - float32(sumX*l)) / det
		low1 := (float32(ll*sumX) - float32(l*xl)) / det
		if low1 > 0 {
			s1, low1 = xl/ll, 0
		}
		if c := cost(trial[:], s1, low1); c < least {
			least, s, low = c, s1, low1
			copy(q, trial[:])
		}
	}
	return s, -low
}
