package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/holdfast-llm/holdfast/internal/cli"
	"github.com/holdfast-llm/holdfast/lab/stat"
)

// probability is a flag's value strictly between 0 and 1. It keeps all the bits
// of a float64, as 0.05 and a little more may take another trial.
type probability float64

func (p *probability) String() string { return strconv.FormatFloat(float64(*p), 'g', -1, 64) }

func (p *probability) Set(s string) error {
	x, err := strconv.ParseFloat(s, 64)
	if err != nil || !(x > 0 && x < 1) {
		return fmt.Errorf("want a number between 0 and 1, such as 0.05")
	}
	*p = probability(x)
	return nil
}

// maxArm bounds --trials of two arms, whose power is summed over all pairs of
// counts.
const maxArm = 100_000

// labPower is the command line of lab power.
type labPower struct {
	rate, conf, power probability
	between           string
	trials, faults    int
	json              bool
}

func labPowerMain(_ context.Context, args []string, _ io.Reader, stdout, stderr io.Writer) int {
	o := labPower{conf: 0.95, power: 0.8}
	f := &cli.FlagSet{
		Synopsis: "holdfast lab power --rate R | --between A B | --trials N [flags]",
		About: "Say how many trials a claim about a fault rate takes, or what trials already made can say.\n" +
			"The numbers are exact: from the binomial distribution, and for two rates from Fisher's\n" +
			"exact test (two-sided) over all pairs of counts.",
		Examples: []string{
			"holdfast lab power --rate 0.05 --conf 0.95",
			"holdfast lab power --between 0.05 0.01",
			"holdfast lab power --between 0.05 0.01 --trials 60",
			"holdfast lab power --trials 14",
		},
	}
	f.Var(&o.rate, "--rate R", "trials that exclude a fault rate of R")
	f.String(&o.between, "--between A B", "trials in each of two arms that tell the rates A and B apart")
	f.Int(&o.trials, "--trials N", "what N trials can say (of each arm with --between)", 0, stat.MaxTrials)
	f.Group("how sure")
	f.Var(&o.conf, "--conf C", "confidence; with --between the test's level is 1-C")
	f.Int(&o.faults, "--faults K", "faults among the trials", 0, stat.MaxTrials)
	f.Var(&o.power, "--power P", "chance of telling the two rates apart")
	f.Group("output")
	f.Bool(&o.json, "--json", "print JSON")
	rest, err := f.Parse(args, os.LookupEnv)
	if err == nil {
		err = o.run(f, rest, stdout)
	}
	return finish(f, "lab power", err, stdout, stderr)
}

func (o *labPower) run(f *cli.FlagSet, rest []string, w io.Writer) error {
	if o.between != "" {
		a, b, err := o.rates(rest)
		switch {
		case err != nil:
			return err
		case f.Given("--rate") || f.Given("--faults"):
			return cli.Usagef("--between goes with neither --rate nor --faults")
		}
		return o.twoRates(w, a, b, f.Given("--trials"))
	}
	switch {
	case len(rest) > 0:
		return cli.Usagef("unexpected argument %q", rest[0])
	case f.Given("--power"):
		return cli.Usagef("--power needs --between A B")
	case f.Given("--trials") && f.Given("--rate"):
		return cli.Usagef("give --rate or --trials: one is asked for the other")
	case f.Given("--trials"):
		if o.faults > o.trials {
			return cli.Usagef("--faults %d is more than --trials %d", o.faults, o.trials)
		}
		return o.whatTrialsSay(w)
	case !f.Given("--rate") && o.rate == 0:
		return cli.Usagef("give --rate R, --between A B or --trials N")
	}
	return o.oneRate(w, f.Given("--faults"))
}

// rates are the two of --between, with a space or a comma between them.
func (o *labPower) rates(rest []string) (a, b float64, err error) {
	words := append(strings.Split(o.between, ","), rest...)
	if len(words) != 2 {
		return 0, 0, cli.Usagef("--between wants two rates, got %d", len(words))
	}
	var x [2]float64
	for i, s := range words {
		if x[i], err = strconv.ParseFloat(s, 64); err != nil || !(x[i] >= 0 && x[i] <= 1) {
			return 0, 0, cli.Usagef("--between: %q is not a rate from 0 to 1", s)
		}
	}
	if x[0] == x[1] {
		return 0, 0, cli.Usagef("--between: both rates are %s", words[0])
	}
	return x[0], x[1], nil
}

// powerAnswer is lab power's JSON; what was not asked for is absent.
type powerAnswer struct {
	Rate       float64   `json:"rate,omitempty"`
	Rates      []float64 `json:"rates,omitempty"`
	Confidence float64   `json:"confidence"`
	Faults     *int      `json:"faults,omitempty"`
	Trials     int       `json:"trials"` // of each arm
	Power      *float64  `json:"power,omitempty"`
	Upper      *float64  `json:"upper,omitempty"` // one-sided
	Lower      *float64  `json:"lower,omitempty"`
}

func (o *labPower) oneRate(w io.Writer, oneCount bool) error {
	rate, conf := float64(o.rate), float64(o.conf)
	last := o.faults
	if !oneCount && !o.json {
		last = 3 // what a fault or some more would cost is worth knowing beforehand
	}
	var needed []int
	for k := o.faults; k <= last; k++ {
		n, err := stat.TrialsToExclude(rate, conf, k)
		if err != nil {
			return err
		}
		needed = append(needed, n)
	}
	if o.json {
		return printJSON(w, powerAnswer{Rate: rate, Confidence: conf, Faults: &o.faults, Trials: needed[0]})
	}
	fmt.Fprintf(w, "to exclude a fault rate of %s at %s confidence, one-sided and exact:\n\n  faults  trials\n", percentFlag(rate), percentFlag(conf))
	for i, n := range needed {
		fmt.Fprintf(w, "  %6d  %6d\n", o.faults+i, n)
	}
	if o.faults == 0 {
		fmt.Fprintf(w, "\nif the rate is %s, %d trials show a fault with a chance of %s or more\n", percentFlag(rate), needed[0], percentFlag(conf))
	}
	return nil
}

func (o *labPower) whatTrialsSay(w io.Writer) error {
	r, conf := stat.Rate{K: o.faults, N: o.trials}, float64(o.conf)
	upper, lower := r.Upper(conf), r.Lower(conf)
	if o.json {
		return printJSON(w, powerAnswer{Confidence: conf, Faults: &o.faults, Trials: o.trials, Upper: &upper, Lower: &lower})
	}
	if o.trials == 0 {
		fmt.Fprintln(w, "0 trials exclude nothing")
		return nil
	}
	exact, score := r.ClopperPearson(conf), r.Wilson(conf)
	fmt.Fprintf(w, "%d of %d, at %s confidence:\n", o.faults, o.trials, percentFlag(conf))
	fmt.Fprintf(w, "  rates above %.3g %% are excluded, one-sided and exact\n", 100*upper)
	if o.faults > 0 {
		fmt.Fprintf(w, "  rates below %.3g %% are excluded, one-sided and exact\n", 100*lower)
	}
	fmt.Fprintf(w, "  interval %.3g %% to %.3g %% (Clopper-Pearson), %.3g %% to %.3g %% (Wilson)\n", 100*exact.Lo, 100*exact.Hi, 100*score.Lo, 100*score.Hi)
	return nil
}

func (o *labPower) twoRates(w io.Writer, a, b float64, trialsGiven bool) error {
	alpha, n := 1-float64(o.conf), o.trials
	if !trialsGiven {
		var err error
		if n, err = stat.TrialsBetween(a, b, alpha, float64(o.power)); err != nil {
			return err
		}
	} else if n > maxArm {
		return cli.Usagef("--trials %d is more than %d, up to which two arms are summed", n, maxArm)
	}
	power := stat.FisherPower(a, b, n, n, alpha)
	if o.json {
		return printJSON(w, powerAnswer{Rates: []float64{a, b}, Confidence: float64(o.conf), Trials: n, Power: &power})
	}
	what := fmt.Sprintf("to tell %s from %s", percentFlag(a), percentFlag(b))
	if trialsGiven {
		_, err := fmt.Fprintf(w, "with %d trials in each arm, Fisher's exact test (two-sided, p <= %.4g) has a power of %.1f %% %s\n", n, alpha, 100*power, what)
		return err
	}
	_, err := fmt.Fprintf(w, "%s, %d trials in each arm: Fisher's exact test (two-sided, p <= %.4g) then has a power of %.1f %%\n", what, n, alpha, 100*power)
	return err
}

// percentFlag is a rate from the command line, all its digits, as "5 %".
func percentFlag(x float64) string { return strconv.FormatFloat(100*x, 'g', 12, 64) + " %" }

func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
