package sample

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestExpIsWithinOneUlp(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	worst := 0.0
	for range 1_000_000 {
		x := -708 * math.Pow(r.Float64(), 3) // denser near 0
		want := math.Exp(x)
		ulp := math.Nextafter(want, 2) - want
		worst = max(worst, math.Abs(exp(x)-want)/ulp)
	}
	// math.Exp itself is good to 1 ulp, so 2 between them.
	if worst > 2 {
		t.Errorf("%v ulp from math.Exp", worst)
	}
	t.Logf("at most %v ulp from math.Exp", worst)
}

func TestExpAtTheEnds(t *testing.T) {
	for x, want := range map[float64]float64{0: 1, math.Inf(-1): 0, -708.5: 0, -1e300: 0} {
		if got := exp(x); got != want {
			t.Errorf("exp(%v) = %v, want %v", x, got, want)
		}
	}
	if got := exp(-708); got < 3e-308 || got > 4e-308 {
		t.Errorf("exp(-708) = %v", got)
	}
}
