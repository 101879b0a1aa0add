package stat

import (
	"fmt"
	"testing"
)

// TestPublishedIntervals compares with the tables of R. G. Newcombe, Statistics
// in Medicine 17 (1998): 857-872 for one rate (methods 3 and 5), 873-890 for a
// difference (method 10).
func TestPublishedIntervals(t *testing.T) {
	four := func(i Interval) string { return fmt.Sprintf("%.4f %.4f", i.Lo, i.Hi) }
	for _, c := range []struct {
		r               Rate
		wilson, clopper string
	}{
		{Rate{81, 263}, "0.2553 0.3662", "0.2527 0.3676"},
		{Rate{15, 148}, "0.0624 0.1605", "0.0578 0.1617"},
		{Rate{0, 20}, "0.0000 0.1611", "0.0000 0.1684"},
		{Rate{1, 29}, "0.0061 0.1718", "0.0009 0.1776"},
	} {
		if got := four(c.r.Wilson(0.95)); got != c.wilson {
			t.Errorf("Wilson of %v: %s, want %s", c.r, got, c.wilson)
		}
		if got := four(c.r.ClopperPearson(0.95)); got != c.clopper {
			t.Errorf("Clopper-Pearson of %v: %s, want %s", c.r, got, c.clopper)
		}
	}
	for _, c := range []struct {
		a, b Rate
		want string
	}{
		{Rate{56, 70}, Rate{48, 80}, "0.0524 0.3339"},
		{Rate{9, 10}, Rate{3, 10}, "0.1705 0.8090"},
		{Rate{6, 7}, Rate{2, 7}, "0.0582 0.8062"},
		{Rate{5, 56}, Rate{0, 29}, "-0.0381 0.1926"},
		{Rate{0, 10}, Rate{0, 20}, "-0.1611 0.2775"},
		{Rate{0, 10}, Rate{0, 10}, "-0.2775 0.2775"},
		{Rate{10, 10}, Rate{0, 20}, "0.6791 1.0000"},
		{Rate{10, 10}, Rate{0, 10}, "0.6075 1.0000"},
	} {
		if _, in := RiskDifference(c.a, c.b, 0.95); four(in) != c.want {
			t.Errorf("%v - %v: %s, want %s", c.a, c.b, four(in), c.want)
		}
	}
}

// TestPublishedTests: Fisher's tea (Agresti, Categorical Data Analysis), and the
// convictions of twins from Fisher 1962 (R's help of fisher.test).
func TestPublishedTests(t *testing.T) {
	for _, c := range []struct {
		a, b Rate
		want string
	}{
		{Rate{3, 4}, Rate{1, 4}, "0.4857"},
		{Rate{2, 17}, Rate{10, 13}, "0.0005367"},
	} {
		if got := fmt.Sprintf("%.4g", FisherExact(c.a, c.b)); got != c.want {
			t.Errorf("%v against %v: p %s, want %s", c.a, c.b, got, c.want)
		}
	}
}

// TestTrialsThatPeopleQuote: the numbers that reports of faults lean on.
func TestTrialsThatPeopleQuote(t *testing.T) {
	for _, c := range []struct {
		rate, conf float64
		faults     int
		want       int
	}{
		{0.05, 0.95, 0, 59},
		{0.05, 0.95, 1, 93},
		{0.05, 0.95, 2, 124},
		{0.01, 0.95, 0, 299},
		{0.193, 0.95, 0, 14},
		{0.5, 0.5, 0, 1},
		{0.5, 0.75, 0, 2},
	} {
		if n, err := TrialsToExclude(c.rate, c.conf, c.faults); err != nil || n != c.want {
			t.Errorf("%v at %v with %d faults: %d trials, %v; want %d", c.rate, c.conf, c.faults, n, err, c.want)
		}
	}
	if got := fmt.Sprintf("%.3f", Rate{0, 14}.Upper(0.95)); got != "0.193" {
		t.Errorf("0 of 14 excludes what is above %s, want 0.193", got)
	}
}
