package stat

import (
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
)

// TestAgainstR compares with testdata/golden.tsv, which R wrote by
// testdata/golden.R.
func TestAgainstR(t *testing.T) {
	b, err := os.ReadFile("testdata/golden.tsv")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for i, line := range strings.Split(strings.TrimSpace(string(b)), "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Split(strings.TrimSpace(line), "\t")
		kind := f[0]
		seen[kind]++
		if kind == "holm" {
			for j, got := range Holm(numbers(t, f[1])) {
				near(t, i+1, line, got, numbers(t, f[2])[j], 1e-14)
			}
			continue
		}
		x := numbers(t, strings.Join(f[1:], ","))
		n := func(j int) int { return int(x[j]) }
		var got, want []float64
		within := 1e-9 // relative
		switch kind {
		case "wilson":
			in := Rate{n(0), n(1)}.Wilson(x[2])
			got, want = []float64{in.Lo, in.Hi}, x[3:]
		case "clopper":
			in := Rate{n(0), n(1)}.ClopperPearson(x[2])
			got, want = []float64{in.Lo, in.Hi}, x[3:]
		case "onesided":
			r := Rate{n(0), n(1)}
			got, want = []float64{r.Lower(x[2]), r.Upper(x[2])}, x[3:]
		case "fisher":
			got, want = []float64{FisherExact(Rate{n(0), n(1)}, Rate{n(2), n(3)})}, x[4:]
		case "newcombe":
			_, in := RiskDifference(Rate{n(0), n(1)}, Rate{n(2), n(3)}, 0.95)
			got, want = []float64{in.Lo, in.Hi}, x[4:]
		case "binomial":
			got, want = []float64{binomialPMF(n(0), n(1), x[2]), binomialCDF(n(0), n(1), x[2])}, x[3:]
			within = 1e-11
		case "exclude":
			m, err := TrialsToExclude(x[0], x[1], n(2))
			if err != nil {
				t.Error(err)
			}
			got, want = []float64{float64(m)}, x[3:]
		case "power":
			got, want = []float64{FisherPower(x[0], x[1], n(2), n(3), x[4])}, x[5:]
		case "between":
			m, err := TrialsBetween(x[0], x[1], x[2], x[3])
			if err != nil {
				t.Error(err)
			}
			got, want = []float64{float64(m)}, x[4:]
		default:
			t.Fatalf("golden.tsv:%d: %s", i+1, line)
		}
		if len(got) != len(want) {
			t.Fatalf("golden.tsv:%d: %d values, want %d", i+1, len(want), len(got))
		}
		for j := range got {
			near(t, i+1, line, got[j], want[j], within)
		}
	}
	for _, kind := range strings.Fields("wilson clopper onesided fisher newcombe binomial exclude power between holm") {
		if seen[kind] < 5 {
			t.Errorf("only %d lines of %s", seen[kind], kind)
		}
	}
}

// near wants got within a share of want, or of 1e-6 below that.
func near(t *testing.T, line int, text string, got, want, within float64) {
	t.Helper()
	if math.Abs(got-want) > within*math.Max(math.Abs(want), 1e-6) {
		t.Errorf("golden.tsv:%d: %s\ngot %.15g, want %.15g", line, text, got, want)
	}
}

func numbers(t *testing.T, list string) []float64 {
	t.Helper()
	var xs []float64
	for _, s := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == '\t' }) {
		x, err := strconv.ParseFloat(s, 64)
		if err != nil {
			t.Fatal(err)
		}
		xs = append(xs, x)
	}
	return xs
}
