package stat

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

const conf95 = 0.95

func TestNoTrialsExcludeNothing(t *testing.T) {
	none := Rate{}
	for name, got := range map[string]Interval{
		"Wilson": none.Wilson(conf95), "Clopper-Pearson": none.ClopperPearson(conf95), "one-sided": {none.Lower(conf95), none.Upper(conf95)},
	} {
		if got != (Interval{0, 1}) {
			t.Errorf("%s of 0/0 is %v", name, got)
		}
	}
	if d, in := RiskDifference(none, Rate{3, 4}, conf95); d != -0.75 || in != (Interval{-1, 1}) {
		t.Errorf("0/0 - 3/4 is %v in %v", d, in)
	}
	for _, r := range []Rate{{}, {3, 4}, {0, 1_000_000}} {
		if p := FisherExact(none, r); p != 1 {
			t.Errorf("0/0 against %v: p %v", r, p)
		}
	}
	if p := FisherPower(0.1, 0.9, 0, 5, 0.05); p != 0 {
		t.Errorf("no trials have a power of %v", p)
	}
	if RuleOfThree(0) != 1 || RuleOfThree(1) != 1 || RuleOfThree(300) != 0.01 {
		t.Error("the rule of three")
	}
}

func TestCountsThatCannotBePanic(t *testing.T) {
	for name, f := range map[string]func(){
		"more hits than trials":    func() { Rate{2, 1}.Wilson(conf95) },
		"fewer hits than none":     func() { FisherExact(Rate{-1, 1}, Rate{}) },
		"certain beyond doubt":     func() { Rate{1, 2}.ClopperPearson(1) },
		"confidence that is a NaN": func() { Rate{1, 2}.Upper(math.NaN()) },
		"a rate above one":         func() { FisherPower(1.5, 0, 3, 3, 0.05) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			f()
		})
	}
}

// TestClopperPearsonCovers sums the chance of the counts whose interval has the
// true rate: it must never be under the confidence. Wilson's is only near it.
func TestClopperPearsonCovers(t *testing.T) {
	for _, n := range []int{1, 2, 5, 14, 40} {
		var wilson float64
		const grid = 400
		for i := 1; i < grid; i++ {
			p := float64(i) / grid
			var exact float64
			for k := 0; k <= n; k++ {
				r := Rate{k, n}
				exact += binomialPMF(k, n, p) * indicator(r.ClopperPearson(conf95).Contains(p))
				wilson += binomialPMF(k, n, p) * indicator(r.Wilson(conf95).Contains(p)) / (grid - 1)
			}
			if exact < conf95-1e-12 {
				t.Errorf("n %d: a rate of %v is covered with %v", n, p, exact)
			}
		}
		if math.Abs(wilson-conf95) > 0.02 {
			t.Errorf("n %d: Wilson's covers %v on average", n, wilson)
		}
	}
}

func TestIntervalsAreOrdered(t *testing.T) {
	for _, n := range []int{1, 3, 14, 100} {
		var last Interval
		for k := 0; k <= n; k++ {
			r := Rate{k, n}
			w, c := r.Wilson(conf95), r.ClopperPearson(conf95)
			for _, in := range []Interval{w, c} {
				if !(0 <= in.Lo && in.Lo <= in.Hi && in.Hi <= 1) || !in.Contains(r.Value()) {
					t.Errorf("%v: %v does not hold %v", r, in, r.Value())
				}
			}
			if c.Lo < last.Lo || c.Hi < last.Hi {
				t.Errorf("%v: %v after %v", r, c, last)
			}
			last = c
			m := Rate{n - k, n}.ClopperPearson(conf95)
			if math.Abs(m.Lo-(1-c.Hi)) > 1e-9 || math.Abs(m.Hi-(1-c.Lo)) > 1e-9 {
				t.Errorf("%v: %v is not the mirror of %v", r, c, m)
			}
			// The two-sided interval's ends are the one-sided ones of half the error.
			if u := r.Upper(0.975); math.Abs(u-c.Hi) > 1e-12 {
				t.Errorf("%v: %v, one-sided %v", r, c, u)
			}
			if wide := r.ClopperPearson(0.99); wide.Lo > c.Lo || wide.Hi < c.Hi {
				t.Errorf("%v: 99 %% %v is not around 95 %% %v", r, wide, c)
			}
		}
		if u := (Rate{0, n}).Upper(conf95); u > RuleOfThree(n) {
			t.Errorf("0/%d: the rule of three %v is under %v", n, RuleOfThree(n), u)
		}
	}
}

// TestFisherAgainstFractions counts the tables with whole numbers.
func TestFisherAgainstFractions(t *testing.T) {
	binom := func(n, k int) *big.Int { return new(big.Int).Binomial(int64(n), int64(k)) }
	for n1 := range 9 {
		for n2 := range 8 {
			for k1 := range n1 + 1 {
				for k2 := range n2 + 1 {
					m := k1 + k2
					ways := func(k int) *big.Int { return new(big.Int).Mul(binom(n1, k), binom(n2, m-k)) }
					as := new(big.Int)
					for k := max(0, m-n2); k <= min(m, n1); k++ {
						if w := ways(k); w.Cmp(ways(k1)) <= 0 {
							as.Add(as, w)
						}
					}
					want, _ := new(big.Rat).SetFrac(as, binom(n1+n2, m)).Float64()
					a, b := Rate{k1, n1}, Rate{k2, n2}
					if got := FisherExact(a, b); math.Abs(got-want) > 1e-13 {
						t.Errorf("%v against %v: %v, want %v", a, b, got, want)
					}
					if got := FisherExact(b, a); math.Abs(got-want) > 1e-13 {
						t.Errorf("%v against %v: %v, want %v", b, a, got, want)
					}
				}
			}
		}
	}
}

// TestRejectedIsWhatFisherRejects compares the region that the power sums with
// the test itself.
func TestRejectedIsWhatFisherRejects(t *testing.T) {
	for _, n := range [][2]int{{1, 1}, {5, 2}, {14, 14}, {30, 7}, {60, 60}} {
		for m := 0; m <= n[0]+n[1]; m++ {
			for _, alpha := range []float64{0.001, 0.05, 0.5} {
				h := newHypergeometric(n[0], n[1], m)
				lo, hi := h.rejected(alpha)
				for k := h.lo; k <= h.hi; k++ {
					p := FisherExact(Rate{k, n[0]}, Rate{m - k, n[1]})
					if got := k <= lo || k >= hi; got != (p <= alpha) {
						t.Errorf("%d of %d, %d of %d: p %v, alpha %v, rejected %v", k, n[0], m-k, n[1], p, alpha, got)
					}
				}
			}
		}
	}
}

func TestFisherKeepsItsLevel(t *testing.T) {
	for _, p := range []float64{0, 0.01, 0.1, 0.5, 0.93, 1} {
		for _, n := range []int{3, 20, 75} {
			if size := FisherPower(p, p, n, n+5, 0.05); size > 0.05 {
				t.Errorf("of two arms at %v, %d trials, %v are told apart", p, n, size)
			}
		}
	}
}

func TestTrialsToExcludeIsTheLeast(t *testing.T) {
	for _, rate := range []float64{2e-5, 0.003, 0.05, 0.4, 0.99} {
		for _, conf := range []float64{0.5, 0.95, 0.9999} {
			n, err := TrialsToExclude(rate, conf, 0)
			if err != nil {
				t.Fatal(err)
			}
			if want := int(math.Ceil(math.Log(1-conf)/math.Log1p(-rate) - 1e-9)); n != max(1, want) {
				t.Errorf("%v at %v: %d, want %d", rate, conf, n, want)
			}
			for _, faults := range []int{1, 4} {
				n, err := TrialsToExclude(rate, conf, faults)
				if err != nil {
					t.Fatal(err)
				}
				if u := (Rate{faults, n}).Upper(conf); u > rate*(1+1e-9) {
					t.Errorf("%d of %d still has %v within %v", faults, n, rate, u)
				}
				if n-1 > faults {
					if u := (Rate{faults, n - 1}).Upper(conf); u <= rate {
						t.Errorf("%d of %d would do for %v", faults, n-1, rate)
					}
				}
			}
		}
	}
	if n, err := TrialsToExclude(1e-7, 0.95, 0); err == nil {
		t.Errorf("one in ten million is excluded with %d trials", n)
	}
}

// TestTrialsBetweenSkipsNothing tries every number of trials from 1.
func TestTrialsBetweenSkipsNothing(t *testing.T) {
	for _, p1 := range []float64{0, 0.05, 0.3, 0.55} {
		for _, p2 := range []float64{0.2, 0.5, 0.8, 1} {
			for _, power := range []float64{0.5, 0.8, 0.95} {
				if math.Abs(p1-p2) < 0.15 {
					continue
				}
				got, err := TrialsBetween(p1, p2, 0.05, power)
				if err != nil {
					t.Fatal(err)
				}
				want := 1
				for FisherPower(p1, p2, want, want, 0.05) < power {
					want++
				}
				if got != want {
					t.Errorf("%v and %v at power %v: %d, want %d", p1, p2, power, got, want)
				}
			}
		}
	}
	for _, p := range [][2]float64{{0.1, 0.1}, {0.1, 0.1000001}} {
		if n, err := TrialsBetween(p[0], p[1], 0.05, 0.8); err == nil {
			t.Errorf("%v and %v are told apart with %d trials", p[0], p[1], n)
		}
	}
}

func TestHolmIsBetweenNothingAndBonferroni(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 1))
	for range 200 {
		ps := make([]float64, rng.IntN(12))
		for i := range ps {
			ps[i] = math.Pow(rng.Float64(), 3)
		}
		for i, a := range Holm(ps) {
			if a < ps[i] || a > math.Min(1, ps[i]*float64(len(ps)))+1e-15 {
				t.Errorf("%v of %d: %v", ps[i], len(ps), a)
			}
			for j, b := range Holm(ps) {
				if ps[i] < ps[j] && a > b {
					t.Errorf("order lost: %v to %v, %v to %v", ps[i], a, ps[j], b)
				}
			}
		}
	}
	got := Holm([]float64{0.03, math.NaN(), 0.02})
	if got[0] != 0.04 || !math.IsNaN(got[1]) || got[2] != 0.04 {
		t.Errorf("a test that was not made counts: %v", got)
	}
}

// TestPermutationOfCountsIsFisher: with arms of the same size, the far
// relabellings of zeros and ones are the unlikely tables.
func TestPermutationOfCountsIsFisher(t *testing.T) {
	for n := 1; n <= 7; n++ {
		for k1 := range n + 1 {
			for k2 := range n + 1 {
				a, b := ones(k1, n), ones(k2, n)
				want := FisherExact(Rate{k1, n}, Rate{k2, n})
				got := Permutation(a, b, 1<<20, 1)
				if !got.Exact || math.Abs(got.P-want) > 1e-12 {
					t.Errorf("%d and %d of %d: %+v, want %v", k1, k2, n, got, want)
				}
			}
		}
	}
}

func TestRandomPermutationsAreNearAllOfThem(t *testing.T) {
	a := []float64{1.5, 2.25, 9, 4, 4.5, 8, 3}
	b := []float64{2, 1, 2.5, 3, 0.5, 1.25, 2, 2}
	all := Permutation(a, b, 10_000, 1)
	some := Permutation(a, b, 5_000, 1)
	if !all.Exact || all.Draws != 6435 || some.Exact || some.Draws != 5001 {
		t.Fatalf("%+v, %+v", all, some)
	}
	if sd := math.Sqrt(all.P * (1 - all.P) / 5000); math.Abs(all.P-some.P) > 5*sd {
		t.Errorf("p %v of all, %v of some", all.P, some.P)
	}
	if again := Permutation(a, b, 5_000, 1); again != some {
		t.Errorf("the same seed gives %+v, then %+v", some, again)
	}
	if far := Permutation([]float64{9, 9, 9, 9, 9, 9, 9, 9, 9, 9}, make([]float64, 30), 100, 1); far.P != 1./101 {
		t.Errorf("p %v, want 1/101: no relabelling is as far, but the one seen counts", far.P)
	}
	if none := Permutation(nil, b, 100, 1); none.P != 1 {
		t.Errorf("without a group: %+v", none)
	}
}

func ones(k, n int) []float64 {
	xs := make([]float64, n)
	for i := range k {
		xs[i] = 1
	}
	return xs
}

func TestBinomialAddsUp(t *testing.T) {
	for _, n := range []int{1, 15, 16, 17, 400} {
		for _, p := range []float64{0, 1e-9, 0.03, 0.5, 0.999, 1} {
			var sum float64
			for k := -1; k <= n+1; k++ {
				sum += binomialPMF(k, n, p)
				if got := binomialCDF(k, n, p); math.Abs(got-sum) > 1e-12 {
					t.Errorf("n %d, p %v: %v to %d, summed %v", n, p, got, k, sum)
				}
			}
		}
	}
}

func ExampleRate() {
	clean := Rate{K: 0, N: 14}
	w := clean.Wilson(0.95)
	fmt.Printf("%v: %.1f %% to %.1f %%; a rate of %.1f %% is not excluded\n", clean, 100*w.Lo, 100*w.Hi, 100*clean.Upper(0.95))
	// Output: 0/14: 0.0 % to 21.5 %; a rate of 19.3 % is not excluded
}
